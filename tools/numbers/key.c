// Parses keys and looks them up in the results.
#include "numbers/key.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"

#define DEFAULT_N 25600000.0 // the size in the best-known versions of these kernels

#define LIMIT(name, unit, title)                                                                   \
    { STR(name), STR(name), unit, STR(title), FROM_LIMITS }
static const KeyField fields[] = {
    {STR("time"), STR("median_us"), UNIT_TIME, STR("time"), FROM_TIMES},
    {STR("p5"), STR("p5_us"), UNIT_TIME, STR("5th percentile"), FROM_TIMES},
    {STR("p95"), STR("p95_us"), UNIT_TIME, STR("95th percentile"), FROM_TIMES},
    {STR("gbps"), STR("gbps"), UNIT_RATE, STR("rate"), FROM_TIMES},
    {STR("pin_pct"), STR("pin_pct"), UNIT_PERCENT, STR("of pin rate"), FROM_TIMES},
    {STR("read_pct"), STR("read_pct"), UNIT_PERCENT, STR("of read ceiling"), FROM_TIMES},
    {STR("samples"), STR("samples"), UNIT_COUNT, STR("samples"), FROM_TIMES},
    {STR("block"), STR("block"), UNIT_COUNT, STR("threads per block"), FROM_TIMES},
    {STR("grid"), STR("grid"), UNIT_COUNT, STR("blocks"), FROM_TIMES},
    {STR("partials"), STR("partials"), UNIT_COUNT, STR("partial sums"), FROM_TIMES},
    {STR("n"), STR("n"), UNIT_NONE, STR("n"), FROM_TIMES},
    {STR("elem"), STR("elem"), UNIT_TEXT, STR("element"), FROM_TIMES},
    {STR("note"), STR("note"), UNIT_TEXT, STR("note"), FROM_TIMES},
    {STR("predicted"), STR("predicted_us"), UNIT_TIME, STR("*predicted* time"), FROM_PREDICTED},
    {STR("limiter"), STR("predicted_limiter"), UNIT_TEXT, STR("model: limit"), FROM_PREDICTED},
    LIMIT("profiled_us", UNIT_TIME, "time under the profiler"),
    LIMIT("sm_clock_khz", UNIT_CLOCK, "clock of the SMs"),
    LIMIT("registers", UNIT_COUNT, "registers"),
    LIMIT("machine_insts", UNIT_COUNT, "warp instructions (machine)"),
    LIMIT("machine_lanes", UNIT_COUNT, "lanes in each"),
    LIMIT("machine_branches", UNIT_COUNT, "branches (machine)"),
    LIMIT("machine_divergent", UNIT_COUNT, "divergent branches (machine)"),
    LIMIT("issue_pct", UNIT_PERCENT, "issue slots"),
    LIMIT("shared_pipe_pct", UNIT_PERCENT, "shared-memory pipe"),
    LIMIT("l2_pct", UNIT_PERCENT, "L2"),
    LIMIT("memory_pct", UNIT_PERCENT, "memory"),
    LIMIT("warps_pct", UNIT_PERCENT, "warps resident"),
    LIMIT("sm_cycles_min", UNIT_COUNT, "cycles of the least busy SM"),
    LIMIT("sm_cycles_max", UNIT_COUNT, "cycles of the busiest SM"),
    LIMIT("cycles_per_inst", UNIT_COUNT, "cycles between instructions of a warp"),
    LIMIT("stall", UNIT_TEXT, "profiler: longest stall"),
    LIMIT("bottleneck", UNIT_TEXT, "bottleneck"),
    LIMIT("bottleneck_pct", UNIT_PERCENT, "use of the bottleneck"),
    LIMIT("stall_barrier", UNIT_COUNT, "cycles: barrier"),
    LIMIT("stall_lg_throttle", UNIT_COUNT, "cycles: LG throttle (load queue)"),
    LIMIT("stall_long_scoreboard", UNIT_COUNT, "cycles: long scoreboard (global memory)"),
    LIMIT("stall_membar", UNIT_COUNT, "cycles: membar (fence)"),
    LIMIT("stall_mio_throttle", UNIT_COUNT, "cycles: MIO throttle (shared-memory queue)"),
    LIMIT("stall_not_selected", UNIT_COUNT, "cycles: not selected"),
    LIMIT("stall_short_scoreboard", UNIT_COUNT, "cycles: short scoreboard (shared memory)"),
    LIMIT("stall_wait", UNIT_COUNT, "cycles: wait (fixed-latency dependency)"),
};

