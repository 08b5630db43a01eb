// Source: a program without its comments, indentation, further blanks and empty lines. What is
// recorded of a program is recorded of this, its hash and the numbers of its lines: a comment
// changes nothing that was measured, and makes nothing stale.
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include "base/str.h"

// Lines of a program in C++ or CUDA, those without code left out. Begins as {.code.arena = ...,
// .rest = TEXT}.
typedef struct {
    Buf code;      // the line at hand, without what makes no difference
    size_t number; // of the line, from 1, among those that have code
    Str path;      // where it comes from, if the text has #line directives, which are no lines
    size_t line;
    Str text; // the line as it stands
    Str rest;
    char open; // what goes on into the next line: `*` a comment, `/` one of //, `"` `'` `R` text
} SourceLines;

bool source_next(SourceLines *lines);

// Where the lines with code of a text with #line directives come from: places[k] is of line k + 1.
typedef struct {
    struct SourcePlace {
        Str path;
        size_t line;
    } * places;
    size_t count;
} SourceMap;

SourceMap source_map(Arena *arena, Str text);

// The number of the line that `path` and `line` first stand for; 0 when they stand for none, as
// lines of headers do.
size_t source_number(const SourceMap *map, Str path, size_t line);

bool source_is_code(Str path); // by its ending: C, C++ or CUDA

// Adds the lines of a program to what will be hashed; of one in another language than these, as
// `path` says, its text as it is.
void source_add(Buf *all, Str path, Str text);

#endif
