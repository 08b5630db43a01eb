// Judge: checks the demands of an exercise against the results of a program, or against an answer.
#ifndef GRADE_JUDGE_H
#define GRADE_JUDGE_H

#include "grade/program.h"
#include "markdown/chunk.h"
#include "numbers/expr.h"

typedef enum {
    JUDGE_HOLDS,
    JUDGE_FAILS,
    JUDGE_UNKNOWN, // it needs a number that the program did not produce
    JUDGE_NO_GPU,  // it is about time, which was neither measured nor predicted
} JudgeVerdict;

typedef struct {
    JudgeVerdict verdict;
    ExprComparison comparison; // if it holds or fails
} JudgeOutcome;

// The data that an exercise's formulas refer to. Any pointer may be NULL.
typedef struct {
    const KeyScope *scope; // for recorded numbers
    const Program *program, *solution;
    const double *answer;
    bool gpu;
} JudgeCase;

// Whether a demand is about time.
bool judge_is_about_time(Str demand);

// Judges all demands; returns one outcome per demand.
JudgeOutcome *judge(Arena *arena, const Exercise *exercise, const JudgeCase *at);

// The number of the hint for the first demand that fails, or 0. `outcomes` are those of judge().
size_t judge_hint(Arena *arena, const Exercise *exercise, const JudgeCase *at,
                  const JudgeOutcome *outcomes);

// Whether all formulas of the exercise can be evaluated with the solution's numbers. False: `line`
// is that of the chapter, and `why` the reason.
bool judge_understands(Arena *arena, const Exercise *exercise, const JudgeCase *at, size_t *line,
                       Buf *why);

// The value of an expression, such as that of a known mistake. False: see `why`.
bool judge_value(Arena *arena, const JudgeCase *at, Str text, Value *value, Buf *why);

// The right answer of an exercise that asks for a number: the right side of its first demand.
bool judge_answer(Arena *arena, const Exercise *exercise, const JudgeCase *at, Value *value,
                  Buf *why);

#endif
