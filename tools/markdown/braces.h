// Braces: attribute lists as pandoc writes them, {.class #name key=value other="two words"}, of a
// fence, a heading or inline code.
#ifndef MARKDOWN_BRACES_H
#define MARKDOWN_BRACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    Str key;
    Str value; // without its quotes, backslash escapes undone
} BracesAttribute;

typedef struct {
    Str id;       // empty: none
    Str *classes; // in order, without the dot
    size_t class_count;
    BracesAttribute *attributes; // in order
    size_t attribute_count;
    // Not empty: this looks like an attribute list but is none. One line for the author that names
    // the column, what was found and what was expected.
    Str error;
} Braces;

// Parses an attribute list, from "{" to "}" inclusive, adding to what is in `braces` already.
// `column`: of the "{", from 1, for messages. The result lives in the arena and in `text`.
void braces_read(Arena *arena, Str text, size_t column, Braces *braces);

// Does this text look as if meant as such a list, well-formed or not? It does if it starts with a
// class, or holds a #name or file= outside quotes.
bool braces_meant(Str text);

bool braces_have_class(const Braces *braces, Str class_name);

// The value of the first attribute with this key; false if there is none.
bool braces_value(const Braces *braces, Str key, Str *value);

// The length of the name that s starts with, or 0. A name, of a chunk, a class or a key, is a
// letter, then letters, digits, "-", "_", ":" and "."; any character outside ASCII counts as a
// letter. Pandoc reads all of these alike.
size_t braces_name_length(Str s);

// --- the lines of pandoc's fenced divs: div.c ---

typedef enum { DIV_NONE, DIV_OPENS, DIV_CLOSES } DivLine;

// What a line does: `::: name`, `::: {.name #id key="value"}` or `:::`. Inside fenced code and in
// nested blocks such a line is text, so the caller looks at prose only.
//
// What this line does to the divs around it. One that opens a div sets `braces`: the name of
// `::: name` is its class; braces->error says what is wrong with the attributes.
DivLine div_line(Arena *arena, Str line, Braces *braces);

#endif
