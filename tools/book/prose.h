// Prose: weaves running text. It inserts values, resolves links, and reports measurements that were
// typed by hand.
#ifndef BOOK_PROSE_H
#define BOOK_PROSE_H

#include "book/book.h"

Str prose_inline(Book *book, Str text, size_t line);

// The target of a link to a whole chapter.
Str prose_link_to(const Book *book, size_t file);

// The position of the first measurement at or after `from`, or SIZE_MAX; *length includes its unit.
// A measurement is a number (digits, with commas or a point) followed by one of these units:
// ns us µs ms s, kB/s MB/s GB/s TB/s GiB/s TiB/s, their words (microseconds, percent, GB per second
// …), %, and × or x without a space.
// Number and unit may be separated by a space, a no-break space, a hyphen, one line end or
// emphasis.
// Not a measurement: `32 banks`, `48 KB`, `2 × 4`, `128×128`, `x % 32 == 0`, a decade (`1990s`).
size_t typed_numbers_find(Str text, size_t from, size_t *length);

#endif
