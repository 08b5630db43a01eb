// Shapes: rows of every shape, as results/DEVICE-shapes.csv has them: N elements in rows of C each.
//
// KERNEL@NxC.FIELD is looked up there, and KERNEL@shapes stands for each shape that the first such
// kernel of a formula was recorded at. `where` chooses from these:
//
//   formula   := TEXT [' where ' condition (' and ' condition)*]
//   condition := ('n' | 'cols') ('<' | '<=' | '>' | '>=' | '==') COUNT | 'even' | 'odd'
//
// COUNT is a number, Ki, Mi and Gi allowed; even and odd are the lengths of rows.
#ifndef NUMBERS_SHAPES_H
#define NUMBERS_SHAPES_H

#include "numbers/key.h"

// The table that a key is looked up in: of a key with a shape DEVICE-shapes.csv, else that of the
// device. NULL: `why` says which file is missing.
const ResultTable *shapes_table(const KeyScope *scope, const Key *key, Buf *why);

// Whether a text has KERNEL@shapes.
bool shapes_any(Str text);

// The rows of its first KERNEL@shapes that the conditions behind ` where ` let through, which are
// taken off *text. False: `why` says what is wrong with them, or that there are none.
bool shapes_rows(const KeyScope *scope, Str *text, KeyRows *rows, Buf *why);

// The text at one of these rows: with @NxC in place of @shapes.
Str shapes_at(const KeyScope *scope, Str text, const ResultRow *row);

#endif
