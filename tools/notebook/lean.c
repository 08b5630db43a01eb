// Lean: see lean.h.
#include "notebook/lean.h"

#include "markdown/fence.h"

void lean_links(Map *linked, Str text) {
    const Str mark = STR("](#");
    for (size_t at; (at = str_find(text, mark)) != SIZE_MAX;) {
        bool is_new;
        text = str_from(text, at + mark.len);
        map_at(linked, str_slice(text, 0, str_find(text, STR(")"))), &is_new);
    }
}

// Is the line an anchor that nothing links to?
static bool is_unused(const Map *linked, Str line) {
    const Str head = STR("<a name=\""), tail = STR("\"></a>");
    if (!str_starts(line, head) || !str_ends(line, tail)) return false;
    return !map_find(linked, str_slice(line, head.len, line.len - tail.len));
}

// Is it the row of a table that says how columns are aligned?
static bool is_ruler(Str line) {
    for (size_t i = 0; i < line.len; i++)
        if (line.at[i] != '|' && line.at[i] != '-' && line.at[i] != ':' && line.at[i] != ' ')
            return false;
    return true;
}

// A blank that stands behind `\` is part of what it says.
static void drop_blanks(Buf *text, size_t start) {
    while (text->len > start + 1 && text->at[text->len - 1] == ' ' &&
           text->at[text->len - 2] != '\\')
        text->len--;
}

static void add_row(Buf *text, Str row) {
    const size_t start = text->len;
    const bool ruler = is_ruler(row);
    for (size_t i = 0; i < row.len; i++) {
        const char c = row.at[i], before = i ? row.at[i - 1] : '\0';
        const bool bar = c == '|' && before != '\\';
        if (bar) drop_blanks(text, start);
        if (ruler && c == '-' && before == '-') continue; // one says as much as three
        buf_char(text, c);
        while (bar && i + 1 < row.len && row.at[i + 1] == ' ') i++;
    }
}

Str lean_text(Arena *arena, const Map *linked, Str text) {
    Buf lean = {.arena = arena};
    FenceParts parts = fence_scan(arena, text);
    for (size_t i = 0; i < parts.count; i++) {
        const FencePart *part = &parts.parts[i];
        Str rest = part->source, line;
        if (part->fenced) buf_add(&lean, rest);
        while (!part->fenced && str_line(&rest, &line)) {
            if (is_unused(linked, line)) continue;
            if (str_starts(line, STR("|")))
                add_row(&lean, line);
            else
                buf_add(&lean, line);
            buf_char(&lean, '\n');
        }
    }
    return buf_str(&lean);
}

Str lean_id(Str section) {
    if (!str_starts(section, STR("ch-"))) return section;
    section = str_from(section, 3);
    return str_slice(section, 0, str_find(section, STR("-")));
}
