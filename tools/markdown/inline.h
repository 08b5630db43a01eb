// Inline: splits a paragraph of Markdown into the spans that weaving needs. The `whole` slices of
// all spans, concatenated, are the paragraph.
//
// Code spans and escapes follow CommonMark 0.31 (6.1, 2.4); attributes and notes follow pandoc.
#ifndef MARKDOWN_INLINE_H
#define MARKDOWN_INLINE_H

#include <stdbool.h>

#include "base/str.h"

typedef enum {
    INLINE_TEXT,       // anything else, including markup of emphasis
    INLINE_CODE,       // code, with the attributes {…} directly after it
    INLINE_TARGET,     // the destination of a link or image, without (…) and title
    INLINE_ATTRIBUTES, // {…} after a link, an image or a bracketed span
    INLINE_NOTE,       // [^label]; text is the label
    INLINE_AUTOLINK,   // <https://…>
    INLINE_MATH,       // $…$ or $$…$$
} InlineKind;

typedef struct {
    InlineKind kind;
    Str whole;
    Str text;       // the content between the marks; for attributes and math: all of it
    Str attributes; // of a code span: {…}, or empty
    bool image;     // the target is an image's
} Inline;

enum { INLINE_DEPTH_MAX = 64 }; // deeper nested brackets are read as text

typedef struct {
    Str rest;
    const char *start; // of the paragraph
    bool images[INLINE_DEPTH_MAX];
    int depth;      // open brackets
    bool image;     // the bracket closed last was an image's
    bool in_target; // a destination is next
    bool in_link;   // between a destination and its closing parenthesis
    bool closed;    // a link or bracketed span has just ended: attributes may follow
} InlineScan;

InlineScan inline_scan(Str paragraph);

// Reads the next span. Returns false at the end.
bool inline_next(InlineScan *scan, Inline *span);

#endif
