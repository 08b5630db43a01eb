// Text inside a page: whatever a kernel's name, a path or a source line holds, it stays text.
#ifndef ESCAPE_H
#define ESCAPE_H

#include "base/str.h"

// Adds the text so that it may stand in HTML, also in a quoted attribute. Bytes that are not UTF-8
// and control characters become U+FFFD; tabs and line ends stay.
void escape_html(Buf *buf, Str text);

// The same text with U+FFFD for each byte that is not UTF-8.
Str escape_valid(Arena *arena, Str text);

// Adds the text as a string of JSON, with its quotes, that may stand in a <script> element.
void escape_json(Buf *buf, Str text);

#endif
