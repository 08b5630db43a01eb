// Cells: the cells of one Jupyter notebook, format 4.5, as text.
//
// The layout is nbformat's own, so that opening and saving an unchanged notebook changes no byte:
// sorted keys, an indent of one, source as a list of lines. Outputs are not stored.
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
    Map ids; // ids in use, each with the last number tried as a suffix
    Cell *items;
    size_t count, capacity;
} Cells;

void cells_open(Cells *cells, Arena *arena);

// Adds a Markdown cell. `id` is a suggestion: characters that cell ids may not contain are
// replaced, and repeated ids are numbered. Blank lines at both ends are dropped; an empty text adds
// no cell.
void cells_add_markdown(Cells *cells, Str id, Str text);

// Adds a code cell. It is folded if its first or second line starts with #@title: Colab shows the
// title as a form, JupyterLab a bar to open the cell.
void cells_add_code(Cells *cells, Str id, Str text);

// Adds a code cell with fields to fill in: Colab makes one of each #@param; Jupyter shows the code.
void cells_add_form(Cells *cells, Str id, Str text);

// Returns the whole notebook. Its metadata names `source` as what it is generated from.
Str cells_close(Cells *cells, Str source);

#endif