const KeyField *key_field(Str name) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (str_equal(fields[i].name, name)) return &fields[i];
    return NULL;
}

void key_say_unknown(const ResultTable *counters, Str name, Buf *why) {
    Str nearest = {NULL, 0};
    size_t edits = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (str_is_nearer(name, fields[i].name, &edits)) nearest = fields[i].name;
    for (size_t i = 0; i < counters->column_count; i++)
        if (str_is_nearer(name, counters->columns[i], &edits)) nearest = counters->columns[i];
    buf_format(why, "`%.*s`: neither a field of the GPU tables nor a column of %s", STR_ARG(name),
               counters->path);
    if (nearest.len) buf_format(why, "; did you mean `%.*s`?", STR_ARG(nearest));
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

static Str abbreviation(Str word) {
    static const Str pairs[][2] = {
        {STR("ld"), STR("load")}, {STR("st"), STR("store")}, {STR("insts"), STR("instructions")}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (str_equal(word, pairs[i][0])) return pairs[i][1];
    return word;
}

// Counts of these in PTX differ from those in machine code.
static bool is_ptx_count(Str column) {
    return str_equal(column, STR("warp_insts")) || str_equal(column, STR("thread_insts")) ||
           str_equal(column, STR("divergent_branches"));
}

// join_machine() makes these columns.
static bool is_machine_count(Str column) { return str_starts(column, STR("machine_")); }

Str key_counter_title(Arena *arena, Str column) {
    Buf title = {.arena = arena};
    const bool of_ptx = is_ptx_count(column), of_machine = is_machine_count(column);
    if (of_machine) column = str_from(column, str_find(column, STR("_")) + 1);
    while (column.len) {
        size_t underscore = str_find(column, STR("_"));
        if (title.len) buf_char(&title, ' ');
        buf_add(&title, abbreviation(str_slice(column, 0, underscore)));
        column = underscore == SIZE_MAX ? str_from(column, column.len)
                                        : str_from(column, underscore + 1);
    }
    const Str where = of_machine ? STR(" (machine, CPU device)") : STR(" (PTX)");
    if (of_ptx || of_machine) buf_add(&title, where);
    return buf_str(&title);
}

Str key_chapter_of(Str path) {
    Str name = path_name(path);
    bool digits = name.len > 2 && is_digit(name.at[0]) && is_digit(name.at[1]);
    if (digits && (name.at[2] == '-' || name.at[2] == '_')) return str_slice(name, 0, 2);
    if (name.len > 1 && name.at[0] >= 'A' && name.at[0] <= 'Z' &&
        (name.at[1] == '-' || name.at[1] == '_'))
        return str_slice(name, 0, 1);
    return (Str){NULL, 0};
}

Str key_chapter_number(Str chapter) {
    return chapter.len > 1 && chapter.at[0] == '0' ? str_from(chapter, 1) : chapter;
}

static size_t kernel_length(Str text) {
    if (text.len > 1 && text.at[0] == '*' && (text.at[1] == '.' || text.at[1] == '@')) return 1;
    if (text.len == 1 && text.at[0] == '*') return 1;
    if (text.len == 0 || !(is_letter(text.at[0]) || text.at[0] == '_')) return 0;
    size_t end = 1;
    while (end < text.len && is_word(text.at[end])) end++;
    return end;
}

bool key_take_count(Str *text, double *count) {
    Str rest = *text;
    double number = 0, scale = 1024;
    size_t end = 0;
    for (; end < rest.len && is_digit(rest.at[end]); end++)
        number = number * 10 + (rest.at[end] - '0');
    if (end == 0) return false;
    rest = str_from(rest, end);
    for (const char *p = "KMG"; *p; p++, scale *= 1024) {
        if (rest.len < 2 || rest.at[0] != *p || rest.at[1] != 'i') continue;
        number *= scale;
        rest = str_from(rest, 2);
        break;
    }
    *count = number;
    *text = rest;
    return true;
}

static bool take_n(Str *text, Key *key) {
    Str rest = str_from(*text, 1);
    if (rest.len && rest.at[0] == '*') {
        key->every_n = true;
        *text = str_from(rest, 1);
        return true;
    }
    if (!key_take_count(&rest, &key->n)) return false;
    key->has_n = true;
    *text = rest;
    if (rest.len == 0 || rest.at[0] != 'x') return true;
    rest = str_from(rest, 1);
    if (key_take_count(&rest, &key->cols)) *text = rest;
    return true;
}

bool key_take(const KeyScope *scope, Str *text, Key *key) {
    Str rest = *text;
    *key = (Key){.chapter = scope->chapter};
    size_t digits = rest.len > 2 && is_digit(rest.at[0]) && is_digit(rest.at[1]) ? 2 : 0;
    size_t prefix = digits ? 2 : rest.len > 1 && rest.at[0] >= 'A' && rest.at[0] <= 'Z' ? 1 : 0;
    if (prefix && rest.at[prefix] == '/' && kernel_length(str_from(rest, prefix + 1))) {
        key->chapter = str_slice(rest, 0, prefix);
        rest = str_from(rest, prefix + 1);
    }
    size_t length = kernel_length(rest);
    if (length == 0) return false;
    key->kernel = str_slice(rest, 0, length);
    rest = str_from(rest, length);
    if (rest.len && rest.at[0] == '@' && !take_n(&rest, key)) return false;
    *text = rest;
    return true;
}

static int in_file_order(const void *a, const void *b) {
    const ResultRow *left = *(const ResultRow *const *)a, *right = *(const ResultRow *const *)b;
    return (left > right) - (left < right);
}

// The n of a key without one, by the rules in key.h. Negative: the key is ambiguous.
static double default_n(const ResultTable *table, const ResultKernel *kernel, bool or_largest) {
    const double first = kernel->row_count ? table->rows[kernel->rows[0]].n : -1;
    double largest = first;
    bool several = false;
    for (size_t i = 0; i < kernel->row_count; i++) {
        const double n = table->rows[kernel->rows[i]].n;
        if (n == DEFAULT_N) return n;
        several |= n != first;
        if (n > largest) largest = n;
    }
    return several && !or_largest ? -1 : largest;
}

// The rows of a kernel for a key: one at each n in a GPU's table, every launch shape in cpu.csv.
typedef enum { ROWS_TIMED, ROWS_COUNTED } RowKind;

// Adds the rows of one kernel at the key's n.
static void add_kernel(const KeyScope *scope, const ResultKernel *kernel, const Key *key,
                       RowKind kind, KeyRows *rows, size_t *capacity) {
    const bool every_n = key->every_n && !key->has_n;
    const double wanted = key->has_n ? key->n : default_n(rows->table, kernel, key->or_largest);
    const size_t first = rows->count;
    for (size_t i = 0; i < kernel->row_count; i++) {
        const ResultRow *row = &rows->table->rows[kernel->rows[i]];
        if (!every_n && row->n != wanted) continue;
        if (key->cols > 0 && row->cols != key->cols) continue;
        bool repeated = false;
        for (size_t k = first; kind == ROWS_TIMED && !repeated && k < rows->count; k++)
            repeated = rows->rows[k]->n == row->n;
        if (repeated) continue;
        ARENA_GROW(scope->arena, rows->rows, rows->count, *capacity);
        rows->rows[rows->count++] = row;
    }
}

static void collect(const KeyScope *scope, const ResultTable *table, const Key *key, RowKind kind,
                    KeyRows *rows) {
    const bool every_kernel = str_equal(key->kernel, STR("*"));
    size_t count, capacity = 0;
    *rows = (KeyRows){.table = table};
    if (!every_kernel) {
        const ResultKernel *kernel = results_kernel(table, key->chapter, key->kernel);
        if (kernel) add_kernel(scope, kernel, key, kind, rows, &capacity);
        return;
    }
    const ResultKernel *kernels = results_kernels(table, key->chapter, &count);
    for (size_t i = 0; i < count; i++)
        if (!str_equal(kernels[i].name, STR("read_ceiling")))
            add_kernel(scope, &kernels[i], key, kind, rows, &capacity);
    if (rows->count) qsort(rows->rows, rows->count, sizeof *rows->rows, in_file_order);
}

static void explain_missing(const KeyScope *scope, const ResultTable *table, const Key *key,
                            RowKind kind, Buf *why) {
    Buf sizes = {.arena = scope->arena};
    const Key anywhere = {.chapter = key->chapter, .kernel = key->kernel, .every_n = true};
    KeyRows rows;
    double last = -1;
    collect(scope, table, &anywhere, kind, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        double n = rows.rows[i]->n;
        if (n != last) buf_format(&sizes, "%s%.0f", sizes.len ? ", " : "", n);
        last = n;
    }
    size_t known;
    results_kernels(table, key->chapter, &known);
    if (sizes.len == 0) {
        buf_format(why, "no kernel `%.*s` of chapter %.*s in %s", STR_ARG(key->kernel),
                   STR_ARG(key->chapter), table->path);
        if (!known) // a new lab
            buf_format(why, "; run make record%s ONLY=%.*s_%% to measure it",
                       kind == ROWS_COUNTED ? " DEVICE=cpu" : "", STR_ARG(key->chapter));
    } else if (key->cols > 0)
        buf_format(why, "no `%.*s` of %.0f elements in rows of %.0f in %s", STR_ARG(key->kernel),
                   key->n, key->cols, table->path);
    else if (key->has_n)
        buf_format(why, "no `%.*s` with n = %.0f in %s, which has n = %.*s", STR_ARG(key->kernel),
                   key->n, table->path, STR_ARG(buf_str(&sizes)));
    else
        buf_format(why, "`%.*s` was recorded with several n (%.*s): add @N to choose one",
                   STR_ARG(key->kernel), STR_ARG(buf_str(&sizes)));
}

bool key_rows(const KeyScope *scope, const ResultTable *device, const Key *key, KeyRows *rows,
              Buf *why) {
    collect(scope, device, key, ROWS_TIMED, rows);
    if (rows->count == 0) explain_missing(scope, device, key, ROWS_TIMED, why);
    return rows->count > 0;
}

// The number of blocks launched. Some labs record partial sums instead, one per block.
static Str blocks_of(const ResultTable *table, const ResultRow *row) {
    Str grid = results_cell(table, row, STR("grid"));
    return grid.len ? grid : results_cell(table, row, STR("partials"));
}

static bool same_shape(const ResultTable *a, const ResultRow *row, const ResultTable *b,
                       const ResultRow *other) {
    return str_equal(results_cell(a, row, STR("block")), results_cell(b, other, STR("block"))) &&
           str_equal(blocks_of(a, row), blocks_of(b, other));
}

// The rows of cpu.csv for a key, with every launch shape. A block size at the end of the name
// selects the launches with that size.
static void collect_counters(const KeyScope *scope, const Key *key, KeyRows *rows) {
    const ResultTable *table = scope->results->counters;
    Key plain = *key;
    Str block;
    collect(scope, table, key, ROWS_COUNTED, rows);
    if (rows->count || !results_split_block(&plain.kernel, &block)) return;
    collect(scope, table, &plain, ROWS_COUNTED, rows);
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (str_equal(results_cell(table, rows->rows[i], STR("block")), block))
            rows->rows[count++] = rows->rows[i];
    rows->count = count;
}

// Compares a counted launch with the timed one: 2 the same shape, 1 the same block size, 0 neither.
static int similarity(const ResultTable *table, const ResultRow *row, const KeyRows *timed) {
    if (timed->count == 0) return 0;
    if (same_shape(table, row, timed->table, timed->rows[0])) return 2;
    return str_equal(results_cell(table, row, STR("block")),
                     results_cell(timed->table, timed->rows[0], STR("block")));
}

const ResultRow *key_counters(const KeyScope *scope, const Key *key, Buf *why) {
    const ResultTable *table = scope->results->counters;
    KeyRows rows, timed = {0};
    if (!table) {
        buf_format(why, "%s/cpu.csv is missing: counters come from it", scope->results->folder);
        return NULL;
    }
    collect_counters(scope, key, &rows);
    if (rows.count == 0) {
        explain_missing(scope, table, key, ROWS_COUNTED, why);
        return NULL;
    }
    if (scope->results->reference)
        collect(scope, scope->results->reference, key, ROWS_TIMED, &timed);
    const ResultRow *best = NULL;
    double most = -1;
    int closest = -1;
    for (size_t i = 0; i < rows.count; i++) {
        const double threads = results_cell_number(table, rows.rows[i], STR("thread_insts"));
        const int similar = similarity(table, rows.rows[i], &timed);
        if (similar < closest || (similar == closest && threads <= most)) continue;
        closest = similar;
        most = threads;
        best = rows.rows[i];
    }
    return best;
}

// The hash of the program that a row was recorded from. Tables without one use that of cpu.csv,
// which comes from the same runs.
static Str source_of(const KeyScope *scope, const ResultTable *table, const ResultRow *row) {
    const ResultTable *counters = scope->results->counters;
    Str chapter = results_cell(table, row, STR("chapter"));
    if (results_has_column(table, STR("source")) || !counters)
        return results_cell(table, row, STR("source"));
    for (size_t i = 0; i < counters->row_count; i++)
        if (str_equal(results_cell(counters, &counters->rows[i], STR("chapter")), chapter))
            return results_cell(counters, &counters->rows[i], STR("source"));
    return (Str){NULL, 0};
}

static bool is_stale(const KeyScope *scope, Str chapter, Str source, ResultProgram program) {
    if (source.len == 0) return false;
    for (size_t i = 0; i < scope->source_count; i++) {
        const KeySource *is = &scope->sources[i];
        if (!str_equal(is->chapter, chapter)) continue;
        Buf now = {.arena = scope->arena};
        buf_format(&now, "%016llx", (unsigned long long)is->hash[program]);
        return !str_equal(buf_str(&now), source);
    }
    return true;
}

bool key_source_is_stale(const KeyScope *scope, Str chapter, Str source) {
    return is_stale(scope, chapter, source, PROGRAM_LAB);
}

bool key_counter_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row,
                          Str column) {
    const Str source = is_machine_count(column) ? results_cell(table, row, STR("machine_source"))
                                                : source_of(scope, table, row);
    return is_stale(scope, results_cell(table, row, STR("chapter")), source,
                    results_program(table));
}

bool key_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row) {
    return key_counter_is_stale(scope, table, row, STR(""));
}

