// Weaves tables of results: see blocks.h.
#include "book/blocks.h"
#include "book/names.h"
#include "book/prose.h"
#include "numbers/join.h"
#include "numbers/value.h"

typedef struct {
    Key key;   // of one kernel at one n, as far as they are given
    Str label; // from the block, or empty
    size_t line;
    const ResultRow *on_own; // on the chapter's device; NULL: counted but not timed
} TableRow;

typedef struct {
    Str name;
    const KeyField *field;      // of a GPU's tables, or NULL
    const ResultTable *device;  // the device of this column; NULL for counters
    bool spread, speedup, step; // the derived columns
} TableColumn;

typedef struct {
    Book *book;
    KeyScope scope;
    const FencePart *part;
    TableRow *rows;
    size_t row_count, row_capacity;
    TableColumn *columns;
    size_t column_count, column_capacity;
    const ResultTable *own;      // the chapter's device
    const ResultTable **devices; // the devices with a column, `own` first
    size_t device_count;
    Key defaults;           // n= of the table
    bool others;            // with=others: also other devices
    bool newest;            // with=newest: also the same labs with a newer CUB
    bool timed;             // some column is from a GPU
    bool from[KEY_ORIGINS]; // some column is from that file of a device
    bool counted;           // some column is from cpu.csv
    bool no_difference, stale;
} Table;

static bool fail(Table *table, size_t line, Buf why) {
    book_error(table->book, line, why);
    return false;
}

static void add_column(Table *table, TableColumn column) {
    ARENA_GROW(table->book->arena, table->columns, table->column_count, table->column_capacity);
    table->columns[table->column_count++] = column;
}

// Whether a column's values differ between devices: times do, launch shapes do not.
static bool is_per_device(const TableColumn *column) {
    if (!column->field) return column->spread || column->speedup || column->step;
    Unit unit = column->field->unit;
    return unit == UNIT_TIME || unit == UNIT_RATE || unit == UNIT_PERCENT;
}

static bool read_column(Table *table, Str name) {
    const Results *results = table->book->results;
    TableColumn column = {.name = name, .field = key_field(name)};
    Buf why = {.arena = table->book->arena};
    column.spread = str_equal(name, STR("spread"));
    column.speedup = str_equal(name, STR("speedup"));
    column.step = str_equal(name, STR("step"));
    if (!column.field && !is_per_device(&column)) {
        if (!results->counters)
            buf_format(&why, "column `%.*s`: %s/cpu.csv is missing", STR_ARG(name),
                       results->folder);
        else if (!results_has_column(results->counters, name)) {
            buf_add(&why, STR("unknown column "));
            key_say_unknown(results->counters, name, &why);
        }
        if (why.len) return fail(table, table->part->line, why);
        table->counted = true;
        add_column(table, column);
        return true;
    }
    table->timed = table->from[FROM_TIMES] = true;
    if (column.field) table->from[column.field->from] = true;
    table->own = key_device(&table->scope, table->scope.chapter, &why);
    if (!table->own) return fail(table, table->part->line, why);
    column.device = table->own;
    add_column(table, column);
    return true;
}

static bool read_columns(Table *table) {
    Str names;
    bool good = true;
    if (!fence_attribute(table->part, STR("columns"), &names))
        names = STR("time spread gbps read_pct speedup");
    for (Str name; str_word(&names, &name);) good = read_column(table, name) && good;
    return good;
}

static bool read_with(Table *table) {
    Str words = STR("");
    fence_attribute(table->part, STR("with"), &words);
    for (Str with; str_word(&words, &with);) {
        Buf why = {.arena = table->book->arena};
        if (str_equal(with, STR("others"))) {
            table->others = true;
        } else if (str_equal(with, STR("newest"))) {
            table->newest = true;
        } else {
            buf_format(&why, "with=%.*s: use others, newest or both", STR_ARG(with));
            return fail(table, table->part->line, why);
        }
    }
    return true;
}

static bool read_n(Table *table) {
    Str text;
    if (!fence_attribute(table->part, STR("n"), &text)) return true;
    Buf key = {.arena = table->book->arena};
    buf_format(&key, "any@%.*s", STR_ARG(text));
    Str rest = buf_str(&key);
    if (key_take(&table->scope, &rest, &table->defaults) && rest.len == 0) return true;
    Buf why = {.arena = table->book->arena};
    buf_format(&why, "n=%.*s is not a number of elements", STR_ARG(text));
    return fail(table, table->part->line, why);
}

