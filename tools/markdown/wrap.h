// Wrap: wraps the paragraphs of a Markdown text again. The text means the same afterwards.
#ifndef MARKDOWN_WRAP_H
#define MARKDOWN_WRAP_H

#include "base/arena.h"
#include "base/str.h"

// The text with its paragraphs, also those of lists and block quotes, in lines of at most `width`
// characters, except for a word, code span, formula, link target or tag that is longer. Headings,
// tables, code, HTML blocks, link definitions, displayed formulas and hard line breaks stay as they
// are. A text that was wrapped to a width stays as it is.
Str wrap_markdown(Arena *arena, Str text, size_t width);

#endif
