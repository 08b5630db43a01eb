// Recognizes the lines that open and close pandoc's fenced divs.
#include "markdown/braces.h"

DivLine div_line(Arena *arena, Str line, Braces *braces) {
    *braces = (Braces){0};
    if (!str_starts(line, STR(":::"))) return DIV_NONE;
    Str rest = line;
    while (rest.len && rest.at[0] == ':') rest = str_from(rest, 1);
    rest = str_trim(rest);
    while (rest.len && rest.at[rest.len - 1] == ':') rest.len--;
    rest = str_trim(rest);
    if (rest.len == 0) return DIV_CLOSES;
    if (rest.at[0] == '{') {
        braces_read(arena, rest, (size_t)(rest.at - line.at) + 1, braces);
        return DIV_OPENS;
    }
    size_t end = 0;
    while (end < rest.len && rest.at[end] != ' ') end++;
    braces->classes = ARENA_NEW(arena, 1, Str);
    braces->classes[braces->class_count++] = str_slice(rest, 0, end);
    return DIV_OPENS;
}
