// Claims: ``` {.claim} shows nothing; each of its lines is a comparison that must hold (expr.h).
#ifndef BOOK_CLAIMS_H
#define BOOK_CLAIMS_H

#include "book/book.h"

// A claim that does not hold is an error at its line.
void claims_check(Book *book, const FencePart *part);

#endif
