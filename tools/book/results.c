// Recorded results: see results.h.
#define _POSIX_C_SOURCE 200809L
#include "book/results.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "book/kernels.h"
#include "book/limits.h"
#include "book/machine.h"

typedef struct {
    Arena *arena;
    ResultTable *table;
    ResultError *error;
    Csv csv;
    bool any; // any columns, any rows: nothing is known of their meaning
} Reader;

static const Str text_columns[] = {STR("chapter"), STR("kernel"), STR("elem"), STR("source"),
                                   STR("note")};

static bool is_one_of(Str name, const Str *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(name, names[i])) return true;
    return false;
}

static bool is_of_shapes(Str device) { return str_ends(device, STR("-shapes")); }

ResultProgram results_program(const ResultTable *table) {
    if (is_of_shapes(table->device)) return PROGRAM_SHAPES;
    return results_newest_of(table).len ? PROGRAM_NEWEST : PROGRAM_LAB;
}

static bool is_text_column(Str column) {
    return is_one_of(column, text_columns, sizeof text_columns / sizeof *text_columns);
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

static bool is_chapter(Str s) {
    bool letter = s.len == 1 && s.at[0] >= 'A' && s.at[0] <= 'Z';
    return letter ||
           (s.len == 2 && s.at[0] >= '0' && s.at[0] <= '9' && s.at[1] >= '0' && s.at[1] <= '9');
}

static bool is_hash(Str s) {
    for (size_t i = 0; i < s.len; i++)
        if (!memchr("0123456789abcdef", s.at[i], 16)) return false;
    return s.len == 16;
}

// A count is exact as a double.
static bool is_count(Str s) {
    double number;
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] < '0' || s.at[i] > '9') return false;
    if (s.len > 1 && s.at[0] == '0') return false;
    return results_number(s, &number) && number < 9007199254740992.0;
}

// Blocks or threads of a launch, as the CPU device writes them: 64, 64x2, 64x2x2.
static bool is_shape(Str s) {
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
        size_t cross = str_find(s, STR("x"));
        if (!is_count(str_slice(s, 0, cross))) return false;
        if (cross == SIZE_MAX) return true;
        s = str_from(s, cross + 1);
    }
    return false;
}

// What is wrong with a number under this name, or NULL. Microseconds are those of a kernel: none
// takes no time, none eleven days. Rates and percentages stop there too.
static const char *number_fault(Str name, Str cell, bool counts) {
    static const Str whole[] = {STR("n"),
                                STR("cols"),
                                STR("block"),
                                STR("grid"),
                                STR("samples"),
                                STR("partials"),
                                STR("sweep"),
                                STR("launch"),
                                STR("launches"),
                                STR("code_line"),
                                STR("sm_count"),
                                STR("l2_bytes"),
                                STR("memory_clock_khz"),
                                STR("memory_bus_bits")};
    const double most = 1e12;
    double number;
    if (counts && (str_equal(name, STR("grid")) || str_equal(name, STR("block"))))
        return is_shape(cell) ? NULL : "is not the shape of a launch, as in 64 or 64x2";
    if (!results_number(cell, &number)) return "is not a number";
    if (counts || is_one_of(name, whole, sizeof whole / sizeof *whole))
        return is_count(cell) ? NULL : "is not a count: a whole number, at least 0, below 2^53";
    if (str_ends(name, STR("_us")) && (number <= 0 || number > most))
        return "is not a time in microseconds: more than 0, at most 1e12";
    return number < 0 || number > most ? "is not between 0 and 1e12" : NULL;
}

static const char *cell_fault(const Reader *reader, Str column, Str cell) {
    Str device = reader->table->device;
    static const Str counted[] = {STR("cpu"), STR("cpu-lines"), STR("cpu-machine")};
    const bool counts = is_one_of(device, counted, sizeof counted / sizeof *counted);
    if (str_equal(column, STR("chapter")))
        return is_chapter(cell) ? NULL : "is no chapter: two digits or a capital letter";
    if (str_equal(column, STR("source")))
        return is_hash(cell) ? NULL : "is not 16 hexadecimal digits";
    if (str_equal(column, STR("kernel"))) return cell.len ? NULL : "names no kernel";
    if (str_equal(column, STR("n")) && cell.len == 0) return "is not a number of elements";
    if (str_equal(column, STR("cols")) && (cell.len == 0 || str_equal(cell, STR("0"))))
        return "is not the length of a row";
    if (is_text_column(column) || cell.len == 0) return NULL;
    return number_fault(column, cell, counts);
}

