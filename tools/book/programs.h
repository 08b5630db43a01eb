// Programs: what the page's engine gets to compile: the labs around the kernels that the page can
// run, and the programs around the holes of exercises.
#ifndef BOOK_PROGRAMS_H
#define BOOK_PROGRAMS_H

#include "book/book.h"

// Sets book->runnables and returns the programs as JSON:
//
//     {"checked": {"of": 49, "same": 46},
//      "counters": {"shared_ld_conflicts": "shared load conflicts", …},
//      "exercises": {"4.1": {"demands": [{"hints": [{"hint": 1, "if": ""}], "text": "wrong == 0",
//          "words": "no wrong results"}], "hole": "padded-double",
//          "program": "code/exercises/04_padded_doubles.cu", "solution": "…"}},
//      "labs": {"04": {"first": ["shared_ld_conflicts", …], "program": "code/04_bank_conflicts.cu",
//          "recorded": [{"block": 256, "counters": {…}, "n": 100000, "stage": "block_sum_mask"}],
//          "stages": [{"block": 0, "function": "block_sum_mask", "kernel": "block_sum_mask",
//              "name": "block_sum_mask"}]}},
//      "chunks": {"block-sum-mask": {"file": "03-bit-ops.md", "line": 90, "text": "…"}, …}}
//
// A chunk's text refers to others as in the chapter: <<name>> on a line. The harness of labs is
// left out, since the engine has its own. The driver of exercises, which only nvcc needs, has
// "driver": true. `recorded` are the rows of cpu-small.csv, and `checked` says in how
// many of its kernels the engine has nvcc's accesses at every block size. `first` are the
// counters that the chapter mentions. A solution is there if a demand refers to it.
Str programs_json(Book *book);

#endif
