// Removes comments and extra blanks from C++, and maps the remaining lines to their sources.
#include "base/source.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

// What starts here, by the codes of SourceLines.open: a comment or quoted text; 0: neither.
static char opened(Str rest, Str before) {
    if (str_starts(rest, STR("//"))) return '/';
    if (str_starts(rest, STR("/*"))) return '*';
    if (rest.at[0] == '"') return str_ends(before, STR("R")) ? 'R' : '"';
    return rest.at[0] == '\'' ? '\'' : 0;
}

// The index after the end of what is open, from `start` on; SIZE_MAX: it continues in the next
// line.
static size_t end_of(char open, Str rest, size_t start) {
    const Str end = open == '*' ? STR("*/") : open == 'R' ? STR(")\"") : (Str){&open, 1};
    for (size_t i = start; i < rest.len && open != '/'; i++) {
        if (str_starts(str_from(rest, i), end)) return i + end.len;
        i += rest.at[i] == '\\' && end.len == 1;
    }
    return SIZE_MAX;
}

// The length of a word or number, in which ' is not a quote, or of one other character.
static size_t end_of_token(Str rest) {
    size_t end = 0;
    while (end < rest.len &&
           (is_word(rest.at[end]) || (rest.at[end] == '\'' && is_digit(rest.at[0]))))
        end++;
    return end ? end : 1;
}

static void read_line(SourceLines *lines, Str line) {
    Buf *code = &lines->code;
    bool blank = false;
    code->len = 0;
    for (Str rest = line; rest.len;) {
        const bool begins = !lines->open;
        if (begins) lines->open = opened(rest, blank ? STR("") : buf_str(code));
        const bool comment = lines->open == '/' || lines->open == '*';
        const bool nothing = comment || (!lines->open && is_blank(rest.at[0]));
        const size_t end = lines->open ? end_of(lines->open, rest, begins ? (comment ? 2 : 1) : 0)
                                       : end_of_token(rest);
        if (!nothing && blank && code->len) buf_char(code, ' ');
        if (!nothing) buf_add(code, str_slice(rest, 0, end));
        if (end != SIZE_MAX) lines->open = 0;
        blank = nothing;
        rest = str_from(rest, end);
    }
    const bool spans = lines->open == '*' || lines->open == 'R';
    if (!spans && !str_ends(line, STR("\\"))) lines->open = 0;
}

static bool read_mark(SourceLines *lines, Str line) {
    if (!str_starts(line, STR("#line "))) return false;
    size_t number = 0;
    for (size_t i = 6; i < line.len && is_digit(line.at[i]); i++)
        number = 10 * number + (size_t)(line.at[i] - '0');
    lines->line = number - 1;
    const size_t quote = str_find(line, STR("\""));
    if (quote == SIZE_MAX) return true; // the file is the same
    lines->path = str_from(line, quote + 1);
    lines->path.len -= lines->path.len > 0;
    return true;
}

bool source_next(SourceLines *lines) {
    while (str_line(&lines->rest, &lines->text)) {
        if (read_mark(lines, lines->text)) continue;
        lines->line++;
        read_line(lines, lines->text);
        if (lines->code.len == 0) continue;
        lines->number++;
        return true;
    }
    return false;
}

SourceMap source_map(Arena *arena, Str text) {
    SourceLines lines = {.code.arena = arena, .rest = text};
    SourceMap map = {0};
    for (size_t capacity = 0; source_next(&lines);) {
        ARENA_GROW(arena, map.places, map.count, capacity);
        map.places[map.count++] = (struct SourcePlace){lines.path, lines.line};
    }
    return map;
}

size_t source_number(const SourceMap *map, Str path, size_t line) {
    for (size_t k = 0; k < map->count; k++)
        if (map->places[k].line == line && str_equal(map->places[k].path, path)) return k + 1;
    return 0;
}

bool source_is_code(Str path) {
    static const char *const known[] = {".cu", ".cuh", ".c", ".h", ".cc", ".cpp", ".hpp"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_ends(path, str_of(known[i]))) return true;
    return false;
}

void source_add(Buf *all, Str path, Str text) {
    SourceLines lines = {.code.arena = all->arena, .rest = text};
    if (!source_is_code(path)) buf_add(all, text);
    while (source_is_code(path) && source_next(&lines))
        buf_format(all, "%.*s\n", STR_ARG(buf_str(&lines.code)));
}
