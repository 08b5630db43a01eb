// How lowering ends where it cannot go on: the error names the PTX line and the function.
#include <stdarg.h>
#include <stdio.h>

#include "simt/lower/lower.h"

void lower_fail(Lower *lower, const char *format, ...) {
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    Lowering *lowering = lower->lowering;
    Str name = str_slice(lower->function->name, 0, 200);
    snprintf(lowering->error->text, sizeof lowering->error->text, "%.200s:%u: %s (in %.*s)",
             lowering->module->origin, lower->at ? lower->at->ptx_line : 0, text, STR_ARG(name));
    if (lowering->status == SIMT_OK) lowering->status = SIMT_UNSUPPORTED;
    longjmp(lower->leave, 1);
}

void lower_unknown(Lower *lower) {
    Str opcode = str_slice(lower->at->opcode, 0, 100);
    lower_fail(lower, "unsupported instruction `%.*s`", STR_ARG(opcode));
}
