// Checks the cells of results files.
#include "numbers/cell.h"

#include <string.h>

#include "numbers/results.h"

static bool is_one_of(Str name, const Str *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(name, names[i])) return true;
    return false;
}

static bool is_chapter(Str s) {
    bool letter = s.len == 1 && s.at[0] >= 'A' && s.at[0] <= 'Z';
    return letter ||
           (s.len == 2 && s.at[0] >= '0' && s.at[0] <= '9' && s.at[1] >= '0' && s.at[1] <= '9');
}

static bool is_hash(Str s) {
    for (size_t i = 0; i < s.len; i++)
        if (!memchr("0123456789abcdef", s.at[i], 16)) return false;
    return s.len == 16;
}

// A count must be exact as a double.
static bool is_count(Str s) {
    double number;
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] < '0' || s.at[i] > '9') return false;
    if (s.len > 1 && s.at[0] == '0') return false;
    return results_number(s, &number) && number < 9007199254740992.0;
}

// The grid or block of a launch, as the CPU device writes it: 64, 64x2, 64x2x2.
static bool is_shape(Str s) {
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
        size_t cross = str_find(s, STR("x"));
        if (!is_count(str_slice(s, 0, cross))) return false;
        if (cross == SIZE_MAX) return true;
        s = str_from(s, cross + 1);
    }
    return false;
}

CellKind cell_kind(Str name, bool counts) {
    static const struct {
        Str name;
        CellKind kind;
    } named[] = {
        {STR("chapter"), CELL_CHAPTER}, {STR("kernel"), CELL_KERNEL}, {STR("source"), CELL_SOURCE},
        {STR("elem"), CELL_TEXT},       {STR("note"), CELL_TEXT},     {STR("limiter"), CELL_TEXT},
        {STR("stall"), CELL_TEXT},      {STR("unknown"), CELL_TEXT},  {STR("n"), CELL_N},
        {STR("cols"), CELL_COLS}};
    static const Str whole[] = {
        STR("block"),    STR("grid"),     STR("samples"),          STR("partials"),
        STR("sweep"),    STR("launch"),   STR("launches"),         STR("code_line"),
        STR("sm_count"), STR("l2_bytes"), STR("memory_clock_khz"), STR("memory_bus_bits")};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (str_equal(name, named[i].name)) return named[i].kind;
    if (counts && (str_equal(name, STR("grid")) || str_equal(name, STR("block"))))
        return CELL_LAUNCH;
    if (counts || is_one_of(name, whole, sizeof whole / sizeof *whole)) return CELL_COUNT;
    return str_ends(name, STR("_us")) ? CELL_TIME : CELL_NUMBER;
}

const char *cell_number_fault(CellKind kind, Str cell) {
    const double most = 1e12;
    double number;
    if (kind == CELL_LAUNCH)
        return is_shape(cell) ? NULL : "is not the shape of a launch, as in 64 or 64x2";
    const bool counted = kind == CELL_N || kind == CELL_COLS || kind == CELL_COUNT;
    if (counted && is_count(cell)) return NULL;
    if (!results_number(cell, &number)) return "is not a number";
    if (counted) return "is not a count: a whole number, at least 0, below 2^53";
    if (kind == CELL_TIME && (number <= 0 || number > most))
        return "is not a time in microseconds: more than 0, at most 1e12";
    return number < 0 || number > most ? "is not between 0 and 1e12" : NULL;
}

const char *cell_fault(CellKind kind, Str cell) {
    switch (kind) {
    case CELL_CHAPTER:
        return is_chapter(cell) ? NULL : "is not a chapter: write two digits or a capital letter";
    case CELL_KERNEL:
        return cell.len ? NULL : "names no kernel";
    case CELL_SOURCE:
        return is_hash(cell) ? NULL : "is not 16 hexadecimal digits";
    case CELL_TEXT:
        return NULL;
    case CELL_N:
        if (cell.len == 0) return "is not a number of elements";
        break;
    case CELL_COLS:
        if (cell.len == 0 || str_equal(cell, STR("0"))) return "is not the length of a row";
        break;
    default:
        if (cell.len == 0) return NULL;
    }
    return cell_number_fault(kind, cell);
}
