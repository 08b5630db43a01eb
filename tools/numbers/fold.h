// Fold: what several values come to: min, max, geomean.
#ifndef NUMBERS_FOLD_H
#define NUMBERS_FOLD_H

#include "base/str.h"
#include "numbers/value.h"

bool fold_is(Str function);

// What a function makes of values, of which there is at least one. False with the reason in `why`:
// their units differ, or a geometric mean of what is not positive was asked for.
bool fold_values(Str function, const Value *items, size_t count, Value *result, Buf *why);

#endif
