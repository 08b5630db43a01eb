// Exercise: the part of a chapter between `::: {.exercise #id title="..."}` and its `:::`, and the
// checks that it is complete. The second exercise of chapter 4 has the number 4.2. There are three
// kinds:
//
//   build    a hole to fill: chunks of one name, a .starter, a .solution and at least three
//            .wrong ones; a program below code/exercises/ that includes it; an .expect block
//   count    a question with a number as answer: an .expect block with `answer == ...`, no hole
//   explore  something to run, neither hole nor question; an .answer div says what to expect
//
// An .expect block has one demand per line, `EXPRESSION` or `EXPRESSION | hint N`. Several hints
// may follow, each after a bar; `hint N if EXPRESSION` depends on a condition. A .wrong chunk has
// why="what is wrong" and fails="a demand", which must catch it. Hints are divs of class hint,
// numbered from 1. A .mistakes block of a question has lines `EXPRESSION | sentence`: wrong answers
// that result from a known mistake.
#ifndef MARKDOWN_EXERCISE_H
#define MARKDOWN_EXERCISE_H

#include <stdbool.h>
#include <stddef.h>

#include "markdown/fence.h"

#define EXERCISE_NONE SIZE_MAX

enum { EXERCISE_WRONG_LEAST = 3, EXERCISE_CHOICES = 4 };

typedef enum { EXERCISE_EXPLORE, EXERCISE_COUNT, EXERCISE_BUILD } ExerciseKind;
typedef enum { VARIANT_NONE, VARIANT_STARTER, VARIANT_SOLUTION, VARIANT_WRONG } Variant;

typedef struct {
    size_t hint;   // from 1
    Str condition; // a comparison; empty: none
} ExerciseChoice;

typedef struct {
    Str text;                                 // the comparison
    size_t line;                              // in the chapter
    ExerciseChoice choices[EXERCISE_CHOICES]; // the first one whose condition holds is shown
    size_t choice_count;
} ExerciseDemand;

typedef struct {
    Str value; // an expression
    Str why;
    size_t line;
} ExerciseMistake;

typedef struct {
    size_t chunk;
    Str why;
    size_t demand; // index of the demand that must catch it
} ExerciseWrong;

typedef struct {
    Str id, title;
    size_t file, line, number; // number: its position in the file, from 1
    bool closed;
    ExerciseKind kind;
    size_t starter, solution, program; // indices of chunks, or EXERCISE_NONE
    ExerciseWrong *wrong;
    size_t wrong_count, wrong_capacity;
    ExerciseDemand *demands;
    size_t demand_count, demand_capacity;
    ExerciseMistake *mistakes;
    size_t mistake_count, mistake_capacity;
    Str *hints; // Markdown
    size_t hint_count, hint_capacity;
    bool answered; // it has an .answer div
} Exercise;

typedef struct ChunkTable ChunkTable;

// Finds the exercises of a scanned file. inside[part] becomes the exercise around each of its
// parts. Called by chunk_add.
void exercise_scan(ChunkTable *table, size_t file, size_t *inside);

// Assigns the chunks to exercises and reports incomplete exercises. Called by chunk_check.
void exercise_check(ChunkTable *table);

// The variant of a fenced block, according to its class.
Variant exercise_variant(const FencePart *part);

// The name of a kind: "build it", "count it", "explore it".
const char *exercise_kind_name(ExerciseKind kind);

// The exercise that opens at this line of a file, or NULL.
const Exercise *exercise_at(const ChunkTable *table, size_t file, size_t line);

#endif
