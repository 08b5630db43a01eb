// Chapters: every block of a chapter in its turn, and all chapters as one book.
#ifndef BOOK_CHAPTERS_H
#define BOOK_CHAPTERS_H

#include "book/book.h"

// The whole book; its text is in book->out, its faults in book->errors, in file and line order.
void chapters_weave(Book *book);

// Its steps, for a book that does not become one text: open once, then set book->file and weave
// each chapter that is wanted.
void chapters_open(Book *book);
void chapters_weave_file(Book *book);

#endif
