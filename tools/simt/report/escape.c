// Escapes text for HTML and JSON.
#include "simt/report/escape.h"

#include "base/json.h"

// Passes valid UTF-8 to `add`; writes U+FFFD for every other byte.
static void add_valid(Buf *buf, Str text, void (*add)(Buf *buf, Str valid)) {
    for (size_t bad = 0; bad != SIZE_MAX; text = str_from(text, bad + 1)) {
        bad = str_invalid_utf8(text);
        add(buf, str_slice(text, 0, bad));
        if (bad == SIZE_MAX) return;
        buf_add(buf, STR("\xEF\xBF\xBD"));
    }
}

// The HTML replacement for a byte; empty if it needs none.
static Str entity(char c) {
    switch (c) {
    case '&':
        return STR("&amp;");
    case '<':
        return STR("&lt;");
    case '>':
        return STR("&gt;");
    case '"':
        return STR("&quot;");
    case '\'':
        return STR("&#39;");
    case '\t':
    case '\n':
        return STR("");
    default:
        return (unsigned char)c < ' ' || c == 0x7f ? STR("\xEF\xBF\xBD") : STR("");
    }
}

static void add_html(Buf *buf, Str text) {
    for (size_t i = 0; i < text.len; i++) {
        Str other = entity(text.at[i]);
        buf_add(buf, other.len ? other : str_slice(text, i, i + 1));
    }
}

void escape_html(Buf *buf, Str text) { add_valid(buf, text, add_html); }

Str escape_valid(Arena *arena, Str text) {
    Buf valid = {.arena = arena};
    add_valid(&valid, text, buf_add);
    return buf_str(&valid);
}

void escape_json(Buf *buf, Str text) {
    Buf json = {.arena = buf->arena};
    json_string(&json, escape_valid(buf->arena, text));
    json_in_html(buf, buf_str(&json));
}
