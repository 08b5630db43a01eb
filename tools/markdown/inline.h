// Inline: a paragraph of Markdown taken apart as far as weaving needs it. The `whole` slices of all
// pieces, put together, are the paragraph again.
//
// Code spans and backslash escapes are CommonMark 0.31's (6.1, 2.4), attributes and notes pandoc's.
#ifndef MARKDOWN_INLINE_H
#define MARKDOWN_INLINE_H

#include <stdbool.h>

#include "base/str.h"

typedef enum {
    INLINE_TEXT,       // everything else, markup of emphasis included
    INLINE_CODE,       // `text`, with attributes where {…} follows at once
    INLINE_TARGET,     // the destination of a link or image, without (…) or title
    INLINE_ATTRIBUTES, // {…} after a link, an image or a bracketed span
    INLINE_NOTE,       // [^label], text is the label
    INLINE_AUTOLINK,   // <https://…>
    INLINE_MATH,       // $…$ or $$…$$
} InlineKind;

typedef struct {
    InlineKind kind;
    Str whole;
    Str text;       // what is between the marks; of attributes and math: all of it
    Str attributes; // of a code span: {…}; empty when it has none
    bool image;     // of a target
} Inline;

enum { INLINE_DEPTH_MAX = 64 }; // brackets inside brackets beyond this are read as text

typedef struct {
    Str rest;
    const char *start; // of the paragraph
    bool images[INLINE_DEPTH_MAX];
    int depth;      // open brackets
    bool image;     // the bracket closed last was an image's
    bool in_target; // a destination comes next
    bool in_link;   // between a destination and its closing parenthesis
    bool closed;    // a link or a bracketed span has just ended: attributes may follow
} InlineScan;

InlineScan inline_scan(Str paragraph);

// The next piece. False at the end.
bool inline_next(InlineScan *scan, Inline *piece);

#endif
