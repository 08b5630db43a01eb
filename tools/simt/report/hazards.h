// The hazards that --check found, over all launches.
#ifndef HAZARDS_H
#define HAZARDS_H

#include <stdio.h>

#include "simt/device/device.h"

// `strict`: add notes as hazards.
void hazards_add(Arena *arena, const char *kernel, const Hazard *hazards, size_t count,
                 bool strict);
// Adds a launch's failure in another order, and counts launches that did not run in all orders.
void hazards_orders(Arena *arena, const char *kernel, const Orders *orders);
bool hazards_print(Arena *arena, FILE *to); // prints hazards, then notes; true if there are hazards
void hazards_print_none(FILE *to, size_t launches); // prints that there is neither
void hazards_print_orders(FILE *to); // prints which launches did not run in all orders

// A hazard as it is printed, wrapped at `width` columns (0: not wrapped), with its kernel's name.
// Notes are numbered after the hazards.
size_t hazards_count(void);
size_t hazards_notes(void);
Str hazards_text(Arena *arena, size_t number, int width, const char **kernel,
                 const Hazard **hazard);

const Hazard *hazards_get(size_t number, const char **kernel);
// What to do about a hazard; empty if there is no advice, or if the whole text is the host's.
Str hazards_advice(Arena *arena, const Hazard *hazard);
// A hazard in one line, without its location.
Str hazards_sentence(Arena *arena, const Hazard *hazard, const char *kernel);

// The number of hazards of this kernel at a source line.
uint64_t hazards_at(const char *kernel, const char *file, uint32_t line);

#endif
