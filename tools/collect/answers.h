// Answers: the commands of collect that scripts call: reports on results, condensed traces, and
// removal of obsolete files.
#ifndef COLLECT_ANSWERS_H
#define COLLECT_ANSWERS_H

#include "base/csv.h"
#include "numbers/results.h"

// Adds a table that compares the launches predicted by `simt --time` with the recorded rows of this
// chapter and n of a device. (beside.c)
void beside_add(Buf *out, const ResultTable *predicted, const ResultTable *device, Str device_name,
                Str chapter, Str n);

// Condenses a trace (simt --trace) for figures: the accesses and barriers of the first warp in the
// last launch, with the columns up to the address. `kernel` becomes the kernel's name. Lines are
// relative to the launch's first line, so that a change of the prose above does not change them.
// False: csv->fault says what is wrong. (trace.c)
bool trace_add(Csv *csv, Str kernel, Buf *out);

// Removes the traces and steps of chapters without a lab in `labs`, and their rows from the counts
// of the CPU device. Prints a line for each file. Keeps all measurements of GPUs. (gone.c)
void gone_remove(Arena *arena, const char *folder, char **labs, size_t count);

#endif
