// Splits a paragraph into spans, with a bounded search for each closing mark.
#include "markdown/inline.h"

#include <string.h>

// The longest span of any kind. It bounds the search for a closing mark, and so the time for a
// paragraph full of opening marks.
#define LOOKAHEAD 4096

InlineScan inline_scan(Str paragraph) {
    return (InlineScan){.rest = paragraph, .start = paragraph.at};
}

static char at(Str s, size_t i) { return i < s.len ? s.at[i] : '\0'; }

static size_t run_of(Str s, size_t start, char c) {
    size_t end = start;
    while (at(s, end) == c && end < s.len) end++;
    return end - start;
}

// The index of the next c in s from `start` on; SIZE_MAX if there is none within LOOKAHEAD.
static size_t find_byte(Str s, size_t start, char c) {
    Str near = str_slice(s, start, start + LOOKAHEAD);
    const char *found = near.len ? memchr(near.at, c, near.len) : NULL;
    return found ? (size_t)(found - s.at) : SIZE_MAX;
}

// The length of the code span at the start of s, including its backticks; 0 if it is not closed.
static size_t code_length(Str s, size_t ticks) {
    for (size_t i = ticks; (i = find_byte(s, i, '`')) < LOOKAHEAD;) {
        size_t run = run_of(s, i, '`');
        if (run == ticks) return i + run;
        i += run;
    }
    return 0;
}

// Whether {… starts an attribute list: a class, an identifier, a key with a value, or a dash.
static bool starts_attributes(Str s) {
    char c = at(s, 1);
    if (at(s, 0) != '{') return false;
    if (c == '.' || c == '#' || c == '-') return true;
    bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
    return letter && find_byte(s, 0, '=') < find_byte(s, 0, '}');
}

// The length of the attribute list "{…}" at the start of s, or 0. Quotes may contain braces.
static size_t brace_length(Str s) {
    bool quoted = false;
    if (!starts_attributes(s)) return 0;
    for (size_t i = 1; i < s.len && i < LOOKAHEAD; i++) {
        if (s.at[i] == '"') quoted = !quoted;
        if (s.at[i] == '}' && !quoted) return i + 1;
    }
    return 0;
}

// The length of the math at the start of s. By pandoc's tex_math_dollars there is no space inside
// the dollars and no digit after the closing one.
static size_t math_length(Str s) {
    size_t dollars = at(s, 1) == '$' ? 2 : 1;
    char first = at(s, dollars);
    if (dollars == 1 && (first == ' ' || first == '\n' || first == '\0')) return 0;
    for (size_t i = dollars; (i = find_byte(s, i, '$')) < LOOKAHEAD; i++) {
        char before = s.at[i - 1], after = at(s, i + 1);
        if (before == '\\') continue;
        if (dollars == 2 && after == '$') return i + 2;
        if (dollars == 1 && before != ' ' && before != '\n')
            return after >= '0' && after <= '9' ? 0 : i + 1;
    }
    return 0;
}

static size_t autolink_length(Str s) {
    size_t colon = str_find(str_slice(s, 0, 10), STR(":")), end = find_byte(s, 0, '>');
    if (colon == SIZE_MAX || end == SIZE_MAX || end < colon) return 0;
    for (size_t i = 1; i < end; i++)
        if (s.at[i] == ' ' || s.at[i] == '\n' || s.at[i] == '<') return 0;
    return end + 1;
}

static size_t note_length(Str s) {
    if (at(s, 1) != '^' || at(s, 2) == ']') return 0;
    for (size_t i = 2; i < s.len; i++) {
        if (s.at[i] == ']') return i + 1;
        if (s.at[i] == ' ' || s.at[i] == '\n' || s.at[i] == '[') return 0;
    }
    return 0;
}

// The length of a link destination, which ends at white space or the matching parenthesis.
static size_t target_length(Str s) {
    int open = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == ' ' || s.at[i] == '\n' || s.at[i] == '\t') return i;
        if (s.at[i] == '(') open++;
        if (s.at[i] == ')' && open-- == 0) return i;
    }
    return s.len;
}

