// Looks up columns, facts and kernels of recorded tables.
#include "numbers/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t results_column(const ResultTable *table, Str column) {
    for (size_t i = 0; i < table->column_count; i++)
        if (str_equal(table->columns[i], column)) return i;
    return SIZE_MAX;
}

Str results_cell(const ResultTable *table, const ResultRow *row, Str column) {
    size_t at = results_column(table, column);
    return at == SIZE_MAX ? (Str){NULL, 0} : row->cells[at];
}

bool results_has_column(const ResultTable *table, Str column) {
    return results_column(table, column) != SIZE_MAX;
}

double results_cell_number(const ResultTable *table, const ResultRow *row, Str column) {
    double number;
    return results_number(results_cell(table, row, column), &number) ? number : 0;
}

Str **results_add_columns(Arena *arena, ResultTable *table, const Str *names, size_t count) {
    const size_t own = table->column_count;
    Str *columns = ARENA_NEW(arena, own + count, Str);
    ResultRow *rows = ARENA_NEW(arena, table->row_count + 1, ResultRow);
    Str **added = ARENA_NEW(arena, table->row_count + 1, Str *);
    memcpy(columns, table->columns, own * sizeof *columns);
    memcpy(columns + own, names, count * sizeof *columns);
    for (size_t r = 0; r < table->row_count; r++) {
        Str *cells = ARENA_NEW(arena, own + count, Str);
        memcpy(cells, table->rows[r].cells, own * sizeof *cells);
        rows[r] = table->rows[r];
        rows[r].cells = cells;
        added[r] = cells + own;
    }
    table->columns = columns;
    table->column_count = own + count;
    table->rows = rows;
    return added;
}

Str results_fact(const ResultTable *table, Str name) {
    for (size_t i = 0; i < table->fact_count; i++)
        if (str_equal(table->facts[i].name, name)) return table->facts[i].value;
    return (Str){NULL, 0};
}

Str results_device_name(Arena *arena, const ResultTable *table) {
    Str name = results_fact(table, STR("device")), cub = results_fact(table, STR("cub"));
    Buf text = {.arena = arena};
    buf_add(&text, name.len ? name : table->device);
    if (cub.len) buf_format(&text, ", CUB %.*s", STR_ARG(cub));
    return buf_str(&text);
}

Str results_newest_of(const ResultTable *table) {
    return table->file.kind == CATALOG_NEWEST ? table->file.device : STR("");
}

ResultProgram results_program(const ResultTable *table) {
    if (table->file.kind == CATALOG_SHAPES) return PROGRAM_SHAPES;
    return table->file.kind == CATALOG_NEWEST ? PROGRAM_NEWEST : PROGRAM_LAB;
}

bool results_number(Str s, double *number) {
    char digits[64];
    if (s.len == 0 || s.len >= sizeof digits) return false;
    for (size_t i = 0; i < s.len; i++) {
        bool digit = s.at[i] >= '0' && s.at[i] <= '9';
        if (!digit && (!memchr("+-.eE", s.at[i], 5) || s.at[i] == '\0')) return false;
        digits[i] = s.at[i];
    }
    digits[s.len] = '\0';
    char *end;
    *number = strtod(digits, &end);
    return *end == '\0' && isfinite(*number);
}

bool results_split_block(Str *kernel, Str *block) {
    size_t start = kernel->len;
    while (start && kernel->at[start - 1] >= '0' && kernel->at[start - 1] <= '9') start--;
    if (start == kernel->len || start < 2 || kernel->at[start - 1] != '_') return false;
    *block = str_from(*kernel, start);
    *kernel = str_slice(*kernel, 0, start - 1);
    return true;
}

// --- the rows by kernel ---

typedef struct {
    Str chapter, kernel;
    size_t row;
} Place;

static int by_kernel(const void *a, const void *b) {
    const Place *left = a, *right = b;
    int order = str_compare(left->chapter, right->chapter);
    if (!order) order = str_compare(left->kernel, right->kernel);
    return order ? order : (left->row > right->row) - (left->row < right->row);
}

void results_index_kernels(Arena *arena, ResultTable *table) {
    const size_t count = table->row_count, chapter = results_column(table, STR("chapter")),
                 kernel = results_column(table, STR("kernel"));
    Place *places = ARENA_NEW(arena, count + 1, Place);
    size_t *rows = ARENA_NEW(arena, count + 1, size_t), capacity = 0;
    ResultKernel *kernels = NULL;
    for (size_t i = 0; i < count; i++)
        places[i] = (Place){table->rows[i].cells[chapter], table->rows[i].cells[kernel], i};
    qsort(places, count, sizeof *places, by_kernel);
    for (size_t i = 0; i < count; i++) {
        const bool same = i && str_equal(places[i].chapter, places[i - 1].chapter) &&
                          str_equal(places[i].kernel, places[i - 1].kernel);
        rows[i] = places[i].row;
        if (!same) {
            ARENA_GROW(arena, kernels, table->kernel_count, capacity);
            kernels[table->kernel_count++] =
                (ResultKernel){places[i].chapter, places[i].kernel, rows + i, 0};
        }
        kernels[table->kernel_count - 1].row_count++;
    }
    table->kernels = kernels;
}

// The index of a kernel in the table's sorted kernels, or where it would be.
static size_t before(const ResultTable *table, Str chapter, Str name) {
    size_t low = 0, high = table->kernel_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const ResultKernel *kernel = &table->kernels[middle];
        int order = str_compare(kernel->chapter, chapter);
        if (!order) order = str_compare(kernel->name, name);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const ResultKernel *results_kernels(const ResultTable *table, Str chapter, size_t *count) {
    const size_t first = before(table, chapter, STR(""));
    size_t end = first;
    while (end < table->kernel_count && str_equal(table->kernels[end].chapter, chapter)) end++;
    *count = end - first;
    return *count ? &table->kernels[first] : NULL;
}

const ResultKernel *results_kernel(const ResultTable *table, Str chapter, Str name) {
    const size_t at = before(table, chapter, name);
    if (at == table->kernel_count) return NULL;
    const ResultKernel *kernel = &table->kernels[at];
    return str_equal(kernel->chapter, chapter) && str_equal(kernel->name, name) ? kernel : NULL;
}
