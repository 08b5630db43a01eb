// Traces: see trace.h.
#include "simt/observe/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_LIMIT 4000000 // of one launch

typedef struct {
    Observer observer; // first: the one is the other
    FILE *file;
    const char *kernel;
    uint64_t rows;
} Trace;

static uint32_t line_of(const Warp *warp, const Inst *inst) {
    const PtxInst *ptx = machine_instruction(warp->block->machine, inst);
    return ptx ? ptx->place.line : 0;
}

static void write_row(const Warp *warp, uint32_t line, const char *space, const char *op,
                      unsigned bytes, int lane, uint64_t address) {
    const Block *block = warp->block;
    Trace *trace = (Trace *)(void *)block->machine->observer;
    if (trace->rows++ >= ROW_LIMIT) return;
    fprintf(trace->file, "%s,%llu,%llu,%u,%u,%s,%s,%u,%d,%llu\n", trace->kernel,
            (unsigned long long)block->machine->grid_id, (unsigned long long)block->number,
            warp->index, line, space, op, bytes, lane, (unsigned long long)address);
}

static void trace_access(Warp *warp, const Access *access, uint32_t lanes,
                         const uint64_t address[LANES]) {
    static const char *const ops[] = {
        [ACCESS_LOAD] = "load", [ACCESS_STORE] = "store", [ACCESS_ATOMIC] = "atomic"};
    if (warp->block->number != 0 || access->space != PTX_SHARED) return;
    const uint32_t line = line_of(warp, access->inst);
    for (uint32_t m = lanes; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        write_row(warp, line, "shared", ops[access->kind], address_bytes(access), lane,
                  address[lane]);
    }
}

static void trace_arrive(Warp *warp, const Inst *inst, uint32_t barrier, bool counted) {
    (void)barrier, (void)counted;
    if (warp->block->number != 0) return;
    write_row(warp, line_of(warp, inst), "barrier", "barrier", 0, __builtin_ctz(warp->exec), 0);
}

Observer *trace_open(const char *path, const char *kernel, SimtError *error) {
    static bool begun;
    Trace *trace = calloc(1, sizeof *trace);
    FILE *file = trace ? fopen(path, begun ? "a" : "w") : NULL;
    if (!file) {
        int reason = errno;
        snprintf(error->text, sizeof error->text, "%.500s: %s", path, strerror(reason));
        free(trace);
        errno = reason;
        return NULL;
    }
    if (!begun) fputs("kernel,launch,block,warp,pc_line,space,op,bytes,lane,address\n", file);
    begun = true;
    *trace = (Trace){.observer = {.access = trace_access, .arrive = trace_arrive},
                     .file = file,
                     .kernel = kernel};
    return &trace->observer;
}

bool trace_close(Observer *observer) {
    Trace *trace = (Trace *)(void *)observer;
    bool good = !ferror(trace->file);
    good = fclose(trace->file) == 0 && good;
    free(trace);
    return good;
}
