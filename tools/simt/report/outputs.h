// The other outputs of report.c besides the table of launches: source lines, the page, SARIF.
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "simt/device/device.h"
#include "simt/report/report.h"

// --- the page of `simt --html FILE`: html.c ---

// Writes a self-contained page to options->html. tools/page/report.html is the template; the
// scripts show JSON (page_data.h), and launches and hazards are readable without scripts. On
// failure returns false, sets errno, and leaves the file unchanged.
bool html_write(Arena *arena, const ReportOptions *options);

// --- counters per kernel and source line, over all launches: lines.c ---

// `only_last`: drops the counts of earlier launches of this kernel.
void lines_add(Arena *arena, const char *kernel, bool only_last, const LaunchReport *report);
// `instructions`: also lists the instructions of each line, from profile.h.
void lines_print(Arena *arena, bool instructions);

// Writes all counters, and the hazards at each line, as CSV. On false, errno says why.
bool lines_csv(Arena *arena, const char *path);

// --- a log in SARIF 2.1.0 (OASIS Standard, 2020), the Static Analysis Results Interchange Format,
// for editors and continuous integration: sarif.c ---

// Writes all hazards, and each line that simt printed on stderr. On failure returns false, sets
// errno, and leaves the file unchanged.
bool sarif_write(Arena *arena, const char *path);

#endif
