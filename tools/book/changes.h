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

// Adds the chunk's code as the lines of a diff against its base: "+" before those that are new, "-"
// before those that are gone, and around them, behind a blank, their neighbours; "…" stands for
// what is left out. Comments are. False: it has no base.
bool changes_add_diff(Book *book, size_t chunk, Buf *text);

// The same of two blocks, and how many lines that makes.
size_t changes_add_lines(Arena *arena, const FencePart *now, const FencePart *then, Buf *text);

// Its new lines as a reader says them: line 3; lines 3, 8 and 9; lines 3 and 8 to 12; no line.
void changes_add_words(const Changes *changes, Buf *text);

#endif
