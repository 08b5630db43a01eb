// Notebook: the chapters that have a lab, as Jupyter notebooks: one for each, and one with all.
//
// Prose becomes Markdown cells, a new one at each heading. A chunk becomes a cell that writes it to
// a file of its own, so that it can be changed and run again; what the labs have in common goes
// into one folded cell; behind the last chunk of a lab comes the cell that assembles and runs it.
// What these cells call is Python, from a frame: a file of cells in percent format
// (tools/notebook/cells.py).
#ifndef NOTEBOOK_NOTEBOOK_H
#define NOTEBOOK_NOTEBOOK_H

#include "book/book.h"

typedef struct {
    Str folder;     // where the notebooks will be
    Str frame;      // text of the frame
    Str repository; // OWNER/NAME on GitHub, for badges that open the notebooks in Colab, or empty
} NotebookPlan;

// `book` is set up as for chapters_weave, with BOOK_NOTEBOOK. Faults are in book->errors; without
// them *files are the notebooks, the one with all chapters first. Their number.
size_t notebook_weave(Book *book, const NotebookPlan *plan, BookFile **files);

#endif
