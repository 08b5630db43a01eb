// What the files of report/ that the engine uses need of the others. Kernels have readable names
// here: a run gives them.
#include "simt/report/report.h"

#include <stdio.h>

#include "simt/report/hazards.h"
#include "simt/report/name.h"
#include "simt/report/table.h"

bool report_host(const char *what, const Hazard *hazard) {
    static Arena arena;
    hazards_add(&arena, what, hazard, 1, false);
    return true;
}

const char *name_kernel(const char *given, char *name, size_t bytes) {
    snprintf(name, bytes, "%s", given);
    return name;
}

// There is no terminal: lines are not wrapped.
int columns_known(void) { return 0; }
