// Cells: the cells of one Jupyter notebook, format 4.5, as text.
//
// nbformat's own layout, so that a notebook that is opened and saved unchanged stays the same
// bytes: sorted keys, an indent of one, a list of lines as source. No outputs are stored.
#ifndef NOTEBOOK_CELLS_H
#define NOTEBOOK_CELLS_H

#include "base/map.h"

typedef enum { CELL_TEXT, CELL_CODE, CELL_FORM } CellKind;

typedef struct {
    CellKind kind;
    Str id, text;
} Cell;

typedef struct {
    Arena *arena;
    Map ids; // given so far, with the last number that was tried behind each
    Cell *items;
    size_t count, capacity;
} Cells;

void cells_open(Cells *cells, Arena *arena);

// `id` is wished for: what cell ids may not hold is replaced, and repeated ones are numbered. Blank
// lines at both ends of a text are dropped; an empty one makes no cell.
void cells_add_markdown(Cells *cells, Str id, Str text);

// Code, taken as it is. Where its first or second line starts with #@title, the cell is folded:
// Colab shows the title as a form, JupyterLab a bar to open it.
void cells_add_code(Cells *cells, Str id, Str text);

// The same, to be filled in: Colab makes a field of its #@param, and Jupyter shows the code.
void cells_add_form(Cells *cells, Str id, Str text);

// The whole notebook. `source` says in its metadata what it is generated from.
Str cells_close(Cells *cells, Str source);

#endif
