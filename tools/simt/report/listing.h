// The instructions of a source line, and what each of them counted: what `--machine --lines` shows.
#ifndef LISTING_H
#define LISTING_H

#include "simt/observe/count/counters.h"

typedef struct {
    Str text; // /*0010*/ IMAD.WIDE.U32 R2, R0, 0x4, R2
    Counters counted;
} ListingInst;

// The instructions at a line of a file in the launches of a kernel that profile.h has, in the order
// of the code; `kernel` is its name in the table. To be asked when there are no more launches.
const ListingInst *listing_of(Arena *arena, const char *kernel, const char *file, uint32_t line,
                              size_t *count);

#endif