static void add_row(Table *table, TableRow row) {
    ARENA_GROW(table->book->arena, table->rows, table->row_count, table->row_capacity);
    table->rows[table->row_count++] = row;
}

// Adds a row that has counters; its kernel need not have been timed.
static bool add_counted_row(Table *table, TableRow row) {
    Buf why = {.arena = table->book->arena};
    const ResultRow *counted = key_counters(&table->scope, &row.key, &why);
    if (!counted) return fail(table, row.line, why);
    results_number(results_cell(table->book->results->counters, counted, STR("n")), &row.key.n);
    row.key.has_n = true;
    add_row(table, row);
    return true;
}

// Reads a line of the block: `KEY` or `KEY | label`. `*` becomes a row for each kernel.
static bool read_row(Table *table, Str text, size_t line) {
    size_t bar = str_find(text, STR("|"));
    Str rest = str_trim(str_slice(text, 0, bar)), name = rest;
    TableRow row = {.line = line};
    Buf why = {.arena = table->book->arena};
    if (bar != SIZE_MAX) row.label = str_trim(str_from(text, bar + 1));
    if (!key_take(&table->scope, &rest, &row.key) || rest.len) {
        buf_format(&why, "`%.*s` is not a kernel: [CHAPTER/]KERNEL[@N] or *", STR_ARG(name));
        return fail(table, line, why);
    }
    if (!row.key.has_n && !row.key.every_n) {
        row.key.has_n = table->defaults.has_n;
        row.key.every_n = table->defaults.every_n;
        row.key.n = table->defaults.n;
    }
    bool several = row.key.every_n || str_equal(row.key.kernel, STR("*"));
    if (!table->timed && !several) return add_counted_row(table, row);
    KeyRows found;
    const ResultTable *own = key_device(&table->scope, table->scope.chapter, &why);
    if (!own || !key_rows(&table->scope, own, &row.key, &found, &why))
        return fail(table, line, why);
    for (size_t i = 0; i < found.count; i++) {
        row.on_own = found.rows[i];
        row.key.kernel = results_cell(own, found.rows[i], STR("kernel"));
        results_number(results_cell(own, found.rows[i], STR("n")), &row.key.n);
        add_row(table, row);
        table->rows[table->row_count - 1].key.has_n = true;
        table->rows[table->row_count - 1].key.every_n = false;
    }
    return true;
}

static bool read_rows(Table *table) {
    bool good = true;
    for (size_t i = 0; i < table->part->body_count; i++) {
        Str text = str_trim(table->part->body[i]);
        if (text.len) good = read_row(table, text, table->part->line + 1 + i) && good;
    }
    if (!good || table->row_count) return good;
    Buf why = {.arena = table->book->arena};
    buf_add(&why, STR("a results table has no rows: add a line for each kernel"));
    return fail(table, table->part->line, why);
}

// The row's results on another device, or NULL.
static const ResultRow *on_device(Table *table, const TableRow *row, const ResultTable *device) {
    KeyRows found;
    Buf why = {.arena = table->book->arena};
    if (device == table->own) return row->on_own;
    return key_rows(&table->scope, device, &row->key, &found, &why) ? found.rows[0] : NULL;
}

static bool is_recorded(Table *table, const ResultTable *device) {
    for (size_t r = 0; r < table->row_count; r++)
        if (on_device(table, &table->rows[r], device)) return true;
    return false;
}

// Whether `device` is the chapter's own, measured with a newer CUB.
static bool is_newest_of_own(const Table *table, const ResultTable *device) {
    Str name = results_newest_of(device);
    return name.len && str_equal(name, table->own->device);
}

