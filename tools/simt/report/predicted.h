// Predicted times, as the terminal shows them: below the table of launches.
#ifndef PREDICTED_H
#define PREDICTED_H

#include "simt/report/table.h"

// The prediction for a launch; `device` is how the file of its speeds is called.
void predicted_print(Arena *arena, const TableRow *row, const TimePrediction *prediction,
                     const char *device, bool warm);

// The reason why warps did not issue most of the time, but for having issued. STALLS: none.
Stall predicted_stall(const double cycles[STALLS]);

#endif
