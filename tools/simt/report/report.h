// The report: a table of launches, CSV, a listing by source line, hazards, a page, SARIF.
#ifndef REPORT_H
#define REPORT_H

#include "simt/device/device.h"

typedef struct {
    const char *csv, *lines_csv; // files to write, NULL for none
    bool merge;                  // merge equal launches in the CSV
    bool longest;                // add the longest warp to the CSV
    bool last;                   // only the last launch of each kernel
    bool lines;                  // print the listing by source line
    const char *html;            // page to write, NULL for none
    bool machine;                // machine code was executed
    bool checked;                // --check ran, which the page says
    const char *sarif;           // SARIF log to write, NULL for none
    bool quiet;                  // no table and no listing; hazards go to stderr
    bool strict;                 // notes are hazards
    const char *time;            // the device for which times are predicted, or NULL
    bool warm;                   // predict with warm caches
} ReportOptions;

void report_start(const ReportOptions *options);

// Adds a launch and copies what it needs from `report`. Returns false if out of memory.
bool report_launch(const char *mangled, const Launch *launch, const LaunchReport *report);

// Adds a hazard in host code, described by `what`, or a hazard of the kernel `what` without a
// source line. Equal hazards are merged. Returns false if out of memory.
bool report_host(const char *what, const Hazard *hazard);

// Prints and writes everything. Returns 1 if a file could not be written, otherwise 0.
int report_finish(bool *hazards);

#endif
