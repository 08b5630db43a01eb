// Measure: see measure.h.
#include "book/typed_numbers.h"

static char at(Str s, size_t i) { return i < s.len ? s.at[i] : '\0'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static size_t number_length(Str s) {
    size_t end = 0;
    while (is_digit(at(s, end)) ||
           ((at(s, end) == '.' || at(s, end) == ',') && is_digit(at(s, end + 1))))
        end++;
    return end;
}

// What may stand between a number and its unit.
static size_t gap_length(Str s) {
    static const Str gaps[] = {{" ", 1},      {"\n", 1},     {"-", 1},      {"*", 1},
                               {"_", 1},      {"~", 1},      {"\\", 1},     {"\u00a0", 2},
                               {"\u2009", 3}, {"\u202f", 3}, {"\u2011", 3}, {"&nbsp;", 6}};
    size_t end = 0;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps && end < 12;) {
        bool found = str_starts(str_from(s, end), gaps[i]);
        end += found ? gaps[i].len : 0;
        i = found ? 0 : i + 1;
    }
    return end;
}

static const Str units[] = {
    {"nanosecond", 10},
    {"microsecond", 11},
    {"millisecond", 11},
    {"seconds", 7},
    {"second", 6},
    {"percent", 7},
    {"per cent", 8},
    {"kB/s", 4},
    {"MB/s", 4},
    {"GB/s", 4},
    {"TB/s", 4},
    {"GiB/s", 5},
    {"TiB/s", 5},
    {"kB per", 6},
    {"MB per", 6},
    {"GB per", 6},
    {"TB per", 6},
    {"ns", 2},
    {"us", 2},
    {"\u00b5s", 3},
    {"\u03bcs", 3},
    {"ms", 2},
    {"s", 1},
};

// Whether a factor stands directly behind the number: 2.5× or 2.5x, but not 128×128 or 0x80.
static size_t factor_length(Str s) {
    size_t sign = str_starts(s, STR("\u00d7")) ? 2 : at(s, 0) == 'x' ? 1 : 0;
    if (sign == 0 || is_word(at(s, sign))) return 0;
    size_t next = sign;
    while (at(s, next) == ' ') next++;
    return is_digit(at(s, next)) ? 0 : sign;
}

// `%` of a share, not the operator of a remainder: 7 % 3, 7 % n.
static size_t percent_length(Str s, size_t gap) {
    if (at(s, gap) != '%') return 0;
    size_t next = gap + 1;
    while (at(s, next) == ' ') next++;
    bool operand = is_digit(at(s, next)) || at(s, next) == '(';
    return operand ? 0 : gap + 1;
}

// The length of gap and unit behind a number; 0 when there is no unit.
static size_t unit_length(Str number, Str s) {
    size_t factor = factor_length(s), gap = gap_length(s);
    if (factor) return factor;
    size_t percent = percent_length(s, gap);
    if (percent) return percent;
    Str unit = str_from(s, gap);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!str_starts(unit, units[i])) continue;
        size_t end = units[i].len;
        if (units[i].len > 8 && at(unit, end) == 's') end++; // microseconds
        bool decade = units[i].len == 1 && gap == 0 && str_find(number, STR(".")) == SIZE_MAX;
        if (!is_word(at(unit, end)) && !decade) return gap + end;
    }
    return 0;
}

size_t measure_find(Str text, size_t from, size_t *length) {
    for (size_t i = from; i < text.len; i++) {
        if (!is_digit(text.at[i])) continue;
        bool inside = i > 0 && is_word(text.at[i - 1]);
        size_t digits = number_length(str_from(text, i));
        size_t unit = unit_length(str_slice(text, i, i + digits), str_from(text, i + digits));
        if (unit && !inside) {
            *length = digits + unit;
            return i;
        }
        i += digits - 1;
    }
    return SIZE_MAX;
}
