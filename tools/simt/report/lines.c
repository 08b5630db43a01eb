// Adds up counters per kernel and source line, and prints them or writes them as CSV.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "simt/report/hazards.h"
#include "simt/report/outputs.h"
#include "simt/report/predicted.h"
#include "simt/report/profile.h"
#include "simt/report/table.h"

typedef struct {
    size_t kernel; // index, in the order of first launches
    LineCounters at;
    double cycles[STALLS]; // predicted cycles of warps
} KernelLine;

static const char **kernels;
static size_t kernel_count, kernel_capacity;
static KernelLine *all;
static size_t all_count, all_capacity;

// Widths of the columns for predicted time: a line's share, a blank, its largest stall.
enum { SHARE_WIDTH = 8, STALL_WIDTH = 18, TIME_WIDTH = SHARE_WIDTH + 1 + STALL_WIDTH };

static int compare_lines(const void *left, const void *right) {
    const KernelLine *a = left, *b = right;
    if (a->kernel != b->kernel) return a->kernel > b->kernel ? 1 : -1;
    int files = strcmp(a->at.file, b->at.file);
    return files ? files : (a->at.line > b->at.line) - (a->at.line < b->at.line);
}

static size_t kernel_number(Arena *arena, const char *name) {
    for (size_t i = 0; i < kernel_count; i++)
        if (strcmp(kernels[i], name) == 0) return i;
    ARENA_GROW(arena, kernels, kernel_count, kernel_capacity);
    kernels[kernel_count] = str_terminated(arena, str_of(name));
    return kernel_count++;
}

static KernelLine *find(const KernelLine *line, size_t sorted) {
    return sorted ? bsearch(line, all, sorted, sizeof *all, compare_lines) : NULL;
}

// Inserts a line in sorted order, which holds even after an allocation fails.
static KernelLine *insert(Arena *arena, const KernelLine *line) {
    const char *file = str_terminated(arena, str_of(line->at.file));
    ARENA_GROW(arena, all, all_count, all_capacity);
    size_t at = all_count++;
    for (; at > 0 && compare_lines(&all[at - 1], line) > 0; at--) all[at] = all[at - 1];
    all[at] = (KernelLine){.kernel = line->kernel, .at = {.file = file, .line = line->at.line}};
    return &all[at];
}

static KernelLine *find_or_insert(Arena *arena, size_t kernel, const char *file, uint32_t line) {
    const KernelLine wanted = {.kernel = kernel, .at = {.file = file, .line = line}};
    KernelLine *found = find(&wanted, all_count);
    return found ? found : insert(arena, &wanted);
}

void lines_add(Arena *arena, const char *kernel, bool only_last, const LaunchReport *report) {
    if (report->line_count == 0) return;
    size_t number = kernel_number(arena, kernel);
    for (size_t i = 0; only_last && i < all_count; i++)
        if (all[i].kernel == number)
            all[i] = (KernelLine){number, {.file = all[i].at.file, .line = all[i].at.line}, {0}};
    for (size_t i = 0; i < report->line_count; i++) {
        const LineCounters *line = &report->lines[i];
        KernelLine *to = find_or_insert(arena, number, line->file, line->line);
        for (int k = 0; k < COUNTERS; k++) to->at.counters.value[k] += line->counters.value[k];
    }
    for (size_t i = 0; i < report->time_line_count; i++) {
        const TimeLine *line = &report->time_lines[i];
        KernelLine *to = find_or_insert(arena, number, line->file, line->line);
        for (int k = 0; k < STALLS; k++) to->cycles[k] += line->cycles[k];
    }
}

// --- predicted times ---

static bool timed(void) {
    for (size_t i = 0; i < all_count; i++)
        if (predicted_stall(all[i].cycles) != STALLS) return true;
    return false;
}

static double cycles_of(const KernelLine *line) {
    double sum = 0;
    for (int k = 0; k < STALLS; k++) sum += line->cycles[k];
    return sum;
}

