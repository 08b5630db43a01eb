// Value: a number with its unit, the arithmetic that units allow, and how it reads in prose.
#ifndef NUMBERS_VALUE_H
#define NUMBERS_VALUE_H

#include <stdbool.h>

#include "base/str.h"

typedef enum {
    UNIT_NONE,    // a plain number
    UNIT_RATIO,   // quotient of two values of one unit: 1.83×
    UNIT_COUNT,   // events, elements, blocks: 1,234,567
    UNIT_PERCENT, // 93.4 %
    UNIT_TIME,    // microseconds
    UNIT_RATE,    // GB/s, 10^9 bytes per second
    UNIT_BYTES,
    UNIT_CLOCK, // kHz
    UNIT_TEXT,  // no number: the name of a device, a date
} Unit;

typedef struct {
    Unit unit;
    double number;
    Str text;   // for UNIT_TEXT
    bool stale; // comes from a run of a program that has changed since
    bool about; // as a person says it: two digits
} Value;

// The operators + - * / on values. NULL, or what the units do not allow, in words.
const char *value_combine(Value a, char operation, Value b, Value *result);

// Whether values of two units can be compared. NULL, or why not.
const char *value_comparable(Value a, Value b);

// The functions percent, bytes and count, which give a plain number a unit, and about, two digits
// of any number. NULL, or what the function takes, in words.
bool value_converts(Str function);
const char *value_convert(Str function, Value *value);

// Writes the value as prose shows it: three significant digits for what was measured (four after
// a leading 1), exact digits for counts, a no-break space before the unit. A stale value carries
// the mark *(stale)*. Text is Markdown that shows it and nothing else.
void value_format(Buf *out, Value value);

// The same without the mark, and text as it is.
void value_format_bare(Buf *out, Value value);

// What several values come to: min, max and geomean.
bool value_is_fold(Str function);

// What such a function makes of at least one value. False with the reason in `why`: their units
// differ, or a geometric mean of what is not positive was asked for.
bool value_fold(Str function, const Value *items, size_t count, Value *result, Buf *why);

// --- data_text.c: text from results, such as names and dates, as Markdown that shows only it ---
//
// Whatever a CSV file says is data: no tag, link, emphasis, formula, list or cell of a table begins
// in it, on code hosts (CommonMark and GitHub's extensions), in notebooks, or in pandoc.

// As running text, also at the start of a paragraph or in a cell of a table.
void data_text_add(Buf *out, Str text);

// As code in backticks. `bars_escaped`: in a cell of a table for code hosts, where a bar ends the
// cell even inside of code.
void data_text_add_code(Buf *out, Str text, bool bars_escaped);

#endif
