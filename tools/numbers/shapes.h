// Shapes: keys and formulas for matrices of N elements in rows of C each, from
// results/DEVICE-shapes.csv.
//
// KERNEL@NxC.FIELD is looked up there. KERNEL@shapes means each shape recorded for the first such
// kernel of a formula. `where` selects from these:
//
//   formula   := TEXT [' where ' condition (' and ' condition)*]
//   condition := ('n' | 'cols') ('<' | '<=' | '>' | '>=' | '==') COUNT | 'even' | 'odd'
//
// COUNT is a number such as 4096 or 4Ki; even and odd refer to the row length.
#ifndef NUMBERS_SHAPES_H
#define NUMBERS_SHAPES_H

#include "numbers/key.h"

// The table for a key: DEVICE-shapes.csv for a key with a shape, else that of the device. NULL:
// `why` says which file is missing.
const ResultTable *shapes_table(const KeyScope *scope, const Key *key, Buf *why);

// Whether a text has KERNEL@shapes.
bool shapes_any(Str text);

// The rows of the first KERNEL@shapes in *text that meet the conditions after ` where `, which are
// removed from *text. False: `why` says what is wrong with them, or that no row meets them.
bool shapes_rows(const KeyScope *scope, Str *text, KeyRows *rows, Buf *why);

// The text with @NxC of this row in place of @shapes.
Str shapes_at(const KeyScope *scope, Str text, const ResultRow *row);

#endif
