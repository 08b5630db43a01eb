// Reports: see report.h. Rows are in the order of the launches and merged when the kernel, the
// shape and all counters are equal, so a row of the table says what one launch did.
#include "simt/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "simt/base/console.h"
#include "simt/report/hazards.h"
#include "simt/report/lines.h"
#include "simt/report/name.h"

typedef struct {
    const char *name;
    Dim3 grid, block;
    Counters counters;
    uint64_t launches; // equal ones; 0 once a later launch of the kernel took its place
    size_t latest;     // number of the last of them
    uint32_t next;     // row with the same hash, 0: none; numbers start at 1
} Row;

static Arena arena;
static ReportOptions options;
static Row *rows;
static size_t row_count, row_capacity;
static uint32_t *order; // the row of each launch, for the unmerged CSV
static size_t launch_count, launch_capacity;

enum { BUCKETS = 4096 };
static uint32_t buckets[BUCKETS];

void report_start(const ReportOptions *wanted) { options = *wanted; }

// --- recording ---

static bool same_row(const Row *a, const Row *b) {
    return strcmp(a->name, b->name) == 0 && memcmp(&a->grid, &b->grid, sizeof a->grid) == 0 &&
           memcmp(&a->block, &b->block, sizeof a->block) == 0 &&
           memcmp(&a->counters, &b->counters, sizeof a->counters) == 0;
}

static uint32_t find_or_add(const Row *row) {
    uint64_t hash = str_hash((Str){(const char *)&row->counters, sizeof row->counters}) ^
                    str_hash(str_of(row->name));
    uint32_t *bucket = &buckets[hash % BUCKETS];
    for (uint32_t at = *bucket; at; at = rows[at - 1].next)
        if (same_row(&rows[at - 1], row)) return at;
    const char *name = str_terminated(&arena, str_of(row->name));
    ARENA_GROW(&arena, rows, row_count, row_capacity);
    rows[row_count] = *row;
    rows[row_count].name = name;
    rows[row_count].next = *bucket;
    rows[row_count].launches = 0;
    return *bucket = (uint32_t)++row_count;
}

static void add_launch(const char *name, const Launch *launch, const LaunchReport *report) {
    const Row row = {
        .name = name, .grid = launch->grid, .block = launch->block, .counters = report->total};
    for (size_t i = 0; options.last && i < row_count; i++)
        if (strcmp(rows[i].name, name) == 0) rows[i].launches = 0;
    uint32_t at = find_or_add(&row);
    ARENA_GROW(&arena, order, launch_count, launch_capacity);
    order[launch_count++] = at;
    rows[at - 1].launches = options.last ? 1 : rows[at - 1].launches + 1;
    rows[at - 1].latest = launch_count;
    lines_add(&arena, rows[at - 1].name, options.last, report->lines, report->line_count);
    hazards_add(&arena, rows[at - 1].name, report->hazards, report->hazard_count);
}

bool report_launch(const char *mangled, const Launch *launch, const LaunchReport *report) {
    char name[4096];
    jmp_buf leave;
    bool kept = setjmp(leave) == 0;
    if (kept) {
        arena.leave = &leave;
        add_launch(name_kernel(mangled, name, sizeof name), launch, report);
    }
    arena.leave = NULL;
    return kept;
}

// --- CSV ---

// 256, or 16x16, or 8x8x4.
static void shape_text(Buf *buf, Dim3 shape) {
    buf_format(buf, "%u", shape.x);
    if (shape.y > 1 || shape.z > 1) buf_format(buf, "x%u", shape.y);
    if (shape.z > 1) buf_format(buf, "x%u", shape.z);
}

static void csv_row(Buf *buf, const Row *row, size_t launch) {
    csv_add_cell(buf, str_of(row->name));
    buf_format(buf, ",%zu,", launch);
    shape_text(buf, row->grid);
    buf_char(buf, ',');
    shape_text(buf, row->block);
    for (int i = 0; i < COUNTERS; i++)
        buf_format(buf, ",%llu", (unsigned long long)row->counters.value[i]);
    if (options.merge) buf_format(buf, ",%llu", (unsigned long long)row->launches);
    buf_char(buf, '\n');
}

static bool write_csv(void) {
    Buf buf = {.arena = &arena};
    buf_add(&buf, STR("kernel,launch,grid,block"));
    for (int i = 0; i < COUNTERS; i++) buf_format(&buf, ",%s", counters_names[i]);
    buf_add(&buf, options.merge ? STR(",launches\n") : STR("\n"));
    size_t merged = 0; // rows are numbered in the order of their first launch
    for (size_t i = 0; i < launch_count; i++) {
        bool first = order[i] > merged;
        if (first) merged = order[i];
        const Row *row = &rows[order[i] - 1];
        bool wanted =
            options.last ? row->launches && row->latest == i + 1 : first || !options.merge;
        if (wanted) csv_row(&buf, row, i + 1);
    }
    return file_write_if_changed(&arena, options.csv, buf_str(&buf)) != FILE_FAILED;
}

// --- the table ---

