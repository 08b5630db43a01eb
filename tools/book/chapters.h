// Chapters: weaves each chapter block by block, and joins the chapters into one book.
#ifndef BOOK_CHAPTERS_H
#define BOOK_CHAPTERS_H

#include "book/book.h"

// Weaves the whole book into book->out. Errors are in book->errors, by file and line.
void chapters_weave(Book *book);

// Weaves a page per file for code hosts, FOLDER/NAME.md, and the front page FOLDER.md from index.md
// (if there is one) and the table of contents. Set up `book` as for chapters_weave; errors are in
// book->errors. Returns the number of pages.
size_t chapters_weave_pages(Book *book, Str folder, BookFile **pages);

// The file of the front page, index.md, or CHUNK_NONE.
size_t chapters_front(const Book *book);

// The same step by step, for a book of several texts: open it once, then set book->file and weave
// each chapter.
void chapters_open(Book *book);
void chapters_weave_file(Book *book);

#endif
