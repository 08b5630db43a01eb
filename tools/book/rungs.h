// Rungs: the steps of the ladder, each told where its chapter tells it, and the front page's story
// made of them.
//
//     ::: {.rung kernel=block_sum_mask after=02/block_sum_interleaved harris=2
//          code="block-sum-mask" predicted="a third of the instructions, …"}
//     The lesson, in a sentence or two.
//     :::
//
// kernel= is the rung, after= the kernel that it is a step from (default: the rung before), harris=
// its number in Harris's slides, code= the chunks that show what changed: of a chunk with from= the
// lines that differ, else all of it. predicted= is what arithmetic said before anything was
// measured. All on one line in the chapter.
//
//     ::: summary
//     A paragraph that tells a chapter without rungs on the front page.
//     :::
//
// On the front page, in chapters/index.md, ``` {.rungs} is a table of all rungs, ``` {.story} a
// section for each, ``` {.summaries} the paragraphs of the other chapters.
#ifndef BOOK_RUNGS_H
#define BOOK_RUNGS_H

#include "book/book.h"
#include "markdown/braces.h"

// Finds the rungs and summaries of all files.
void rungs_collect(Book *book);

// The lines that open a rung in its chapter; ::: closes it.
void rungs_open(Book *book, size_t line);

// Is this kernel a rung?
bool rungs_has(const Book *book, Str chapter, Str kernel);

// What kernels are called, and which of them are rungs, as CSV: chapter,kernel,name,rung,after.
// rung is the place on the ladder, from 1, or empty; after is CHAPTER/KERNEL of the one that it is
// a step from.
void rungs_add_csv(const Book *book, Buf *csv);

// Weaves a block of the front page. False: it is none.
bool rungs_weave(Book *book, const FencePart *part);

#endif
