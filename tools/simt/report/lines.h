// The parts of the report that speak of source lines: counters per line, and hazards.
#ifndef REPORT_LINES_H
#define REPORT_LINES_H

#include "simt/device/device.h"

// `only_last`: forgets what earlier launches of this kernel counted.
void report_lines_add(const char *kernel, bool only_last, const LineCounters *lines, size_t count);
void report_lines_print(void);

// The same with every counter and the hazards at each line, as a CSV file. False: errno says why.
bool report_lines_csv(const char *path);

void report_hazards_add(const char *kernel, const Hazard *hazards, size_t count);
bool report_hazards_print(void); // true if there were any

#endif
