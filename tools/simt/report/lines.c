// Source lines in reports: see report_lines.h.
#include "simt/report/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "simt/report/report.h"

static Arena arena;

// --- counters per kernel and line ---

typedef struct {
    size_t kernel; // its number, in the order of first launches
    LineCounters at;
} KernelLine;

static const char **kernels;
static size_t kernel_count, kernel_capacity;
static KernelLine *all;
static size_t all_count, all_capacity;

static int compare_lines(const void *left, const void *right) {
    const KernelLine *a = left, *b = right;
    if (a->kernel != b->kernel) return a->kernel > b->kernel ? 1 : -1;
    int files = strcmp(a->at.file, b->at.file);
    return files ? files : (a->at.line > b->at.line) - (a->at.line < b->at.line);
}

static size_t kernel_number(const char *name) {
    for (size_t i = 0; i < kernel_count; i++)
        if (strcmp(kernels[i], name) == 0) return i;
    ARENA_GROW(&arena, kernels, kernel_count, kernel_capacity);
    kernels[kernel_count] = str_terminated(&arena, str_of(name));
    return kernel_count++;
}

void report_lines_add(const char *kernel, bool only_last, const LineCounters *lines, size_t count) {
    if (count == 0) return;
    size_t number = kernel_number(kernel), sorted = all_count;
    for (size_t i = 0; only_last && i < all_count; i++)
        if (all[i].kernel == number) all[i].at.counters = (Counters){0};
    for (size_t i = 0; i < count; i++) {
        KernelLine line = {number, lines[i]};
        KernelLine *found = all ? bsearch(&line, all, sorted, sizeof *all, compare_lines) : NULL;
        if (!found) {
            ARENA_GROW(&arena, all, all_count, all_capacity);
            found = &all[all_count++];
            *found = (KernelLine){
                number,
                {.file = str_terminated(&arena, str_of(lines[i].file)), .line = lines[i].line}};
        }
        for (int k = 0; k < COUNTERS; k++)
            found->at.counters.value[k] += lines[i].counters.value[k];
    }
    if (all_count > sorted) qsort(all, all_count, sizeof *all, compare_lines);
}

// What the listing shows; the rest is in the CSV.
static const struct {
    const char *heading;
    Counter counter;
} shown[] = {
    {"Warp inst", COUNT_WARP_INSTS},
    {"Thread inst", COUNT_THREAD_INSTS},
    {"Ld wavefronts", COUNT_SHARED_LD_WAVEFRONTS},
    {"conflicts", COUNT_SHARED_LD_CONFLICTS},
    {"St wavefronts", COUNT_SHARED_ST_WAVEFRONTS},
    {"conflicts", COUNT_SHARED_ST_CONFLICTS},
    {"Ld sectors", COUNT_GLOBAL_LD_SECTORS},
    {"St sectors", COUNT_GLOBAL_ST_SECTORS},
    {"Atomics", COUNT_ATOMICS},
    {"Barriers", COUNT_BARRIERS},
    {"Divergent", COUNT_DIVERGENT_BRANCHES},
};

enum { SHOWN = sizeof shown / sizeof *shown };

static bool column_used(int column) {
    if (column < 2) return true;
    for (size_t i = 0; i < all_count; i++)
        if (all[i].at.counters.value[shown[column].counter]) return true;
    return false;
}

// Line `number` of a text, NULL-length if it has none.
static Str text_line(Str text, uint32_t number) {
    Str line = {NULL, 0};
    for (uint32_t i = 0; i < number; i++)
        if (!str_line(&text, &line)) return (Str){NULL, 0};
    return line;
}

static void print_line(const LineCounters *line, Str source, const int *width) {
    printf("%6u", line->line);
    for (int column = 0; column < SHOWN; column++) {
        if (!column_used(column)) continue;
        uint64_t value = line->counters.value[shown[column].counter];
        if (value || column < 2)
            printf("  %*llu", width[column], (unsigned long long)value);
        else
            printf("  %*s", width[column], "");
    }
    printf(source.len ? "  | %.*s\n" : "  |\n", STR_ARG(source));
}

static int column_width(int column) {
    int width = (int)strlen(shown[column].heading);
    for (size_t i = 0; i < all_count; i++) {
        uint64_t value = all[i].at.counters.value[shown[column].counter];
        int digits = snprintf(NULL, 0, "%llu", (unsigned long long)value);
        if (digits > width) width = digits;
    }
    return width;
}

