// Exercise: what stands between `::: {.exercise #id title="..."}` and its `:::`, and whether that
// makes an exercise. Its number is its place in the chapter: the second of chapter 4 is 4.2.
//
//   build    a hole to fill: chunks of one name, a .starter, a .solution and at least three
//            .wrong ones; a program below code/exercises/ that pulls the hole in; an .expect block
//   count    a number is asked: an .expect block that says `answer == ...`, no hole
//   explore  neither: something to run, with what one should see in an .answer div
//
// An .expect block demands one thing a line, `EXPRESSION` or `EXPRESSION | hint N`. A .wrong chunk
// says why="what is wrong" and fails="one of the demands", which must catch it. Hints are divs of
// class hint, numbered from 1. A .mistakes block of a number that is asked has lines
// `EXPRESSION | sentence`: answers that one arrives at by a known mistake.
#ifndef MARKDOWN_EXERCISE_H
#define MARKDOWN_EXERCISE_H

#include <stdbool.h>
#include <stddef.h>

#include "markdown/fence.h"

#define EXERCISE_NONE SIZE_MAX

enum { EXERCISE_WRONG_LEAST = 3 };

typedef enum { EXERCISE_EXPLORE, EXERCISE_COUNT, EXERCISE_BUILD } ExerciseKind;
typedef enum { VARIANT_NONE, VARIANT_STARTER, VARIANT_SOLUTION, VARIANT_WRONG } Variant;

typedef struct {
    Str text;    // the comparison
    size_t line; // in the chapter
    size_t hint; // the one that fits, from 1; 0: none
} ExerciseDemand;

typedef struct {
    Str value; // an expression
    Str why;
    size_t line;
} ExerciseMistake;

typedef struct {
    size_t chunk;
    Str why;
    size_t demand; // that must catch it: index into the demands
} ExerciseWrong;

typedef struct {
    Str id, title;
    size_t file, line, number; // the number is its place in the file, from 1
    bool closed;
    ExerciseKind kind;
    size_t starter, solution, program; // chunks; EXERCISE_NONE
    ExerciseWrong *wrong;
    size_t wrong_count, wrong_capacity;
    ExerciseDemand *demands;
    size_t demand_count, demand_capacity;
    ExerciseMistake *mistakes;
    size_t mistake_count, mistake_capacity;
    Str *hints; // their text, Markdown
    size_t hint_count, hint_capacity;
    bool answered; // it has an .answer div
} Exercise;

typedef struct ChunkTable ChunkTable;

// Finds the exercises of a file that has just been scanned, and says in inside[part] which one each
// of its parts stands in. Called by chunk_add.
void exercise_scan(ChunkTable *table, size_t file, size_t *inside);

// Fills what depends on chunks, and reports what makes no exercise. Called by chunk_check.
void exercise_check(ChunkTable *table);

// The variant that a fenced block is.
Variant exercise_variant(const FencePart *part);

// What to call a kind: "build it", "count it", "explore it".
const char *exercise_kind_name(ExerciseKind kind);

// The exercise that opens at this line of a file, or NULL.
const Exercise *exercise_at(const ChunkTable *table, size_t file, size_t line);

#endif
