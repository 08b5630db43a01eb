// Traces: see trace.h.
#include "simt/observe/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_LIMIT 4000000 // of one launch

typedef struct {
    FILE *file;
    const char *kernel;
    uint64_t rows;
} Trace;

SimtStatus trace_open(Machine *machine, const char *path, const char *kernel, SimtError *error) {
    static bool begun;
    Trace *trace = calloc(1, sizeof *trace);
    FILE *file = trace ? fopen(path, begun ? "a" : "w") : NULL;
    if (!file) {
        snprintf(error->text, sizeof error->text, "%.500s: %s", path, strerror(errno));
        free(trace);
        return SIMT_OUT_OF_RESOURCES;
    }
    if (!begun) fputs("kernel,launch,block,warp,pc_line,space,op,bytes,lane,address\n", file);
    begun = true;
    *trace = (Trace){file, kernel, 0};
    machine->check = trace;
    return SIMT_OK;
}

bool trace_close(Machine *machine) {
    Trace *trace = machine->check;
    if (!trace) return false;
    bool good = !ferror(trace->file);
    good = fclose(trace->file) == 0 && good;
    free(trace);
    machine->check = NULL;
    return good;
}

static void write_row(Trace *trace, const Warp *warp, uint32_t line, const char *space,
                      const char *op, unsigned bytes, int lane, uint64_t address) {
    const Block *block = warp->block;
    if (trace->rows++ >= ROW_LIMIT) return;
    fprintf(trace->file, "%s,%llu,%llu,%u,%u,%s,%s,%u,%d,%llu\n", trace->kernel,
            (unsigned long long)block->machine->grid_id, (unsigned long long)block->number,
            warp->index, line, space, op, bytes, lane, (unsigned long long)address);
}

const Inst *trace_op(Warp *warp, const Inst *inst) {
    static const char *const ops[] = {"", "load", "store", "atomic", "barrier", ""};
    const Machine *machine = warp->block->machine;
    Trace *trace = machine->check;
    if (warp->block->number != 0) return inst->plain(warp, inst);
    const PtxInst *ptx = machine_instruction(machine, inst);
    uint32_t line = ptx ? ptx->place.line : 0;
    if (inst->access == ACCESS_BARRIER) {
        write_row(trace, warp, line, "barrier", ops[inst->access], 0, __builtin_ctz(warp->exec), 0);
        return inst->plain(warp, inst);
    }
    if (inst->access == ACCESS_SYNC || (inst->space != PTX_SHARED && inst->space != PTX_GENERIC))
        return inst->plain(warp, inst);
    uint64_t address[LANES];
    warp_addresses(warp, inst, address);
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        if (inst->space == PTX_GENERIC && address[lane] >> WINDOW_SHIFT != 1) continue;
        write_row(trace, warp, line, "shared", ops[inst->access],
                  (unsigned)inst->bytes * inst->elements, lane, address[lane] & WINDOW_MASK);
    }
    return inst->plain(warp, inst);
}