bool key_origin_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row,
                         KeyOrigin from) {
    static const Str sources[KEY_ORIGINS] = {
        [FROM_LIMITS] = STR("limits_source"), [FROM_PREDICTED] = STR("predicted_source")};
    if (from == FROM_TIMES) return key_is_stale(scope, table, row);
    return key_source_is_stale(scope, results_cell(table, row, STR("chapter")),
                               results_cell(table, row, sources[from]));
}

static bool number_value(const ResultTable *table, const ResultRow *row, Str column, Unit unit,
                         Value *value, Buf *why) {
    Str cell = results_cell(table, row, column);
    *value = (Value){.unit = unit, .text = cell};
    if (unit == UNIT_TEXT || results_number(cell, &value->number)) return true;
    if (results_has_column(table, column))
        buf_format(why, "`%.*s` is %s at %s:%zu", STR_ARG(column),
                   cell.len ? "not a number" : "empty", table->path, row->line);
    else
        buf_format(why, "%s has no column `%.*s`", table->path, STR_ARG(column));
    return false;
}

bool key_field_value(const KeyScope *scope, const ResultTable *device, const ResultRow *row,
                     const KeyField *field, Value *value, Buf *why) {
    if (!number_value(device, row, field->column, field->unit, value, why)) return false;
    value->stale = key_origin_is_stale(scope, device, row, field->from);
    return true;
}

