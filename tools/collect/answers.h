// Answers: what scripts ask collect about results, and the traces and files it condenses for them.
#ifndef COLLECT_ANSWERS_H
#define COLLECT_ANSWERS_H

#include "base/csv.h"
#include "numbers/results.h"

// Adds a table of the launches that `simt --time` predicted, beside the rows of this chapter and n
// of a device: beside.c.
void beside_add(Buf *out, const ResultTable *predicted, const ResultTable *device, Str device_name,
                Str chapter, Str n);

// Adds what figures show of a trace (simt --trace): the accesses and barriers of the first warp in
// the last launch, up to their addresses: trace.c. `kernel` is the name they get. Lines count from
// the launch's first one, so that a change of prose above them changes nothing. False: csv->fault
// says what is wrong.
bool trace_add(Csv *csv, Str kernel, Buf *out);

// Removes the traces and steps of chapters that have no lab among these, and their rows among the
// counts of the CPU device: gone.c. Prints a line for each file. What a GPU measured stays.
void gone_remove(Arena *arena, const char *folder, char **labs, size_t count);

#endif
