// Finds measurements typed into prose: see prose.h.
#include "book/prose.h"

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

// The length of what separates a number and its unit: a space, a hyphen or emphasis.
static size_t gap_length(Str s) {
    static const Str gaps[] = {STR(" "),      STR("\n"),     STR("-"),      STR("*"),
                               STR("_"),      STR("~"),      STR("\\"),     STR("\u00a0"),
                               STR("\u2009"), STR("\u202f"), STR("\u2011"), STR("&nbsp;")};
    size_t end = 0;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps && end < 12;) {
        bool found = str_starts(str_from(s, end), gaps[i]);
        end += found ? gaps[i].len : 0;
        i = found ? 0 : i + 1;
    }
    return end;
}

static const Str units[] = {
    STR("nanosecond"), STR("microsecond"), STR("millisecond"), STR("seconds"), STR("second"),
    STR("percent"),    STR("per cent"),    STR("kB/s"),        STR("MB/s"),    STR("GB/s"),
    STR("TB/s"),       STR("GiB/s"),       STR("TiB/s"),       STR("kB per"),  STR("MB per"),
    STR("GB per"),     STR("TB per"),      STR("ns"),          STR("us"),      STR("\u00b5s"),
    STR("\u03bcs"),    STR("ms"),          STR("s"),
};

// The length of a factor's sign directly after the number: 2.5× or 2.5x, but not 128×128 or 0x80.
static size_t factor_length(Str s) {
    size_t sign = str_starts(s, STR("\u00d7")) ? 2 : at(s, 0) == 'x' ? 1 : 0;
    if (sign == 0 || is_word(at(s, sign))) return 0;
    size_t next = sign;
    while (at(s, next) == ' ') next++;
    return is_digit(at(s, next)) ? 0 : sign;
}

// The length of a percent sign, unless it is the remainder operator, as in 7 % 3 and 7 % n.
static size_t percent_length(Str s, size_t gap) {
    if (at(s, gap) != '%') return 0;
    size_t next = gap + 1;
    while (at(s, next) == ' ') next++;
    bool operand = is_digit(at(s, next)) || at(s, next) == '(';
    return operand ? 0 : gap + 1;
}

// The length of the gap and unit after a number, or 0 if there is no unit.
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

size_t typed_numbers_find(Str text, size_t from, size_t *length) {
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
