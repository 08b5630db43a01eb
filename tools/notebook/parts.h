// Parts: figures, predictions and recorded times for the cells that notebook.c makes.
#ifndef NOTEBOOK_PARTS_H
#define NOTEBOOK_PARTS_H

#include "book/lab.h"
#include "book/predict.h"

// --- image.c: a figure as part of a cell ---

// Adds the image at `path` as a data: URI; for NAME.svg that of NAME.webp. False: `why` says what
// is missing. In Markdown cells, Colab shows neither SVG nor attachments, only data: URIs of
// bitmaps (googlecolab/colabtools issues 2092 and 3836); JupyterLab shows all three. WebP is a
// third smaller than PNG and keeps the notebook with all chapters below 1 MB.
bool image_embed(Arena *arena, Str path, Buf *text, Buf *why);

// --- forms.c: the cells of a prediction ---

// A form field, `predict_4_1 = ""`, for a number or one of the options.
Str forms_field(const Book *book, const Prediction *prediction);

// A call of compare(), which the frame defines, for the given predictions of a chapter.
Str forms_comparison(const Book *book, Prediction *const *predictions, size_t count);

// The book's explanations of their answers, folded; empty if there are none.
Str forms_why(const Book *book, Prediction *const *predictions, size_t count);

// --- recorded.c: what other devices measured, as Python ---

// Python variables: RECORDED, a row for each time in results/ of a lab in the chapters `inside`
// (one flag per file), without stale rows; NAMES, the names of kernels; RUNGS, the rungs of the
// ladder; SOURCES, the hashes of the labs' programs.
Str recorded_text(Book *book, const Labs *labs, const bool *inside);

#endif