void report_lines_print(void) {
    int width[SHOWN];
    for (int column = 0; column < SHOWN; column++) width[column] = column_width(column);
    Str text = {NULL, 0};
    for (size_t i = 0; i < all_count; i++) {
        const KernelLine *line = &all[i], *above = i ? line - 1 : NULL;
        bool same_file = above && strcmp(above->at.file, line->at.file) == 0;
        if (!same_file && !file_read(&arena, line->at.file, &text)) text = (Str){NULL, 0};
        if (!same_file || above->kernel != line->kernel) {
            printf("\n%s in %s\n%6s", kernels[line->kernel], line->at.file, "Line");
            for (int column = 0; column < SHOWN; column++)
                if (column_used(column)) printf("  %*s", width[column], shown[column].heading);
            printf("  | Source\n");
        }
        print_line(&line->at, text_line(text, line->at.line), width);
    }
}

// --- hazards ---

typedef struct {
    const char *kernel;
    Hazard hazard;
} Found;

static Found *found;
static size_t found_count, found_capacity;

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_hazard(const Found *known, const char *kernel, const Hazard *hazard) {
    const Hazard *other = &known->hazard;
    return strcmp(known->kernel, kernel) == 0 && same_text(other->kind, hazard->kind) &&
           same_text(other->file, hazard->file) && other->line == hazard->line &&
           same_text(other->other_file, hazard->other_file) &&
           other->other_line == hazard->other_line;
}

static const char *keep(const char *text) {
    return text ? str_terminated(&arena, str_of(text)) : NULL;
}

static void add_hazard(const char *kernel, const Hazard *hazard) {
    for (size_t i = 0; i < found_count; i++)
        if (same_hazard(&found[i], kernel, hazard)) {
            found[i].hazard.occurrences += hazard->occurrences;
            return;
        }
    ARENA_GROW(&arena, found, found_count, found_capacity);
    Found *added = &found[found_count++];
    *added = (Found){keep(kernel), *hazard};
    added->hazard.kind = keep(hazard->kind);
    added->hazard.file = keep(hazard->file);
    added->hazard.other_file = keep(hazard->other_file);
    added->hazard.space = keep(hazard->space);
}

void report_hazards_add(const char *kernel, const Hazard *hazards, size_t count) {
    for (size_t i = 0; i < count; i++) add_hazard(kernel, &hazards[i]);
}

static void print_hazard(const Found *at) {
    const Hazard *hazard = &at->hazard;
    printf("%s:%u: %s in %s", hazard->file ? hazard->file : "?", hazard->line, hazard->kind,
           at->kernel);
    if (hazard->space)
        printf(", %s address 0x%llx", hazard->space, (unsigned long long)hazard->address);
    printf(", block (%u,%u,%u), thread (%u,%u,%u)", hazard->block.x, hazard->block.y,
           hazard->block.z, hazard->thread.x, hazard->thread.y, hazard->thread.z);
    if (hazard->other_line)
        printf("; the other access: %s:%u, thread (%u,%u,%u)",
               hazard->other_file ? hazard->other_file : "?", hazard->other_line,
               hazard->other_thread.x, hazard->other_thread.y, hazard->other_thread.z);
    if (hazard->occurrences > 1) printf("; %llu times", (unsigned long long)hazard->occurrences);
    putchar('\n');
    if (hazard->advice[0]) printf("    %s\n", hazard->advice);
}

bool report_hazards_print(void) {
    if (found_count == 0) return false;
    printf("\nCPU device: %zu hazard%s\n", found_count, found_count == 1 ? "" : "s");
    for (size_t i = 0; i < found_count; i++) print_hazard(&found[i]);
    return true;
}

// --- CSV ---

static uint64_t hazards_at(const KernelLine *line) {
    uint64_t sum = 0;
    for (size_t i = 0; i < found_count; i++) {
        const Hazard *hazard = &found[i].hazard;
        bool here = same_text(hazard->file, line->at.file) && hazard->line == line->at.line;
        bool other =
            same_text(hazard->other_file, line->at.file) && hazard->other_line == line->at.line;
        if ((here || other) && strcmp(found[i].kernel, kernels[line->kernel]) == 0)
            sum += hazard->occurrences;
    }
    return sum;
}

bool report_lines_csv(const char *path) {
    Buf buf = {.arena = &arena};
    buf_add(&buf, STR("kernel,file,line"));
    for (int k = 0; k < COUNTERS; k++) buf_format(&buf, ",%s", counters_names[k]);
    buf_add(&buf, STR(",hazards\n"));
    for (size_t i = 0; i < all_count; i++) {
        csv_add_cell(&buf, str_of(kernels[all[i].kernel]));
        buf_char(&buf, ',');
        csv_add_cell(&buf, str_of(all[i].at.file));
        buf_format(&buf, ",%u", all[i].at.line);
        for (int k = 0; k < COUNTERS; k++)
            buf_format(&buf, ",%llu", (unsigned long long)all[i].at.counters.value[k]);
        buf_format(&buf, ",%llu\n", (unsigned long long)hazards_at(&all[i]));
    }
    return file_write_if_changed(&arena, path, buf_str(&buf)) != FILE_FAILED;
}