// Nsight Compute's words: a group, the metric within it. Instruction counts are of PTX, before
// ptxas, which Nsight Compute does not see.
static const struct {
    const char *group, *metric;
} columns[COUNTERS] = {
    [COUNT_WARP_INSTS] = {"Inst. (PTX)", "Warp"},
    [COUNT_THREAD_INSTS] = {"Inst. (PTX)", "Thread"},
    [COUNT_SHARED_LD_INSTS] = {"Shared Load", "Inst."},
    [COUNT_SHARED_LD_WAVEFRONTS] = {"Shared Load", "Wavefronts"},
    [COUNT_SHARED_LD_CONFLICTS] = {"Shared Load", "Bank Confl."},
    [COUNT_SHARED_ST_INSTS] = {"Shared Store", "Inst."},
    [COUNT_SHARED_ST_WAVEFRONTS] = {"Shared Store", "Wavefronts"},
    [COUNT_SHARED_ST_CONFLICTS] = {"Shared Store", "Bank Confl."},
    [COUNT_GLOBAL_LD_REQUESTS] = {"Global Load", "Requests"},
    [COUNT_GLOBAL_LD_SECTORS] = {"Global Load", "Sectors"},
    [COUNT_GLOBAL_ST_REQUESTS] = {"Global Store", "Requests"},
    [COUNT_GLOBAL_ST_SECTORS] = {"Global Store", "Sectors"},
    [COUNT_ATOMICS] = {"Atomics", "Threads"},
    [COUNT_BARRIERS] = {"Barriers", "Blocks"},
    [COUNT_DIVERGENT_BRANCHES] = {"Branches", "Divergent"},
};

enum { FIXED = 4, CELL = 24 }; // kernel, grid, block, launches; then the counters

static void cell_text(Buf *buf, size_t row, int column) {
    const Row *r = &rows[row];
    if (column == 0)
        name_short(buf, str_of(r->name));
    else if (column == 1)
        shape_text(buf, r->grid);
    else if (column == 2)
        shape_text(buf, r->block);
    else if (column == 3)
        buf_format(buf, "%llu", (unsigned long long)r->launches);
    else
        buf_format(buf, "%llu", (unsigned long long)r->counters.value[column - FIXED]);
}

static bool column_used(int column) {
    if (column < FIXED + COUNT_SHARED_LD_INSTS) return true;
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].launches && rows[i].counters.value[column - FIXED]) return true;
    return false;
}

static Str heading(int column, int line) {
    static const char *const fixed[FIXED] = {"Kernel", "Grid", "Block", "Launches"};
    if (column < FIXED) return line ? str_of(fixed[column]) : STR("");
    const char *group = columns[column - FIXED].group;
    if (line) return str_of(columns[column - FIXED].metric);
    for (int before = column - 1; before >= FIXED; before--) // the group's name once
        if (column_used(before))
            return strcmp(columns[before - FIXED].group, group) ? str_of(group) : STR("");
    return str_of(group);
}

static void print_cell(Str text, size_t width, bool left) {
    printf("%*s%.*s%*s", left ? 0 : (int)(width - text.len), "", STR_ARG(text),
           left ? (int)(width - text.len) : 0, "");
}

static Str cell(size_t row, int column) {
    Buf buf = {.arena = &arena};
    cell_text(&buf, row, column);
    return buf_str(&buf);
}

// Headings may be wider than their column only if the next heading is empty: groups are.
static size_t column_width(int column) {
    size_t width = heading(column, 1).len;
    if (heading(column, 0).len > width) width = heading(column, 0).len;
    for (size_t row = 0; row < row_count; row++) {
        size_t len = rows[row].launches ? cell(row, column).len : 0;
        if (len > width) width = len;
    }
    return width;
}

static void print_table(void) {
    size_t width[FIXED + COUNTERS];
    for (int column = 0; column < FIXED + COUNTERS; column++) width[column] = column_width(column);
    printf("\nCPU device: what each kernel launch did (no time: this is not a GPU)\n");
    for (int line = 0; line < 2; line++) {
        for (int column = 0; column < FIXED + COUNTERS; column++) {
            if (!column_used(column)) continue;
            if (column) fputs("  ", stdout);
            print_cell(heading(column, line), width[column], column == 0);
        }
        putchar('\n');
    }
    for (size_t row = 0; row < row_count; row++) {
        if (rows[row].launches == 0) continue;
        for (int column = 0; column < FIXED + COUNTERS; column++) {
            if (!column_used(column)) continue;
            if (column) fputs("  ", stdout);
            print_cell(cell(row, column), width[column], column == 0);
        }
        putchar('\n');
    }
}

static bool written(bool good, const char *path) {
    if (!good) fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return good;
}

// The files first: whoever reads the text may stop reading. True if there were hazards.
static bool write_all(bool *good) {
    *good = true;
    if (options.csv) *good &= written(write_csv(), options.csv);
    if (options.lines_csv)
        *good &= written(lines_csv(&arena, options.lines_csv), options.lines_csv);
    if (row_count) print_table();
    if (options.lines) lines_print(&arena);
    return hazards_print();
}

int report_finish(bool *hazards) {
    jmp_buf leave;
    bool good;
    fflush(stdout);
    *hazards = false;
    if (setjmp(leave)) {
        console_say("no host memory for the report");
        return 1;
    }
    arena.leave = &leave;
    *hazards = write_all(&good);
    return fflush(stdout) != 0 || !good;
}
