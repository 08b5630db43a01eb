// What the user reads: a table of launches, CSV, a listing by source line, hazards, a page.
#ifndef REPORT_H
#define REPORT_H

#include "simt/device/device.h"

typedef struct {
    const char *csv, *lines_csv; // files to write, NULL for none
    bool merge;                  // in the CSV, one row for equal launches
    bool longest;                // in the CSV, the longest warp
    bool last;                   // only the last launch of each kernel
    bool lines;                  // print the listing by source line
    const char *html;            // page to write, NULL for none
    bool machine;                // machine code was executed
    bool checked;                // hazards were looked for: the page says so
    const char *sarif;           // what was found, for programs that read it; NULL for none
    bool quiet;                  // no table and no listing; hazards go to stderr
    bool strict;                 // notes are hazards
    const char *time;            // the device that times are predicted for; NULL: none
    bool warm;                   // with warm caches
} ReportOptions;

void report_start(const ReportOptions *options);

// Adds one launch. Nothing of `report` is kept by reference. False: out of memory.
bool report_launch(const char *mangled, const Launch *launch, const LaunchReport *report);

// Adds what host code did, `what` in words, or what concerns a kernel of that name without being at
// one of its lines. The same only once. False: out of memory.
bool report_host(const char *what, const Hazard *hazard);

// Prints and writes everything. Returns 0, or 1 if a file could not be written.
int report_finish(bool *hazards);

#endif
