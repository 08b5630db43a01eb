// Formats predicted times, for the terminal and the page.
#ifndef PREDICTED_H
#define PREDICTED_H

#include "simt/report/table.h"

// Adds microseconds with four significant digits.
void predicted_us(Buf *buf, double us);

// Adds the prediction for a launch, in lines: time, utilization, stalls, the limiter.
void predicted_text(Buf *buf, const TimePrediction *prediction, const char *device, bool warm);

// Prints the same after the kernel and its shape. `device` is the name in --time.
void predicted_print(Arena *arena, const TableRow *row, const TimePrediction *prediction,
                     const char *device, bool warm);

// The largest stall, without STALL_SELECTED; STALLS if there is none.
Stall predicted_stall(const double cycles[STALLS]);

#endif
