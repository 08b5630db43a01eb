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

// What programs do with instructions of which none is known, by how their names begin.
static const struct {
    Str start;
    const char *what;
} families[] = {
    {STR("tex."), "textures"},
    {STR("tld4."), "textures"},
    {STR("txq."), "textures"},
    {STR("suld."), "surfaces"},
    {STR("sust."), "surfaces"},
    {STR("sured."), "surfaces"},
    {STR("suq."), "surfaces"},
    {STR("wmma."), "product of matrices of this form"},
    {STR("mma."), "product of matrices of this form"},
    {STR("wgmma."), "matrix instructions of warp groups"},
    {STR("tcgen05."), "tensor memory"},
};

void lower_unknown(Lower *lower) {
    Str opcode = str_slice(lower->at->opcode, 0, 100);
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        if (str_starts(opcode, families[k].start))
            lower_fail(lower, "the CPU device has no %s: `%.*s`", families[k].what,
                       STR_ARG(opcode));
    }
    lower_fail(lower, "unsupported instruction `%.*s`", STR_ARG(opcode));
}
