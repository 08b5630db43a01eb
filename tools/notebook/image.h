// Image: a figure as part of a cell.
//
// Colab shows neither SVG nor attachments in Markdown cells, only data: URIs of bitmaps
// (googlecolab/colabtools issues 2092 and 3836); JupyterLab shows all three. So a figure goes in as
// the WebP file that stands beside the SVG: a third smaller than a PNG, so that the notebook with
// all chapters stays below 1 MB.
#ifndef NOTEBOOK_IMAGE_H
#define NOTEBOOK_IMAGE_H

#include "base/str.h"

// Adds the data: URI of the image at `path`, or of NAME.webp for NAME.svg. False: `why` says what
// is missing.
bool image_embed(Arena *arena, Str path, Buf *text, Buf *why);

#endif
