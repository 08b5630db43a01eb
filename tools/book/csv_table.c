// Weaves CSV files into tables: see blocks.h. Numbers are right-aligned, with grouped digits.
#include "book/blocks.h"
#include "book/prose.h"
#include "numbers/read.h"
#include "numbers/value.h"

enum { CSV_COLUMNS_MAX = 16 };

typedef struct {
    Book *book;
    const FencePart *part;
    ResultTable table;
    Str columns[CSV_COLUMNS_MAX];
    bool number[CSV_COLUMNS_MAX]; // whether it holds only numbers
    size_t column_count;
} CsvTable;

static bool fail(CsvTable *csv, const char *format, Str detail) {
    Buf why = {.arena = csv->book->arena};
    buf_format(&why, format, STR_ARG(detail));
    book_error(csv->book, csv->part->line, why);
    return false;
}

static bool read_file(CsvTable *csv) {
    Arena *arena = csv->book->arena;
    const char *path;
    ReadError error;
    if (!book_from(csv->book, csv->part, &path)) return false;
    if (read_csv(arena, path, &csv->table, &error)) return true;
    Buf why = {.arena = arena};
    buf_format(&why, "%s", error.path);
    if (error.line) buf_format(&why, ":%zu", error.line); // 0: the whole file
    buf_format(&why, ": %.*s", STR_ARG(error.message));
    return fail(csv, "%.*s", buf_str(&why));
}

// Whether a row satisfies where="COLUMN=VALUE COLUMN=VALUE".
static bool is_wanted(const CsvTable *csv, const ResultRow *row, Str where) {
    for (Str pair; str_word(&where, &pair);) {
        const size_t equals = str_find(pair, STR("="));
        const Str column = str_slice(pair, 0, equals), value = str_from(pair, column.len + 1);
        if (!str_equal(results_cell(&csv->table, row, column), value)) return false;
    }
    return true;
}

// Drops the rows that where= excludes. It is an error if none remains, since a name may be
// misspelt.
static bool keep_wanted(CsvTable *csv) {
    Str where;
    if (!fence_attribute(csv->part, STR("where"), &where)) return true;
    ResultRow *rows = ARENA_NEW(csv->book->arena, csv->table.row_count + 1, ResultRow);
    size_t count = 0;
    for (size_t i = 0; i < csv->table.row_count; i++)
        if (is_wanted(csv, &csv->table.rows[i], where)) rows[count++] = csv->table.rows[i];
    csv->table.rows = rows;
    csv->table.row_count = count;
    return count > 0 || fail(csv, "where=: there is no row of %.*s", where);
}

static bool is_number_column(const CsvTable *csv, Str column) {
    double number;
    for (size_t i = 0; i < csv->table.row_count; i++) {
        Str cell = results_cell(&csv->table, &csv->table.rows[i], column);
        if (cell.len && !results_number(cell, &number)) return false;
    }
    return true;
}

static bool add_column(CsvTable *csv, Str column) {
    if (!results_has_column(&csv->table, column))
        return fail(csv, "there is no column `%.*s`", column);
    if (csv->column_count == CSV_COLUMNS_MAX)
        return fail(csv, "too many columns at `%.*s`", column);
    csv->number[csv->column_count] = is_number_column(csv, column);
    csv->columns[csv->column_count++] = column;
    return true;
}

static bool read_columns(CsvTable *csv) {
    Str names;
    if (!fence_attribute(csv->part, STR("columns"), &names)) {
        for (size_t i = 0; i < csv->table.column_count; i++)
            if (!add_column(csv, csv->table.columns[i])) return false;
        return true;
    }
    for (Str name; str_word(&names, &name);)
        if (!add_column(csv, name)) return false;
    return true;
}

