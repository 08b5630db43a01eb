// Exercises: what the divs and blocks of an exercise become. The task and the starter are shown,
// hints, the program around the hole and the solution are folded, wrong variants are left out.
#ifndef BOOK_EXERCISES_H
#define BOOK_EXERCISES_H

#include "book/book.h"

// `4.1` for the first exercise of chapter 4.
Str exercises_number(const Book *book, const Exercise *exercise);

// Is a div of this class folded: a hint, an answer?
bool exercises_folds(Str div);

// The lines that open an exercise at this line of the chapter, with its number and title.
void exercises_open(Book *book, size_t line);

// From the seventh on a chapter's exercises are folded; this ends that fold, if it is open.
void exercises_close_more(Book *book);

// What stands at the end of the exercise that opened at this line: cells that grade it, in a
// notebook.
void exercises_end(Book *book, size_t line);

// Weaves a block that is part of an exercise in its own way. False: it is an ordinary one.
bool exercises_weave(Book *book, const FencePart *part, size_t chunk);

// --- demands.c ---

// What an exercise demands, in words: `no bank conflicts of loads` for shared_ld_conflicts == 0,
// with the comparison as its title where the text is to be exact; one that there are no words for
// stays code.
void demands_add(Buf *text, Str comparison, bool exact);

// The right answer of an exercise that asks for a number, and known wrong ones with what is said to
// them, as attributes of a div: data-answer="9" data-mistakes="5 | That is …. | 8 | On …". Nothing
// where only a run of the exercise's own program knows the numbers.
void demands_add_answer(Book *book, Buf *text, const Exercise *exercise);

#endif
