// Fold: see fold.h.
#include "numbers/fold.h"

#include <math.h>

bool fold_is(Str function) {
    return str_equal(function, STR("min")) || str_equal(function, STR("max")) ||
           str_equal(function, STR("geomean"));
}

bool fold_values(Str function, const Value *items, size_t count, Value *result, Buf *why) {
    bool least = str_equal(function, STR("min")), mean = str_equal(function, STR("geomean"));
    *result = items[0];
    double logarithms = 0;
    for (size_t i = 0; i < count; i++) {
        Value item = items[i];
        const char *problem = value_comparable(*result, item);
        if (!problem && mean && item.number <= 0) problem = "geomean needs positive values";
        if (problem) {
            buf_format(why, "%s", problem);
            return false;
        }
        result->stale = result->stale || item.stale;
        logarithms += log(item.number > 0 ? item.number : 1);
        if (least ? item.number < result->number : item.number > result->number)
            result->number = item.number;
    }
    if (mean) result->number = exp(logarithms / (double)count);
    return true;
}
