// Strings as pointer and length, and growing buffers.
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Str str_of(const char *terminated) { return (Str){terminated, strlen(terminated)}; }

bool str_equal(Str a, Str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

int str_compare(Str a, Str b) {
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.at, b.at, shorter) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool str_starts(Str s, Str prefix) { return str_equal(str_slice(s, 0, prefix.len), prefix); }

bool str_ends(Str s, Str suffix) {
    return s.len >= suffix.len && str_equal(str_from(s, s.len - suffix.len), suffix);
}

Str str_from(Str s, size_t start) { return str_slice(s, start, s.len); }

Str str_slice(Str s, size_t start, size_t end) {
    if (end > s.len) end = s.len;
    if (start > end) start = end;
    return (Str){s.at ? s.at + start : NULL, end - start};
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

Str str_trim(Str s) {
    while (s.len && is_space(s.at[0])) s = str_from(s, 1);
    while (s.len && is_space(s.at[s.len - 1])) s.len--;
    return s;
}

size_t str_find(Str s, Str needle) {
    for (size_t i = 0; i + needle.len <= s.len; i++)
        if (str_starts(str_from(s, i), needle)) return i;
    return SIZE_MAX;
}

uint64_t str_hash(Str s) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < s.len; i++) hash = (hash ^ (unsigned char)s.at[i]) * 1099511628211u;
    return hash;
}

char *str_terminated(Arena *arena, Str s) {
    char *copy = ARENA_NEW(arena, s.len + 1, char);
    if (s.len) memcpy(copy, s.at, s.len);
    return copy;
}

Str str_one_line(Arena *arena, Str s) {
    Buf line = {.arena = arena};
    for (Str word; str_word(&s, &word);) {
        if (line.len) buf_char(&line, ' ');
        buf_add(&line, word);
    }
    return buf_str(&line);
}

Str str_shell(Arena *arena, Str s) {
    bool plain = s.len && s.at[0] != '-';
    for (size_t i = 0; i < s.len && plain; i++) {
        char c = s.at[i];
        plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                (c && strchr("_@%+=:,./-", c)) || (unsigned char)c >= 0x80;
    }
    if (plain) return s;
    Buf word = {.arena = arena};
    buf_char(&word, '\'');
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] == '\'')
            buf_add(&word, STR("'\\''"));
        else
            buf_char(&word, s.at[i]);
    buf_char(&word, '\'');
    return buf_str(&word);
}

bool str_word(Str *rest, Str *word) {
    *rest = str_trim(*rest);
    size_t end = 0;
    while (end < rest->len && str_trim(str_slice(*rest, end, end + 1)).len) end++;
    *word = str_slice(*rest, 0, end);
    *rest = str_from(*rest, end);
    return end > 0;
}

bool str_line(Str *rest, Str *line) {
    if (rest->len == 0) return false;
    const char *newline = memchr(rest->at, '\n', rest->len);
    size_t length = newline ? (size_t)(newline - rest->at) : rest->len;
    *line = str_slice(*rest, 0, length);
    *rest = str_from(*rest, newline ? length + 1 : length);
    if (line->len && line->at[line->len - 1] == '\r') line->len--;
    return true;
}

// The length of the UTF-8 sequence at the start of s, or 0 if it is invalid. RFC 3629, section 4.
static size_t utf8_sequence(Str s) {
    const unsigned char *b = (const unsigned char *)s.at;
    if (b[0] < 0x80) return 1;
    size_t length = b[0] >= 0xC2 && b[0] <= 0xDF ? 2 : (b[0] & 0xF0) == 0xE0 ? 3 : 4;
    if (b[0] < 0xC2 || b[0] > 0xF4 || s.len < length) return 0;
    unsigned char low = b[0] == 0xE0 ? 0xA0 : b[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = b[0] == 0xED ? 0x9F : b[0] == 0xF4 ? 0x8F : 0xBF;
    if (b[1] < low || b[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if ((b[i] & 0xC0) != 0x80) return 0;
    return length;
}

size_t str_invalid_utf8(Str s) {
    for (size_t i = 0; i < s.len;) {
        size_t length = utf8_sequence(str_from(s, i));
        if (length == 0) return i;
        i += length;
    }
    return SIZE_MAX;
}

static void buf_reserve(Buf *buf, size_t more) {
    if (buf->capacity - buf->len >= more) return;
    size_t capacity = buf->capacity ? buf->capacity : 256;
    while (capacity - buf->len < more) capacity *= 2;
    char *grown = ARENA_NEW(buf->arena, capacity, char);
    if (buf->len) memcpy(grown, buf->at, buf->len);
    buf->at = grown;
    buf->capacity = capacity;
}

void buf_add(Buf *buf, Str s) {
    if (s.len == 0) return;
    buf_reserve(buf, s.len);
    memcpy(buf->at + buf->len, s.at, s.len);
    buf->len += s.len;
}

void buf_char(Buf *buf, char c) { buf_add(buf, (Str){&c, 1}); }

void buf_format(Buf *buf, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        buf_reserve(buf, (size_t)length + 1);
        vsnprintf(buf->at + buf->len, (size_t)length + 1, format, again);
        buf->len += (size_t)length;
    }
    va_end(again);
}

Str buf_str(const Buf *buf) { return (Str){buf->at, buf->len}; }

enum { NEAR_LENGTH_MAX = 64 };

// The Levenshtein distance of a and b, each at most NEAR_LENGTH_MAX long.
static size_t edit_distance(Str a, Str b) {
    size_t row[NEAR_LENGTH_MAX + 1];
    for (size_t j = 0; j <= b.len; j++) row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t best = diagonal + (a.at[i - 1] != b.at[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b.len];
}

bool str_is_nearer(Str name, Str other, size_t *edits) {
    const size_t limit = *edits ? *edits - 1 : name.len / 3 + 1;
    if (name.len > NEAR_LENGTH_MAX || other.len > NEAR_LENGTH_MAX) return false;
    if (other.len > name.len + limit || name.len > other.len + limit) return false;
    const size_t found = edit_distance(name, other);
    if (found > limit) return false;
    *edits = found;
    return true;
}
