// Forms: the cells of a prediction: a field to fill in, yours beside what was measured, and why.
#ifndef NOTEBOOK_FORMS_H
#define NOTEBOOK_FORMS_H

#include "book/predict.h"

// `predict_4_1 = ""` as a field of a form, for one number or one of the options.
Str forms_field(const Book *book, const Prediction *prediction);

// A call of compare(), which the frame defines, for some of a chapter's predictions.
Str forms_comparison(const Book *book, Prediction *const *predictions, size_t count);

// What the book says to their answers, folded; empty if that is nothing.
Str forms_why(const Book *book, Prediction *const *predictions, size_t count);

#endif
