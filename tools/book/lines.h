// Lines: ``` {.lines chunk=NAME columns="…" kernel=NAME n=…} shows the lines of a chunk, each
// behind what the CPU device counted on it.
#ifndef BOOK_LINES_H
#define BOOK_LINES_H

#include "book/book.h"

void lines_weave(Book *book, const FencePart *part);

#endif
