// Exercises: weaves the divs and blocks of an exercise. The task and the starter are shown; hints,
// the program around the hole and the solution are folded; wrong variants are left out.
#ifndef BOOK_EXERCISES_H
#define BOOK_EXERCISES_H

#include "book/book.h"

// `4.1` for the first exercise of chapter 4.
Str exercises_number(const Book *book, const Exercise *exercise);

// Whether divs of this class are folded.
bool exercises_folds(Str div);

// Opens an exercise at this line of the chapter, with its number and title.
void exercises_open(Book *book, size_t line);

// From the seventh on, a chapter's exercises are in a fold. This closes it if it is open.
void exercises_close_more(Book *book);

// Ends the exercise that opened at this line. A notebook gets cells that grade it here.
void exercises_end(Book *book, size_t line);

// Weaves a block that is part of an exercise. False: it is not, or has no special form.
bool exercises_weave(Book *book, const FencePart *part, size_t chunk);

// --- demands.c ---

// Adds a requirement in words, `no bank conflicts of loads` for shared_ld_conflicts == 0. If
// `exact`, the comparison becomes the title of the words. A comparison without known words is shown
// as code.
void demands_add(Buf *text, Str comparison, bool exact);

// For an exercise that asks for a number: adds the right answer and known mistakes with their
// explanations as attributes of a div, data-answer="9" data-mistakes="5 | That is …. | 8 | On …".
// Adds nothing if the numbers are known only when the exercise's program runs.
void demands_add_answer(Book *book, Buf *text, const Exercise *exercise);

#endif
