// What --check found, over all launches.
#ifndef HAZARDS_H
#define HAZARDS_H

#include "simt/device/device.h"

void hazards_add(Arena *arena, const char *kernel, const Hazard *hazards, size_t count);
bool hazards_print(void); // true if there were any

// How often there were hazards of this kernel at a source line.
uint64_t hazards_at(const char *kernel, const char *file, uint32_t line);

#endif
