// Stages: reads the table `stages` in the text of a lab, and which kernel each row launches.
//
// The text is that of our own labs (appendix C), so this looks for their forms and parses no C:
// a row is {"NAME", LAUNCH, "note", ...} or {"NAME", LAUNCH<N>, ...}; `static unsigned LAUNCH(`
// begins the function, a line `}` ends it, and KERNEL<<<, KERNEL<N><<< or a cooperative launch in
// it names the kernel.
#ifndef BOOK_STAGES_H
#define BOOK_STAGES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    Str name;     // block_sum_shuffle_8, as the lab's table calls it
    Str function; // block_sum_shuffle, as the code calls it
    Str kernel;   // block_sum_shuffle_8, as results call it
    Str block;    // the stage's own block size; empty: any
} Stage;

// The rows that launch a kernel in this text, in order. A row that calls a library or computes on
// the host is left out.
size_t stages_of(Arena *arena, Str lab, Stage **stages);

// The next kernel that a text defines, which is taken off *rest. False: there is no other.
bool stages_kernel(Str *rest, Str *name);

#endif
