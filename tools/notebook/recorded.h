// Recorded: what other devices measured, as Python that a notebook compares its own times with.
#ifndef NOTEBOOK_RECORDED_H
#define NOTEBOOK_RECORDED_H

#include "book/book.h"
#include "book/lab.h"

// RECORDED, a row for each time in results/ of a lab whose chapter is inside (one flag per file),
// NAMES, what their kernels are called, RUNGS, those on the ladder, and SOURCES, the hashes of
// their programs. The book's results, without stale rows.
Str recorded_text(Book *book, const Labs *labs, const bool *inside);

#endif
