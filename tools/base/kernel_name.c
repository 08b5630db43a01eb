// Shortens demangled kernel names to their bare and recorded forms.
#include "base/kernel_name.h"

#include <string.h>

Str kernel_name_bare(Str name) {
    size_t depth = 0, start = 0, end = name.len;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (c == '(' && depth == 0 &&
            !str_starts(str_from(name, i), STR("(anonymous namespace)"))) {
            end = i;
            break;
        }
        if (c == '<' || c == '(' || c == '[' || c == '{') depth++;
        if ((c == '>' || c == ')' || c == ']' || c == '}') && depth) depth--;
        if (c == ' ' && depth == 0) start = i + 1;
    }
    return str_slice(name, start, end);
}

Str kernel_name_recorded(Arena *arena, Str bare) {
    Buf name = {.arena = arena};
    const Str base = str_slice(bare, 0, str_find(bare, STR("<")));
    size_t start = base.len;
    while (start && base.at[start - 1] != ':') start--;
    if (start) return str_from(base, start);
    bool cast = false;
    for (size_t i = 0; i < bare.len; i++) {
        const char c = bare.at[i];
        const bool literal = c == 'u' && i && bare.at[i - 1] >= '0' && bare.at[i - 1] <= '9' &&
                             strchr(",>", i + 1 < bare.len ? bare.at[i + 1] : ' ');
        cast |= c == '(';
        if (c == '<' || c == ',') buf_char(&name, '_');
        if (!cast && !literal && !strchr("<>, ", c)) buf_char(&name, c);
        if (c == ')') cast = false;
    }
    return buf_str(&name);
}

bool kernel_name_is_library(Str bare) { return str_find(bare, STR("::")) != SIZE_MAX; }
