// Prints the table of launches.
#include "simt/report/table.h"

#include <stdio.h>
#include <string.h>

#include "simt/report/name.h"

enum { GRID, BLOCK, LAUNCHES, FIRST_COUNTER, COLUMNS = FIRST_COUNTER + COUNTERS, GAP = 2 };

// Headings in Nsight Compute's terms: a group and a metric in it. Instruction counts are of PTX,
// which Nsight Compute does not see, or of machine code: the group says which. Columns are chosen
// by rank.
#define INSTRUCTIONS "Inst. (PTX)"
static bool of_machine;

static const struct {
    const char *group, *metric;
    int rank;
} headings[COLUMNS] = {
    [GRID] = {"", "Grid", 9},
    [BLOCK] = {"", "Block", 10},
    [LAUNCHES] = {"", "Launches", 8},
    [FIRST_COUNTER + COUNT_WARP_INSTS] = {INSTRUCTIONS, "Warp", 2},
    [FIRST_COUNTER + COUNT_THREAD_INSTS] = {INSTRUCTIONS, "Thread", 11},
    [FIRST_COUNTER + COUNT_SHARED_LD_INSTS] = {"Shared Load", "Inst.", 14},
    [FIRST_COUNTER + COUNT_SHARED_LD_WAVEFRONTS] = {"Shared Load", "Wavefronts", 5},
    [FIRST_COUNTER + COUNT_SHARED_LD_CONFLICTS] = {"Shared Load", "Bank Confl.", 0},
    [FIRST_COUNTER + COUNT_SHARED_ST_INSTS] = {"Shared Store", "Inst.", 15},
    [FIRST_COUNTER + COUNT_SHARED_ST_WAVEFRONTS] = {"Shared Store", "Wavefronts", 12},
    [FIRST_COUNTER + COUNT_SHARED_ST_CONFLICTS] = {"Shared Store", "Bank Confl.", 6},
    [FIRST_COUNTER + COUNT_GLOBAL_LD_REQUESTS] = {"Global Load", "Requests", 16},
    [FIRST_COUNTER + COUNT_GLOBAL_LD_SECTORS] = {"Global Load", "Sectors", 1},
    [FIRST_COUNTER + COUNT_GLOBAL_ST_REQUESTS] = {"Global Store", "Requests", 17},
    [FIRST_COUNTER + COUNT_GLOBAL_ST_SECTORS] = {"Global Store", "Sectors", 13},
    [FIRST_COUNTER + COUNT_ATOMICS] = {"Atomics", "Threads", 7},
    [FIRST_COUNTER + COUNT_BARRIERS] = {"Barriers", "Blocks", 4},
    [FIRST_COUNTER + COUNT_DIVERGENT_BRANCHES] = {"Branches", "Divergent", 3},
};

void table_of_machine(void) { of_machine = true; }

static const char *group_of(int column) {
    const char *group = headings[column].group;
    return of_machine && strcmp(group, INSTRUCTIONS) == 0 ? "Instructions" : group;
}

void table_heading(Counter counter, const char **group, const char **metric) {
    *group = group_of(FIRST_COUNTER + (int)counter);
    *metric = headings[FIRST_COUNTER + (int)counter].metric;
}

void table_shape(Buf *buf, Dim3 shape) {
    buf_format(buf, "%u", shape.x);
    if (shape.y > 1 || shape.z > 1) buf_format(buf, "x%u", shape.y);
    if (shape.z > 1) buf_format(buf, "x%u", shape.z);
}

static Str cell(Arena *arena, const TableRow *row, int column) {
    Buf buf = {.arena = arena};
    if (column == GRID || column == BLOCK)
        table_shape(&buf, column == GRID ? row->grid : row->block);
    else
        buf_format(&buf, "%llu",
                   (unsigned long long)(column == LAUNCHES
                                            ? row->launches
                                            : row->counters->value[column - FIRST_COUNTER]));
    return buf_str(&buf);
}

// A heading. The group's name appears once, above its first column that is shown.
static const char *heading(const Column *columns, int column, int line) {
    const char *group = group_of(column);
    if (line) return headings[column].metric;
    for (int before = column - 1; before >= 0; before--)
        if (columns[before].wanted) return strcmp(group_of(before), group) ? group : "";
    return group;
}

static bool has_two_rows(const TableRow *rows, size_t count) {
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++)
            if (strcmp(rows[a].kernel, rows[b].kernel) == 0) return true;
    return false;
}

