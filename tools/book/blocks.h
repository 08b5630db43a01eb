// Blocks: the parts of a chapter in their turn, and the kinds of blocks that nothing else weaves.
#ifndef BOOK_BLOCKS_H
#define BOOK_BLOCKS_H

#include "book/book.h"

// Text between fences: headings, divs and paragraphs.
void blocks_weave_text(Book *book, const FencePart *part);

// A fenced block, which is the file's part of this index.
void blocks_weave_fence(Book *book, size_t index, const FencePart *part);

// ``` {.results columns="…" n=… caption="…"}: a table of results with a line per kernel.
void table_weave(Book *book, const FencePart *part);

// ``` {.csv from=../results/NAME.csv columns="a b" where="COLUMN=VALUE" caption="…"}: a CSV file as
// it is. Without columns= all columns are shown, and without where= all rows. In a column `device`,
// recorded devices get the names that they have elsewhere.
void csv_table_weave(Book *book, const FencePart *part);

// ``` {.lines chunk=NAME columns="…" kernel=NAME n=…}: the lines of a chunk. What the CPU device
// counted on each line is before it.
void lines_weave(Book *book, const FencePart *part);

// ``` {.player kernels="block_sum_mask block_sum_strided" blocks="256 64"} around a picture,
// ![…](…): the page plays the recorded steps of these kernels and block sizes, and starts with the
// first of each. Elsewhere only the picture is shown. For pandoc a div of class player holds the
// picture and JSON for the page's script: what results/steps/CHAPTER-KERNEL-BLOCK.csv say
// (collect/steps.h), with the lines of code that they name.
void player_weave(Book *book, const FencePart *part);

// ``` {.claim}: shows nothing. Each of its lines is a comparison (expr.h), and it is an error at
// that line if the comparison does not hold.
void claims_check(Book *book, const FencePart *part);

#endif
