// Code: weaves chunks, with links to the chunks that use them and that they use, and other code.
#ifndef BOOK_CODE_H
#define BOOK_CODE_H

#include "book/book.h"

void code_weave(Book *book, size_t chunk);
void code_weave_plain(Book *book, const FencePart *part);

// ``` {.output from=../results/first/NAME.txt}: the text of this file, which a program printed.
void code_weave_output(Book *book, const FencePart *part);

void code_weave_bare(Book *book, const FencePart *part); // without caption, name or attributes

// The name of a chunk as readers see it, or the path of its file.
Str code_name(const Book *book, size_t chunk);

// Whether an exercise's program is linked instead of shown: always on code hosts; elsewhere only if
// the exercise is to fill the hole in that file.
bool code_links_program(const Book *book, size_t chunk);

#endif
