// Trace: a trace of the CPU device (simt --trace) as figures show it.
#ifndef COLLECT_TRACE_H
#define COLLECT_TRACE_H

#include "base/csv.h"

// Adds the accesses and barriers of the first warp in the last launch, up to their addresses.
// `kernel` is the name they get. Lines count from the launch's first one, so that a change of prose
// above them changes nothing. False: csv->fault says what is wrong.
bool trace_add(Csv *csv, Str kernel, Buf *out);

#endif
