// Recorded results: see results.h.
#define _POSIX_C_SOURCE 200809L
#include "numbers/results.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/file.h"
#include "numbers/cell.h"
#include "numbers/join.h"
#include "numbers/kernels.h"
#include "numbers/machine.h"

enum { PERCENTILES = 3 };

typedef struct {
    Arena *arena;
    ResultTable *table;
    ResultError *error;
    Csv csv;
    bool any;        // any columns, any rows: nothing is known of their meaning
    CellKind *kinds; // one per column
    size_t n, cols, percentiles[PERCENTILES]; // places of these columns, SIZE_MAX: not there
} Reader;

static bool is_one_of(Str name, const Str *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(name, names[i])) return true;
    return false;
}

static const Str limits_suffix = STR("-limits");

static bool is_of_shapes(Str device) { return str_ends(device, STR("-shapes")); }

ResultProgram results_program(const ResultTable *table) {
    if (is_of_shapes(table->device)) return PROGRAM_SHAPES;
    return results_newest_of(table).len ? PROGRAM_NEWEST : PROGRAM_LAB;
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

static bool fail(Reader *reader, size_t line, Buf message) {
    *reader->error = (ResultError){reader->table->path, line, buf_str(&message)};
    return false;
}

static bool fail_plain(Reader *reader, const char *message) {
    Buf text = {.arena = reader->arena};
    buf_add(&text, str_of(message));
    return fail(reader, reader->csv.line, text);
}

static bool check_columns(Reader *reader) {
    const ResultTable *table = reader->table;
    static const char *const needed[] = {"chapter", "kernel", "n", "cols"};
    const size_t needs = is_of_shapes(table->device) ? 4 : 3;
    for (size_t i = 0; i < table->column_count; i++) {
        Buf message = {.arena = reader->arena};
        if (table->columns[i].len == 0) return fail_plain(reader, "a column has no name");
        for (size_t k = 0; k < i; k++) {
            if (!str_equal(table->columns[i], table->columns[k])) continue;
            buf_format(&message, "two columns are called `%.*s`", STR_ARG(table->columns[i]));
            return fail(reader, reader->csv.line, message);
        }
    }
    for (size_t i = 0; i < needs && !reader->any; i++) {
        if (results_has_column(table, str_of(needed[i]))) continue;
        Buf message = {.arena = reader->arena};
        buf_format(&message, "the header has no column `%s`", needed[i]);
        return fail(reader, reader->csv.line, message);
    }
    return true;
}

// The 5th percentile, the median and the 95th.
static const Str percentiles[PERCENTILES] = {STR("p5_us"), STR("median_us"), STR("p95_us")};

static void place_columns(Reader *reader) {
    static const Str counted[] = {STR("cpu"), STR("cpu-lines"), STR("cpu-machine")};
    const ResultTable *table = reader->table;
    const bool counts = is_one_of(table->device, counted, sizeof counted / sizeof *counted);
    reader->kinds = ARENA_NEW(reader->arena, table->column_count, CellKind);
    for (size_t i = 0; i < table->column_count; i++)
        reader->kinds[i] = cell_kind(table->columns[i], counts);
    reader->n = results_column(table, STR("n"));
    reader->cols = results_column(table, STR("cols"));
    for (size_t i = 0; i < PERCENTILES; i++)
        reader->percentiles[i] = results_column(table, percentiles[i]);
}

// They stand in this order.
static bool check_percentiles(Reader *reader, const ResultRow *row) {
    Str before = {NULL, 0}, before_name = before;
    double low = 0, number;
    for (size_t i = 0; i < PERCENTILES; i++) {
        if (reader->percentiles[i] == SIZE_MAX) continue;
        Str cell = row->cells[reader->percentiles[i]];
        if (!results_number(cell, &number)) continue;
        if (number < low) {
            Buf message = {.arena = reader->arena};
            buf_format(&message, "%.*s `%.*s` is above %.*s `%.*s`", STR_ARG(before_name),
                       STR_ARG(before), STR_ARG(percentiles[i]), STR_ARG(cell));
            return fail(reader, row->line, message);
        }
        low = number;
        before = cell;
        before_name = percentiles[i];
    }
    return true;
}

static bool check_row(Reader *reader, const ResultRow *row) {
    const ResultTable *table = reader->table;
    for (size_t i = 0; i < table->column_count; i++) {
        const char *fault = cell_fault(reader->kinds[i], row->cells[i]);
        if (!fault) continue;
        Buf message = {.arena = reader->arena};
        buf_format(&message, "%.*s `%.*s` %s", STR_ARG(table->columns[i]), STR_ARG(row->cells[i]),
                   fault);
        return fail(reader, row->line, message);
    }
    return check_percentiles(reader, row);
}

typedef struct {
    Str words; // the cells that say what was measured
    size_t line;
} RowKey;

static int by_words(const void *a, const void *b) {
    const RowKey *left = a, *right = b;
    int order = str_compare(left->words, right->words);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static const Str key_columns[] = {STR("chapter"), STR("kernel"),   STR("n"),    STR("elem"),
                                  STR("block"),   STR("cols"),     STR("grid"), STR("code_line"),
                                  STR("launch"),  STR("partials"), STR("sweep")};
enum { KEY_COLUMNS = sizeof key_columns / sizeof *key_columns };

static RowKey row_key(Reader *reader, const ResultRow *row, const size_t *places) {
    Buf words = {.arena = reader->arena};
    for (size_t i = 0; i < KEY_COLUMNS; i++) {
        if (places[i] != SIZE_MAX) buf_add(&words, row->cells[places[i]]);
        buf_char(&words, '\n');
    }
    return (RowKey){buf_str(&words), row->line};
}

static bool check_unique(Reader *reader) {
    const ResultTable *table = reader->table;
    RowKey *keys = ARENA_NEW(reader->arena, table->row_count + 1, RowKey);
    size_t places[KEY_COLUMNS];
    for (size_t i = 0; i < KEY_COLUMNS; i++) places[i] = results_column(table, key_columns[i]);
    for (size_t i = 0; i < table->row_count; i++)
        keys[i] = row_key(reader, &table->rows[i], places);
    qsort(keys, table->row_count, sizeof *keys, by_words);
    for (size_t i = 1; i < table->row_count; i++) {
        if (!str_equal(keys[i].words, keys[i - 1].words)) continue;
        Buf message = {.arena = reader->arena};
        buf_format(&message, "the same chapter, kernel, n and launch shape as line %zu",
                   keys[i - 1].line);
        return fail(reader, keys[i].line, message);
    }
    return true;
}

static bool read_fact(Reader *reader, Str line, ResultFact **facts, size_t *capacity) {
    static const Str numbers[] = {STR("sm_count"), STR("l2_bytes"), STR("pin_gbps"),
                                  STR("memory_clock_khz"), STR("memory_bus_bits")};
    ResultTable *table = reader->table;
    size_t colon = str_find(line, STR(":"));
    if (colon == SIZE_MAX) return true;
    ResultFact fact = {str_trim(str_slice(line, 1, colon)), str_trim(str_from(line, colon + 1))};
    ARENA_GROW(reader->arena, *facts, table->fact_count, *capacity);
    (*facts)[table->fact_count++] = fact;
    table->facts = *facts;
    if (reader->any || !is_one_of(fact.name, numbers, sizeof numbers / sizeof *numbers))
        return true;
    const char *fault = cell_number_fault(cell_kind(fact.name, false), fact.value);
    if (!fault) return true;
    Buf message = {.arena = reader->arena};
    buf_format(&message, "%.*s `%.*s` %s", STR_ARG(fact.name), STR_ARG(fact.value), fault);
    return fail(reader, reader->csv.line, message);
}

static bool read_row(Reader *reader, Str line, ResultRow **rows, size_t *capacity) {
    ResultTable *table = reader->table;
    Str *cells;
    size_t count;
    if (!csv_cells(&reader->csv, line, &cells, &count))
        return fail_plain(reader, reader->csv.fault);
    if (table->column_count == 0) {
        table->columns = cells;
        table->column_count = count;
        place_columns(reader);
        return check_columns(reader);
    }
    if (count != table->column_count) {
        Buf message = {.arena = reader->arena};
        buf_format(&message, "%zu cells under %zu columns", count, table->column_count);
        return fail(reader, reader->csv.line, message);
    }
    ARENA_GROW(reader->arena, *rows, table->row_count, *capacity);
    ResultRow *row = &(*rows)[table->row_count++];
    *row = (ResultRow){reader->csv.line, cells, -1, -1};
    table->rows = *rows;
    if (reader->any) return true;
    results_number(cells[reader->n], &row->n);
    if (reader->cols != SIZE_MAX) results_number(cells[reader->cols], &row->cols);
    return check_row(reader, row);
}

bool results_parse(Arena *arena, const char *path, Str device, Str text, ResultTable *table,
                   ResultError *error) {
    *table = (ResultTable){.path = path, .device = device};
    Reader reader = {.arena = arena, .table = table, .error = error, .any = device.len == 0};
    Str line;
    size_t fact_capacity = 0, row_capacity = 0;
    ResultFact *facts = NULL;
    ResultRow *rows = NULL;
    reader.csv = csv_open(arena, text);
    if (str_invalid_utf8(device) != SIZE_MAX)
        return fail_plain(&reader, "the name of the file is not UTF-8");
    while (csv_line(&reader.csv, &line)) {
        bool good = line.at[0] == '#' ? read_fact(&reader, line, &facts, &fact_capacity)
                                      : read_row(&reader, line, &rows, &row_capacity);
        if (!good) return false;
    }
    if (reader.csv.fault) return fail_plain(&reader, reader.csv.fault);
    reader.csv.line = 0;
    if (table->column_count == 0) return fail_plain(&reader, "no header row");
    if (reader.any) return true;
    kernels_index(arena, table);
    return check_unique(&reader);
}

static bool read_table(Arena *arena, const char *path, Str device, ResultTable *table,
                       ResultError *error) {
    Str text;
    if (file_read(arena, path, &text))
        return results_parse(arena, path, device, text, table, error);
    *error = (ResultError){path, 0, str_of(strerror(errno))};
    return false;
}

bool results_read_csv(Arena *arena, const char *path, ResultTable *table, ResultError *error) {
    return read_table(arena, path, (Str){NULL, 0}, table, error);
}

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
    Str suffix = STR("-newest");
    bool newest = str_ends(table->device, suffix);
    return newest ? str_slice(table->device, 0, table->device.len - suffix.len) : STR("");
}

static int by_name(const void *a, const void *b) {
    return str_compare(*(const Str *)a, *(const Str *)b);
}

// The names of the folder's CSV files without `.csv`, in order.
static size_t csv_names(Arena *arena, const char *folder, Str **names) {
    DIR *listing = opendir(folder);
    size_t count = 0, capacity = 0;
    if (!listing) return 0;
    for (struct dirent *entry; (entry = readdir(listing));) {
        Str name = str_of(entry->d_name);
        bool other = str_starts(name, STR("trace-")) || str_starts(name, STR("compare-")) ||
                     str_starts(name, STR("errors"));
        if (name.len <= 4 || name.at[0] == '.' || !str_ends(name, STR(".csv")) || other) continue;
        ARENA_GROW(arena, *names, count, capacity);
        Str kept = {str_terminated(arena, name), name.len - 4};
        (*names)[count++] = kept;
    }
    closedir(listing);
    if (count) qsort(*names, count, sizeof **names, by_name);
    return count;
}

// Joins limits to the results of their device. False: there are none of it.
static bool add_limits(Arena *arena, ResultTable *devices, size_t count, const ResultTable *limits,
                       ResultError *error) {
    const Str device = str_slice(limits->device, 0, limits->device.len - limits_suffix.len);
    for (size_t i = 0; i < count; i++) {
        if (!str_equal(devices[i].device, device)) continue;
        join_limits(arena, &devices[i], limits);
        return true;
    }
    Buf message = {.arena = arena};
    buf_format(&message, "limits of a device without results: there is no %.*s.csv beside it",
               STR_ARG(device));
    *error = (ResultError){limits->path, 0, buf_str(&message)};
    return false;
}

// Where the counts of this name are kept; NULL: it is a device's.
static const ResultTable **counts_place(Results *results, Str name, const ResultTable **machine) {
    if (str_equal(name, STR("cpu"))) return &results->counters;
    if (str_equal(name, STR("cpu-lines"))) return &results->lines;
    return str_equal(name, STR("cpu-machine")) ? machine : NULL;
}

// Joins what was counted in machine code to the counters. False: there are none.
static bool add_machine(Arena *arena, Results *results, const ResultTable *machine,
                        ResultError *error) {
    if (!results->counters) {
        *error = (ResultError){machine->path, 0, STR("there is no cpu.csv beside it")};
        return false;
    }
    ResultTable *joined = ARENA_NEW(arena, 1, ResultTable);
    *joined = *results->counters;
    join_machine(arena, joined, machine);
    results->counters = joined;
    return true;
}

// Joins what was predicted to the results of each device of which there is such a file.
static bool add_predicted(Arena *arena, const char *folder, ResultTable *devices, size_t count,
                          ResultError *error) {
    for (size_t i = 0; i < count; i++) {
        ResultTable predicted;
        Buf path = {.arena = arena};
        buf_format(&path, "%s/predicted/%.*s.csv", folder, STR_ARG(devices[i].device));
        const char *name = str_terminated(arena, buf_str(&path));
        if (access(name, F_OK) != 0) continue;
        if (!read_table(arena, name, devices[i].device, &predicted, error)) return false;
        join_predicted(arena, &devices[i], &predicted);
    }
    return true;
}

bool results_read(Arena *arena, const char *folder, Str reference, Results *results,
                  ResultError *error) {
    *results = (Results){.folder = folder};
    const ResultTable *machine = NULL;
    Str *names = NULL;
    size_t count = csv_names(arena, folder, &names);
    ResultTable *devices = ARENA_NEW(arena, count + 1, ResultTable);
    ResultTable *limits = ARENA_NEW(arena, count + 1, ResultTable);
    ResultTable *shapes = ARENA_NEW(arena, count + 1, ResultTable);
    ResultTable *machines = ARENA_NEW(arena, count + 1, ResultTable);
    size_t limits_count = 0;
    results->shapes = shapes;
    results->machines = machines;
    for (size_t i = 0; i < count; i++) {
        Buf path = {.arena = arena};
        buf_format(&path, "%s/%.*s.csv", folder, STR_ARG(names[i]));
        ResultTable table;
        const bool of_machine = machine_is(names[i]); // columns of its own
        if (!read_table(arena, str_terminated(arena, buf_str(&path)),
                        of_machine ? STR("") : names[i], &table, error))
            return false;
        if (of_machine) {
            table.device = names[i];
            machines[results->machine_count++] = table;
            if (!machine_check(arena, &table, error)) return false;
            continue;
        }
        const ResultTable **counts = counts_place(results, names[i], &machine);
        if (counts) {
            ResultTable *kept = ARENA_NEW(arena, 1, ResultTable);
            *kept = table;
            *counts = kept;
            continue;
        }
        if (str_ends(names[i], limits_suffix)) {
            limits[limits_count++] = table;
            continue;
        }
        if (is_of_shapes(names[i])) {
            shapes[results->shapes_count++] = table;
            continue;
        }
        size_t place = results->device_count++;
        if (str_equal(names[i], reference)) {
            memmove(devices + 1, devices, place * sizeof *devices);
            place = 0;
            results->reference = devices;
        }
        devices[place] = table;
    }
    results->devices = devices;
    for (size_t i = 0; i < limits_count; i++)
        if (!add_limits(arena, devices, results->device_count, &limits[i], error)) return false;
    if (!add_predicted(arena, folder, devices, results->device_count, error)) return false;
    return !machine || add_machine(arena, results, machine, error);
}
