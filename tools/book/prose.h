// Prose: headings, divs and paragraphs; values, links and notes inside them; and no measurement
// typed by hand.
#ifndef BOOK_PROSE_H
#define BOOK_PROSE_H

#include "book/book.h"

void prose_weave(Book *book, const FencePart *part);

// Running text as it stands in the book: values filled, links followed, measurements checked.
Str prose_inline(Book *book, Str text, size_t line);

// Where a link leads that means a chapter as a whole.
Str prose_link_to(const Book *book, size_t file);

#endif