// A line's share of the predicted time of its kernel's warps.
static double share_of(const KernelLine *line) {
    double kernel = 0;
    for (size_t i = 0; i < all_count; i++)
        if (all[i].kernel == line->kernel) kernel += cycles_of(&all[i]);
    return kernel > 0 ? cycles_of(line) / kernel : 0;
}

// Prints a line's share of the time and its largest stall.
static void print_time(const KernelLine *line) {
    const Stall stall = predicted_stall(line->cycles);
    if (stall == STALLS)
        printf("%*s", TIME_WIDTH, "");
    else
        printf("%*.1f %-*s", SHARE_WIDTH, 100 * share_of(line), STALL_WIDTH,
               time_stall_names[stall]);
}

// The counters in the listing; the CSV has all.
static const struct {
    const char *heading;
    Counter counter;
    int rank; // the order in which columns are chosen
} shown[] = {
    {"Warp inst", COUNT_WARP_INSTS, 3},
    {"Thread inst", COUNT_THREAD_INSTS, 10},
    {"Ld wavefronts", COUNT_SHARED_LD_WAVEFRONTS, 7},
    {"Ld conflicts", COUNT_SHARED_LD_CONFLICTS, 0},
    {"St wavefronts", COUNT_SHARED_ST_WAVEFRONTS, 8},
    {"St conflicts", COUNT_SHARED_ST_CONFLICTS, 6},
    {"Ld sectors", COUNT_GLOBAL_LD_SECTORS, 1},
    {"St sectors", COUNT_GLOBAL_ST_SECTORS, 9},
    {"Atomics", COUNT_ATOMICS, 5},
    {"Barriers", COUNT_BARRIERS, 4},
    {"Divergent", COUNT_DIVERGENT_BRANCHES, 2},
};

enum { SHOWN = sizeof shown / sizeof *shown, NUMBER_WIDTH = 6, GAP = 2 };
enum { SOURCE_WIDTH = 32, MACHINE_WIDTH = 44 }; // minimum width of the source text
enum { FURTHER = 8, LEAST_WIDTH = 16 }; // indent of a continued line; minimum on a narrow screen

static bool column_used(int column) {
    for (size_t i = 0; i < all_count; i++)
        if (all[i].at.counters.value[shown[column].counter]) return true;
    return false;
}

// Line `number` of a text; {NULL, 0} if there is none.
static Str text_line(Str text, uint32_t number) {
    Str line = {NULL, 0};
    for (uint32_t i = 0; i < number; i++)
        if (!str_line(&text, &line)) return (Str){NULL, 0};
    return line;
}

// The number of characters to print in `width` columns: up to a blank, if there is one.
static size_t fitting(Str text, int width) {
    size_t end = width > LEAST_WIDTH ? (size_t)width : LEAST_WIDTH;
    if (text.len <= end) return text.len;
    for (size_t i = end; i > end / 2; i--)
        if (text.at[i] == ' ') return i;
    return end;
}

// Prints text in the last `width` columns of the screen, and the rest on further lines.
static void print_text(Str text, int width) {
    size_t taken = fitting(text, width);
    printf(taken ? "  | %.*s\n" : "  |\n", (int)taken, text.at);
    while (text = str_trim(str_from(text, taken)), text.len) {
        taken = fitting(text, width - FURTHER);
        printf("%*s  | %*s%.*s\n", columns_screen() - width - 4, "", FURTHER, "", (int)taken,
               text.at);
    }
}

// Prints counters, then the source text.
static void print_counters(const Counters *counters, Str source, const Column *columns, int width) {
    for (int column = 0; column < SHOWN; column++) {
        if (!columns[column].wanted) continue;
        uint64_t value = counters->value[shown[column].counter];
        if (value)
            printf("%*s%*llu", GAP, "", columns[column].width, (unsigned long long)value);
        else
            printf("%*s%*s", GAP, "", columns[column].width, "");
    }
    print_text(source, width);
}

