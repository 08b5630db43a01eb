// The bottleneck of a kernel: see verdict.h.
#include "numbers/verdict.h"

enum { ADDED = 3, BOUND_PCT = 70 };

static const struct {
    Str column, name;
} resources[] = {
    {STR("memory_pct"), STR("DRAM bandwidth")},
    {STR("l2_pct"), STR("L2 bandwidth")},
    {STR("issue_pct"), STR("instruction issue")},
    {STR("shared_pipe_pct"), STR("shared-memory pipe")},
};

// The columns are Nsight Compute's names. `stall_selected` is no stall: the warp issues.
static const struct {
    Str column, name, latency;
} stalls[] = {
    {STR("stall_barrier"), STR("barrier"), STR("barriers")},
    {STR("stall_branch_resolving"), STR("branch resolving"), STR("branches")},
    {STR("stall_dispatch_stall"), STR("dispatch stall"), STR("dispatch")},
    {STR("stall_drain"), STR("drain (last stores)"), STR("last stores")},
    {STR("stall_imc_miss"), STR("constant cache miss"), STR("constant cache misses")},
    {STR("stall_lg_throttle"), STR("LG throttle (load queue)"), STR("load queue")},
    {STR("stall_long_scoreboard"), STR("long scoreboard (global memory)"),
     STR("global-memory latency")},
    {STR("stall_math_pipe_throttle"), STR("math pipe throttle"), STR("arithmetic pipe")},
    {STR("stall_membar"), STR("membar (fence)"), STR("fences")},
    {STR("stall_mio_throttle"), STR("MIO throttle (shared-memory queue)"),
     STR("shared-memory queue")},
    {STR("stall_no_instruction"), STR("no instruction"), STR("instruction fetch")},
    {STR("stall_not_selected"), STR("not selected"), STR("instruction issue")},
    {STR("stall_short_scoreboard"), STR("short scoreboard (shared memory)"),
     STR("shared-memory latency")},
    {STR("stall_sleeping"), STR("sleeping"), STR("nanosleep")},
    {STR("stall_wait"), STR("wait (fixed-latency dependency)"), STR("instruction latency")},
};

// The number of blocks of a row's launch, as the CPU device counted it; 0 if it did not.
static double blocks_of(const ResultTable *device, const ResultRow *row,
                        const ResultTable *counters) {
    const Str chapter = results_cell(device, row, STR("chapter"));
    const Str threads = results_cell(device, row, STR("block"));
    Str name = results_cell(device, row, STR("kernel")), block;
    if (!counters) return 0;
    const ResultKernel *kernel = results_kernel(counters, chapter, name);
    if (!kernel && results_split_block(&name, &block) && str_equal(block, threads))
        kernel = results_kernel(counters, chapter, name);
    double most = 0;
    for (size_t i = 0; kernel && i < kernel->row_count; i++) {
        const ResultRow *counted = &counters->rows[kernel->rows[i]];
        const double blocks = results_cell_number(counters, counted, STR("grid"));
        if (counted->n == row->n && blocks > most &&
            str_equal(results_cell(counters, counted, STR("block")), threads))
            most = blocks;
    }
    return most;
}

// Microseconds that the device needs to start one block; 0: not measured.
static double block_start_us(const ResultTable *device, const ResultTable *counters) {
    for (size_t r = 0; r < device->row_count; r++) {
        const ResultRow *row = &device->rows[r];
        if (!str_equal(results_cell(device, row, STR("kernel")), STR("empty_blocks"))) continue;
        const double blocks = blocks_of(device, row, counters);
        if (blocks > 0) return results_cell_number(device, row, STR("median_us")) / blocks;
    }
    return 0;
}

// The index of the longest stall; the number of stalls if the row has none.
static size_t longest_stall(const ResultTable *device, const ResultRow *row) {
    const size_t count = sizeof stalls / sizeof *stalls;
    size_t found = count;
    double longest = 0;
    for (size_t i = 0; i < count; i++) {
        const double cycles = results_cell_number(device, row, stalls[i].column);
        if (cycles <= longest) continue;
        longest = cycles;
        found = i;
    }
    return found;
}

static void decide(Arena *arena, const ResultTable *device, const ResultRow *row, double starts_us,
                   Str added[ADDED]) {
    const size_t stall = longest_stall(device, row);
    const double us = results_cell_number(device, row, STR("median_us"));
    if (stall == sizeof stalls / sizeof *stalls) return;
    double most = us > 0 ? 100 * starts_us / us : 0;
    added[0] = stalls[stall].name;
    added[1] = STR("block starts");
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        const double used = results_cell_number(device, row, resources[i].column);
        if (used <= most) continue;
        most = used;
        added[1] = resources[i].name;
    }
    if (most >= BOUND_PCT) {
        Buf number = {.arena = arena};
        buf_format(&number, "%.2f", most < 100 ? most : 100);
        added[2] = buf_str(&number);
    } else {
        added[1] = stalls[stall].latency;
    }
}

void verdict_add(Arena *arena, ResultTable *device, const ResultTable *counters) {
    static const Str names[ADDED] = {STR("stall"), STR("bottleneck"), STR("bottleneck_pct")};
    const double start_us = block_start_us(device, counters);
    Str **added = results_add_columns(arena, device, names, ADDED);
    for (size_t r = 0; r < device->row_count; r++) {
        const ResultRow *row = &device->rows[r];
        const double blocks = start_us > 0 ? blocks_of(device, row, counters) : 0;
        decide(arena, device, row, blocks * start_us, added[r]);
    }
}

Str verdict_stall_name(Str stall) {
    for (size_t i = 0; i < sizeof stalls / sizeof *stalls; i++)
        if (str_equal(str_from(stalls[i].column, STR("stall_").len), stall)) return stalls[i].name;
    return stall;
}
