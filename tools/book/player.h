// Player: ``` {.player kernels="block_sum_mask block_sum_strided" blocks="256 64"} around a still
// picture, ![…](…), lets the page play the recorded steps of these kernels, the first block size
// first; elsewhere the picture stands alone.
//
// In pandoc's form a div of class player holds the picture and, as JSON for the page's script, what
// results/steps/CHAPTER-KERNEL-BLOCK.csv say (collect/steps.h) with the lines of code they name.
#ifndef BOOK_PLAYER_H
#define BOOK_PLAYER_H

#include "book/book.h"

void player_weave(Book *book, const FencePart *part);

#endif
