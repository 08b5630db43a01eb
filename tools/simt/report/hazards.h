// What --check found, over all launches.
#ifndef HAZARDS_H
#define HAZARDS_H

#include <stdio.h>

#include "simt/device/device.h"

// `strict`: notes are hazards.
void hazards_add(Arena *arena, const char *kernel, const Hazard *hazards, size_t count,
                 bool strict);
// Adds what other orders of a launch came to, beside its hazards.
void hazards_orders(Arena *arena, const char *kernel, const Orders *orders);
bool hazards_print(Arena *arena, FILE *to); // hazards, then notes; true if there were any hazards
void hazards_print_orders(FILE *to);        // what was not looked at

// One of them as it is printed, in lines, none wider than so many characters, or 0: as wide as they
// are; its kernel's name, and what it was made from. Notes have the numbers behind those of the
// hazards.
size_t hazards_count(void);
size_t hazards_notes(void);
Str hazards_text(Arena *arena, size_t number, int width, const char **kernel,
                 const Hazard **hazard);

const Hazard *hazards_get(size_t number, const char **kernel);
// The same in one line, without the place.
Str hazards_sentence(Arena *arena, const Hazard *hazard, const char *kernel);

// How often there were hazards of this kernel at a source line.
uint64_t hazards_at(const char *kernel, const char *file, uint32_t line);

#endif