static void print_instructions(Arena *arena, const KernelLine *line, const Column *columns,
                               int width) {
    size_t count;
    const ListingInst *insts =
        listing_of(arena, kernels[line->kernel], line->at.file, line->at.line, &count);
    for (size_t i = 0; i < count; i++) {
        Buf text = {.arena = arena};
        if (str_ends(insts[i].text, STR(" NOP"))) continue;
        buf_format(&text, "  %.*s", STR_ARG(insts[i].text));
        printf("%*s", NUMBER_WIDTH + (timed() ? TIME_WIDTH : 0), "");
        print_counters(&insts[i].counted, buf_str(&text), columns, width);
    }
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

// Chooses the columns and returns the width left for source text. With machine code, the issue
// count of each instruction is always shown.
static int choose_columns(Column *columns, bool instructions) {
    int width = columns_screen() - NUMBER_WIDTH - 4; // " | " and a blank before it
    if (timed()) width -= TIME_WIDTH;
    for (int k = 0; k < SHOWN; k++)
        columns[k] = (Column){column_width(k), shown[k].rank, column_used(k)};
    if (instructions) columns[0].rank = -1;
    columns_choose(columns, SHOWN, width - (instructions ? MACHINE_WIDTH : SOURCE_WIDTH), GAP);
    for (int k = 0; k < SHOWN; k++) width -= columns[k].wanted ? columns[k].width + GAP : 0;
    return width;
}

void lines_print(Arena *arena, bool instructions) {
    Column columns[SHOWN];
    int width = choose_columns(columns, instructions);
    Str text = {NULL, 0};
    for (size_t i = 0; i < all_count; i++) {
        const KernelLine *line = &all[i], *above = i ? line - 1 : NULL;
        bool same_file = above && strcmp(above->at.file, line->at.file) == 0;
        if (!same_file && !file_read(arena, line->at.file, &text)) text = (Str){NULL, 0};
        if (!same_file || above->kernel != line->kernel) {
            printf("\n%s in %s\n%*s", kernels[line->kernel], line->at.file, NUMBER_WIDTH, "Line");
            if (timed()) printf("%*s %-*s", SHARE_WIDTH, "Time %", STALL_WIDTH, "Stall");
            for (int k = 0; k < SHOWN; k++)
                if (columns[k].wanted)
                    printf("%*s%*s", GAP, "", columns[k].width, shown[k].heading);
            printf("  | Source\n");
        }
        printf("%*u", NUMBER_WIDTH, line->at.line);
        if (timed()) print_time(line);
        print_counters(&line->at.counters, text_line(text, line->at.line), columns, width);
        if (instructions) print_instructions(arena, line, columns, width);
    }
}

bool lines_csv(Arena *arena, const char *path) {
    Buf buf = {.arena = arena};
    buf_add(&buf, STR("kernel,file,line"));
    for (int k = 0; k < COUNTERS; k++) buf_format(&buf, ",%s", counters_names[k]);
    buf_add(&buf, timed() ? STR(",hazards,predicted_pct,stall\n") : STR(",hazards\n"));
    for (size_t i = 0; i < all_count; i++) {
        csv_add_cell(&buf, str_of(kernels[all[i].kernel]));
        buf_char(&buf, ',');
        csv_add_cell(&buf, str_of(all[i].at.file));
        buf_format(&buf, ",%u", all[i].at.line);
        for (int k = 0; k < COUNTERS; k++)
            buf_format(&buf, ",%llu", (unsigned long long)all[i].at.counters.value[k]);
        buf_format(
            &buf, ",%llu",
            (unsigned long long)hazards_at(kernels[all[i].kernel], all[i].at.file, all[i].at.line));
        const Stall stall = predicted_stall(all[i].cycles);
        if (timed())
            buf_format(&buf, ",%.2f,%s", 100 * share_of(&all[i]),
                       stall == STALLS ? "" : time_stall_names[stall]);
        buf_char(&buf, '\n');
    }
    return file_write_if_changed(arena, path, buf_str(&buf)) != FILE_FAILED;
}
