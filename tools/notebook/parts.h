// Parts: what notebook.c puts into cells: figures, predictions, and recorded times.
#ifndef NOTEBOOK_PARTS_H
#define NOTEBOOK_PARTS_H

#include "book/lab.h"
#include "book/predict.h"

// --- image.c: a figure as part of a cell ---

// Adds the data: URI of the image at `path`, or of NAME.webp for NAME.svg. False: `why` says what
// is missing. Colab shows neither SVG nor attachments in Markdown cells, only data: URIs of bitmaps
// (googlecolab/colabtools issues 2092 and 3836); JupyterLab shows all three. WebP is a third
// smaller than PNG, so the notebook with all chapters stays below 1 MB.
bool image_embed(Arena *arena, Str path, Buf *text, Buf *why);

// --- forms.c: the cells of a prediction ---

// `predict_4_1 = ""` as a field of a form, for one number or one of the options.
Str forms_field(const Book *book, const Prediction *prediction);

// A call of compare(), which the frame defines, for some of a chapter's predictions.
Str forms_comparison(const Book *book, Prediction *const *predictions, size_t count);

// What the book says about their answers, folded; empty if it says nothing.
Str forms_why(const Book *book, Prediction *const *predictions, size_t count);

// --- recorded.c: what other devices measured, as Python ---

// RECORDED, a row for each time in results/ of a lab whose chapter is inside (one flag per file),
// NAMES, what their kernels are called, RUNGS, those on the ladder, and SOURCES, the hashes of
// their programs. The book's results, without stale rows.
Str recorded_text(Book *book, const Labs *labs, const bool *inside);

#endif
