// Reads JSON. See request.h.
#include "engine/request.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 20 };

typedef struct {
    Arena *arena;
    Str rest;
    int depth;
    bool failed;
} Reader;

static char next(Reader *r) {
    r->rest = str_trim(r->rest);
    return r->rest.len ? r->rest.at[0] : '\0';
}

static bool accept(Reader *r, char c) {
    if (next(r) != c || !c) return false;
    r->rest = str_from(r->rest, 1);
    return true;
}

static void add_utf8(Buf *text, uint32_t c) {
    if (c < 0x80) {
        buf_char(text, (char)c);
        return;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint32_t first[] = {0, 0xC0, 0xE0, 0xF0};
    buf_char(text, (char)(first[more] | c >> 6 * more));
    for (int k = more - 1; k >= 0; k--) buf_char(text, (char)(0x80 | (c >> 6 * k & 0x3F)));
}

// The four digits after \u.
static uint32_t hexadecimal(Reader *r) {
    char digits[5] = "", *end;
    for (size_t k = 0; k < 4 && k < r->rest.len; k++) digits[k] = r->rest.at[k];
    const unsigned long value = strtoul(digits, &end, 16);
    r->failed |= end != digits + 4;
    r->rest = str_from(r->rest, 4);
    return (uint32_t)value;
}

// After a backslash.
static void escape(Reader *r, Buf *text) {
    static const char letters[] = "nrtbf\"\\/", meant[] = "\n\r\t\b\f\"\\/";
    const char letter = r->rest.len ? r->rest.at[0] : '\0';
    r->rest = str_from(r->rest, 1);
    for (size_t k = 0; letters[k]; k++)
        if (letters[k] == letter) {
            buf_char(text, meant[k]);
            return;
        }
    if (letter != 'u') {
        r->failed = true;
        return;
    }
    uint32_t c = hexadecimal(r);
    if (c >= 0xD800 && c < 0xDC00 && str_starts(r->rest, STR("\\u"))) { // the first half of a pair
        r->rest = str_from(r->rest, 2);
        c = 0x10000 + ((c - 0xD800) << 10) + (hexadecimal(r) & 0x3FF);
    }
    add_utf8(text, c);
}

// After the first quote.
static Str text(Reader *r) {
    Buf out = {.arena = r->arena};
    while (r->rest.len && r->rest.at[0] != '"') {
        size_t plain = 0;
        while (plain < r->rest.len && r->rest.at[plain] != '"' && r->rest.at[plain] != '\\')
            plain++;
        buf_add(&out, str_slice(r->rest, 0, plain));
        r->rest = str_from(r->rest, plain);
        if (!r->rest.len || r->rest.at[0] != '\\') continue;
        r->rest = str_from(r->rest, 1);
        escape(r, &out);
    }
    r->failed |= !r->rest.len;
    r->rest = str_from(r->rest, 1);
    return buf_str(&out);
}

static void read_value(Reader *r, RequestValue *value);

// After the bracket.
static void members(Reader *r, RequestValue *value, char close) {
    RequestValue **tail = &value->first;
    while (!r->failed && !accept(r, close)) {
        if (value->first && !accept(r, ',')) r->failed = true;
        *tail = ARENA_NEW(r->arena, 1, RequestValue);
        if (close == '}') {
            r->failed |= !accept(r, '"');
            (*tail)->key = text(r);
            r->failed |= !accept(r, ':');
        }
        if (!r->failed) read_value(r, *tail);
        tail = &(*tail)->next;
    }
}

static void read_value(Reader *r, RequestValue *value) {
    size_t length = 0;
    if (++r->depth > DEEPEST) r->failed = true;
    if (accept(r, '"')) {
        value->text = text(r);
    } else if (!r->failed && accept(r, '{')) {
        value->kind = REQUEST_OBJECT;
        members(r, value, '}');
    } else if (!r->failed && accept(r, '[')) {
        value->kind = REQUEST_LIST;
        members(r, value, ']');
    } else {
        next(r);
        while (length < r->rest.len && !memchr(",]} \n", r->rest.at[length], 5)) length++;
        const Str word = str_slice(r->rest, 0, length);
        const bool letters = length && word.at[0] >= 'a';
        value->kind = letters ? REQUEST_WORD : REQUEST_NUMBER;
        value->text = word;
        value->number = letters ? 0 : strtod(str_terminated(r->arena, word), NULL);
        r->rest = str_from(r->rest, length);
        r->failed |= !length;
    }
    r->depth--;
}

const RequestValue *request_read(Arena *arena, Str from) {
    Reader r = {.arena = arena, .rest = from};
    RequestValue *value = ARENA_NEW(arena, 1, RequestValue);
    read_value(&r, value);
    return r.failed || next(&r) ? NULL : value;
}

const RequestValue *request_member(const RequestValue *object, Str key) {
    const RequestValue *member = object ? object->first : NULL;
    while (member && !str_equal(member->key, key)) member = member->next;
    return member;
}

Str request_text(const RequestValue *object, Str key) {
    const RequestValue *member = request_member(object, key);
    return member && member->kind == REQUEST_TEXT ? member->text : STR("");
}

double request_number(const RequestValue *object, Str key) {
    const RequestValue *member = request_member(object, key);
    return member ? member->number : 0;
}

bool request_true(const RequestValue *object, Str key) {
    const RequestValue *member = request_member(object, key);
    return member && member->kind == REQUEST_WORD && str_equal(member->text, STR("true"));
}
