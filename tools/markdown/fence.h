// Fence: the block structure of Markdown as far as fenced code needs it. A text becomes a list of
// parts, in order, that are either prose or one fenced block; the `source` slices of all parts,
// put together, are the text again.
//
// The rules are CommonMark 0.31's, section 4.5, with what decides whether a line can open or close
// a fence: block quotes and list items (5.1, 5.2, down to FENCE_DEPTH_MAX levels), lazy paragraph
// lines, HTML blocks (4.6), indents of four columns or more. The attributes are pandoc's:
//
//     ``` {.cuda #load-tile key=value other="two words"}
//     ```cuda {#load-tile}                                  (pandoc 3)
//     ```cuda                                               (no braces: the word is the class)
//
// Braces that never meant to be pandoc's, such as {r, echo=FALSE} or {1,3-5}, are no error.
#ifndef MARKDOWN_FENCE_H
#define MARKDOWN_FENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "markdown/braces.h"

enum { FENCE_DEPTH_MAX = 100 }; // containers beyond this depth are read as text

typedef struct {
    bool fenced;       // false: prose, and only source, line and line_count mean anything
    Str source;        // every byte, line ends included; a fenced block has its fence lines too
    size_t line;       // of the first line of `source`, counted from 1
    size_t line_count; // lines in `source`

    Str before;  // what stands before the opening fence on its line: container marks and indent
    Str ticks;   // the opening fence itself: three or more ` or ~
    Str info;    // the rest of that line, trimmed
    bool nested; // inside a list item or a block quote
    bool closed; // a closing fence was found before the text or the container ended
    Str *body;   // content lines without line end, container marks and the fence's own indent;
    size_t body_count; // body[i] stands on line `line + 1 + i`

    Braces braces; // what the fence is called and said about it; file= is among its attributes
} FencePart;

typedef struct {
    FencePart *parts;
    size_t count;
} FenceParts;

// Takes the whole text apart. `text` must outlive the result, which lives in the arena.
// Every text has a reading: nothing is an error here except what braces.error and closed tell.
FenceParts fence_scan(Arena *arena, Str text);

bool fence_has_class(const FencePart *part, Str class_name);

// The value of the first attribute with this key; false if there is none.
bool fence_attribute(const FencePart *part, Str key, Str *value);

#endif
