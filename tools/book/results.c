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

typedef struct {
    Arena *arena;
    ResultTable *table;
    ResultError *error;
    Csv csv;
    bool any; // any columns, any rows: nothing is known of their meaning
} Reader;

static const Str text_columns[] = {STR("chapter"), STR("kernel"), STR("elem"), STR("source"),
                                   STR("note")};

static bool is_text_column(Str column) {
    for (size_t i = 0; i < sizeof text_columns / sizeof *text_columns; i++)
        if (str_equal(column, text_columns[i])) return true;
    return false;
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
    static const char *const needed[] = {"chapter", "kernel", "n"};
    for (size_t i = 0; i < table->column_count; i++) {
        Buf message = {.arena = reader->arena};
        if (table->columns[i].len == 0) return fail_plain(reader, "a column has no name");
        for (size_t k = 0; k < i; k++) {
            if (!str_equal(table->columns[i], table->columns[k])) continue;
            buf_format(&message, "two columns are called `%.*s`", STR_ARG(table->columns[i]));
            return fail(reader, reader->csv.line, message);
        }
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !reader->any; i++) {
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

static bool check_row(Reader *reader, const ResultRow *row) {
    const ResultTable *table = reader->table;
    for (size_t i = 0; i < table->column_count; i++) {
        Str column = table->columns[i], cell = row->cells[i];
        Buf message = {.arena = reader->arena};
        double number;
        if (str_equal(column, STR("chapter")) && !is_chapter(cell))
            buf_format(&message, "`%.*s` is no chapter (two digits or a capital letter)",
                       STR_ARG(cell));
        else if (str_equal(column, STR("kernel")) && cell.len == 0)
            buf_format(&message, "the row names no kernel");
        else if (str_equal(column, STR("source")) && !is_hash(cell))
            buf_format(&message, "source `%.*s` is not 16 hexadecimal digits", STR_ARG(cell));
        else if (str_equal(column, STR("n")) && !(results_number(cell, &number) && number >= 0))
            buf_format(&message, "n `%.*s` is not a count of elements", STR_ARG(cell));
        else if (!is_text_column(column) && cell.len && !results_number(cell, &number))
            buf_format(&message, "%.*s `%.*s` is not a number", STR_ARG(column), STR_ARG(cell));
        if (message.len) return fail(reader, row->line, message);
    }
    return true;
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
    static const char *const parts[] = {"chapter", "kernel",    "n",      "elem",     "block",
                                        "grid",    "code_line", "launch", "partials", "sweep"};
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

static void read_fact(Reader *reader, Str line, ResultFact **facts, size_t *capacity) {
    ResultTable *table = reader->table;
    size_t colon = str_find(line, STR(":"));
    if (colon == SIZE_MAX) return;
    ARENA_GROW(reader->arena, *facts, table->fact_count, *capacity);
    (*facts)[table->fact_count++] =
        (ResultFact){str_trim(str_slice(line, 1, colon)), str_trim(str_from(line, colon + 1))};
    table->facts = *facts;
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
    *row = (ResultRow){reader->csv.line, cells};
    table->rows = *rows;
    return reader->any || check_row(reader, row);
}

static bool read_table(Arena *arena, const char *path, Str device, ResultTable *table,
                       ResultError *error) {
    *table = (ResultTable){.path = path, .device = device};
    Reader reader = {.arena = arena, .table = table, .error = error, .any = device.len == 0};
    Str text, line;
    if (!file_read(arena, path, &text)) return fail_plain(&reader, strerror(errno));
    size_t fact_capacity = 0, row_capacity = 0;
    ResultFact *facts = NULL;
    ResultRow *rows = NULL;
    reader.csv = csv_open(arena, text);
    while (csv_line(&reader.csv, &line))
        if (line.at[0] == '#')
            read_fact(&reader, line, &facts, &fact_capacity);
        else if (!read_row(&reader, line, &rows, &row_capacity))
            return false;
    if (reader.csv.fault) return fail_plain(&reader, reader.csv.fault);
    reader.csv.line = 0;
    if (table->column_count == 0) return fail_plain(&reader, "no header row");
    return reader.any || check_unique(&reader);
}

bool results_read_csv(Arena *arena, const char *path, ResultTable *table, ResultError *error) {
    return read_table(arena, path, (Str){NULL, 0}, table, error);
}

Str results_cell(const ResultTable *table, const ResultRow *row, Str column) {
    for (size_t i = 0; i < table->column_count; i++)
        if (str_equal(table->columns[i], column)) return row->cells[i];
    return (Str){NULL, 0};
}

bool results_has_column(const ResultTable *table, Str column) {
    for (size_t i = 0; i < table->column_count; i++)
        if (str_equal(table->columns[i], column)) return true;
    return false;
}

Str results_fact(const ResultTable *table, Str name) {
    for (size_t i = 0; i < table->fact_count; i++)
        if (str_equal(table->facts[i].name, name)) return table->facts[i].value;
    return (Str){NULL, 0};
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

bool results_read(Arena *arena, const char *folder, Str reference, Results *results,
                  ResultError *error) {
    *results = (Results){.folder = folder};
    Str *names = NULL;
    size_t count = csv_names(arena, folder, &names);
    ResultTable *devices = ARENA_NEW(arena, count + 1, ResultTable);
    for (size_t i = 0; i < count; i++) {
        Buf path = {.arena = arena};
        buf_format(&path, "%s/%.*s.csv", folder, STR_ARG(names[i]));
        ResultTable table;
        if (!read_table(arena, str_terminated(arena, buf_str(&path)), names[i], &table, error))
            return false;
        bool counters = str_equal(names[i], STR("cpu")),
             lines = str_equal(names[i], STR("cpu-lines"));
        if (counters || lines) {
            ResultTable *kept = ARENA_NEW(arena, 1, ResultTable);
            *kept = table;
            *(counters ? &results->counters : &results->lines) = kept;
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
    return true;
}
