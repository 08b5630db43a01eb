// Chapters: every block of a chapter in its turn, and all chapters as one book.
#ifndef BOOK_CHAPTERS_H
#define BOOK_CHAPTERS_H

#include "book/book.h"

// The whole book; its text is in book->out, its faults in book->errors, in file and line order.
void chapters_weave(Book *book);

// A page for each file, for code hosts: FOLDER/NAME.md, and the front page FOLDER.md, which is that
// of index.md, if there is one, and the contents. `book` is set up as for chapters_weave; faults
// are in book->errors. The number of pages.
size_t chapters_weave_pages(Book *book, Str folder, BookFile **pages);

// The file of the front page, index.md, or CHUNK_NONE.
size_t chapters_front(const Book *book);

// Its steps, for a book that does not become one text: open once, then set book->file and weave
// each chapter that is wanted.
void chapters_open(Book *book);
void chapters_weave_file(Book *book);

#endif
