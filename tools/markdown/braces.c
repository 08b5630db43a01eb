// Parses pandoc's attribute lists.
#include "markdown/braces.h"

#include <ctype.h>

static bool is_space(char c) { return isspace((unsigned char)c); }

// Bytes above 127 count as letters: they are parts of letters outside ASCII.
static bool is_letter(char c) { return isalpha((unsigned char)c) || (unsigned char)c >= 0x80; }

static bool is_name_char(char c) {
    return is_letter(c) || isdigit((unsigned char)c) || c == '-' || c == '_' || c == ':' ||
           c == '.';
}

size_t braces_name_length(Str s) {
    size_t n = 0;
    if (s.len == 0 || !is_letter(s.at[0])) return 0;
    while (n < s.len && is_name_char(s.at[n])) n++;
    return n;
}

typedef struct {
    Arena *arena;
    Str text;
    size_t at;
    size_t column; // of text[0]
    Braces *braces;
    size_t class_capacity;
    size_t attribute_capacity;
} Reader;

enum { ATTRIBUTES_MAX = 64, FOUND_MAX = 60 };

// The item at `at`, up to white space or the closing brace, for a message; shortened if it is long.
static Str item_at(const Reader *reader, size_t at) {
    size_t end = at;
    while (end < reader->text.len && !is_space(reader->text.at[end]) && reader->text.at[end] != '}')
        end++;
    Str item = str_slice(reader->text, at, end);
    if (item.len <= FOUND_MAX) return item;
    size_t whole = FOUND_MAX; // do not cut a UTF-8 character
    while (whole && ((unsigned char)item.at[whole] & 0xC0) == 0x80) whole--;
    item.len = whole ? whole : FOUND_MAX;
    return item;
}

static void reader_fails(Reader *reader, size_t at, const char *expected) {
    Buf buf = {.arena = reader->arena};
    Str found = item_at(reader, at);
    buf_format(&buf, "bad attributes at column %zu: expected %s", reader->column + at, expected);
    if (found.len)
        buf_format(&buf, ", found `%.*s`", STR_ARG(found));
    else if (at < reader->text.len)
        buf_format(&buf, ", found `%c`", reader->text.at[at]);
    else
        buf_format(&buf, ", found the end of the line");
    reader->braces->error = buf_str(&buf);
}

static bool reader_sees(const Reader *reader, char c) {
    return reader->at < reader->text.len && reader->text.at[reader->at] == c;
}

static bool item_ends(const Reader *reader) {
    return reader->at == reader->text.len || reader_sees(reader, '}') ||
           is_space(reader->text.at[reader->at]);
}

static void read_class(Reader *reader) {
    size_t start = ++reader->at;
    reader->at += braces_name_length(str_from(reader->text, start));
    if (reader->at == start || !item_ends(reader)) {
        reader_fails(reader, start - 1, "a class such as .cuda");
        return;
    }
    Braces *braces = reader->braces;
    ARENA_GROW(reader->arena, braces->classes, braces->class_count, reader->class_capacity);
    braces->classes[braces->class_count++] = str_slice(reader->text, start, reader->at);
}

static void read_name(Reader *reader) {
    size_t start = ++reader->at;
    reader->at += braces_name_length(str_from(reader->text, start));
    if (reader->at == start || !item_ends(reader))
        reader_fails(reader, start - 1,
                     "#name: a letter, then letters, digits, \"-\", \"_\", \":\" or \".\"");
    else if (reader->braces->id.len)
        reader_fails(reader, start - 1, "one #name only");
    else
        reader->braces->id = str_slice(reader->text, start, reader->at);
}

// Reads a value, quoted or bare. A backslash escapes the character after it.
static bool read_value(Reader *reader, Str *value) {
    Buf buf = {.arena = reader->arena};
    size_t start = reader->at;
    bool quoted = reader_sees(reader, '"') || reader_sees(reader, '\'');
    char quote = quoted ? reader->text.at[reader->at++] : '\0';
    for (; reader->at < reader->text.len; reader->at++) {
        char c = reader->text.at[reader->at];
        if (quoted ? c == quote : item_ends(reader)) break;
        bool escaped = c == '\\' && reader->at + 1 < reader->text.len &&
                       ispunct((unsigned char)reader->text.at[reader->at + 1]);
        if (escaped) reader->at++;
        if (!quoted && !escaped && (c == '"' || c == '{')) break;
        buf_char(&buf, reader->text.at[reader->at]);
    }
    if (quoted && reader->at == reader->text.len) {
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
    Str key =
        str_slice(reader->text, start, start + braces_name_length(str_from(reader->text, start)));
    Str value;
    reader->at += key.len;
    if (key.len == 0 || !reader_sees(reader, '=')) {
        reader_fails(reader, start, ".class, #name or key=value");
        return;
    }
    if (braces_value(reader->braces, key, &value)) {
        reader_fails(reader, start, "each key once");
        return;
    }
    if (reader->braces->attribute_count == ATTRIBUTES_MAX) {
        reader_fails(reader, start, "at most 64 keys");
        return;
    }
    reader->at++;
    if (!read_value(reader, &value)) return;
    Braces *braces = reader->braces;
    ARENA_GROW(reader->arena, braces->attributes, braces->attribute_count,
               reader->attribute_capacity);
    braces->attributes[braces->attribute_count++] = (BracesAttribute){key, value};
}

void braces_read(Arena *arena, Str text, size_t column, Braces *braces) {
    Reader reader = {.arena = arena,
                     .text = text,
                     .at = 1,
                     .column = column,
                     .braces = braces,
                     .class_capacity = braces->class_count,
                     .attribute_capacity = braces->attribute_count};
    while (braces->error.len == 0) {
        while (reader.at < text.len && is_space(text.at[reader.at])) reader.at++;
        if (reader.at == text.len) {
            reader_fails(&reader, reader.at, "\"}\"");
        } else if (reader_sees(&reader, '}')) {
            reader.at++;
            while (reader.at < text.len && is_space(text.at[reader.at])) reader.at++;
            if (reader.at < text.len) reader_fails(&reader, reader.at, "nothing after \"}\"");
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

bool braces_meant(Str text) {
    char quote = '\0';
    bool item_starts = true, first = true;
    for (size_t i = 1; i < text.len; i++) {
        char c = text.at[i];
        if (quote) {
            if (c == quote) quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (item_starts && !is_space(c)) {
            if (c == '#' || (c == '.' && first)) return true;
            Str rest = str_from(text, i);
            if (str_starts(rest, STR("file")) && str_starts(str_trim(str_from(rest, 4)), STR("=")))
                return true;
            first = false;
        }
        item_starts = is_space(c);
    }
    return false;
}

bool braces_have_class(const Braces *braces, Str class_name) {
    for (size_t i = 0; i < braces->class_count; i++)
        if (str_equal(braces->classes[i], class_name)) return true;
    return false;
}

bool braces_value(const Braces *braces, Str key, Str *value) {
    for (size_t i = 0; i < braces->attribute_count; i++) {
        if (!str_equal(braces->attributes[i].key, key)) continue;
        *value = braces->attributes[i].value;
        return true;
    }
    return false;
}
