// Reads and checks the CSV files of results.
#include "numbers/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/file.h"
#include "numbers/cell.h"
#include "numbers/join.h"
#include "numbers/verdict.h"

enum { PERCENTILES = 3 };

typedef struct {
    Arena *arena;
    ResultTable *table;
    ReadError *error;
    Csv csv;
    bool any;                                 // accept any columns and rows
    CellKind *kinds;                          // one per column
    size_t n, cols, percentiles[PERCENTILES]; // indices of these columns; SIZE_MAX: missing
} Reader;

static bool is_one_of(Str name, const Str *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(name, names[i])) return true;
    return false;
}

static bool fail(Reader *reader, size_t line, Buf message) {
    *reader->error = (ReadError){reader->table->path, line, buf_str(&message)};
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
    const size_t needs = table->file.kind == CATALOG_SHAPES ? 4 : 3;
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

static const Str percentiles[PERCENTILES] = {STR("p5_us"), STR("median_us"), STR("p95_us")};

static void place_columns(Reader *reader) {
    const ResultTable *table = reader->table;
    const CatalogKind kind = table->file.kind;
    const bool counts = !reader->any && catalog_is_counts(kind);
    reader->kinds = ARENA_NEW(reader->arena, table->column_count, CellKind);
    for (size_t i = 0; i < table->column_count; i++)
        reader->kinds[i] = cell_kind(table->columns[i], counts);
    reader->n = results_column(table, STR("n"));
    reader->cols = results_column(table, STR("cols"));
    for (size_t i = 0; i < PERCENTILES; i++)
        reader->percentiles[i] = results_column(table, percentiles[i]);
}

// Checks that no percentile is above the next one.
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
    Str words; // the cells that identify what was measured
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

bool read_text(Arena *arena, const char *path, Str device, Str text, ResultTable *table,
               ReadError *error) {
    *table = (ResultTable){.path = path, .device = device, .file = catalog_file(device)};
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
    results_index_kernels(arena, table);
    return check_unique(&reader);
}

static bool read_table(Arena *arena, const char *path, Str device, ResultTable *table,
                       ReadError *error) {
    Str text;
    if (file_read(arena, path, &text)) return read_text(arena, path, device, text, table, error);
    *error = (ReadError){path, 0, str_of(strerror(errno))};
    return false;
}

bool read_csv(Arena *arena, const char *path, ResultTable *table, ReadError *error) {
    return read_table(arena, path, (Str){NULL, 0}, table, error);
}

// --- a folder ---

// Reads the names and values of a device's latencies and rates.
static bool read_machine(Arena *arena, const char *path, CatalogFile file, ResultTable *table,
                         ReadError *error) {
    static const Str columns[] = {STR("name"), STR("value"), STR("unit")};
    Buf message = {.arena = arena};
    if (!read_csv(arena, path, table, error)) return false;
    table->device = file.name;
    table->file = file;
    *error = (ReadError){.path = path};
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !message.len; i++)
        if (!results_has_column(table, columns[i]))
            buf_format(&message, "the header has no column `%.*s`", STR_ARG(columns[i]));
    for (size_t i = 0; i < table->row_count && !message.len; i++) {
        const Str value = results_cell(table, &table->rows[i], columns[1]);
        double number;
        if (results_number(value, &number)) continue;
        error->line = table->rows[i].line;
        buf_format(&message, "value `%.*s` is not a number", STR_ARG(value));
    }
    error->message = buf_str(&message);
    return message.len == 0;
}

// Joins limits to the times of their device. False: it has no times.
static bool add_limits(Arena *arena, ResultTable *devices, size_t count, const ResultTable *limits,
                       const ResultTable *counters, ReadError *error) {
    for (size_t i = 0; i < count; i++) {
        if (!str_equal(devices[i].device, limits->file.device)) continue;
        join_limits(arena, &devices[i], limits);
        verdict_add(arena, &devices[i], counters);
        return true;
    }
    Buf message = {.arena = arena};
    buf_format(&message, "limits of a device without results: there is no %.*s.csv beside it",
               STR_ARG(limits->file.device));
    *error = (ReadError){limits->path, 0, buf_str(&message)};
    return false;
}

