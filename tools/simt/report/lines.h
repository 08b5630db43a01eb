// Counters per kernel and source line, over all launches.
#ifndef LINES_H
#define LINES_H

#include "simt/device/device.h"

// `only_last`: forgets what earlier launches of this kernel counted.
void lines_add(Arena *arena, const char *kernel, bool only_last, const LaunchReport *report);
// `instructions`: those of each line under it, which profile.h must have.
void lines_print(Arena *arena, bool instructions);

// The same with every counter and the hazards at each line, as a CSV file. False: errno says why.
bool lines_csv(Arena *arena, const char *path);

#endif
