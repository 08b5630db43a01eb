// Names: what tables, figures and players call a kernel: a short text about what it changed.
//
//     ``` {.names}
//     block_sum_mask      | remainder → mask
//     block_sum_shuffle_8 | eight loads in flight
//     ```
//
// A kernel without a name in its own chapter takes the name from the first chapter that names it,
// or else its name in code.
#ifndef BOOK_NAMES_H
#define BOOK_NAMES_H

#include "book/book.h"

// Reads the blocks of all files. It is an error if a line has no name, a name is given twice, or
// the results of a recorded chapter have no such kernel.
void names_collect(Book *book);

// The name of a kernel of a chapter; empty if it has none.
Str names_of(const Book *book, Str chapter, Str kernel);

typedef struct {
    Str chapter, kernel, name;
} Name;

// All of them, in the order of the chapters.
size_t names_count(const Book *book);
Name names_at(const Book *book, size_t index);

#endif
