// Gathers the rows of a results file.
#include "collect/gather.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/kernel_name.h"
#include "base/source.h"
#include "collect/ncu.h"

static void add_prefix(Buf *out, const LabCsv *csv) {
    buf_format(out, "%.*s,%016" PRIx64 ",", STR_ARG(csv->chapter), csv->source);
}

static void add_times(Buf *out, const LabCsv *csv) {
    Csv reader = csv->head.reader;
    for (Str row; lab_csv_row(&reader, csv, &row);) {
        add_prefix(out, csv);
        buf_add(out, row);
        buf_char(out, '\n');
    }
}

static void add_counters(Arena *arena, Buf *out, const LabCsv *csv) {
    Csv reader = csv->head.reader;
    for (Str row, cells[2]; lab_csv_row(&reader, csv, &row);) { // the kernel and the launch number
        lab_csv_take(&reader, csv, &row, cells, 2, "expected a row of simt --csv");
        Str kernel = kernel_name_recorded(arena, cells[0]);
        if (kernel_name_is_library(cells[0])) continue;
        add_prefix(out, csv);
        buf_format(out, "%.*s,%.*s,%.*s\n", STR_ARG(kernel), STR_ARG(csv->n), STR_ARG(row));
    }
}

typedef struct {
    Str kernel, row; // row: the cells after the line
    size_t block;    // number of the kernel in the file, to keep its rows together
    size_t line;     // line number in the tangled code
} Line;

// Sorts by line of code, an order that a change of prose does not affect.
static int compare_lines(const void *left, const void *right) {
    const Line *a = left, *b = right;
    if (a->block != b->block) return a->block > b->block ? 1 : -1;
    return (a->line > b->line) - (a->line < b->line);
}

static Line *read_lines(Arena *arena, const LabCsv *csv, Str code, size_t *count) {
    const SourceMap map = source_map(arena, code);
    Csv reader = csv->head.reader;
    Line *lines = NULL;
    size_t capacity = 0, block = 0;
    *count = 0;
    for (Str row, cells[3]; lab_csv_row(&reader, csv, &row);) { // kernel, file, line
        lab_csv_take(&reader, csv, &row, cells, 3, "expected a row of simt --lines-csv");
        Str kernel = kernel_name_recorded(arena, cells[0]);
        size_t line = strtoul(str_terminated(arena, cells[2]), NULL, 10);
        size_t at = source_number(&map, cells[1], line);
        if (at == 0 || kernel_name_is_library(cells[0])) continue;
        ARENA_GROW(arena, lines, *count, capacity);
        block += *count > 0 && !str_equal(lines[*count - 1].kernel, kernel);
        lines[(*count)++] = (Line){kernel, row, block, at};
    }
    if (*count) qsort(lines, *count, sizeof *lines, compare_lines);
    return lines;
}

static void add_lines(Arena *arena, Buf *out, const LabCsv *csv) {
    Buf path = {.arena = arena};
    Str counts = str_of(csv->path), suffix = STR(".lines.csv");
    if (!str_ends(counts, suffix))
        lab_csv_die(csv->path, 0, "counts of lines need a name in .lines.csv");
    buf_format(&path, "%.*s.cu", STR_ARG(str_slice(counts, 0, counts.len - suffix.len)));
    char *name = str_terminated(arena, buf_str(&path));
    Str code;
    if (!file_read(arena, name, &code)) lab_csv_die(name, 0, strerror(errno));
    size_t count;
    const Line *lines = read_lines(arena, csv, code, &count);
    for (size_t i = 0; i < count; i++) {
        add_prefix(out, csv);
        buf_format(out, "%.*s,%.*s,%zu,%.*s\n", STR_ARG(lines[i].kernel), STR_ARG(csv->n),
                   lines[i].line, STR_ARG(lines[i].row));
    }
}

static Ncu read_limits(Arena *arena, const LabCsv *csv) {
    Buf path = {.arena = arena};
    Str names = str_of(csv->path), suffix = STR(".limits.csv");
    buf_format(&path, "%.*s.ncu.csv", STR_ARG(str_slice(names, 0, names.len - suffix.len)));
    char *name = str_terminated(arena, buf_str(&path));
    Str text;
    Ncu limits;
    if (!file_read(arena, name, &text)) lab_csv_die(name, 0, strerror(errno));
    if (!ncu_read(arena, text, &limits)) lab_csv_die(name, limits.line, limits.fault);
    return limits;
}

static bool is_limits(const LabCsv *csv) { return str_ends(str_of(csv->path), STR(".limits.csv")); }

