// Braces: pandoc's attribute lists, {.class #name key=value other="two words"}, of a fence, a
// heading or inline code.
#ifndef MARKDOWN_BRACES_H
#define MARKDOWN_BRACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    Str key;
    Str value; // without quotes and backslash escapes
} BracesAttribute;

typedef struct {
    Str id;       // empty: none
    Str *classes; // in order, without the dot
    size_t class_count;
    BracesAttribute *attributes; // in order
    size_t attribute_count;
    // Not empty: the attribute list is malformed. One line that names the column, what was found
    // and what was expected.
    Str error;
} Braces;

// Parses an attribute list, from "{" to "}" inclusive, and adds to what is in `braces` already.
// `column` is that of the "{", from 1, for messages. The result is in the arena and in `text`.
void braces_read(Arena *arena, Str text, size_t column, Braces *braces);

// Whether this text is meant as an attribute list, well-formed or not: it starts with a class, or
// has a #name or file= outside quotes.
bool braces_meant(Str text);

bool braces_have_class(const Braces *braces, Str class_name);

// The value of the first attribute with this key; false if there is none.
bool braces_value(const Braces *braces, Str key, Str *value);

// The length of the name at the start of s, or 0. A name of a chunk, a class or a key is a letter,
// then letters, digits, "-", "_", ":" and "."; any character outside ASCII counts as a letter, as
// in pandoc.
size_t braces_name_length(Str s);

// --- the lines of pandoc's fenced divs: div.c ---

typedef enum { DIV_NONE, DIV_OPENS, DIV_CLOSES } DivLine;

// Whether a line opens a div (`::: name` or `::: {.name #id key="value"}`) or closes one (`:::`).
// Inside fenced code and nested blocks such a line is text, so pass lines of prose only. If the
// line opens a div, sets `braces`: the name of `::: name` is its class, and braces->error is any
// error in the attributes.
DivLine div_line(Arena *arena, Str line, Braces *braces);

#endif
