// What report.c writes besides the tables of launches: source lines, the page, SARIF.
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "simt/device/device.h"
#include "simt/report/report.h"

// --- the page of `simt --html FILE`: html.c ---

// Writes the page of what profile.h and hazards.h know to the file that options->html names. It
// needs nothing else: its form is tools/page/report.html with its styles and scripts, what they
// show is JSON (page_data.h), and launches and hazards are there without scripts too. False: errno
// says why it could not be written; the file is then as it was.
bool html_write(Arena *arena, const ReportOptions *options);

// --- counters per kernel and source line, over all launches: lines.c ---

// `only_last`: forgets what earlier launches of this kernel counted.
void lines_add(Arena *arena, const char *kernel, bool only_last, const LaunchReport *report);
// `instructions`: lists those of each line below it; profile.h must have them.
void lines_print(Arena *arena, bool instructions);

// The same with every counter and the hazards at each line, as a CSV file. False: errno says why.
bool lines_csv(Arena *arena, const char *path);

// --- a log in SARIF 2.1.0 (OASIS Standard, 2020), the Static Analysis Results Interchange Format,
// for editors and continuous integration: sarif.c ---

// Writes all hazards, and each line that simt printed on stderr. False, errno set: the file cannot
// be written, and is as it was.
bool sarif_write(Arena *arena, const char *path);

#endif
