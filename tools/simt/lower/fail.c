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
    char place[256];
    ptx_write_place(lowering->module, lower->at ? lower->at->place : (PtxPlace){0, 0},
                    lower->at ? lower->at->ptx_line : 0, place, sizeof place);
    const bool located = lower->at && lower->at->place.line;
    snprintf(lowering->error->text, sizeof lowering->error->text, "%s: %s (in %.*s%s)", place, text,
             STR_ARG(name), located ? "" : "; nvcc -lineinfo adds the source's line");
    if (lowering->status == SIMT_OK) lowering->status = SIMT_UNSUPPORTED;
    longjmp(lower->leave, 1);
}

void lower_unknown(Lower *lower) {
    Str text = str_slice(lower->at->text, 0, 100);
    const char *lacks = ptx_opcodes[lower->at->opcode].lacks;
    if (lacks) lower_fail(lower, "the CPU device has no %s: `%.*s`", lacks, STR_ARG(text));
    lower_fail(lower, "unsupported instruction `%.*s`", STR_ARG(text));
}
