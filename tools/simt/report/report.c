// Collects launches and writes the report. Rows are in launch order; launches with equal kernel,
// shape, and counters share a row, so a row shows what one launch did.
#include "simt/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "simt/base/console.h"
#include "simt/report/hazards.h"
#include "simt/report/name.h"
#include "simt/report/outputs.h"
#include "simt/report/predicted.h"
#include "simt/report/profile.h"
#include "simt/report/table.h"

typedef struct {
    const char *name;
    Dim3 grid, block;
    Counters counters;
    uint64_t longest_warp; // 0 if not counted
    bool waits;
    uint64_t launches;   // equal launches; 0 if --last has dropped them
    size_t latest;       // number of the last launch
    uint32_t next;       // the next row with the same hash, from 1; 0: none
    TimePrediction time; // of the last launch
} Row;

static Arena arena;
static ReportOptions options;
static Row *rows;
static size_t row_count, row_capacity;
typedef struct {
    uint32_t row;
    double us, without[LIMITERS]; // predicted
    Limiter limit;
    Stall stall;         // the largest
    const char *unknown; // why `us` is not known, or NULL
} Order;

static Order *order; // of each launch, for the unmerged CSV
static size_t launch_count, launch_capacity;

enum { BUCKETS = 4096 };
static uint32_t buckets[BUCKETS];

void report_start(const ReportOptions *wanted) {
    options = *wanted;
    if (options.machine) table_of_machine();
}

// --- recording ---

static bool same_row(const Row *a, const Row *b) {
    return strcmp(a->name, b->name) == 0 && memcmp(&a->grid, &b->grid, sizeof a->grid) == 0 &&
           memcmp(&a->block, &b->block, sizeof a->block) == 0 &&
           memcmp(&a->counters, &b->counters, sizeof a->counters) == 0 &&
           a->longest_warp == b->longest_warp;
}