// `[label]: destination` at the start of a line: the length up to the destination.
static size_t definition_length(const InlineScan *scan, Str s) {
    const char *back = s.at;
    while (back > scan->start && back[-1] == ' ') back--;
    if ((back > scan->start && back[-1] != '\n') || s.at - back > 3) return 0;
    size_t close = find_byte(s, 0, ']');
    if (at(s, 1) == '^' || close == SIZE_MAX || at(s, close + 1) != ':') return 0;
    size_t start = close + 2;
    while (at(s, start) == ' ') start++;
    return start;
}

// Parses a span other than plain text at the start of s. Returns its length, or 0.
static size_t special(InlineScan *scan, Str s, Inline *span) {
    char c = at(s, 0);
    size_t length = 0;
    *span = (Inline){.kind = INLINE_TEXT};
    if (scan->in_target) {
        length = target_length(s);
        *span = (Inline){INLINE_TARGET, .text = str_slice(s, 0, length), .image = scan->image};
    } else if (scan->closed && c == '{' && (length = brace_length(s))) {
        *span = (Inline){INLINE_ATTRIBUTES, .text = str_slice(s, 0, length)};
    } else if (c == '`') {
        size_t ticks = run_of(s, 0, '`');
        size_t code = code_length(s, ticks), braces = code ? brace_length(str_from(s, code)) : 0;
        length = code + braces;
        if (code) *span = (Inline){INLINE_CODE, .text = str_slice(s, ticks, code - ticks)};
        if (braces) span->attributes = str_slice(s, code, length);
    } else if (c == '$' && (length = math_length(s))) {
        *span = (Inline){INLINE_MATH, .text = str_slice(s, 0, length)};
    } else if (c == '<' && (length = autolink_length(s))) {
        *span = (Inline){INLINE_AUTOLINK, .text = str_slice(s, 1, length - 1)};
    } else if (c == '[' && (length = note_length(s))) {
        *span = (Inline){INLINE_NOTE, .text = str_slice(s, 2, length - 1)};
    }
    span->whole = str_slice(s, 0, length);
    return length;
}

// Tracks brackets in plain text, to recognize a link destination. Returns the bytes to take at
// once.
static size_t plain(InlineScan *scan, Str s) {
    char c = at(s, 0);
    scan->closed = c == ')' && scan->in_link;
    if (scan->closed) scan->in_link = false;
    if (c == '\\' && s.len > 1) return 2;
    if (c == '`') return run_of(s, 0, '`');
    if (c == '[') {
        size_t definition = definition_length(scan, s);
        if (definition) {
            scan->in_target = true;
            scan->image = false;
            return definition;
        }
        bool image = s.at > scan->start && s.at[-1] == '!';
        if (scan->depth < INLINE_DEPTH_MAX) scan->images[scan->depth] = image;
        scan->depth++;
    } else if (c == ']' && scan->depth > 0) {
        scan->depth--;
        scan->image = scan->depth < INLINE_DEPTH_MAX && scan->images[scan->depth];
        scan->in_target = at(s, 1) == '(';
        scan->closed = !scan->in_target;
        return scan->in_target ? 2 : 1;
    }
    return 1;
}

bool inline_next(InlineScan *scan, Inline *span) {
    Str start = scan->rest;
    size_t end = 0;
    while (end < start.len) {
        size_t length = special(scan, str_from(start, end), span);
        if (span->kind == INLINE_TEXT) {
            end += plain(scan, str_from(start, end));
        } else if (end) {
            break;
        } else {
            scan->in_link = scan->in_target && start.at[-1] == '(';
            scan->in_target = scan->closed = false;
            scan->rest = str_from(start, length);
            return true;
        }
    }
    *span = (Inline){.kind = INLINE_TEXT, .whole = str_slice(start, 0, end)};
    span->text = span->whole;
    scan->rest = str_from(start, end);
    return end > 0;
}
