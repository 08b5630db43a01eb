// Ncu: what holds each kernel of a lab back, from what Nsight Compute says of one launch of
// each.
//
// `ncu --csv --page raw --print-units base --log-file LAB.ncu.csv LAB -t 0` writes a row for every
// launch, in order: lines that begin with `==`, a header row, a row of units, the launches. A lab
// launches its ceiling kernel before each stage (appendix C of the book), always in one shape: what
// stands between two of these is a stage. Of several launches in a stage the longest is taken.
#ifndef COLLECT_NCU_H
#define COLLECT_NCU_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    const Str *cells; // one per column
} NcuRow;

typedef struct {
    NcuRow *stages; // NULL cells where a stage launched nothing
    size_t count;
    size_t line; // of the fault, 0: the file as a whole
    const char *fault;
} Ncu;

// How many columns there are, and what they are called, as in `profiled_us,sm_clock_khz`.
size_t ncu_columns(void);
void ncu_add_header(Buf *out);

// The metrics that ncu is to be asked for, with commas between.
void ncu_add_metrics(Buf *out);

// Reads ncu's text. False: `fault` and `line` say what is wrong.
bool ncu_read(Arena *arena, Str text, Ncu *ncu);

#endif
