// Places #line directives with a minimal C++ lexer: it knows only the comments, quotes, raw
// strings, digit separators and backslashes that decide whether a line can be a directive.
#include "tangle/line_sync.h"

#include <ctype.h>
#include <stdint.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

// Adds the text in quotes for #line, with the necessary escapes.
static void add_quoted(Buf *out, Str text) {
    buf_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '"' || c == '\\')
            buf_format(out, "\\%c", c);
        else if (c < ' ')
            buf_format(out, "\\%03o", (unsigned)c);
        else
            buf_char(out, (char)c);
    }
    buf_char(out, '"');
}

void line_sync_before(LineSync *sync, Buf *out, Str path, size_t line) {
    if (sync->known && sync->line == line && str_equal(sync->path, path)) return;
    if (sync->continued || sync->mode != LEX_CODE) return;
    buf_format(out, "#line %zu ", line);
    add_quoted(out, path);
    buf_char(out, '\n');
    sync->path = path;
    sync->line = line;
    sync->known = true;
    if (sync->conditionals) sync->conditional_directive = true;
}

static size_t find_from(Str text, size_t at, Str needle) {
    size_t found = str_find(str_from(text, at), needle);
    return found == SIZE_MAX ? text.len : at + found + needle.len;
}

// Enters the raw string whose quote is at text[at]: stores its delimiter and returns the index
// after its "(". The delimiter has at most 16 characters: C++ [lex.string].
static size_t raw_string_start(LineSync *sync, Str text, size_t at) {
    size_t end = at + 1;
    while (end < text.len && end - at <= 16 && text.at[end] != '(') end++;
    if (end >= text.len || text.at[end] != '(') {
        sync->quote = '"';
        return at + 1;
    }
    sync->mode = LEX_RAW_STRING;
    sync->raw_end = str_slice(text, at + 1, end);
    return end + 1;
}

// The index after the raw string around text[at], or text.len.
static size_t raw_string_end(LineSync *sync, Str text, size_t at) {
    while ((at = find_from(text, at, STR(")"))) < text.len) {
        Str rest = str_from(text, at);
        if (!str_starts(rest, sync->raw_end)) continue;
        if (!str_starts(str_from(rest, sync->raw_end.len), STR("\""))) continue;
        sync->mode = LEX_CODE;
        return at + sync->raw_end.len + 1;
    }
    return text.len;
}

// Skips one token of code, or the opening of a comment or literal, at text[at].
static size_t lex_code(LineSync *sync, Str text, size_t at) {
    Str rest = str_from(text, at);
    if (str_starts(rest, STR("//"))) {
        sync->line_comment = true;
        return text.len;
    }
    if (str_starts(rest, STR("/*"))) {
        sync->mode = LEX_COMMENT;
        return at + 2;
    }
    char c = text.at[at];
    if (c == '"' || c == '\'') {
        sync->quote = c;
        return at + 1;
    }
    size_t end = at + 1;
    if (isdigit((unsigned char)c)) {
        while (end < text.len &&
               (is_word(text.at[end]) || text.at[end] == '.' ||
                (text.at[end] == '\'' && end + 1 < text.len && is_word(text.at[end + 1]))))
            end++;
        return end;
    }
    if (!is_word(c)) return end;
    while (end < text.len && is_word(text.at[end])) end++;
    Str word = str_slice(text, at, end);
    bool raw = str_equal(word, STR("R")) || str_equal(word, STR("LR")) ||
               str_equal(word, STR("uR")) || str_equal(word, STR("UR")) ||
               str_equal(word, STR("u8R"));
    if (raw && end < text.len && text.at[end] == '"') return raw_string_start(sync, text, end);
    return end;
}

static size_t lex_quoted(LineSync *sync, Str text, size_t at) {
    if (text.at[at] == '\\') return at + 2;
    if (text.at[at] == sync->quote) sync->quote = '\0';
    return at + 1;
}

// Updates the state for a directive. The compiler ignores a #line in a skipped group, so one that
// we wrote may have had no effect before #else and #endif.
static void follow_directive(LineSync *sync, Str text) {
    text = str_trim(text);
    if (!str_starts(text, STR("#"))) return;
    text = str_trim(str_from(text, 1));
    if (str_starts(text, STR("if"))) {
        sync->conditionals++;
    } else if (str_starts(text, STR("el")) || str_starts(text, STR("endif"))) {
        if (sync->conditional_directive) sync->known = false;
        if (str_starts(text, STR("endif")) && sync->conditionals) sync->conditionals--;
        if (sync->conditionals == 0) sync->conditional_directive = false;
    } else if (str_starts(text, STR("line")) || (text.len && isdigit((unsigned char)text.at[0]))) {
        sync->known = false;
    }
}

void line_sync_after(LineSync *sync, Str text) {
    if (!sync->continued) {
        sync->line_comment = false;
        sync->quote = '\0';
        if (sync->mode == LEX_CODE) follow_directive(sync, text);
    }
    sync->line++;
    for (size_t at = 0; at < text.len;) {
        if (sync->mode == LEX_COMMENT) {
            size_t end = str_find(str_from(text, at), STR("*/"));
            if (end == SIZE_MAX) break;
            sync->mode = LEX_CODE;
            at += end + 2;
        } else if (sync->mode == LEX_RAW_STRING) {
            at = raw_string_end(sync, text, at);
        } else if (sync->line_comment) {
            break;
        } else if (sync->quote) {
            at = lex_quoted(sync, text, at);
        } else {
            at = lex_code(sync, text, at);
        }
    }
    sync->continued = sync->mode != LEX_RAW_STRING && str_ends(str_trim(text), STR("\\"));
}