// Finds the devices to show: the chapter's own, then, as with= asks, other devices that recorded a
// row of the table and devices with a newer CUB, the chapter's own first.
static void find_devices(Table *table) {
    const Results *results = table->book->results;
    table->devices = ARENA_NEW(table->book->arena, results->device_count + 1, const ResultTable *);
    if (!table->timed) return;
    table->devices[table->device_count++] = table->own;
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < results->device_count; i++) {
            const ResultTable *device = &results->devices[i];
            if (device == table->own || is_newest_of_own(table, device) == others) continue;
            bool newest = results_newest_of(device).len > 0;
            bool own_newest = is_newest_of_own(table, device);
            if (newest && !table->newest) continue;
            if (!own_newest && !table->others) continue;
            if (is_recorded(table, device)) table->devices[table->device_count++] = device;
        }
}

static bool is_time(const TableColumn *column) {
    return column->field && column->field->unit == UNIT_TIME;
}

// Whether the column is about bottlenecks and the device was not profiled.
static bool is_unknown_limit(const TableColumn *column, const ResultTable *device) {
    return column->field && column->field->from != FROM_TIMES &&
           !results_has_column(device, column->field->column);
}

// Adds a column for each further device after those of the chapter's own: its times, or if the
// table has no times the first column that differs between devices. A newer CUB also gets its
// spread.
static void spread_over_devices(Table *table) {
    find_devices(table);
    size_t count = table->column_count, first = 0;
    while (first < count && !is_time(&table->columns[first])) first++;
    if (first == count)
        for (first = 0; first < count && !is_per_device(&table->columns[first]);) first++;
    for (size_t i = 1; i < table->device_count && first < count; i++) {
        TableColumn column = table->columns[first];
        if (is_unknown_limit(&column, table->devices[i])) continue;
        column.device = table->devices[i];
        add_column(table, column);
        for (size_t c = 0; c < count && is_newest_of_own(table, column.device); c++) {
            TableColumn spread = table->columns[c];
            spread.device = column.device;
            if (spread.spread) add_column(table, spread);
        }
    }
}

static bool add_spread(Table *table, Buf *cell, const TableRow *row, const TableColumn *column) {
    Value low, high;
    Buf why = {.arena = table->book->arena};
    const ResultRow *recorded = on_device(table, row, column->device);
    if (!key_field_value(&table->scope, column->device, recorded, key_field(STR("p5")), &low,
                         &why) ||
        !key_field_value(&table->scope, column->device, recorded, key_field(STR("p95")), &high,
                         &why))
        return fail(table, row->line, why);
    value_format_bare(cell, low);
    buf_add(cell, STR(" – "));
    value_format_bare(cell, high);
    return true;
}

// Adds the speed-up over `other`, with ≈ if the intervals overlap.
static bool add_factor(Table *table, Buf *cell, const TableRow *row, const TableRow *other,
                       const TableColumn *column) {
    const ResultTable *device = column->device;
    const ResultRow *mine = on_device(table, row, device), *its = on_device(table, other, device);
    const KeyField *time = key_field(STR("time"));
    Value old, new, factor;
    Buf why = {.arena = table->book->arena};
    if (!its || mine == its) {
        buf_add(cell, its ? STR("1") : STR("–"));
        return true;
    }
    if (!key_field_value(&table->scope, device, its, time, &old, &why) ||
        !key_field_value(&table->scope, device, mine, time, &new, &why))
        return fail(table, row->line, why);
    const char *problem = value_combine(old, '/', new, &factor);
    if (problem) {
        buf_format(&why, "%.*s: %s", STR_ARG(column->name), problem);
        return fail(table, row->line, why);
    }
    bool same = expr_overlap(device, mine, its);
    if (same) buf_add(cell, STR("≈ "));
    table->no_difference = table->no_difference || same;
    value_format_bare(cell, factor);
    return true;
}

static bool add_cell(Table *table, Buf *cell, size_t index, const TableColumn *column) {
    const TableRow *row = &table->rows[index];
    Buf why = {.arena = table->book->arena};
    Value value;
    bool found;
    const ResultRow *recorded = column->device ? on_device(table, row, column->device) : NULL;
    bool limit = column->field && column->field->from != FROM_TIMES;
    if (column->device &&
        (!recorded ||
         (limit && !results_cell(column->device, recorded, column->field->column).len))) {
        buf_add(cell, STR("–"));
        return true;
    }
    if (column->spread) return add_spread(table, cell, row, column);
    if (column->speedup) return add_factor(table, cell, row, &table->rows[0], column);
    if (column->step && index == 0) {
        buf_add(cell, STR("–"));
        return true;
    }
    if (column->step) return add_factor(table, cell, row, &table->rows[index - 1], column);
    if (column->field)
        found =
            key_field_value(&table->scope, column->device, recorded, column->field, &value, &why);
    else
        found = key_counter_value(&table->scope, &row->key, column->name, &value, &why);
    if (!found) return fail(table, row->line, why);
    if (value.unit == UNIT_TEXT)
        data_text_add(cell, value.text);
    else
        value_format_bare(cell, value);
    return true;
}

