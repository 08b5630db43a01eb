// Table: ``` {.results columns="…" n=… caption="…"}, a table of results with a kernel a line.
#ifndef BOOK_TABLE_H
#define BOOK_TABLE_H

#include "book/book.h"

void table_weave(Book *book, const FencePart *part);

#endif
