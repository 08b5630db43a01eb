// Counts of machine code: see machine.h.
#include "book/machine.h"

static const Str prefix = STR("machine_");

static const Str launches[] = {STR("chapter"), STR("kernel"), STR("n"), STR("grid"), STR("block")};

static bool says_which(Str column) {
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
        if (str_equal(column, launches[i])) return true;
    return false;
}

bool machine_column(Str column) { return str_starts(column, prefix); }

static const ResultRow *same_launch(const ResultTable *counters, const ResultRow *row,
                                    const ResultTable *machine) {
    for (size_t i = 0; i < machine->row_count; i++) {
        bool equal = true;
        for (size_t k = 0; k < sizeof launches / sizeof *launches && equal; k++)
            equal = str_equal(results_cell(counters, row, launches[k]),
                              results_cell(machine, &machine->rows[i], launches[k]));
        if (equal) return &machine->rows[i];
    }
    return NULL;
}

void machine_join(Arena *arena, ResultTable *counters, const ResultTable *machine) {
    size_t count = counters->column_count;
    Str *columns = ARENA_NEW(arena, count + machine->column_count, Str);
    ResultRow *rows = ARENA_NEW(arena, counters->row_count + 1, ResultRow);
    for (size_t i = 0; i < count; i++) columns[i] = counters->columns[i];
    for (size_t i = 0; i < machine->column_count; i++) {
        if (says_which(machine->columns[i])) continue;
        Buf name = {.arena = arena};
        buf_add(&name, prefix);
        buf_add(&name, machine->columns[i]);
        columns[count++] = buf_str(&name);
    }
    for (size_t r = 0; r < counters->row_count; r++) {
        const ResultRow *row = &counters->rows[r], *found = same_launch(counters, row, machine);
        Str *cells = ARENA_NEW(arena, count, Str);
        size_t at = 0;
        for (; at < counters->column_count; at++) cells[at] = row->cells[at];
        for (size_t i = 0; i < machine->column_count; i++)
            if (!says_which(machine->columns[i])) cells[at++] = found ? found->cells[i] : STR("");
        rows[r] = *row;
        rows[r].cells = cells;
    }
    counters->columns = columns;
    counters->column_count = count;
    counters->rows = rows;
}