static bool is_stale(Table *table, const TableRow *row) {
    const Results *results = table->book->results;
    Buf why = {.arena = table->book->arena};
    if (table->counted) {
        const ResultRow *counted = key_counters(&table->scope, &row->key, &why);
        for (size_t c = 0; c < table->column_count && counted; c++)
            if (!table->columns[c].field && key_counter_is_stale(&table->scope, results->counters,
                                                                 counted, table->columns[c].name))
                return true;
    }
    for (size_t i = 0; i < table->device_count; i++) {
        const ResultRow *timed = on_device(table, row, table->devices[i]);
        for (KeyOrigin from = FROM_TIMES; timed && from < KEY_ORIGINS; from++)
            if (table->from[from] &&
                key_origin_is_stale(&table->scope, table->devices[i], timed, from))
                return true;
    }
    return false;
}

static bool has_n_column(const Table *table) {
    for (size_t c = 0; c < table->column_count; c++)
        if (str_equal(table->columns[c].name, STR("n"))) return true;
    return false;
}

static void add_label(Table *table, Buf *text, const TableRow *row, bool one_n) {
    Str name = names_of(table->book, row->key.chapter, row->key.kernel);
    if (row->label.len)
        buf_add(text, prose_inline(table->book, row->label, row->line));
    else if (name.len)
        buf_add(text, prose_inline(table->book, name, row->line));
    else
        data_text_add_code(text, row->key.kernel, table->book->style != BOOK_PANDOC);
    if (!one_n && !row->label.len && !has_n_column(table)) {
        buf_add(text, STR(", n = "));
        value_format_bare(text, (Value){.unit = UNIT_COUNT, .number = row->key.n});
    }
    if (!is_stale(table, row)) return;
    buf_add(text, STR(" *(stale)*"));
    table->stale = true;
    book_check_stale(table->book, row->line, row->key.kernel, true);
}

// The device's name without its vendor, which is in the caption.
static Str short_name(const Table *table, const ResultTable *device) {
    Str name = results_device_name(table->book->arena, device), vendor = STR("NVIDIA ");
    return str_starts(name, vendor) ? str_from(name, vendor.len) : name;
}

static void add_title(Table *table, Buf *text, const TableColumn *column) {
    if (column->spread)
        buf_add(text, STR("5th – 95th percentile"));
    else if (column->speedup)
        buf_add(text, STR("speed-up"));
    else if (column->step)
        buf_add(text, STR("step"));
    else if (column->field)
        buf_add(text, column->field->title);
    else
        buf_add(text, key_counter_title(table->book->arena, column->name));
    if (!column->device || column->device == table->own) return;
    buf_add(text, STR(", "));
    data_text_add(text, short_name(table, column->device));
}

static bool all_one_n(const Table *table) {
    for (size_t i = 1; i < table->row_count; i++)
        if (table->rows[i].key.n != table->rows[0].key.n) return false;
    return true;
}

static void add_toolkit(Buf *text, Str toolkit) {
    if (toolkit.len) buf_add(text, STR(", CUDA "));
    data_text_add(text, toolkit);
}

// The toolkit of a row's counts, which may differ between chapters.
static Str counted_with(const Table *table, size_t row) {
    KeyScope scope = table->scope;
    scope.chapter = table->rows[row].key.chapter;
    return key_fact_text(&scope, table->book->results->counters, STR("toolkit"));
}

