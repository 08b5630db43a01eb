// Notebook: weaves the chapters that have a lab into Jupyter notebooks, one each and one with all.
//
// Prose becomes Markdown cells, one per heading. A chunk becomes a cell that writes it to its own
// file, so that readers can change it and run it again. The harness is one folded cell. After the
// last chunk of a lab, a cell assembles and runs the lab. These cells call Python functions from a
// frame, a file of cells in percent format (tools/notebook/cells.py).
#ifndef NOTEBOOK_NOTEBOOK_H
#define NOTEBOOK_NOTEBOOK_H

#include "book/book.h"

typedef struct {
    Str folder;     // where the notebooks will be
    Str frame;      // text of the frame
    Str repository; // OWNER/NAME on GitHub for "Open in Colab" badges, or empty
} NotebookPlan;

// Set up `book` as for chapters_weave, with BOOK_NOTEBOOK. Errors are in book->errors. Without
// errors, *files are the notebooks, the one with all chapters first. Returns their number.
size_t notebook_weave(Book *book, const NotebookPlan *plan, BookFile **files);

#endif
