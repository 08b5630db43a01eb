// What was found, for editors and continuous integration: a log in SARIF 2.1.0 (OASIS Standard,
// 2020), the Static Analysis Results Interchange Format.
#ifndef SARIF_H
#define SARIF_H

#include <stdbool.h>

#include "base/arena.h"

// Writes all hazards, and each line that was said on stderr. False, errno set: the file cannot be
// written, and is as it was.
bool sarif_write(Arena *arena, const char *path);

#endif
