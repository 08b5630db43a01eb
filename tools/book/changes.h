// Changes: which lines of a chunk differ from the chunk that it was derived from.
//
//     ``` {.cuda #block-sum-mask from=block-sum-interleaved}
//
// The comparison ignores comments and the names of definitions. A defined name is the word before
// the first `(` on a line that starts in column 1.
#ifndef BOOK_CHANGES_H
#define BOOK_CHANGES_H

#include "book/book.h"

typedef struct {
    size_t base;   // the chunk that from= names, or CHUNK_NONE
    size_t *lines; // changed lines of the chunk's body, counted from 1, ascending
    size_t count;
} Changes;

// Finds a chunk's changes. Reports an error if from= names no chunk.
Changes changes_of(Book *book, size_t chunk);

// Adds the chunk as a diff against its base: "+" before new lines, "-" before removed ones, a blank
// before context lines, "…" for omitted lines. Comments are omitted too. False: it has no base.
bool changes_add_diff(Book *book, size_t chunk, Buf *text);

// Adds the diff of two blocks and returns its number of lines.
size_t changes_add_lines(Arena *arena, const FencePart *now, const FencePart *then, Buf *text);

// Adds the changed lines in words: line 3; lines 3, 8 and 9; lines 3 and 8 to 12; no line.
void changes_add_words(const Changes *changes, Buf *text);

#endif
