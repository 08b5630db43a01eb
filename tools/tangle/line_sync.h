// Line sync: decides where generated C, C++ or CUDA text needs a #line directive so that the
// compiler's idea of file and line stays that of the source. It follows the generated text just far
// enough to know where a directive would not be one: after a backslash, in a block comment, in a
// raw string. There it waits for the next line that allows it.
#ifndef TANGLE_LINE_SYNC_H
#define TANGLE_LINE_SYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

typedef enum { LEX_CODE, LEX_COMMENT, LEX_RAW_STRING } LineLexMode;

typedef struct {
    Str path; // what the compiler takes the next line for
    size_t line;
    bool known; // false: the compiler may take it for something else

    LineLexMode mode;           // at the start of the next line
    Str raw_end;                // the delimiter that ends the raw string
    bool continued;             // the last line ended in a backslash
    bool line_comment;          // and did so inside a // comment,
    char quote;                 // or inside this kind of quotes
    size_t conditionals;        // #if nesting
    bool conditional_directive; // a #line was written inside the outermost #if: perhaps skipped
} LineSync;

// Adds a #line directive to `out` if the next line of text, which stands at path:line, needs one
// and can have one.
void line_sync_before(LineSync *sync, Buf *out, Str path, size_t line);

// Tells of the line of text, without its end, that followed.
void line_sync_after(LineSync *sync, Str text);

#endif
