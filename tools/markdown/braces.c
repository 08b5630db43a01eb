// Attribute lists as pandoc writes them: {.class #name key=value other="two words"}.
#include <ctype.h>

#include "markdown/fence.h"

static bool is_space(char c) { return isspace((unsigned char)c); }

// Bytes above 127 belong to letters outside ASCII.
static bool is_letter(char c) { return isalpha((unsigned char)c) || (unsigned char)c >= 0x80; }

static bool is_name_char(char c) {
    return is_letter(c) || isdigit((unsigned char)c) || c == '-' || c == '_' || c == ':' ||
           c == '.';
}

size_t fence_name_length(Str s) {
    size_t n = 0;
    if (s.len == 0 || !is_letter(s.at[0])) return 0;
    while (n < s.len && is_name_char(s.at[n])) n++;
    return n;
}

typedef struct {
    Arena *arena;
    Str braces;
    size_t at;
    size_t column; // of braces[0]
    FencePart *part;
    size_t class_capacity;
    size_t attribute_capacity;
} Reader;

enum { ATTRIBUTES_MAX = 64, FOUND_MAX = 60 };

// The item at `at`, up to white space or the closing brace, for a message; only the start of a
// long one.
static Str item_at(const Reader *reader, size_t at) {
    size_t end = at;
    while (end < reader->braces.len && !is_space(reader->braces.at[end]) &&
           reader->braces.at[end] != '}')
        end++;
    Str item = str_slice(reader->braces, at, end);
    if (item.len <= FOUND_MAX) return item;
    item.len = FOUND_MAX;
    while (((unsigned char)item.at[item.len] & 0xC0) == 0x80) item.len--; // a whole character
    return item;
}

static void reader_fails(Reader *reader, size_t at, const char *expected) {
    Buf buf = {.arena = reader->arena};
    Str found = item_at(reader, at);
    buf_format(&buf, "bad attributes at column %zu: expected %s", reader->column + at, expected);
    if (found.len)
        buf_format(&buf, ", found `%.*s`", STR_ARG(found));
    else if (at < reader->braces.len)
        buf_format(&buf, ", found `%c`", reader->braces.at[at]);
    else
        buf_format(&buf, ", found the end of the line");
    reader->part->attribute_error = buf_str(&buf);
}

static bool reader_sees(const Reader *reader, char c) {
    return reader->at < reader->braces.len && reader->braces.at[reader->at] == c;
}

static bool item_ends(const Reader *reader) {
    return reader->at == reader->braces.len || reader_sees(reader, '}') ||
           is_space(reader->braces.at[reader->at]);
}

static void read_class(Reader *reader) {
    size_t start = ++reader->at;
    reader->at += fence_name_length(str_from(reader->braces, start));
    if (reader->at == start || !item_ends(reader)) {
        reader_fails(reader, start - 1, "a class such as .cuda");
        return;
    }
    FencePart *part = reader->part;
    ARENA_GROW(reader->arena, part->classes, part->class_count, reader->class_capacity);
    part->classes[part->class_count++] = str_slice(reader->braces, start, reader->at);
}

static void read_name(Reader *reader) {
    size_t start = ++reader->at;
    reader->at += fence_name_length(str_from(reader->braces, start));
    if (reader->at == start || !item_ends(reader))
        reader_fails(reader, start - 1,
                     "#name: a letter, then letters, digits, \"-\", \"_\", \":\" or \".\"");
    else if (reader->part->id.len)
        reader_fails(reader, start - 1, "one #name only");
    else
        reader->part->id = str_slice(reader->braces, start, reader->at);
}

