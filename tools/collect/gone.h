// Gone: takes away what a chapter that is gone has left among the results.
#ifndef COLLECT_GONE_H
#define COLLECT_GONE_H

#include "base/str.h"

// Removes the traces and steps of chapters that have no lab among these, and their rows among the
// counts of the CPU device. Prints a line for each file. What a GPU measured stays.
void gone_remove(Arena *arena, const char *folder, char **labs, size_t count);

#endif
