// Writes traces. See trace.h.
#include "simt/observe/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/exec/address.h"
#include "simt/observe/observed.h"

#define ROW_LIMIT 4000000 // of one launch

enum { VALUE_BYTES = 16 }; // of a lane, at most

typedef struct {
    Observer observer; // first, so that a pointer to it is one to the Trace
    const Machine *machine;
    FILE *file;
    const char *kernel;
    uint64_t rows;
} Trace;

typedef struct {
    const Inst *inst, *other; // NULL: none
    const char *space, *op;
    uint32_t thread, other_thread; // other_thread: if there is an `other`
    unsigned bytes;
    uint64_t address;
    char value[2 * VALUE_BYTES + 1]; // empty: none
} Row;

static bool begun; // the header has been written
static bool lost;  // some row could not be written

static Trace *trace_of(const Block *block) { return (Trace *)(void *)block->machine->trace; }

static PtxPlace place_of(const Machine *machine, const Inst *inst) {
    const PtxInst *ptx = inst ? machine_instruction(machine, inst) : NULL;
    return ptx ? ptx->place : (PtxPlace){0, 0};
}

static const char *file_of(const Machine *machine, PtxPlace place) {
    const PtxModule *module = machine->module;
    return place.file < module->file_count && module->file_short[place.file]
               ? module->file_short[place.file]
               : "";
}

// Writes a path as a cell of CSV.
static void put_file(FILE *to, const char *path) {
    const bool quoted = strpbrk(path, ",\" \n") != NULL;
    if (quoted) fputc('"', to);
    for (; *path; path++) {
        if (*path == '"') fputc('"', to);
        fputc(*path, to);
    }
    if (quoted) fputc('"', to);
}

static bool has_room(Trace *trace) { return trace->rows++ < ROW_LIMIT; }

static void write_row(Trace *trace, const Row *row) {
    const Machine *machine = trace->machine;
    const PtxPlace place = place_of(machine, row->inst), other = place_of(machine, row->other);
    if (!has_room(trace)) return;
    fprintf(trace->file, "%s,%llu,0,%u,%u,%s,%s,%u,%u,%llu,%s,", trace->kernel,
            (unsigned long long)machine->grid_id, row->thread / LANES, place.line, row->space,
            row->op, row->bytes, row->thread % LANES, (unsigned long long)row->address, row->value);
    put_file(trace->file, file_of(machine, place));
    if (row->other) {
        fprintf(trace->file, ",%u,%u,", row->other_thread, other.line);
        put_file(trace->file, file_of(machine, other));
        fputc('\n', trace->file);
    } else {
        fputs(",,,\n", trace->file);
    }
}

// Writes the bytes as one number, the last byte first.
static void put_value(Row *row, const uint8_t *bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        snprintf(row->value + 2 * i, 3, "%02x", bytes[count - 1 - i]);
}

static void trace_access(Warp *warp, const Access *access, uint32_t lanes,
                         const uint64_t address[LANES]) {
    static const char *const ops[] = {
        [ACCESS_LOAD] = "load", [ACCESS_STORE] = "store", [ACCESS_ATOMIC] = "atomic"};
    const Block *block = warp->block;
    const uint32_t bytes = address_bytes(access);
    if (block->number != 0 || access->space != PTX_SHARED) return;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        Row row = {.inst = access->inst,
                   .space = "shared",
                   .op = ops[access->kind],
                   .thread = warp->index * LANES + lane,
                   .bytes = bytes,
                   .address = address[lane]};
        uint8_t stored[VALUE_BYTES];
        const bool inside = address[lane] < block->shared_bytes &&
                            block->shared_bytes - address[lane] >= bytes && bytes <= VALUE_BYTES;
        if (access->kind != ACCESS_STORE && inside)
            put_value(&row, block->shared + address[lane], bytes);
        else if (access->kind == ACCESS_STORE && bytes <= VALUE_BYTES &&
                 address_stored(warp, access, lane, 0, bytes, stored))
            put_value(&row, stored, bytes);
        write_row(trace_of(block), &row);
    }
}