// The 5th percentile, the median and the 95th stand in this order.
static bool check_percentiles(Reader *reader, const ResultRow *row) {
    static const Str columns[] = {STR("p5_us"), STR("median_us"), STR("p95_us")};
    Str before = {NULL, 0}, before_name = before;
    double low = 0, number;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        Str cell = results_cell(reader->table, row, columns[i]);
        if (!results_number(cell, &number)) continue;
        if (number < low) {
            Buf message = {.arena = reader->arena};
            buf_format(&message, "%.*s `%.*s` is above %.*s `%.*s`", STR_ARG(before_name),
                       STR_ARG(before), STR_ARG(columns[i]), STR_ARG(cell));
            return fail(reader, row->line, message);
        }
        low = number;
        before = cell;
        before_name = columns[i];
    }
    return true;
}

static bool check_row(Reader *reader, const ResultRow *row) {
    const ResultTable *table = reader->table;
    for (size_t i = 0; i < table->column_count; i++) {
        const char *fault = cell_fault(reader, table->columns[i], row->cells[i]);
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

static RowKey row_key(Reader *reader, const ResultRow *row) {
    static const char *const parts[] = {"chapter", "kernel",   "n",    "elem",
                                        "block",   "cols",     "grid", "code_line",
                                        "launch",  "partials", "sweep"};
    Buf words = {.arena = reader->arena};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buf_add(&words, results_cell(reader->table, row, str_of(parts[i])));
        buf_char(&words, '\n');
    }
    return (RowKey){buf_str(&words), row->line};
}

static bool check_unique(Reader *reader) {
    const ResultTable *table = reader->table;
    RowKey *keys = ARENA_NEW(reader->arena, table->row_count + 1, RowKey);
    for (size_t i = 0; i < table->row_count; i++) keys[i] = row_key(reader, &table->rows[i]);
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
    const char *fault = number_fault(fact.name, fact.value, false);
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
    results_number(results_cell(table, row, STR("n")), &row->n);
    results_number(results_cell(table, row, STR("cols")), &row->cols);
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

// Joins a device's limits to its results. False: there are no results of that device.
static bool join_limits(Arena *arena, ResultTable *devices, size_t count, const ResultTable *limits,
                        ResultError *error) {
    for (size_t i = 0; i < count; i++) {
        if (!str_equal(devices[i].device, limits_device(limits->device))) continue;
        limits_join(arena, &devices[i], limits);
        return true;
    }
    Buf message = {.arena = arena};
    buf_format(&message, "limits of a device without results: there is no %.*s.csv beside it",
               STR_ARG(limits_device(limits->device)));
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
static bool join_machine(Arena *arena, Results *results, const ResultTable *machine,
                         ResultError *error) {
    if (!results->counters) {
        *error = (ResultError){machine->path, 0, STR("there is no cpu.csv beside it")};
        return false;
    }
    ResultTable *joined = ARENA_NEW(arena, 1, ResultTable);
    *joined = *results->counters;
    machine_join(arena, joined, machine);
    results->counters = joined;
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
    size_t limits_count = 0;
    results->shapes = shapes;
    for (size_t i = 0; i < count; i++) {
        Buf path = {.arena = arena};
        buf_format(&path, "%s/%.*s.csv", folder, STR_ARG(names[i]));
        ResultTable table;
        if (!read_table(arena, str_terminated(arena, buf_str(&path)), names[i], &table, error))
            return false;
        const ResultTable **counts = counts_place(results, names[i], &machine);
        if (counts) {
            ResultTable *kept = ARENA_NEW(arena, 1, ResultTable);
            *kept = table;
            *counts = kept;
            continue;
        }
        if (limits_device(names[i]).len) {
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
        if (!join_limits(arena, devices, results->device_count, &limits[i], error)) return false;
    return !machine || join_machine(arena, results, machine, error);
}
