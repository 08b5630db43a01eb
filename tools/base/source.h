// Source: a program without comments, indentation, extra blanks and empty lines. Results refer to
// this form, by hash and line numbers, so that changing a comment does not make them stale.
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include "base/str.h"

// Iterates over those lines of a C++ or CUDA program that contain code. Initialize with
// {.code.arena = ..., .rest = TEXT}.
typedef struct {
    Buf code;      // the current line, without comments and extra blanks
    size_t number; // of the current line among those with code, from 1
    Str path; // source file and line according to #line directives, which are not counted as lines
    size_t line;
    Str text; // the current line, unchanged
    Str rest;
    char open; // what is open: `*` block comment, `/` line comment, `"` `'` `R` quoted text, 0
               // nothing
} SourceLines;

bool source_next(SourceLines *lines);

// The source of each line with code, according to #line directives: places[k] is for line k + 1.
typedef struct {
    struct SourcePlace {
        Str path;
        size_t line;
    } * places;
    size_t count;
} SourceMap;

SourceMap source_map(Arena *arena, Str text);

// The number of the first line with code from `path` and `line`; 0 if there is none, as in headers.
size_t source_number(const SourceMap *map, Str path, size_t line);

bool source_is_code(Str path); // by its extension: C, C++ or CUDA

// Appends the text to hash: the lines with code of a C, C++ or CUDA program, or the whole text if
// `path` names another language.
void source_add(Buf *all, Str path, Str text);

#endif