// The k-th kernel in the lab's CSV is the k-th stage in ncu's.
static void add_limits(Arena *arena, Buf *out, const LabCsv *csv) {
    Ncu limits = read_limits(arena, csv);
    Csv reader = csv->head.reader;
    size_t stage = 0;
    for (Str row, cells[2]; lab_csv_row(&reader, csv, &row); stage++) { // kernel, n
        lab_csv_take(&reader, csv, &row, cells, 2, "expected a row of LAB -t 0 --csv");
        if (stage == limits.count)
            lab_csv_die(csv->path, reader.line, "this file has more kernels than ncu profiled");
        const Str *found = limits.stages[stage].cells;
        if (!found) continue; // this stage launched no kernel
        add_prefix(out, csv);
        buf_format(out, "%.*s,%.*s", STR_ARG(cells[0]), STR_ARG(cells[1]));
        for (size_t i = 0; i < ncu_columns(); i++) buf_format(out, ",%.*s", STR_ARG(found[i]));
        buf_char(out, '\n');
    }
    if (stage < limits.count)
        lab_csv_die(csv->path, 0, "this file has fewer kernels than ncu profiled");
}

typedef enum { TIMES, COUNTERS, LINES, LIMITS } Kind;

#define COUNTERS_HEADER STR("kernel,launch,")
#define LINES_HEADER    STR("kernel,file,line,")

static Kind kind_of(const LabCsv *csv) {
    if (str_starts(csv->head.header, COUNTERS_HEADER)) return COUNTERS;
    if (str_starts(csv->head.header, LINES_HEADER)) return LINES;
    return is_limits(csv) ? LIMITS : TIMES;
}

static void check_like(const LabCsv *csv, const LabCsv *first) {
    if (!str_equal(csv->head.facts, first->head.facts))
        lab_csv_die(csv->path, 1, "the device or the toolkit differs from the first file's");
    if (!str_equal(csv->head.header, first->head.header))
        lab_csv_die(csv->path, csv->head.reader.line, "the columns differ from the first file's");
    if (is_limits(csv) != is_limits(first))
        lab_csv_die(csv->path, 0, "limits cannot be mixed with other files");
    Kind kind = kind_of(csv);
    if ((kind == COUNTERS || kind == LINES) && !csv->n.len)
        lab_csv_die(csv->path, 0, "counts need -n ELEMENTS");
}

static Str header_of(Arena *arena, const LabCsv *csv) {
    Buf out = {.arena = arena};
    buf_add(&out, STR("chapter,source,"));
    switch (kind_of(csv)) {
    case TIMES:
        buf_add(&out, csv->head.header);
        break;
    case COUNTERS:
        buf_add(&out, STR("kernel,n,"));
        buf_add(&out, str_from(csv->head.header, COUNTERS_HEADER.len));
        break;
    case LINES:
        buf_add(&out, STR("kernel,n,code_line,"));
        buf_add(&out, str_from(csv->head.header, LINES_HEADER.len));
        break;
    case LIMITS:
        buf_add(&out, STR("kernel,n,"));
        ncu_add_header(&out);
        break;
    }
    return buf_str(&out);
}

static void add_rows(Arena *arena, Buf *out, const LabCsv *csv) {
    switch (kind_of(csv)) {
    case TIMES:
        add_times(out, csv);
        break;
    case COUNTERS:
        add_counters(arena, out, csv);
        break;
    case LINES:
        add_lines(arena, out, csv);
        break;
    case LIMITS:
        add_limits(arena, out, csv);
        break;
    }
}

// Adds the comment lines and the header row, of the new files or else of the earlier results.
static void add_head(Facts recording, Buf *out, const LabCsv *first, const LabCsv *last,
                     const char *fact) {
    Buf facts = {.arena = recording.arena};
    const Recorded *recorded = recording.recorded;
    if (fact && first) buf_format(&facts, "# %s\n", fact);
    buf_add(&facts, first ? first->head.facts : recorded->head.facts);
    recording.here = buf_str(&facts);
    facts_add(&recording, out);
    Str header = first ? header_of(recording.arena, first) : recorded->head.header;
    if (recorded && !str_equal(recorded->head.header, header))
        lab_csv_die(recorded->path, recorded->head.reader.line,
                    "the columns have changed: its rows cannot be reused");
    Str date = first ? last->head.date : recorded->head.date;
    if (date.len) buf_format(out, "%.*s\n", STR_ARG(date));
    buf_format(out, "%.*s\n", STR_ARG(header));
}

Str gather_rows(Arena *arena, const LabCsv *csvs, size_t count, const Gather *gather) {
    Buf out = {.arena = arena};
    const LabCsv *first = NULL, *last = NULL;
    size_t files = 0;
    for (size_t i = 0; i < count; i++) {
        if (!lab_csv_is_file(csvs[i].path)) continue;
        if (!first) first = &csvs[i];
        last = &csvs[i];
        files++;
        check_like(last, first);
    }
    const Facts recording = {arena, csvs, count, files < count ? gather->recorded : NULL, STR("")};
    add_head(recording, &out, first, last, gather->fact);
    for (size_t i = 0; i < count; i++)
        if (lab_csv_is_file(csvs[i].path))
            add_rows(arena, &out, &csvs[i]);
        else
            recorded_add(gather->recorded, &csvs[i], &out);
    return buf_str(&out);
}
