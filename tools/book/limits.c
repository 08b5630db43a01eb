// Limits: see limits.h.
#include "book/limits.h"

Str limits_device(Str name) {
    Str suffix = STR("-limits");
    return str_ends(name, suffix) ? str_slice(name, 0, name.len - suffix.len) : STR("");
}

// What a warp waits for, in words that follow "waits for". The names are Nsight Compute's; selected
// is no wait: the warp issues its instruction.
static const struct {
    Str column, words;
} stalls[] = {
    {STR("stall_barrier"), STR("the other warps, at a barrier")},
    {STR("stall_branch_resolving"), STR("a branch")},
    {STR("stall_dispatch_stall"), STR("the dispatcher")},
    {STR("stall_drain"), STR("its last stores")},
    {STR("stall_imc_miss"), STR("a constant")},
    {STR("stall_lg_throttle"), STR("room in the queue to memory")},
    {STR("stall_long_scoreboard"), STR("global memory")},
    {STR("stall_math_pipe_throttle"), STR("an arithmetic unit")},
    {STR("stall_membar"), STR("a fence")},
    {STR("stall_mio_throttle"), STR("room in the queue to shared memory")},
    {STR("stall_no_instruction"), STR("its next instruction")},
    {STR("stall_not_selected"), STR("its turn to issue")},
    {STR("stall_short_scoreboard"), STR("shared memory")},
    {STR("stall_sleeping"), STR("the end of a sleep")},
    {STR("stall_wait"), STR("an instruction of fixed length")},
};

static Str longest_stall(const ResultTable *limits, const ResultRow *row) {
    Str words = {NULL, 0};
    double longest = 0, cycles;
    for (size_t i = 0; i < sizeof stalls / sizeof *stalls; i++) {
        if (!results_number(results_cell(limits, row, stalls[i].column), &cycles)) continue;
        if (cycles <= longest) continue;
        longest = cycles;
        words = stalls[i].words;
    }
    return words;
}

// Those that say which launch a row is of, and are in the device's table already.
static bool says_which(Str column) {
    return str_equal(column, STR("chapter")) || str_equal(column, STR("kernel")) ||
           str_equal(column, STR("n")) || str_equal(column, STR("source"));
}

// The launch that was profiled is the one of no sweep.
static const ResultRow *profiled(const ResultTable *device, const ResultRow *row,
                                 const ResultTable *limits) {
    static const Str same[] = {STR("chapter"), STR("kernel"), STR("n")};
    if (str_equal(results_cell(device, row, STR("sweep")), STR("1"))) return NULL;
    for (size_t i = 0; i < limits->row_count; i++) {
        bool equal = true;
        for (size_t k = 0; k < sizeof same / sizeof *same && equal; k++)
            equal = str_equal(results_cell(device, row, same[k]),
                              results_cell(limits, &limits->rows[i], same[k]));
        if (equal) return &limits->rows[i];
    }
    return NULL;
}

static const Str *joined_cells(Arena *arena, const ResultTable *device, const ResultRow *row,
                               const ResultTable *limits, size_t count) {
    Str *cells = ARENA_NEW(arena, count, Str);
    size_t at = 0;
    const ResultRow *found = profiled(device, row, limits);
    for (size_t i = 0; i < count; i++) cells[i] = STR("");
    for (; at < device->column_count; at++) cells[at] = row->cells[at];
    if (!found) return cells;
    cells[at++] = results_cell(limits, found, STR("source"));
    cells[at++] = longest_stall(limits, found);
    for (size_t i = 0; i < limits->column_count; i++)
        if (!says_which(limits->columns[i])) cells[at++] = found->cells[i];
    return cells;
}

void limits_join(Arena *arena, ResultTable *device, const ResultTable *limits) {
    size_t count = 0;
    Str *columns = ARENA_NEW(arena, device->column_count + 2 + limits->column_count, Str);
    ResultRow *rows = ARENA_NEW(arena, device->row_count + 1, ResultRow);
    while (count < device->column_count) columns[count] = device->columns[count], count++;
    columns[count++] = STR("limits_source");
    columns[count++] = STR("stall");
    for (size_t i = 0; i < limits->column_count; i++)
        if (!says_which(limits->columns[i])) columns[count++] = limits->columns[i];
    for (size_t i = 0; i < device->row_count; i++) {
        rows[i] = device->rows[i];
        rows[i].cells = joined_cells(arena, device, &device->rows[i], limits, count);
    }
    device->columns = columns;
    device->column_count = count;
    device->rows = rows;
}
