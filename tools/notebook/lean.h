// Lean: Markdown cells of the notebook with all chapters, in fewer bytes and looking the same, so
// that it stays below the 1 MB that a code host shows.
#ifndef NOTEBOOK_LEAN_H
#define NOTEBOOK_LEAN_H

#include "base/map.h"

// Adds the places of the notebook that a cell's text links to: of `](#NAME)` the NAME.
void lean_links(Map *linked, Str text);

// The text without the anchors that nothing links to, and with the rows of tables without blanks at
// their bars. What is fenced stays as it is.
Str lean_text(Arena *arena, const Map *linked, Str text);

// The id that is wished for a cell below a heading: of "ch-04-bank-rule" its chapter, "04".
Str lean_id(Str section);

#endif
