// Opens observers, and records why a launch fails. See observed.h.
#include "simt/observe/observed.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void observed_fail(Observed *of, SimtStatus status, const char *format, ...) {
    va_list arguments;
    if (of->status != SIMT_OK) return;
    of->status = status;
    va_start(arguments, format);
    vsnprintf(of->error->text, sizeof of->error->text, format, arguments);
    va_end(arguments);
}

void *observed_open(Observed *of, Observer **place, const Observer *functions, size_t bytes,
                    const char *what) {
    if (place && *place) {
        observed_fail(of, SIMT_INVALID_CONFIG,
                      "two observers cannot watch the same events of one launch: ask for one");
        return NULL;
    }
    Observer *observer = calloc(1, bytes);
    if (!observer) {
        observed_fail(of, SIMT_OUT_OF_MEMORY, "no host memory for %s", what);
        return NULL;
    }
    *observer = *functions;
    Observer **end = &of->machine->observers;
    while (*end) end = &(*end)->next;
    *end = observer;
    if (place) *place = observer;
    return observer;
}
