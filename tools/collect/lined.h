// Lined: a lab's source with #line directives, which says where its lines come from.
#ifndef COLLECT_LINED_H
#define COLLECT_LINED_H

#include "base/str.h"

// The line of the tangled code that `file` and `line` first stand for in the copy with #line
// directives; 0 when they stand for none, as lines of headers do.
size_t lined_code_line(Str lined, Str file, size_t line);

#endif
