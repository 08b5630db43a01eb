// Expr: arithmetic and claims over recorded numbers.
//
//   claim := sum ('<' | '<=' | '>' | '>=' | '==' | '!=' | '~') sum
//   sum   := term (('+' | '-') term)*
//   term  := atom (('*' | '/') atom)*
//   atom  := NUMBER | '(' sum ')' | '-' atom | key.FIELD | device | device.NAME | cpu.NAME
//          | one of the last four and `[DEVICE]`, whose rows or facts are meant
//          | min(LIST) | max(LIST) | geomean(LIST) | percent(sum) | bytes(sum) | count(sum) |
//          about(sum) | cases(CLAIM)
//          | the name of a number that the scope knows by itself
//   LIST  := sums separated by commas; a key with `*` stands for all its values
//          | a sum with KERNEL@shapes, for each shape of a row that was recorded: shapes.h
//   CLAIM := a claim with KERNEL@shapes: at how many shapes it holds
//
// A chapter and its kernel are written without spaces (04/block_sum.time), a division with them.
// `a.time ~ b.time` holds when the two intervals from the 5th to the 95th percentile overlap: no
// measurable difference. In a claim KERNEL@each stands for each n recorded for the first such
// kernel: the claim must hold at every one.
#ifndef NUMBERS_EXPR_H
#define NUMBERS_EXPR_H

#include "numbers/key.h"

// These return false with the reason in `why`.
bool expr_value(const KeyScope *scope, Str text, Value *value, Buf *why);

typedef enum {
    EXPR_HOLDS,
    EXPR_FAILS, // a comparison that can be made, and is not true
    EXPR_WRONG, // none that can be made
} ExprVerdict;

// What comes of a claim. `why` also tells the two sides' values when it does not hold.
ExprVerdict expr_verdict(const KeyScope *scope, Str text, bool *stale, Buf *why);

// Whether it holds.
bool expr_claim(const KeyScope *scope, Str text, bool *stale, Buf *why);

// A claim taken apart; not one with `~` or @each.
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