static void add_sources(Table *table, Buf *text) {
    for (size_t i = 0; i < table->device_count; i++) {
        const ResultTable *device = table->devices[i];
        Str date = results_fact(device, STR("date"));
        Str toolkit = key_fact_text(&table->scope, device, STR("toolkit"));
        buf_add(text, i ? STR("; ") : STR(" Times: "));
        data_text_add(text, results_device_name(table->book->arena, device));
        if (date.len) buf_add(text, STR(", "));
        data_text_add(text, date);
        add_toolkit(text, toolkit);
        if (i + 1 == table->device_count) buf_char(text, '.');
    }
    if (!table->counted) return;
    buf_add(text, STR(" Counts: CPU device"));
    for (size_t i = 0; i < table->row_count; i++) {
        const Str toolkit = counted_with(table, i);
        bool told = !toolkit.len;
        for (size_t j = 0; j < i; j++) told |= str_equal(counted_with(table, j), toolkit);
        if (!told) add_toolkit(text, toolkit);
    }
    buf_char(text, '.');
}

static void add_caption(Table *table, bool one_n) {
    Book *book = table->book;
    Buf text = {.arena = book->arena};
    Str own;
    if (fence_attribute(table->part, STR("caption"), &own) && own.len) {
        buf_add(&text, prose_inline(book, own, table->part->line));
        if (!str_ends(own, STR(".")) && !str_ends(own, STR("?"))) buf_char(&text, '.');
    }
    if (one_n && !has_n_column(table)) {
        buf_add(&text, STR(" n = "));
        value_format_bare(&text, (Value){.unit = UNIT_COUNT, .number = table->rows[0].key.n});
        buf_char(&text, '.');
    }
    add_sources(table, &text);
    if (table->no_difference)
        buf_add(&text, STR(" ≈: no measurable difference: the intervals from the 5th to the 95th "
                           "percentile overlap."));
    if (table->from[FROM_PREDICTED])
        buf_add(
            &text,
            STR(" Predicted by `simt --time`. The model's limit is the cost that adds most to the "
                "time."));
    if (table->stale) buf_add(&text, STR(" Stale rows were recorded before the lab changed."));
    Buf line = {.arena = book->arena};
    bool host = book->style != BOOK_PANDOC;
    buf_format(&line, host ? "*%.*s*\n" : ": %.*s\n", STR_ARG(str_trim(buf_str(&text))));
    book_blank(book);
    book_add(book, buf_str(&line));
}

static bool is_text(const TableColumn *column) {
    return column->field && column->field->unit == UNIT_TEXT;
}

static bool add_table(Table *table, Buf *text, bool one_n) {
    bool good = true;
    buf_add(text, STR("| kernel |"));
    for (size_t c = 0; c < table->column_count; c++) {
        buf_char(text, ' ');
        add_title(table, text, &table->columns[c]);
        buf_add(text, STR(" |"));
    }
    buf_add(text, STR("\n| :--- |"));
    for (size_t c = 0; c < table->column_count; c++)
        buf_add(text, is_text(&table->columns[c]) ? STR(" :--- |") : STR(" ---: |"));
    buf_char(text, '\n');
    for (size_t r = 0; r < table->row_count; r++) {
        buf_add(text, STR("| "));
        add_label(table, text, &table->rows[r], one_n);
        buf_add(text, STR(" |"));
        for (size_t c = 0; c < table->column_count; c++) {
            buf_char(text, ' ');
            good = add_cell(table, text, r, &table->columns[c]) && good;
            buf_add(text, STR(" |"));
        }
        buf_char(text, '\n');
    }
    return good;
}

void table_weave(Book *book, const FencePart *part) {
    static const Str known[] = {STR("columns"), STR("n"), STR("caption"), STR("with"), {NULL, 0}};
    Table table = {.book = book, .scope = book_scope(book), .part = part};
    bool good = book_check_attributes(book, part, known);
    good = read_n(&table) && read_with(&table) && good;
    if (!read_columns(&table) || !good || !read_rows(&table)) return;
    spread_over_devices(&table);
    Buf text = {.arena = book->arena};
    bool one_n = all_one_n(&table);
    if (!add_table(&table, &text, one_n)) return;
    bool host = book->style != BOOK_PANDOC;
    book_blank(book);
    if (!host) book_add(book, STR("::: results\n"));
    book_add(book, buf_str(&text));
    add_caption(&table, one_n);
    if (!host) book_add(book, STR(":::\n"));
    book_blank(book);
}