// The width and rank of a column, and whether it has a nonzero cell. Columns whose rows are all
// equal come last. Grid and block come first if a kernel has two rows.
static Column column_of(Arena *arena, const TableRow *rows, size_t count, int column) {
    size_t width = strlen(headings[column].metric);
    if (strlen(group_of(column)) > width) width = strlen(group_of(column));
    bool differs = false, zero = true;
    Str first = cell(arena, &rows[0], column);
    for (size_t k = 0; k < count; k++) {
        Str text = cell(arena, &rows[k], column);
        if (text.len > width) width = text.len;
        differs |= !str_equal(text, first);
        zero &= str_equal(text, STR("0"));
    }
    int rank = headings[column].rank + (differs ? 0 : COLUMNS);
    if (differs && column <= BLOCK && has_two_rows(rows, count)) rank -= 2 * COLUMNS;
    return (Column){(int)width, rank, !zero};
}

static void print_cell(Str text, int width) {
    printf("%*s%*s%.*s", GAP, "", width - (int)text.len, "", STR_ARG(text));
}

// Prints a name, on its own line if it is wider than the column.
static void print_name(Str name, int width) {
    if ((int)name.len > width)
        printf("%.*s\n%*s", STR_ARG(name), width, "");
    else
        printf("%.*s%*s", STR_ARG(name), width - (int)name.len, "");
}

static void print_rows(Arena *arena, const TableRow *rows, size_t count, const Column *columns,
                       int name_width) {
    for (int line = 0; line < 2; line++) {
        print_name(line ? STR("Kernel") : STR(""), name_width);
        for (int k = 0; k < COLUMNS; k++)
            if (columns[k].wanted) print_cell(str_of(heading(columns, k, line)), columns[k].width);
        putchar('\n');
    }
    for (size_t row = 0; row < count; row++) {
        Buf name = {.arena = arena};
        name_short(&name, str_of(rows[row].kernel));
        print_name(buf_str(&name), name_width);
        for (int k = 0; k < COLUMNS; k++)
            if (columns[k].wanted) print_cell(cell(arena, &rows[row], k), columns[k].width);
        putchar('\n');
    }
}

// The name without its template arguments.
static Str base_name(Arena *arena, const TableRow *row) {
    Buf name = {.arena = arena};
    name_short(&name, str_of(row->kernel));
    Str text = buf_str(&name);
    const char *end = memchr(text.at, '<', text.len);
    return end ? (Str){text.at, (size_t)(end - text.at)} : text;
}

// Prints one line that names kernels whose counts may correctly differ from a GPU's.
static void print_waits(Arena *arena, const TableRow *rows, size_t count) {
    enum { NAMED = 2 };
    size_t kernels = 0;
    for (size_t row = 0; row < count; row++) {
        Str name = base_name(arena, &rows[row]);
        bool known = !rows[row].waits;
        for (size_t k = 0; k < row && !known; k++)
            known = rows[k].waits && str_equal(base_name(arena, &rows[k]), name);
        if (known || kernels++ >= NAMED) continue;
        printf("%s%.*s",
               kernels > 1
                   ? ", "
                   : "Spin loops run a different number of times on a GPU, so its counts differ: ",
               STR_ARG(name));
    }
    if (kernels > NAMED) printf(" and %zu more", kernels - NAMED);
    if (kernels) putchar('\n');
}

void table_print(Arena *arena, const TableRow *rows, size_t count, bool timed) {
    if (count == 0) return;
    Column columns[COLUMNS];
    int screen = columns_screen(), name_width = 0, widest = GAP;
    for (size_t row = 0; row < count; row++) {
        Buf name = {.arena = arena};
        name_short(&name, str_of(rows[row].kernel));
        if ((int)name.len > name_width) name_width = (int)name.len;
    }
    for (int k = 0; k < COLUMNS; k++) {
        columns[k] = column_of(arena, rows, count, k);
        widest += columns[k].wanted ? columns[k].width + GAP : 0;
    }
    if (name_width + widest > screen && name_width > screen * 2 / 5) name_width = screen * 2 / 5;
    int left_out = columns_choose(columns, COLUMNS, screen - name_width, GAP);
    printf("\nCPU device: what each kernel launch did (%s)\n",
           timed ? "times are predicted, below" : "no time: this is not a GPU");
    print_rows(arena, rows, count, columns, name_width);
    if (left_out)
        printf("%d more column%s: COLUMNS=%d shows them, simt --csv FILE writes them\n", left_out,
               left_out == 1 ? "" : "s", name_width + widest);
    print_waits(arena, rows, count);
}
