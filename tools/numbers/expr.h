// Expr: arithmetic and claims over recorded numbers.
//
//   claim := sum ('<' | '<=' | '>' | '>=' | '==' | '!=' | '~') sum
//   sum   := term (('+' | '-') term)*
//   term  := atom (('*' | '/') atom)*
//   atom  := NUMBER | '(' sum ')' | '-' atom | key.FIELD | device | device.NAME | cpu.NAME
//          | one of the last four and `[DEVICE]`, which selects that device's rows or facts
//          | min(LIST) | max(LIST) | geomean(LIST) | percent(sum) | bytes(sum) | count(sum) |
//          about(sum) | cases(CLAIM)
//          | the name of one of the scope's own numbers (KeyNamed)
//   LIST  := sums separated by commas; a key with `*` stands for all its values
//          | a sum with KERNEL@shapes, evaluated at each recorded shape: shapes.h
//   CLAIM := a claim with KERNEL@shapes; cases() counts the shapes at which it holds
//
// A chapter and its kernel are written without spaces (04/block_sum.time), a division with spaces.
// `a.time ~ b.time` holds when the two intervals from the 5th to the 95th percentile overlap: no
// measurable difference. KERNEL@each stands for each n recorded for the first such kernel: the
// claim must hold at every n.
#ifndef NUMBERS_EXPR_H
#define NUMBERS_EXPR_H

#include "numbers/key.h"

// These return false with the reason in `why`.
bool expr_value(const KeyScope *scope, Str text, Value *value, Buf *why);

typedef enum {
    EXPR_HOLDS,
    EXPR_FAILS, // the comparison is false
    EXPR_WRONG, // the comparison is malformed or lacks data
} ExprVerdict;

// Evaluates a claim. If it does not hold, `why` also gives the values of its two sides.
ExprVerdict expr_verdict(const KeyScope *scope, Str text, bool *stale, Buf *why);

// Whether the claim holds.
bool expr_claim(const KeyScope *scope, Str text, bool *stale, Buf *why);

// The parts of a claim without `~` and @each.
typedef struct {
    Value left, right;
    Str operator; // < <= > >= == !=
    Str subject;  // the text of the left side
    bool holds;
} ExprComparison;

bool expr_compare(const KeyScope *scope, Str text, ExprComparison *comparison, Buf *why);

// Whether the intervals [p5, p95] of two rows overlap; false also when one has no interval.
bool expr_overlap(const ResultTable *table, const ResultRow *a, const ResultRow *b);

#endif