// Adds a cell. Whole numbers get thousands separators.
static void add_cell(Buf *text, Str cell, bool number) {
    bool whole = number && cell.len > 0;
    for (size_t i = 0; i < cell.len; i++)
        if (cell.at[i] < '0' || cell.at[i] > '9') whole = false;
    if (!whole) data_text_add(text, cell);
    for (size_t i = 0; whole && i < cell.len; i++) {
        if (i && (cell.len - i) % 3 == 0) buf_char(text, ',');
        buf_char(text, cell.at[i]);
    }
}

static void add_title(const CsvTable *csv, Buf *text, Str column) {
    Buf words = {.arena = csv->book->arena};
    for (size_t i = 0; i < column.len; i++)
        buf_char(&words, column.at[i] == '_' ? ' ' : column.at[i]);
    data_text_add(text, buf_str(&words));
}

// The text of a cell. In the column `device` it is the device's name.
static Str cell_of(const CsvTable *csv, const ResultRow *row, Str column) {
    const Results *results = csv->book->results;
    Str cell = results_cell(&csv->table, row, column);
    for (size_t i = 0; str_equal(column, STR("device")) && i < results->device_count; i++)
        if (str_equal(results->devices[i].device, cell))
            return results_device_name(csv->book->arena, &results->devices[i]);
    return cell;
}

static void add_rows(CsvTable *csv, Buf *text) {
    buf_char(text, '|');
    for (size_t c = 0; c < csv->column_count; c++) {
        buf_char(text, ' ');
        add_title(csv, text, csv->columns[c]);
        buf_add(text, STR(" |"));
    }
    buf_add(text, STR("\n|"));
    for (size_t c = 0; c < csv->column_count; c++)
        buf_add(text, csv->number[c] ? STR(" ---: |") : STR(" :--- |"));
    buf_char(text, '\n');
    for (size_t r = 0; r < csv->table.row_count; r++) {
        buf_char(text, '|');
        for (size_t c = 0; c < csv->column_count; c++) {
            Str cell = cell_of(csv, &csv->table.rows[r], csv->columns[c]);
            buf_char(text, ' ');
            add_cell(text, cell, csv->number[c]);
            buf_add(text, STR(" |"));
        }
        buf_char(text, '\n');
    }
}

// Adds the facts at the head of the file: the device, and the versions of what was measured.
static void add_facts(const CsvTable *csv, Buf *caption) {
    for (size_t i = 0; i < csv->table.fact_count; i++) {
        const ResultFact *fact = &csv->table.facts[i];
        buf_add(caption, i ? STR(", ") : STR(" Recorded with: "));
        data_text_add(caption, fact->name);
        buf_char(caption, ' ');
        data_text_add(caption, fact->value);
    }
    if (csv->table.fact_count) buf_char(caption, '.');
}

void csv_table_weave(Book *book, const FencePart *part) {
    static const Str known[] = {
        STR("from"), STR("columns"), STR("where"), STR("caption"), {NULL, 0}};
    CsvTable csv = {.book = book, .part = part};
    if (!book_check_attributes(book, part, known) || !read_file(&csv) || !keep_wanted(&csv) ||
        !read_columns(&csv))
        return;
    Buf text = {.arena = book->arena};
    Str caption;
    bool host = book->style == BOOK_GITHUB;
    add_rows(&csv, &text);
    book_blank(book);
    if (!host) book_add(book, STR("::: results\n"));
    book_add(book, buf_str(&text));
    if (fence_attribute(part, STR("caption"), &caption) && caption.len) {
        Buf line = {.arena = book->arena};
        Buf words = {.arena = book->arena};
        buf_add(&words, prose_inline(book, caption, part->line));
        if (csv.table.fact_count && !str_ends(caption, STR("."))) buf_char(&words, '.');
        add_facts(&csv, &words);
        buf_format(&line, host ? "*%.*s*\n" : ": %.*s\n", STR_ARG(buf_str(&words)));
        book_blank(book);
        book_add(book, buf_str(&line));
    }
    if (!host) book_add(book, STR(":::\n"));
    book_blank(book);
}