bool key_counter_value(const KeyScope *scope, const Key *key, Str column, Value *value, Buf *why) {
    const ResultTable *table = scope->results->counters;
    if (table && !results_has_column(table, column)) {
        buf_add(why, STR("no field "));
        key_say_unknown(table, column, why);
        return false;
    }
    const ResultRow *row = key_counters(scope, key, why);
    if (!row || !number_value(table, row, column, UNIT_COUNT, value, why)) return false;
    value->stale = key_counter_is_stale(scope, table, row, column);
    return true;
}

const ResultTable *key_device(const KeyScope *scope, Str chapter, Buf *why) {
    const Results *results = scope->results;
    Str own = {NULL, 0};
    for (size_t i = 0; i < scope->source_count; i++)
        if (str_equal(scope->sources[i].chapter, chapter) && scope->sources[i].device.len)
            own = scope->sources[i].device;
    Str name = scope->device.len ? scope->device : own.len ? own : scope->reference;
    for (size_t i = 0; i < results->device_count; i++)
        if (str_equal(results->devices[i].device, name)) return &results->devices[i];
    if (scope->device.len)
        buf_format(why, "no results of that device: %s/%.*s.csv is missing", results->folder,
                   STR_ARG(name));
    else if (own.len)
        buf_format(why, "no results of the device of chapter %.*s: %s/%.*s.csv is missing",
                   STR_ARG(chapter), results->folder, STR_ARG(name));
    else
        buf_format(why, "no results of the reference device: %s/%.*s.csv is missing",
                   results->folder, STR_ARG(name));
    return NULL;
}
