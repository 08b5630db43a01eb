// Finds the names of a kernel's parameters in its source: the CPU device knows only their numbers.
#include <ctype.h>

#include "grade/program.h"

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t skip_blanks(Str text, size_t i) {
    while (i < text.len && isspace((unsigned char)text.at[i])) i++;
    return i;
}

// The parameter list, without brackets, of a function definition whose name ends at `i`. False: it
// is a declaration, a call or a comment, or there are comments in the list.
static bool parameter_list(Str source, size_t i, Str *list) {
    i = skip_blanks(source, i);
    if (i == source.len || source.at[i] != '(') return false;
    const size_t start = i + 1;
    int depth = 1;
    while (depth && ++i < source.len) depth += (source.at[i] == '(') - (source.at[i] == ')');
    if (depth) return false;
    *list = str_slice(source, start, i);
    i = skip_blanks(source, i + 1);
    return i < source.len && source.at[i] == '{' && str_find(*list, STR("//")) == SIZE_MAX &&
           str_find(*list, STR("/*")) == SIZE_MAX;
}

// The name of the parameter with this number, from 1; empty if there is none.
static Str name_in(Str list, size_t number) {
    size_t start = 0, end = 0;
    int depth = 0;
    for (; end < list.len; end++) {
        const char c = list.at[end];
        depth += (c == '<' || c == '(') - (c == '>' || c == ')');
        if (c != ',' || depth) continue;
        if (--number == 0) break;
        start = end + 1;
    }
    if (number > 1) return STR("");
    Str parameter = str_slice(list, start, end);
    parameter = str_trim(str_slice(parameter, 0, str_find(parameter, STR("="))));
    size_t first = parameter.len;
    while (first > 0 && is_word(parameter.at[first - 1])) first--;
    return str_from(parameter, first);
}

// The name of a kernel's parameter, if all of its definitions agree on it; else empty.
static Str parameter_name(Str source, Str kernel, size_t number) {
    Str found = STR(""), list;
    size_t at;
    for (size_t from = 0; (at = str_find(str_from(source, from), kernel)) != SIZE_MAX;) {
        at += from;
        from = at + kernel.len;
        if ((at > 0 && is_word(source.at[at - 1])) || !parameter_list(source, from, &list))
            continue;
        const Str name = name_in(list, number);
        if (found.len && !str_equal(name, found)) return STR("");
        found = name;
    }
    return found;
}

Str argument_names(Arena *arena, Str source, Str kernel, Str line) {
    const Str word = STR("argument ");
    Buf out = {.arena = arena};
    for (size_t at; kernel.len && (at = str_find(line, word)) != SIZE_MAX;) {
        size_t end = at + word.len, number = 0;
        for (; end < line.len && isdigit((unsigned char)line.at[end]) && number < 1000; end++)
            number = number * 10 + (size_t)(line.at[end] - '0');
        const Str name = number ? parameter_name(source, kernel, number) : STR("");
        buf_add(&out, str_slice(line, 0, end));
        if (name.len) buf_format(&out, " (%.*s)", STR_ARG(name));
        line = str_from(line, end);
    }
    buf_add(&out, line);
    return buf_str(&out);
}