static bool same_blocks(const Row *a, const Row *b) {
    return strcmp(a->name, b->name) == 0 && memcmp(&a->block, &b->block, sizeof a->block) == 0;
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

static void add_launch(const char *mangled, const char *name, const Launch *launch,
                       const LaunchReport *report) {
    const Row row = {.name = name,
                     .grid = launch->grid,
                     .block = launch->block,
                     .counters = report->total,
                     .longest_warp = report->longest_warp,
                     .waits = report->waits};
    for (size_t i = 0; options.last && i < row_count; i++)
        if (same_blocks(&rows[i], &row)) rows[i].launches = 0;
    uint32_t at = find_or_add(&row);
    ARENA_GROW(&arena, order, launch_count, launch_capacity);
    order[launch_count++] = (Order){.row = at};
    if (report->time) {
        rows[at - 1].time = *report->time;
        Order *of = &order[launch_count - 1];
        *of = (Order){.row = at,
                      .us = report->time->us,
                      .limit = report->time->limit,
                      .stall = predicted_stall(report->time->stalls),
                      .unknown = report->time->unknown};
        memcpy(of->without, report->time->without, sizeof of->without);
    }
    rows[at - 1].launches = options.last ? 1 : rows[at - 1].launches + 1;
    rows[at - 1].latest = launch_count;
    lines_add(&arena, rows[at - 1].name, options.last, report);
    hazards_add(&arena, rows[at - 1].name, report->hazards, report->hazard_count, options.strict);
    hazards_orders(&arena, rows[at - 1].name, &report->orders);
    if (options.html || (options.lines && options.machine))
        profile_add(&arena, mangled, name, options.last, launch_count, launch, report);
}

static bool out_of_memory(void) {
    arena.leave = NULL;
    return false;
}

bool report_launch(const char *mangled, const Launch *launch, const LaunchReport *report) {
    char name[4096];
    jmp_buf leave;
    if (setjmp(leave)) return out_of_memory();
    arena.leave = &leave;
    add_launch(mangled, name_kernel(mangled, name, sizeof name), launch, report);
    arena.leave = NULL;
    return true;
}

bool report_host(const char *what, const Hazard *hazard) {
    jmp_buf leave;
    if (setjmp(leave)) return out_of_memory();
    arena.leave = &leave;
    hazards_add(&arena, what, hazard, 1, options.strict);
    arena.leave = NULL;
    return true;
}

// --- CSV ---

static void csv_row(Buf *buf, const Row *row, size_t launch) {
    csv_add_cell(buf, str_of(row->name));
    buf_format(buf, ",%zu,", launch);
    table_shape(buf, row->grid);
    buf_char(buf, ',');
    table_shape(buf, row->block);
    for (int i = 0; i < COUNTERS; i++)
        buf_format(buf, ",%llu", (unsigned long long)row->counters.value[i]);
    if (options.longest) buf_format(buf, ",%llu", (unsigned long long)row->longest_warp);
    if (options.merge) buf_format(buf, ",%llu", (unsigned long long)row->launches);
    if (options.time) {
        const Order *of = &order[launch - 1];
        const bool there = of->us > 0;
        buf_char(buf, ',');
        if (there) buf_format(buf, "%.4f", of->us);
        buf_format(buf, ",%s,%s,%s", there ? time_limit_names[of->limit] : "",
                   there && of->stall != STALLS ? time_stall_names[of->stall] : "",
                   of->unknown ? of->unknown : "");
        for (int k = 0; k < LIMITERS; k++)
            if (there)
                buf_format(buf, ",%.4f", of->without[k]);
            else
                buf_char(buf, ',');
    }
    buf_char(buf, '\n');
}

static bool write_csv(void) {
    Buf buf = {.arena = &arena};
    buf_add(&buf, STR("kernel,launch,grid,block"));
    for (int i = 0; i < COUNTERS; i++) buf_format(&buf, ",%s", counters_names[i]);
    if (options.longest) buf_add(&buf, STR(",longest_warp"));
    if (options.merge) buf_add(&buf, STR(",launches"));
    if (options.time) buf_add(&buf, STR(",predicted_us,limiter,stall,unknown"));
    for (int k = 0; k < LIMITERS && options.time; k++)
        buf_format(&buf, ",without %s", time_limit_names[k]);
    buf_char(&buf, '\n');
    size_t merged = 0; // rows are numbered in the order of their first launch
    for (size_t i = 0; i < launch_count; i++) {
        bool first = order[i].row > merged;
        if (first) merged = order[i].row;
        const Row *row = &rows[order[i].row - 1];
        bool wanted =
            options.last ? row->launches && row->latest == i + 1 : first || !options.merge;
        if (wanted) csv_row(&buf, row, i + 1);
    }
    return file_write_if_changed(&arena, options.csv, buf_str(&buf)) != FILE_FAILED;
}

// --- all of it ---

static void print_table(void) {
    TableRow *shown = NULL;
    size_t count = 0, capacity = 0;
    for (size_t row = 0; row < row_count; row++) {
        const Row *r = &rows[row];
        if (r->launches == 0) continue;
        ARENA_GROW(&arena, shown, count, capacity);
        shown[count++] =
            (TableRow){r->name, r->grid, r->block, r->launches, &r->counters, r->waits};
    }
    table_print(&arena, shown, count, options.time);
    for (size_t row = 0, k = 0; options.time && row < row_count; row++)
        if (rows[row].launches) {
            const TableRow *of = &shown[k++];
            if (rows[row].time.us > 0 || rows[row].time.unknown)
                predicted_print(&arena, of, &rows[row].time, options.time, options.warm);
        }
}

static bool written(bool good, const char *path) {
    if (!good) fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return good;
}

// Writes files first: a reader of stdout may close it. Returns whether there were hazards.
static bool write_all(bool *good) {
    *good = true;
    if (options.csv) *good &= written(write_csv(), options.csv);
    if (options.lines_csv)
        *good &= written(lines_csv(&arena, options.lines_csv), options.lines_csv);
    if (options.html) *good &= written(html_write(&arena, &options), options.html);
    if (options.sarif) *good &= written(sarif_write(&arena, options.sarif), options.sarif);
    if (row_count && !options.quiet) print_table();
    if (options.lines && !options.quiet) lines_print(&arena, options.machine);
    const bool any = hazards_print(&arena, options.quiet ? stderr : stdout);
    if (options.checked && !options.quiet) hazards_print_none(stdout, launch_count);
    if (!options.quiet) hazards_print_orders(stdout);
    return any;
}

int report_finish(bool *hazards) {
    jmp_buf leave;
    bool good;
    const bool complete = console_restore();
    *hazards = false;
    if (setjmp(leave)) {
        console_say("out of host memory: there is no report");
        return 1;
    }
    arena.leave = &leave;
    *hazards = write_all(&good);
    return fflush(stdout) != 0 || !good || !complete;
}
