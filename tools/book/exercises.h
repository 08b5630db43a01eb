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

// Is a chunk the program of an exercise that is linked and not shown? It is a file to open where it
// is worked on, around a hole, and where the reader is among files: on a code host.
bool exercises_links_program(const Book *book, size_t chunk);

// What stands at the end of the exercise that opened at this line: cells that grade it, in a
// notebook.
void exercises_end(Book *book, size_t line);

// Weaves a block that is part of an exercise in its own way. False: it is an ordinary one.
bool exercises_weave(Book *book, const FencePart *part, size_t chunk);

#endif
