// Predict: questions whose answers are expressions over results, so that no answer is typed by
// hand.
//
//     ::: {.predict key="block_sum_strided.shared_ld_wavefronts / 100000" unit="wavefronts"}
//     How many wavefronts do the loads of one block take?
//
//     ::: why
//     What is shown with the answer.
//     :::
//     :::
//
// Without key=, the question is a choice. Each item of a list is an option, followed by the
// comparison that makes it right: - *the mask* `block_sum_mask.time <
// block_sum_strided.time`{.when}. One option may have no comparison: it is right if no other is.
#ifndef BOOK_PREDICT_H
#define BOOK_PREDICT_H

#include "book/book.h"
#include "markdown/braces.h"

typedef struct {
    Str text; // as woven
    Str when; // its comparison; empty: right if no other is
} PredictOption;

struct Prediction {
    Str name; // 4.1: the first of chapter 4
    size_t line;
    Str key;                // the expression; for a choice, all comparisons, separated by |
    Str unit;               // the unit of a numeric answer; may be empty
    Value answer;           // of a number
    PredictOption *options; // of a choice
    size_t option_count;
    size_t option_capacity;
    size_t right;     // the index of the right option
    bool faulty;      // its attributes have been reported
    bool answered;    // the question is complete; what follows explains the answer
    size_t why_start; // where the explanation starts in book->out
    Str why;          // the explanation, for notebooks
};

// Starts and ends a prediction's div.
void predict_open(Book *book, const Braces *braces, size_t number);
void predict_close(Book *book);

// Starts ::: why inside a prediction.
void predict_why(Book *book, size_t number);

// Weaves a paragraph that lists the options of a choice. False: it does not.
bool predict_take_options(Book *book, Str paragraph, size_t number);

// The answer without emphasis: `47 wavefronts`, `61.7 µs`, or an option's text.
Str predict_answer_text(const Book *book, const Prediction *prediction);

// One of time, rate, bytes, percent, ratio, count, choice.
const char *predict_kind(const Prediction *prediction);

#endif
