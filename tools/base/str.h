// Str: text as pointer and length, not terminated and not owned. Buf: a growing text.
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct {
    const char *at;
    size_t len;
} Str;

// Makes a Str of a literal, also in the initializer of a constant.
#define STR(literal) ((Str){"" literal, sizeof(literal) - 1})
#define STR_ARG(s)   (int)(s).len, (s).at // for "%.*s"

Str str_of(const char *terminated);
bool str_equal(Str a, Str b);
int str_compare(Str a, Str b); // like memcmp; a prefix sorts first
bool str_starts(Str s, Str prefix);
bool str_ends(Str s, Str suffix);
Str str_from(Str s, size_t start);              // s[start..], empty if start is past the end
Str str_slice(Str s, size_t start, size_t end); // s[start..end), clamped
Str str_trim(Str s);                            // without leading and trailing ASCII white space
size_t str_find(Str s, Str needle);             // position, or SIZE_MAX
uint64_t str_hash(Str s);                       // 64-bit FNV-1a, stable between runs and machines
Str str_one_line(Arena *arena, Str s);          // white space between words becomes one blank
Str str_shell(Arena *arena, Str s);             // as a word of a shell's command: quoted if needed
char *str_terminated(Arena *arena, Str s);      // a copy with a NUL, for calls that need one

// For "did you mean": whether `other` is similar to `name`, and closer than the best match so far,
// which is *edits edits away (0: no match yet). Updates *edits if so.
bool str_is_nearer(Str name, Str other, size_t *edits);

// Takes the next line off *rest, without its "\n" or "\r\n". Returns false at the end of the text.
bool str_line(Str *rest, Str *line);

// Takes the next word, which ends at white space, off *rest. Returns false if there is none.
bool str_word(Str *rest, Str *word);

// The position of the first byte that is not valid UTF-8, or SIZE_MAX.
size_t str_invalid_utf8(Str s);

// A growing text in an arena.
typedef struct {
    Arena *arena;
    char *at;
    size_t len;
    size_t capacity;
} Buf;

void buf_add(Buf *buf, Str s);
void buf_char(Buf *buf, char c);
void buf_format(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
Str buf_str(const Buf *buf);

#endif
