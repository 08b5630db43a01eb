// Judge: whether the demands of an exercise hold for what a program has done, or for an answer.
#ifndef GRADE_JUDGE_H
#define GRADE_JUDGE_H

#include "grade/program.h"
#include "markdown/chunk.h"
#include "numbers/expr.h"

typedef enum {
    JUDGE_HOLDS,
    JUDGE_FAILS,
    JUDGE_UNKNOWN, // a number that it is about is not there: the program did not come that far
    JUDGE_NO_GPU,  // it is about time, and there is no GPU here
} JudgeVerdict;

typedef struct {
    JudgeVerdict verdict;
    ExprComparison comparison; // of one that holds or fails
} JudgeOutcome;

// What a formula of an exercise is about: any of these may be NULL.
typedef struct {
    const KeyScope *scope; // where recorded numbers are looked up
    const Program *program, *solution;
    const double *answer;
    bool gpu;
} JudgeCase;

// Whether a demand speaks of time.
bool judge_is_about_time(Str demand);

// One outcome per demand.
JudgeOutcome *judge(Arena *arena, const Exercise *exercise, const JudgeCase *at);

// Can every formula of the exercise be understood? The solution's numbers are those that there are.
// False: `line` of the chapter, and why not.
bool judge_understands(Arena *arena, const Exercise *exercise, const JudgeCase *at, size_t *line,
                       Buf *why);

// The value of an expression, such as that of a known mistake. False: `why`.
bool judge_value(Arena *arena, const JudgeCase *at, Str text, Value *value, Buf *why);

// The right answer of an exercise that asks for a number: the right side of its first demand.
bool judge_answer(Arena *arena, const Exercise *exercise, const JudgeCase *at, Value *value,
                  Buf *why);

#endif
