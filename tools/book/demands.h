// Demands: what an exercise demands, in words, and the number that one asks for.
#ifndef BOOK_DEMANDS_H
#define BOOK_DEMANDS_H

#include "book/book.h"

// `no bank conflicts of loads` for shared_ld_conflicts == 0, with the comparison as its title where
// the text is to be exact; one that there are no words for stays code.
void demands_add(Buf *text, Str comparison, bool exact);

// The right answer of an exercise that asks for a number, and known wrong ones with what is said to
// them, as attributes of a div: data-answer="9" data-mistakes="5 | That is …. | 8 | On …". Nothing
// where only a run of the exercise's own program knows the numbers.
void demands_add_answer(Book *book, Buf *text, const Exercise *exercise);

#endif
