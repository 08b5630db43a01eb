// Fuzzes the CSV reader and the checks of result files. The first byte chooses the kind of file.
#include "base/csv.h"

#include <math.h>

#include "fuzz.h"
#include "numbers/read.h"

// Cells that are read, written and read again must be the same.
static void check_cells(Arena *arena, Str text) {
    Csv csv = csv_open(arena, text);
    Str line, *cells, *again;
    size_t count, count_again;
    while (csv_line(&csv, &line)) {
        if (!csv_cells(&csv, line, &cells, &count)) break;
        Buf row = {.arena = arena};
        for (size_t i = 0; i < count; i++) {
            if (i) buf_char(&row, ',');
            csv_add_cell(&row, cells[i]);
        }
        Csv second = csv_open(arena, buf_str(&row));
        must(csv_cells(&second, buf_str(&row), &again, &count_again), "a row written is not read");
        must(count == count_again, "a row has another number of cells when it is written");
        for (size_t i = 0; i < count; i++)
            must(str_equal(cells[i], again[i]), "a cell has changed");
    }
    if (csv.fault) must_be_located(str_of(csv.fault), csv.line, text);
}

static void check_rows(const ResultTable *table, Str text) {
    static const char *const times[] = {"p5_us", "median_us", "p95_us"};
    size_t line = 0;
    for (size_t r = 0; r < table->row_count; r++) {
        const ResultRow *row = &table->rows[r];
        double number, before = 0;
        must(row->line > line, "rows are not in the order of their lines");
        line = row->line;
        must_be_located(STR("row"), line, text);
        if (table->device.len == 0) continue;
        must(results_number(results_cell(table, row, STR("n")), &number) && number >= 0 &&
                 number < 9.1e15 && floor(number) == number,
             "n is no count");
        bool timed = str_equal(table->device, STR("nvidia-h200"));
        for (size_t i = 0; timed && i < sizeof times / sizeof *times; i++) {
            if (!results_number(results_cell(table, row, str_of(times[i])), &number)) continue;
            must(number > 0 && number >= before && number <= 1e12,
                 "times are not what they can be");
            before = number;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const kinds[] = {"", "nvidia-h200", "cpu", "cpu-lines", "cpu-machine"};
    Arena arena = {0};
    ResultTable table;
    ReadError error;
    if (size == 0) return 0;
    Str text = {(const char *)bytes + 1, size - 1};
    check_cells(&arena, text);
    Str kind = str_of(kinds[bytes[0] % 5]);
    if (read_text(&arena, "results/it.csv", kind, text, &table, &error))
        check_rows(&table, text);
    else
        must_be_located(error.message, error.line, text);
    arena_free(&arena);
    return 0;
}
