// Ncu: reads Nsight Compute's metrics of one launch of each kernel, which show its bottleneck.
//
// `ncu --csv --page raw --print-units base --log-file LAB.ncu.csv LAB -t 0` writes lines that begin
// with `==`, a header row, a row of units, and a row per launch, in order. A lab launches its
// ceiling kernel, always in the same shape, before each stage (appendix C of the book), so the
// launches between two of these are a stage. If a stage has several launches, the longest counts.
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
    NcuRow *stages; // cells is NULL if the stage launched nothing
    size_t count;
    size_t line; // of the error; 0: the whole file
    const char *fault;
} Ncu;

// The number of columns, and their names, as in `profiled_us,sm_clock_khz`.
size_t ncu_columns(void);
void ncu_add_header(Buf *out);

// The metrics to request from ncu, separated by commas.
void ncu_add_metrics(Buf *out);

// Reads ncu's output. False: `fault` and `line` describe the error.
bool ncu_read(Arena *arena, Str text, Ncu *ncu);

#endif
