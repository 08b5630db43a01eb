// Predicted times, as the terminal shows them: below the table of launches.
#ifndef PREDICTED_H
#define PREDICTED_H

#include "simt/report/table.h"

// Microseconds as a reader likes them: four digits.
void predicted_us(Buf *buf, double us);

// The prediction for a launch, in lines: time, what was counted, stalls, the limiter.
void predicted_text(Buf *buf, const TimePrediction *prediction, const char *device, bool warm);

// The same below its kernel and shape; `device` is how the file of its speeds is called.
void predicted_print(Arena *arena, const TableRow *row, const TimePrediction *prediction,
                     const char *device, bool warm);

// The reason why warps did not issue most of the time, but for having issued. STALLS: none.
Stall predicted_stall(const double cycles[STALLS]);

#endif
