// Prose: running text as it stands in the book. Values are filled in, links lead somewhere, and no
// measurement is typed by hand.
#ifndef BOOK_PROSE_H
#define BOOK_PROSE_H

#include "book/book.h"

Str prose_inline(Book *book, Str text, size_t line);

// Where a link leads that means a chapter as a whole.
Str prose_link_to(const Book *book, size_t file);

// The first measurement at or after `from`: its position and, in *length, its length with unit;
// SIZE_MAX when there is none. A measurement is a number (digits, with commas or a point) and one
// of these units behind it:
//   ns us µs ms s, kB/s MB/s GB/s TB/s GiB/s TiB/s, their words (microseconds, percent, GB per
//   second …), %, and × or x standing directly behind the number.
// Between number and unit may be a space, a no-break space, a hyphen, one line end or emphasis.
// Not a measurement: `32 banks`, `48 KB`, `2 × 4`, `128×128`, `x % 32 == 0`, a decade (`1990s`).
size_t typed_numbers_find(Str text, size_t from, size_t *length);

#endif
