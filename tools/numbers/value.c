// Arithmetic on values with units, and how they are printed.
#include "numbers/value.h"

#include <math.h>
#include <stdio.h>

#define NO_BREAK "\u00a0"

static bool is_plain(Unit unit) {
    return unit == UNIT_NONE || unit == UNIT_RATIO || unit == UNIT_COUNT;
}

static bool are(Unit a, Unit b, Unit one, Unit other) {
    return (a == one && b == other) || (a == other && b == one);
}

// The unit of a * b; UNIT_TEXT: these units cannot be multiplied.
static Unit product(Unit a, Unit b) {
    if (is_plain(a)) return b == UNIT_NONE || (b == UNIT_RATIO && a == UNIT_COUNT) ? a : b;
    if (is_plain(b)) return a;
    if (are(a, b, UNIT_TIME, UNIT_RATE)) return UNIT_BYTES;
    if (are(a, b, UNIT_BYTES, UNIT_CLOCK)) return UNIT_RATE;          // bytes per cycle
    return are(a, b, UNIT_TIME, UNIT_CLOCK) ? UNIT_COUNT : UNIT_TEXT; // cycles
}

static Unit quotient(Unit a, Unit b) {
    if (a == UNIT_NONE && is_plain(b)) return UNIT_NONE;
    if (a == b) return UNIT_RATIO;
    if (is_plain(b)) return a;
    if (is_plain(a) && b == UNIT_CLOCK) return UNIT_TIME;
    if (a == UNIT_BYTES && b == UNIT_RATE) return UNIT_TIME;
    if (a == UNIT_BYTES && b == UNIT_TIME) return UNIT_RATE;
    return UNIT_TEXT;
}

static Unit sum(Unit a, Unit b) {
    if (a == b) return a;
    if (is_plain(a) && is_plain(b)) return a == UNIT_NONE ? b : a;
    return UNIT_TEXT;
}

// The factor that converts the result of an operation to the units of value.h: 1 us * 1 GB/s is 1e3
// bytes, 1 us * 1 kHz is 1e-3 cycles, and 1 byte per cycle at 1 kHz is 1e-6 GB/s.
static double scale(Unit a, char operation, Unit b) {
    if (operation == '*' && product(a, b) == UNIT_BYTES && !is_plain(a) && !is_plain(b)) return 1e3;
    if (operation == '/' && a == UNIT_BYTES && (b == UNIT_RATE || b == UNIT_TIME)) return 1e-3;
    if (operation == '*' && are(a, b, UNIT_TIME, UNIT_CLOCK)) return 1e-3;
    if (operation == '*' && are(a, b, UNIT_BYTES, UNIT_CLOCK)) return 1e-6;
    if (operation == '/' && is_plain(a) && b == UNIT_CLOCK) return 1e3;
    return 1;
}

const char *value_combine(Value a, char operation, Value b, Value *result) {
    if (a.unit == UNIT_TEXT || b.unit == UNIT_TEXT) return "text cannot be used in arithmetic";
    *result = (Value){.stale = a.stale || b.stale};
    if (operation == '*') {
        result->unit = product(a.unit, b.unit);
        result->number = a.number * b.number;
    } else if (operation == '/') {
        if (b.number == 0) return "division by zero";
        result->unit = quotient(a.unit, b.unit);
        result->number = a.number / b.number;
    } else {
        result->unit = sum(a.unit, b.unit);
        result->number = operation == '+' ? a.number + b.number : a.number - b.number;
    }
    if (result->unit == UNIT_TEXT) return "these units cannot be combined";
    result->number *= scale(a.unit, operation, b.unit);
    return isfinite(result->number) ? NULL : "the result is too large";
}

const char *value_comparable(Value a, Value b) {
    if (a.unit == UNIT_TEXT || b.unit == UNIT_TEXT) return "text cannot be compared";
    if (a.unit == b.unit || (is_plain(a.unit) && is_plain(b.unit))) return NULL;
    if (a.unit == UNIT_NONE || b.unit == UNIT_NONE)
        return NULL; // a plain number takes the other unit
    return "values of different units cannot be compared";
}

// Writes a decimal number with commas between groups of three digits of its whole part.
static void add_grouped(Buf *out, double number, int decimals) {
    char digits[400];
    int length = snprintf(digits, sizeof digits, "%.*f", decimals, fabs(number));
    int whole = decimals ? length - decimals - 1 : length;
    bool zero = true;
    for (int i = 0; i < length; i++) zero = zero && (digits[i] == '0' || digits[i] == '.');
    if (number < 0 && !zero) buf_add(out, STR("−"));
    for (int i = 0; i < length; i++) {
        if (i && i < whole && (whole - i) % 3 == 0) buf_char(out, ',');
        buf_char(out, digits[i]);
    }
}

// The decimals for three significant digits, or four after a leading 1, which keeps the rounding
// step below one percent. Digits before the point are always written.
static int decimals_of(double number) {
    if (number == 0) return 0;
    char text[32];
    snprintf(text, sizeof text, "%.2e", fabs(number)); // rounds first: 9.999 counts as 10.0
    int exponent = 0;
    sscanf(text + 5, "%d", &exponent);
    int digits = text[0] == '1' ? 4 : 3;
    int decimals = digits - 1 - exponent;
    return decimals > 0 ? decimals : 0;
}

static void add_measured(Buf *out, double number, const char *unit) {
    add_grouped(out, number, decimals_of(number));
    buf_format(out, NO_BREAK "%s", unit);
}

typedef struct {
    double size;
    const char *name;
} Prefix;

// Uses the largest prefix that leaves at least one whole unit, or the smallest prefix.
static void add_scaled(Buf *out, double number, const Prefix *prefixes) {
    while (prefixes[1].name && fabs(number) < prefixes->size * 0.9995) prefixes++;
    add_measured(out, number / prefixes->size, prefixes->name);
}

