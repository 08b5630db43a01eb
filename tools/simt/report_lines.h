// The parts of the report that speak of source lines: counters per line, and hazards.
#ifndef REPORT_LINES_H
#define REPORT_LINES_H

#include "simt.h"

void report_lines_add(const LineCounters *lines, size_t count);
void report_lines_print(void);

void report_hazards_add(const char *kernel, const Hazard *hazards, size_t count);
bool report_hazards_print(void); // true if there were any

#endif
