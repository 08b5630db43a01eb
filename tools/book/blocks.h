// Blocks: weaves the parts of a chapter, each by its kind.
#ifndef BOOK_BLOCKS_H
#define BOOK_BLOCKS_H

#include "book/book.h"

// Weaves text between fences: headings, divs and paragraphs.
void blocks_weave_text(Book *book, const FencePart *part);

// Weaves a fenced block, which has this index among the parts of its file.
void blocks_weave_fence(Book *book, size_t index, const FencePart *part);

// ``` {.results columns="…" n=… caption="…"}: a table of results with a row per kernel.
void table_weave(Book *book, const FencePart *part);

// ``` {.csv from=../results/NAME.csv columns="a b" where="COLUMN=VALUE" caption="…"}: the rows of a
// CSV file. The default is all columns and all rows. The caption ends with the facts at the head of
// the file, such as the device and versions. A column `device` shows device names as other tables
// do.
void csv_table_weave(Book *book, const FencePart *part);

// ``` {.lines chunk=NAME columns="…" kernel=NAME n=…}: the lines of a chunk, each preceded by its
// counts from the CPU device.
void lines_weave(Book *book, const FencePart *part);

// ``` {.exhibits}: a table of wrong kernels. Each line is `CHUNK | title`. The columns say what
// each recorded GPU did, and which tools report the bug. `{.runs exhibit=CHUNK}` is a table of the
// runs of one of them, `{.report exhibit=CHUNK}` the text that simt --check printed.
void exhibits_weave(Book *book, const FencePart *part);
void exhibits_weave_runs(Book *book, const FencePart *part);
void exhibits_weave_report(Book *book, const FencePart *part);

// ``` {.player kernels="block_sum_mask block_sum_strided" blocks="256 64"} around a picture,
// ![…](…). The HTML page plays the recorded steps of these kernels and block sizes, beginning with
// the first of each; other targets show only the picture. For pandoc, a div of class player holds
// the picture and JSON for the page's script: the contents of
// results/steps/CHAPTER-KERNEL-BLOCK.csv (format: collect/steps.h) and the lines of code that they
// refer to.
void player_weave(Book *book, const FencePart *part);

// ``` {.claim}: produces no output. Each line is a comparison (expr.h) that must hold; otherwise an
// error is reported at that line.
void claims_check(Book *book, const FencePart *part);

#endif
