// Rungs: the steps of the ladder. Chapters describe each rung; the front page collects them.
//
//     ::: {.rung kernel=block_sum_mask after=02/block_sum_interleaved harris=2
//          code="block-sum-mask" predicted="a third of the instructions, …"}
//     The lesson, in a sentence or two.
//     :::
//
// kernel= is the rung; after= is the kernel that it improves on (default: the previous rung);
// harris= is its number in Harris's slides; code= lists the chunks that show the change: as a diff
// if the chunk has from=, else in full. predicted= is the estimate made before measuring. In a
// chapter, all of this is on one line.
//
//     ::: summary
//     A paragraph about a chapter without rungs, for the front page.
//     :::
//
// On the front page, chapters/index.md, ``` {.rungs} becomes a table of all rungs, ``` {.story} a
// section for each rung, and ``` {.summaries} the summaries of the other chapters.
#ifndef BOOK_RUNGS_H
#define BOOK_RUNGS_H

#include "book/book.h"
#include "markdown/braces.h"

// Finds the rungs and summaries of all files.
void rungs_collect(Book *book);

// Opens a rung in its chapter; ::: closes it.
void rungs_open(Book *book, size_t line);

// Whether this kernel is a rung.
bool rungs_has(const Book *book, Str chapter, Str kernel);

// Adds the names of kernels and the rungs as CSV: chapter,kernel,name,rung,after. rung is the
// position on the ladder, from 1, or empty; after is CHAPTER/KERNEL of the kernel that it improves
// on.
void rungs_add_csv(const Book *book, Buf *csv);

// Weaves a block of the front page. False: it is another kind of block.
bool rungs_weave(Book *book, const FencePart *part);

#endif
