// Fence: splits Markdown into prose and fenced blocks. Joined together, the `source` slices
// of all parts give the text back.
//
// The rules for fences are in CommonMark 0.31, section 4.5. Other constructs decide whether a line
// can open or close a fence, and their rules apply too: block quotes and list items (5.1, 5.2, up
// to FENCE_DEPTH_MAX levels), lazy paragraph lines, HTML blocks (4.6), and indents of four or more
// columns. Attributes are pandoc's:
//
//     ``` {.cuda #load-tile key=value other="two words"}
//     ```cuda {#load-tile}                                  (pandoc 3)
//     ```cuda                                               (no braces: the word is the class)
//
// Braces of other dialects, such as {r, echo=FALSE} or {1,3-5}, are not errors.
#ifndef MARKDOWN_FENCE_H
#define MARKDOWN_FENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "markdown/braces.h"

enum { FENCE_DEPTH_MAX = 100 }; // containers beyond this depth are read as text

typedef struct {
    bool fenced;       // false: prose, where only source, line and line_count are set
    Str source;        // all bytes, including line ends and the fence lines of a block
    size_t line;       // number of the first line of `source`, from 1
    size_t line_count; // number of lines in `source`

    Str before;  // the text before the opening fence on its line: container markers and indent
    Str ticks;   // the opening fence itself: three or more ` or ~
    Str info;    // the rest of that line, trimmed
    bool nested; // inside a list item or a block quote
    bool closed; // a closing fence was found before the text or the container ended
    Str *body;   // content lines without line end, container markers and the fence's own indent;
                 // body[i] is line `line + 1 + i`
    size_t body_count;

    Braces braces; // class, name and attributes of the block, such as file=
} FencePart;

typedef struct {
    FencePart *parts;
    size_t count;
} FenceParts;

// Splits a text, which must outlive the result in the arena. Any text can be split; the only errors
// are braces.error and a fence that is not closed.
FenceParts fence_scan(Arena *arena, Str text);

bool fence_has_class(const FencePart *part, Str class_name);

// The value of the first attribute with this key; false if there is none.
bool fence_attribute(const FencePart *part, Str key, Str *value);

#endif
