// The bottleneck of a kernel: see verdict.h.
#include "numbers/verdict.h"

#include <string.h>

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

// The launch of a row as the CPU device counted it: of the kernel's name, or of this and its block,
// KERNEL_128. Returns its number of blocks, 0 if there is none.
static double blocks_of(Arena *arena, const ResultTable *device, const ResultRow *row,
                        const ResultTable *counters) {
    static const Str same[] = {STR("chapter"), STR("n"), STR("block")};
    const Str name = results_cell(device, row, STR("kernel"));
    double most = 0, blocks;
    for (size_t r = 0; counters && r < counters->row_count; r++) {
        const ResultRow *counted = &counters->rows[r];
        size_t k = 0;
        while (k < 3 && str_equal(results_cell(device, row, same[k]),
                                  results_cell(counters, counted, same[k])))
            k++;
        if (k < 3) continue;
        Buf with_block = {.arena = arena};
        const Str kernel = results_cell(counters, counted, STR("kernel"));
        buf_format(&with_block, "%.*s_%.*s", STR_ARG(kernel),
                   STR_ARG(results_cell(counters, counted, STR("block"))));
        if (!str_equal(kernel, name) && !str_equal(buf_str(&with_block), name)) continue;
        const Str grid = results_cell(counters, counted, STR("grid"));
        if (results_number(grid, &blocks) && blocks > most) most = blocks;
    }
    return most;
}

static double number_or_0(const ResultTable *table, const ResultRow *row, Str column) {
    double number;
    return results_number(results_cell(table, row, column), &number) ? number : 0;
}

// Microseconds that the device needs to start one block; 0: not measured.
static double block_start_us(Arena *arena, const ResultTable *device, const ResultTable *counters) {
    for (size_t r = 0; r < device->row_count; r++) {
        const ResultRow *row = &device->rows[r];
        if (!str_equal(results_cell(device, row, STR("kernel")), STR("empty_blocks"))) continue;
        const double blocks = blocks_of(arena, device, row, counters);
        if (blocks > 0) return number_or_0(device, row, STR("median_us")) / blocks;
    }
    return 0;
}

// The index of the longest stall; the number of stalls if the row has none.
static size_t longest_stall(const ResultTable *device, const ResultRow *row) {
    const size_t count = sizeof stalls / sizeof *stalls;
    size_t found = count;
    double longest = 0;
    for (size_t i = 0; i < count; i++) {
        const double cycles = number_or_0(device, row, stalls[i].column);
        if (cycles <= longest) continue;
        longest = cycles;
        found = i;
    }
    return found;
}

static void decide(Arena *arena, const ResultTable *device, const ResultRow *row, double starts_us,
                   Str added[ADDED]) {
    const size_t stall = longest_stall(device, row);
    const double us = number_or_0(device, row, STR("median_us"));
    if (stall == sizeof stalls / sizeof *stalls) return;
    double most = us > 0 ? 100 * starts_us / us : 0;
    added[0] = stalls[stall].name;
    added[1] = STR("block starts");
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        const double used = number_or_0(device, row, resources[i].column);
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
    const size_t count = device->column_count;
    const double start_us = block_start_us(arena, device, counters);
    Str *columns = ARENA_NEW(arena, count + ADDED, Str);
    ResultRow *rows = ARENA_NEW(arena, device->row_count + 1, ResultRow);
    memcpy(columns, device->columns, count * sizeof *columns);
    memcpy(columns + count, names, sizeof names);
    for (size_t r = 0; r < device->row_count; r++) {
        Str *cells = ARENA_NEW(arena, count + ADDED, Str);
        rows[r] = device->rows[r];
        memcpy(cells, rows[r].cells, count * sizeof *cells);
        const double blocks = start_us > 0 ? blocks_of(arena, device, &rows[r], counters) : 0;
        decide(arena, device, &rows[r], blocks * start_us, cells + count);
        rows[r].cells = cells;
    }
    device->columns = columns;
    device->column_count = count + ADDED;
    device->rows = rows;
}