static void add_time(Buf *out, double microseconds) {
    static const Prefix prefixes[] = {{1e6, "s"}, {1e3, "ms"}, {1, "µs"}, {1e-3, "ns"}, {0, NULL}};
    if (microseconds == 0)
        buf_add(out, STR("0" NO_BREAK "µs"));
    else
        add_scaled(out, microseconds, prefixes);
}

static void add_rate(Buf *out, double gbps) {
    static const Prefix prefixes[] = {{1e3, "TB/s"}, {1, "GB/s"}, {1e-3, "MB/s"}, {0, NULL}};
    add_scaled(out, gbps, prefixes);
}

// Uses binary units for whole numbers of them (memory sizes), else decimal units (traffic).
static void add_bytes(Buf *out, double bytes) {
    static const Prefix decimal[] = {
        {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {0, NULL}};
    static const Prefix binary[] = {
        {1024.0 * 1024 * 1024, "GiB"}, {1024.0 * 1024, "MiB"}, {1024, "KiB"}, {0, NULL}};
    for (size_t i = 0; binary[i].name; i++) {
        double whole = bytes / binary[i].size;
        if (whole < 1 || whole >= 1024 || floor(whole) != whole) continue;
        add_grouped(out, whole, 0);
        buf_format(out, NO_BREAK "%s", binary[i].name);
        return;
    }
    if (fabs(bytes) >= 999.5) {
        add_scaled(out, bytes, decimal);
    } else {
        add_grouped(out, bytes, floor(bytes) == bytes ? 0 : decimals_of(bytes));
        buf_add(out, STR(NO_BREAK "bytes"));
    }
}

static void add_ratio(Buf *out, double ratio) {
    double size = fabs(ratio);
    int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : decimals_of(size);
    add_grouped(out, ratio, decimals);
    buf_add(out, STR("×"));
}

static void add_percent(Buf *out, double percent) {
    double size = fabs(percent);
    add_grouped(out, percent, size >= 99.95 ? 0 : size >= 0.95 || size == 0 ? 1 : 2);
    buf_add(out, STR(NO_BREAK "%"));
}

// Rounds to two digits; a ratio becomes a plain number.
static Value about(Value value) {
    if (value.number != 0) {
        double unit = pow(10, floor(log10(fabs(value.number))) - 1);
        value.number = round(value.number / unit) * unit;
    }
    if (value.unit == UNIT_RATIO) value.unit = UNIT_COUNT;
    value.about = true;
    return value;
}

static const struct {
    Str name;
    Unit unit;
    double factor;
} conversions[] = {{STR("percent"), UNIT_PERCENT, 100},
                   {STR("bytes"), UNIT_BYTES, 1},
                   {STR("count"), UNIT_COUNT, 1},
                   {STR("about"), UNIT_NONE, 1}};

bool value_converts(Str function) {
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (str_equal(function, conversions[i].name)) return true;
    return false;
}

const char *value_convert(Str function, Value *value) {
    if (str_equal(function, STR("about"))) {
        if (value->unit == UNIT_TEXT) return "a number";
        *value = about(*value);
        return NULL;
    }
    if (value->unit != UNIT_NONE && value->unit != UNIT_RATIO && value->unit != UNIT_COUNT)
        return "a number without a unit";
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        if (!str_equal(function, conversions[i].name)) continue;
        value->unit = conversions[i].unit;
        value->number *= conversions[i].factor;
    }
    return NULL;
}

// Drops trailing zeros, which would suggest too much precision: 1.500 MB becomes 1.5 MB.
static void add_without_zeros(Buf *out, Str text) {
    size_t point = str_find(text, STR(".")), end = point + 1;
    if (point == SIZE_MAX) {
        buf_add(out, text);
        return;
    }
    while (end < text.len && text.at[end] >= '0' && text.at[end] <= '9') end++;
    size_t last = end;
    while (text.at[last - 1] == '0') last--;
    buf_add(out, str_slice(text, 0, last - (last == point + 1)));
    buf_add(out, str_from(text, end));
}

static void format_exactly(Buf *out, Value value) {
    switch (value.unit) {
    case UNIT_TEXT:
        buf_add(out, value.text);
        break;
    case UNIT_TIME:
        add_time(out, value.number);
        break;
    case UNIT_RATE:
        add_rate(out, value.number);
        break;
    case UNIT_BYTES:
        add_bytes(out, value.number);
        break;
    case UNIT_RATIO:
        add_ratio(out, value.number);
        break;
    case UNIT_PERCENT:
        add_percent(out, value.number);
        break;
    case UNIT_CLOCK:
        add_grouped(out, value.number / 1e3, 0), buf_add(out, STR(NO_BREAK "MHz"));
        break;
    case UNIT_NONE:
    case UNIT_COUNT:
        add_grouped(out, value.number,
                    floor(value.number) == value.number ? 0 : decimals_of(value.number));
        break;
    }
}

void value_format_bare(Buf *out, Value value) {
    Buf text = {.arena = out->arena};
    format_exactly(&text, value);
    if (value.about)
        add_without_zeros(out, buf_str(&text));
    else
        buf_add(out, buf_str(&text));
}

void value_format(Buf *out, Value value) {
    if (value.unit == UNIT_TEXT)
        data_text_add(out, value.text);
    else
        value_format_bare(out, value);
    if (value.stale) buf_add(out, STR(" *(stale)*"));
}

bool value_is_fold(Str function) {
    return str_equal(function, STR("min")) || str_equal(function, STR("max")) ||
           str_equal(function, STR("geomean"));
}

bool value_fold(Str function, const Value *items, size_t count, Value *result, Buf *why) {
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
