// Names: what a reader calls a kernel, by what it changed, in tables, figures and players alike.
//
//     ``` {.names}
//     block_sum_mask      | remainder → mask
//     block_sum_shuffle_8 | eight loads in flight
//     ```
//
// A kernel without a name in its own chapter has that of the first chapter with one; without any it
// is called by its code's name.
#ifndef BOOK_NAMES_H
#define BOOK_NAMES_H

#include "book/book.h"

// Reads the blocks of all files. A line without a name, a name given twice, and a kernel that a
// chapter with results has none of are errors of the book.
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