// A value, quoted or bare. A backslash takes the special meaning from the character after it.
static bool read_value(Reader *reader, Str *value) {
    Buf buf = {.arena = reader->arena};
    size_t start = reader->at;
    bool quoted = reader_sees(reader, '"') || reader_sees(reader, '\'');
    char quote = quoted ? reader->braces.at[reader->at++] : '\0';
    for (; reader->at < reader->braces.len; reader->at++) {
        char c = reader->braces.at[reader->at];
        if (quoted ? c == quote : item_ends(reader)) break;
        bool escaped = c == '\\' && reader->at + 1 < reader->braces.len &&
                       ispunct((unsigned char)reader->braces.at[reader->at + 1]);
        if (escaped) reader->at++;
        if (!quoted && !escaped && (c == '"' || c == '{')) break;
        buf_char(&buf, reader->braces.at[reader->at]);
    }
    if (quoted && reader->at == reader->braces.len) {
        reader_fails(reader, start, "a closing quote");
        return false;
    }
    if (quoted) reader->at++;
    if (!item_ends(reader) || (!quoted && buf.len == 0)) {
        reader_fails(reader, start, "a value, in quotes if it has spaces");
        return false;
    }
    *value = buf_str(&buf);
    return true;
}

static void read_key_value(Reader *reader) {
    size_t start = reader->at;
    Str key = str_slice(reader->braces, start,
                        start + fence_name_length(str_from(reader->braces, start)));
    Str value;
    reader->at += key.len;
    if (key.len == 0 || !reader_sees(reader, '=')) {
        reader_fails(reader, start, ".class, #name or key=value");
        return;
    }
    if (fence_attribute(reader->part, key, &value)) {
        reader_fails(reader, start, "each key once");
        return;
    }
    if (reader->part->attribute_count == ATTRIBUTES_MAX) {
        reader_fails(reader, start, "at most 64 keys");
        return;
    }
    reader->at++;
    if (!read_value(reader, &value)) return;
    FencePart *part = reader->part;
    ARENA_GROW(reader->arena, part->attributes, part->attribute_count, reader->attribute_capacity);
    part->attributes[part->attribute_count++] = (FenceAttribute){key, value};
}

void fence_braces(Arena *arena, Str braces, size_t column, FencePart *part) {
    Reader reader = {.arena = arena,
                     .braces = braces,
                     .at = 1,
                     .column = column,
                     .part = part,
                     .class_capacity = part->class_count,
                     .attribute_capacity = part->attribute_count};
    while (part->attribute_error.len == 0) {
        while (reader.at < braces.len && is_space(braces.at[reader.at])) reader.at++;
        if (reader.at == braces.len) {
            reader_fails(&reader, reader.at, "\"}\"");
        } else if (reader_sees(&reader, '}')) {
            reader.at++;
            while (reader.at < braces.len && is_space(braces.at[reader.at])) reader.at++;
            if (reader.at < braces.len) reader_fails(&reader, reader.at, "nothing after \"}\"");
            return;
        } else if (reader_sees(&reader, '.')) {
            read_class(&reader);
        } else if (reader_sees(&reader, '#')) {
            read_name(&reader);
        } else {
            read_key_value(&reader);
        }
    }
}

bool fence_braces_meant(Str braces) {
    char quote = '\0';
    bool item_starts = true, first = true;
    for (size_t i = 1; i < braces.len; i++) {
        char c = braces.at[i];
        if (quote) {
            if (c == quote) quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (item_starts && !is_space(c)) {
            if (c == '#' || (c == '.' && first)) return true;
            Str rest = str_from(braces, i);
            if (str_starts(rest, STR("file")) && str_starts(str_trim(str_from(rest, 4)), STR("=")))
                return true;
            first = false;
        }
        item_starts = is_space(c);
    }
    return false;
}

bool fence_has_class(const FencePart *part, Str class_name) {
    for (size_t i = 0; i < part->class_count; i++)
        if (str_equal(part->classes[i], class_name)) return true;
    return false;
}

bool fence_attribute(const FencePart *part, Str key, Str *value) {
    for (size_t i = 0; i < part->attribute_count; i++) {
        if (!str_equal(part->attributes[i].key, key)) continue;
        *value = part->attributes[i].value;
        return true;
    }
    return false;
}
