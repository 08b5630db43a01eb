// Runnable: what the page needs to run kernels with its engine: which listings are kernels of a
// lab, and as JSON the programs around them and around the holes of exercises.
#ifndef BOOK_RUNNABLE_H
#define BOOK_RUNNABLE_H

#include "book/book.h"

// Finds the kernels of the labs, and sets book->runnables: the page has an engine.
void runnable_collect(Book *book);

// Adds the classes and attributes of a listing to a div: .runnable data-kernel="NAME" data-lab="04"
// for a kernel of a lab that the page can run, .editable for the hole of an exercise. Nothing if
// the page has no engine.
void runnable_add_classes(const Book *book, Buf *text, size_t chunk);
void runnable_add_attributes(const Book *book, Buf *text, size_t chunk);

// Adds data-exercise="4.1" to the div of an exercise that the page can check.
void runnable_add_exercise(const Book *book, Buf *text, const Exercise *exercise);

// The programs:
//
//     {"counters": {"shared_ld_conflicts": "shared load conflicts", …},
//      "exercises": {"4.1": {"demands": [{"hints": [{"hint": 1, "if": ""}], "text": "wrong == 0",
//          "words": "no wrong results"}], "hole": "padded-double",
//          "program": "code/exercises/04_padded_doubles.cu", "solution": "…"}},
//      "labs": {"04": {"first": ["shared_ld_conflicts", …], "program": "code/04_bank_conflicts.cu",
//          "recorded": [{"block": 256, "counters": {…}, "kernel": "block_sum_mask", "n": 100000}],
//          "stages": [{"block": 0, "function": "block_sum_mask", "kernel": "block_sum_mask",
//              "name": "block_sum_mask"}]}},
//      "chunks": {"block-sum-mask": {"file": "03-bit-ops.md", "line": 90, "text": "…"}, …}}
//
// A chunk's text refers to others as in the chapter: <<name>> on a line. The harness of labs is
// left out, since the engine has its own. The driver of exercises, which only nvcc needs, has
// "driver": true. `recorded` are the rows of cpu.csv that the page can run. `first` are the
// counters that the chapter mentions. A solution is there if a demand refers to it.
Str runnable_json(Book *book);

#endif
