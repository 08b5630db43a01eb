// What --check found, over all launches.
#ifndef HAZARDS_H
#define HAZARDS_H

#include "simt/device/device.h"

void hazards_add(Arena *arena, const char *kernel, const Hazard *hazards, size_t count);
void hazards_add_told(Arena *arena, const char *kernel, const Hazard *hazard, const char *text);
bool hazards_print(Arena *arena); // true if there were any

// One of them as it is printed, in lines; its kernel's name, and what it was made from.
size_t hazards_count(void);
Str hazards_text(Arena *arena, size_t number, const char **kernel, const Hazard **hazard);

// How often there were hazards of this kernel at a source line.
uint64_t hazards_at(const char *kernel, const char *file, uint32_t line);

#endif
