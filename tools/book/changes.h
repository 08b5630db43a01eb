// Changes: which lines of a chunk are new against the chunk that it was made from.
//
//     ``` {.cuda #block-sum-mask from=block-sum-interleaved}
//
// Comments do not count, nor what a definition is called: on a line that begins in the first
// column, the word before the first `(`.
#ifndef BOOK_CHANGES_H
#define BOOK_CHANGES_H

#include "book/book.h"

typedef struct {
    size_t base;   // the chunk that from= names; CHUNK_NONE if there is none
    size_t *lines; // of the chunk's body, from 1, in order
    size_t count;
} Changes;

// A name that no chunk has is an error of the book.
Changes changes_of(Book *book, size_t chunk);

// The lines with blanks between: 3 8 9.
void changes_add_numbers(const Changes *changes, Buf *text);

// The same as a reader says it: line 3; lines 3, 8 and 9; lines 3 and 8 to 12; no line.
void changes_add_words(const Changes *changes, Buf *text);

#endif
