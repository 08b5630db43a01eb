// Reads the CSV of Nsight Compute.
#include "collect/ncu.h"

#include <stdlib.h>

#include "base/csv.h"

#define STALLED "smsp__average_warps_issue_stalled_"
#define STALL(name)                                                                                \
    { STR("stall_" name), STR(STALLED name "_per_issue_active.ratio"), 1 }

// A column, its metric in Nsight Compute, and the divisor that converts ncu's base units,
// nanoseconds and hertz. A stall is the number of cycles that a warp waits between two
// instructions.
static const struct {
    Str column, metric;
    double scale;
} columns[] = {
    {STR("profiled_us"), STR("gpu__time_duration.sum"), 1e3},
    {STR("sm_clock_khz"), STR("smsp__cycles_elapsed.avg.per_second"), 1e3},
    {STR("registers"), STR("launch__registers_per_thread"), 1},
    {STR("machine_insts"), STR("smsp__inst_executed.sum"), 1},
    {STR("machine_lanes"), STR("smsp__thread_inst_executed_per_inst_executed.ratio"), 1},
    {STR("machine_branches"), STR("smsp__sass_branch_targets.sum"), 1},
    {STR("machine_divergent"), STR("smsp__sass_branch_targets_threads_divergent.sum"), 1},
    {STR("issue_pct"), STR("sm__inst_issued.avg.pct_of_peak_sustained_active"), 1},
    {STR("shared_pipe_pct"),
     STR("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"), 1},
    {STR("l2_pct"), STR("lts__t_sectors.avg.pct_of_peak_sustained_elapsed"), 1},
    {STR("memory_pct"), STR("dram__throughput.avg.pct_of_peak_sustained_elapsed"), 1},
    {STR("warps_pct"), STR("sm__warps_active.avg.pct_of_peak_sustained_active"), 1},
    {STR("sm_cycles_min"), STR("sm__cycles_active.min"), 1},
    {STR("sm_cycles_max"), STR("sm__cycles_active.max"), 1},
    {STR("cycles_per_inst"), STR("smsp__average_warp_latency_per_inst_issued.ratio"), 1},
    STALL("barrier"),
    STALL("branch_resolving"),
    STALL("dispatch_stall"),
    STALL("drain"),
    STALL("imc_miss"),
    STALL("lg_throttle"),
    STALL("long_scoreboard"),
    STALL("math_pipe_throttle"),
    STALL("membar"),
    STALL("mio_throttle"),
    STALL("no_instruction"),
    STALL("not_selected"),
    STALL("selected"),
    STALL("short_scoreboard"),
    STALL("sleeping"),
    STALL("wait"),
};
enum { COLUMNS = sizeof columns / sizeof *columns, DURATION = 0 };

size_t ncu_columns(void) { return COLUMNS; }

void ncu_add_header(Buf *out) {
    for (size_t i = 0; i < COLUMNS; i++)
        buf_format(out, "%s%.*s", i ? "," : "", STR_ARG(columns[i].column));
}

void ncu_add_metrics(Buf *out) {
    for (size_t i = 0; i < COLUMNS; i++)
        buf_format(out, "%s%.*s", i ? "," : "", STR_ARG(columns[i].metric));
}

typedef struct {
    Arena *arena;
    Csv csv;
    size_t metric_at[COLUMNS]; // index of each metric's cell
    size_t function_at, grid_at, cell_count;
    Str marker, marker_grid; // the kernel launched before each stage
    Ncu *ncu;
    size_t capacity;
    double longest; // duration of the stage's longest launch so far
} Reader;

static bool fail(Reader *reader, const char *fault) {
    reader->ncu->fault = fault;
    reader->ncu->line = reader->csv.line;
    return false;
}

static size_t find(const Str *cells, size_t count, Str name) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(cells[i], name)) return i;
    return SIZE_MAX;
}

static bool read_header(Reader *reader, const Str *cells, size_t count) {
    reader->cell_count = count;
    reader->function_at = find(cells, count, STR("Kernel Name"));
    reader->grid_at = find(cells, count, STR("Grid Size"));
    if (reader->function_at == SIZE_MAX || reader->grid_at == SIZE_MAX)
        return fail(reader, "no columns `Kernel Name` and `Grid Size`: this is not output of ncu");
    for (size_t i = 0; i < COLUMNS; i++) {
        reader->metric_at[i] = find(cells, count, columns[i].metric);
        if (reader->metric_at[i] == SIZE_MAX)
            return fail(reader, "some metrics are missing: run ncu with the metrics of collect -m");
    }
    return true;
}

// Converts a cell to a number in the column's unit. ncu groups digits with commas.
static bool number_of(Reader *reader, const Str *cells, size_t column, double *number) {
    Buf digits = {.arena = reader->arena};
    Str cell = cells[reader->metric_at[column]];
    for (size_t i = 0; i < cell.len; i++)
        if (cell.at[i] != ',') buf_char(&digits, cell.at[i]);
    char *end, *text = str_terminated(reader->arena, buf_str(&digits));
    *number = strtod(text, &end) / columns[column].scale;
    return *text && !*end;
}

static bool read_launch(Reader *reader, const Str *cells) {
    Ncu *ncu = reader->ncu;
    Str function = cells[reader->function_at], grid = cells[reader->grid_at];
    if (!reader->marker.at) reader->marker = function, reader->marker_grid = grid;
    if (str_equal(function, reader->marker) && str_equal(grid, reader->marker_grid)) {
        ARENA_GROW(reader->arena, ncu->stages, ncu->count, reader->capacity);
        ncu->stages[ncu->count++] = (NcuRow){NULL};
        reader->longest = -1;
        return true;
    }
    Str *row = ARENA_NEW(reader->arena, COLUMNS, Str);
    for (size_t i = 0; i < COLUMNS; i++) {
        Buf text = {.arena = reader->arena};
        double number;
        if (!number_of(reader, cells, i, &number)) return fail(reader, "a metric is not a number");
        if (i == DURATION && number <= reader->longest) return true;
        if (i == DURATION) reader->longest = number;
        buf_format(&text, "%.10g", number);
        row[i] = buf_str(&text);
    }
    ncu->stages[ncu->count - 1].cells = row;
    return true;
}

bool ncu_read(Arena *arena, Str text, Ncu *ncu) {
    *ncu = (Ncu){0};
    Reader reader = {.arena = arena, .csv = csv_open(arena, text), .ncu = ncu};
    size_t rows = 0;
    for (Str line, *cells; csv_line(&reader.csv, &line);) {
        size_t count;
        if (str_starts(line, STR("=="))) continue;
        if (!csv_cells(&reader.csv, line, &cells, &count)) return fail(&reader, reader.csv.fault);
        if (rows == 0 ? !read_header(&reader, cells, count) : count != reader.cell_count)
            return rows ? fail(&reader, "the number of cells differs from the header's") : false;
        if (rows++ > 1 && !read_launch(&reader, cells)) return false; // row 1 has the units
    }
    if (reader.csv.fault) return fail(&reader, reader.csv.fault);
    reader.csv.line = 0;
    return ncu->count > 0 || fail(&reader, "ncu recorded no launches");
}
