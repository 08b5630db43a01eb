// Div: the lines of pandoc's fenced divs, `::: name`, `::: {.name #id key="value"}` and `:::`.
// Inside fenced code and in nested blocks such a line is text: the caller looks at prose only.
#ifndef MARKDOWN_DIV_H
#define MARKDOWN_DIV_H

#include "markdown/braces.h"

typedef enum { DIV_NONE, DIV_OPENS, DIV_CLOSES } DivLine;

// What this line does to the divs around it. One that opens a div sets `braces`: the name of
// `::: name` is its class; braces->error says what is wrong with the attributes.
DivLine div_line(Arena *arena, Str line, Braces *braces);

#endif