static void trace_race(Observer *self, const ObserverRace *race) {
    if (race->block != 0) return;
    const Row row = {.inst = race->inst,
                     .other = race->other,
                     .space = "shared",
                     .op = "race",
                     .thread = race->thread,
                     .other_thread = race->other_thread,
                     .address = race->address};
    write_row((Trace *)(void *)self, &row);
}

static void trace_arrive(Warp *warp, const Inst *inst, uint32_t barrier, bool counted) {
    (void)barrier, (void)counted;
    if (warp->block->number != 0) return;
    const Row row = {.inst = inst,
                     .space = "barrier",
                     .op = "barrier",
                     .thread = warp->index * LANES + (uint32_t)__builtin_ctz(warp->exec)};
    write_row(trace_of(warp->block), &row);
}

static void trace_complete(Block *block, uint32_t barrier) {
    Trace *trace = trace_of(block);
    (void)barrier;
    if (block->number != 0 || !has_room(trace)) return;
    fprintf(trace->file, "%s,%llu,0,,,barrier,complete,0,,0,,,,,\n", trace->kernel,
            (unsigned long long)block->machine->grid_id);
}

static void trace_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES],
                          const LaneU32 value[LANES]) {
    if (warp->block->number != 0) return;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        Row row = {.inst = inst,
                   .other = inst,
                   .space = "warp",
                   .op = "shuffle",
                   .thread = warp->index * LANES + lane,
                   .other_thread = warp->index * LANES + (uint32_t)source[lane],
                   .bytes = sizeof value[lane]};
        snprintf(row.value, sizeof row.value, "%08x", value[lane]);
        write_row(trace_of(warp->block), &row);
    }
}

static void trace_join(Warp *warp, const Inst *inst, uint32_t lanes) {
    if (warp->block->number != 0) return;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const Row row = {.inst = inst,
                         .space = "warp",
                         .op = "syncwarp",
                         .thread = warp->index * LANES + (uint32_t)__builtin_ctz(m)};
        write_row(trace_of(warp->block), &row);
    }
}

static void close_trace(Observer *self, Observed *of) {
    Trace *trace = (Trace *)(void *)self;
    bool good = true;
    if (trace->file) good = !ferror(trace->file);
    if (trace->file && !of->options->trace) good = fclose(trace->file) == 0 && good;
    if (!good) observed_fail(of, SIMT_OUT_OF_RESOURCES, "cannot write %.500s", of->options->path);
    lost |= !good;
    free(trace);
}

void trace_open(Observed *of) {
    static const Observer functions = {.close = close_trace,
                                       .access = trace_access,
                                       .arrive = trace_arrive,
                                       .complete = trace_complete,
                                       .shuffle = trace_shuffle,
                                       .join = trace_join,
                                       .race = trace_race};
    const char *path = of->options->path;
    if (!path && !of->options->trace) return;
    Trace *trace = observed_open(of, &of->machine->trace, &functions, sizeof *trace, "the trace");
    if (!trace) return;
    of->machine->ordered = true; // rows come in the same order every time
    trace->machine = of->machine;
    trace->kernel = of->kernel;
    trace->file = of->options->trace ? of->options->trace : fopen(path, begun ? "a" : "w");
    if (!trace->file) {
        lost = true;
        observed_fail(of, errno == ENOMEM ? SIMT_OUT_OF_MEMORY : SIMT_OUT_OF_RESOURCES,
                      "%.500s: %s", path, strerror(errno));
        return;
    }
    if (!begun)
        fputs("kernel,launch,block,warp,pc_line,space,op,bytes,lane,address,value,file,"
              "other_thread,other_line,other_file\n",
              trace->file);
    begun = true;
}

bool trace_lost(void) { return lost; }
