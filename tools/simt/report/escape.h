// Escapes text for a page, so that no kernel name, path, or source line is read as markup.
#ifndef ESCAPE_H
#define ESCAPE_H

#include "base/str.h"

// Adds text escaped for HTML, also inside a quoted attribute. Invalid UTF-8 and control characters
// become U+FFFD, except tabs and newlines.
void escape_html(Buf *buf, Str text);

// The same text with U+FFFD for each byte that is not UTF-8.
Str escape_valid(Arena *arena, Str text);

// Adds a JSON string, with its quotes, that is safe in a <script> element.
void escape_json(Buf *buf, Str text);

#endif
