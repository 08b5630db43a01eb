// Value: a number with a unit, its arithmetic, and its form in prose.
#ifndef NUMBERS_VALUE_H
#define NUMBERS_VALUE_H

#include <stdbool.h>

#include "base/str.h"

typedef enum {
    UNIT_NONE,    // a plain number
    UNIT_RATIO,   // quotient of two values of the same unit: 1.83×
    UNIT_COUNT,   // events, elements, blocks: 1,234,567
    UNIT_PERCENT, // 93.4 %
    UNIT_TIME,    // microseconds
    UNIT_RATE,    // GB/s, 10^9 bytes per second
    UNIT_BYTES,
    UNIT_CLOCK, // kHz
    UNIT_TEXT,  // not a number: the name of a device, a date
} Unit;

typedef struct {
    Unit unit;
    double number;
    Str text;   // for UNIT_TEXT
    bool stale; // the program has changed since it was measured
    bool about; // rounded to two digits by about()
} Value;

// Computes a + - * / b. Returns NULL, or in words what the units do not allow.
const char *value_combine(Value a, char operation, Value b, Value *result);

// Returns NULL if the two units can be compared, else the reason why not.
const char *value_comparable(Value a, Value b);

// The functions percent, bytes and count, which give a plain number a unit, and about, which rounds
// any number to two digits. Returns NULL, or in words what the function takes.
bool value_converts(Str function);
const char *value_convert(Str function, Value *value);

// Writes the value for prose: three significant digits for measurements (four after a leading 1),
// all digits for counts, a no-break space before the unit. Marks a stale value with *(stale)*.
// Escapes text for Markdown.
void value_format(Buf *out, Value value);

// The same without the mark and without escapes in text.
void value_format_bare(Buf *out, Value value);

// Whether `function` is min, max or geomean.
bool value_is_fold(Str function);

// Applies min, max or geomean to at least one value. False with the reason in `why`: the units
// differ, or geomean got a value that is not positive.
bool value_fold(Str function, const Value *items, size_t count, Value *result, Buf *why);

// --- data_text.c: text from results, such as names and dates, escaped for Markdown ---
//
// Text from a CSV file never begins a tag, link, emphasis, formula, list or table cell, on code
// hosts (CommonMark and GitHub's extensions), in notebooks, or in pandoc.

// Writes running text, also at the start of a paragraph or in a table cell.
void data_text_add(Buf *out, Str text);

// Writes code in backticks. `bars_escaped`: for a code host's table cell, where a bar ends the
// cell.
void data_text_add_code(Buf *out, Str text, bool bars_escaped);

#endif
