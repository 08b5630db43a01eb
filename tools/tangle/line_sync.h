// Line sync: decides where generated C, C++ or CUDA text needs a #line directive to keep the
// compiler's file and line in step with the source. It lexes the generated text just far enough to
// recognize where a directive is impossible: after a backslash, in a block comment, in a raw
// string. Then it waits for the next line that allows one.
#ifndef TANGLE_LINE_SYNC_H
#define TANGLE_LINE_SYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

typedef enum { LEX_CODE, LEX_COMMENT, LEX_RAW_STRING } LineLexMode;

typedef struct {
    Str path; // what the compiler takes as the path of the next line
    size_t line;
    bool known; // false: path and line may be wrong

    LineLexMode mode;           // at the start of the next line
    Str raw_end;                // the delimiter that ends the raw string
    bool continued;             // the last line ended in a backslash,
    bool line_comment;          // in a // comment,
    char quote;                 // or in this kind of quotes; 0: none
    size_t conditionals;        // #if nesting
    bool conditional_directive; // a #line was written in the outermost #if and may be skipped
} LineSync;

// Adds a #line directive to `out` if the next line, which comes from path:line, needs and allows
// one.
void line_sync_before(LineSync *sync, Buf *out, Str path, size_t line);

// Updates the state after the line of text (without its end) was added.
void line_sync_after(LineSync *sync, Str text);

#endif
