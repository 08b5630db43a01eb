// Beside: what `simt --time` predicted of a lab's kernels, beside what was recorded.
#ifndef COLLECT_BESIDE_H
#define COLLECT_BESIDE_H

#include "numbers/results.h"

// Adds a table of the launches of `predicted` beside the rows of this chapter and n of a device.
void beside_add(Buf *out, const ResultTable *predicted, const ResultTable *device, Str device_name,
                Str chapter, Str n);

#endif