// Reads how far predictions are off, if make predict has written that.
static bool read_model(Arena *arena, const char *folder, Results *results, ReadError *error) {
    ResultTable *table = ARENA_NEW(arena, 1, ResultTable);
    const char *path = catalog_path(arena, folder, CATALOG_PREDICTED, STR("errors"));
    if (access(path, F_OK) != 0) return true;
    results->model = table;
    return read_csv(arena, path, table, error);
}

// Joins predictions to the times of each device that has a file of them.
static bool add_predicted(Arena *arena, const char *folder, ResultTable *devices, size_t count,
                          ReadError *error) {
    for (size_t i = 0; i < count; i++) {
        ResultTable predicted;
        const char *path = catalog_path(arena, folder, CATALOG_PREDICTED, devices[i].device);
        if (access(path, F_OK) != 0) continue;
        if (!read_table(arena, path, devices[i].device, &predicted, error)) return false;
        join_predicted(arena, &devices[i], &predicted);
    }
    return true;
}

// The tables of a folder by kind. CATALOG_NEWEST counts as CATALOG_TIMES.
typedef struct {
    ResultTable *of[CATALOG_COMPARE + 1];
    size_t count[CATALOG_COMPARE + 1];
} Tables;

static bool read_tables(Arena *arena, const char *folder, Tables *tables, ReadError *error) {
    CatalogFile *files;
    const size_t count = catalog_list(arena, folder, &files);
    for (int kind = 0; kind <= CATALOG_COMPARE; kind++)
        tables->of[kind] = ARENA_NEW(arena, count + 1, ResultTable);
    for (size_t i = 0; i < count; i++) {
        const CatalogKind kind = files[i].kind == CATALOG_NEWEST ? CATALOG_TIMES : files[i].kind;
        ResultTable *table = &tables->of[kind][tables->count[kind]];
        const char *path = catalog_file_path(arena, folder, &files[i]);
        if (kind > CATALOG_COUNTS_SMALL || kind == CATALOG_PREDICTED || kind == CATALOG_WRONG)
            continue;
        if (kind == CATALOG_MACHINE ? !read_machine(arena, path, files[i], table, error)
                                    : !read_table(arena, path, files[i].name, table, error))
            return false;
        tables->count[kind]++;
    }
    return true;
}

// Moves the reference device to the front of the devices.
static const ResultTable *move_reference(ResultTable *devices, size_t count, Str reference) {
    size_t at = 0;
    while (at < count && !str_equal(devices[at].device, reference)) at++;
    if (at == count) return NULL;
    const ResultTable table = devices[at];
    memmove(devices + 1, devices, at * sizeof *devices);
    devices[0] = table;
    return devices;
}

static const ResultTable *only(const Tables *tables, CatalogKind kind) {
    return tables->count[kind] ? tables->of[kind] : NULL;
}

bool read_results(Arena *arena, const char *folder, Str reference, Results *results,
                  ReadError *error) {
    Tables tables = {0};
    *results = (Results){.folder = folder};
    if (!read_tables(arena, folder, &tables, error)) return false;
    ResultTable *devices = tables.of[CATALOG_TIMES];
    results->devices = devices;
    results->device_count = tables.count[CATALOG_TIMES];
    results->reference = move_reference(devices, results->device_count, reference);
    results->shapes = tables.of[CATALOG_SHAPES];
    results->shapes_count = tables.count[CATALOG_SHAPES];
    results->machines = tables.of[CATALOG_MACHINE];
    results->machine_count = tables.count[CATALOG_MACHINE];
    results->counters = only(&tables, CATALOG_COUNTS);
    results->lines = only(&tables, CATALOG_COUNTS_LINES);
    results->small = only(&tables, CATALOG_COUNTS_SMALL);
    for (size_t i = 0; i < tables.count[CATALOG_LIMITS]; i++)
        if (!add_limits(arena, devices, results->device_count, &tables.of[CATALOG_LIMITS][i],
                        results->counters, error))
            return false;
    if (!add_predicted(arena, folder, devices, results->device_count, error)) return false;
    if (!read_model(arena, folder, results, error)) return false;
    const ResultTable *machine = only(&tables, CATALOG_COUNTS_MACHINE);
    if (machine && !results->counters) {
        *error = (ReadError){machine->path, 0, STR("there is no cpu.csv beside it")};
        return false;
    }
    if (machine) join_machine(arena, tables.of[CATALOG_COUNTS], machine);
    return true;
}
