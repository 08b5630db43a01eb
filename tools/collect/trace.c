// Condenses a trace for figures.
#include <stdlib.h>

#include "collect/answers.h"

enum { LAUNCH = 1, BLOCK, WARP, LINE, SPACE, OP, COLUMNS = 10 };

static long line_of(Arena *arena, const Str *cells) {
    return strtol(str_terminated(arena, cells[LINE]), NULL, 10);
}

bool trace_add(Csv *csv, Str kernel, Buf *out) {
    Arena *arena = csv->arena;
    Str row, *cells, **rows = NULL, launch = STR("");
    size_t count = 0, capacity = 0, cell_count;
    long first = 0;
    for (bool header = true; csv_line(csv, &row); header = false) {
        if (!csv_cells(csv, row, &cells, &cell_count)) return false;
        if (cell_count < COLUMNS) csv->fault = "expected a row of simt --trace";
        if (csv->fault) return false;
        if (header) continue;
        const long line = line_of(arena, cells);
        if (!str_equal(cells[LAUNCH], launch)) {
            launch = cells[LAUNCH];
            count = 0;
            first = line;
        }
        if (!str_equal(cells[WARP], STR("0")) || str_equal(cells[SPACE], STR("warp")) ||
            str_equal(cells[OP], STR("race")))
            continue;
        if (line < first) first = line;
        ARENA_GROW(arena, rows, count, capacity);
        rows[count++] = cells;
    }
    buf_add(out, STR("kernel,launch,block,warp,line,space,op,bytes,lane,address\n"));
    for (size_t i = 0; i < count; i++) {
        buf_format(out, "%.*s,1,%.*s,0,%ld", STR_ARG(kernel), STR_ARG(rows[i][BLOCK]),
                   line_of(arena, rows[i]) - first + 1);
        for (size_t k = SPACE; k < COLUMNS; k++) buf_format(out, ",%.*s", STR_ARG(rows[i][k]));
        buf_char(out, '\n');
    }
    return !csv->fault;
}
