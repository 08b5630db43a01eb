// Predict: a question whose answer is an expression over results, so that nobody types it.
//
//     ::: {.predict key="block_sum_strided.shared_ld_wavefronts / 100000" unit="wavefronts"}
//     How many wavefronts do the loads of one block take?
//
//     ::: why
//     What is shown with the answer.
//     :::
//     :::
//
// Without key= it is a choice: a list of options, each with the comparison that makes it the right
// one, - *the mask* `block_sum_mask.time < block_sum_strided.time`{.when}. One option may have
// none: it is right where no other is.
#ifndef BOOK_PREDICT_H
#define BOOK_PREDICT_H

#include "book/book.h"
#include "markdown/braces.h"

typedef struct {
    Str text; // as woven
    Str when; // its comparison; empty: right where no other is
} PredictOption;

struct Prediction {
    Str name; // 4.1: of chapter 4 the first
    size_t line;
    Str key;                // the expression; of a choice all comparisons, a | between two
    Str unit;               // that a number is asked in; may be empty
    Value answer;           // of a number
    PredictOption *options; // of a choice
    size_t option_count;
    size_t option_capacity;
    size_t right;     // the index of the right option
    bool faulty;      // its attributes have been reported
    bool answered;    // the question is complete, what follows is shown with the answer
    size_t why_start; // in book->out, where a notebook's own text of the answer starts
    Str why;          // that text
};

// The div's start, with its attributes, and its end.
void predict_open(Book *book, const Braces *braces, size_t number);
void predict_close(Book *book);

// ::: why, inside of one.
void predict_why(Book *book, size_t number);

// Takes a paragraph that is the list of a choice's options. False: it is none.
bool predict_take_options(Book *book, Str paragraph, size_t number);

// The answer as a reader sees it, without emphasis: `47 wavefronts`, `61.7 µs`, an option's text.
Str predict_answer_text(const Book *book, const Prediction *prediction);

// time, rate, bytes, percent, ratio, count or choice.
const char *predict_kind(const Prediction *prediction);

#endif
