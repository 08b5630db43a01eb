// Joins tables by chapter, kernel and launch shape.
#include "numbers/join.h"

#include "base/kernel_name.h"

// The row of `other` with the same cells in these columns. Rows of a sweep are in one file only.
static const ResultRow *same_row(const ResultTable *table, const ResultRow *row,
                                 const ResultTable *other, const Str *same, size_t count) {
    if (str_equal(results_cell(table, row, STR("sweep")), STR("1"))) return NULL;
    for (size_t i = 0; i < other->row_count; i++) {
        const ResultRow *found = &other->rows[i];
        size_t k = 0;
        while (k < count &&
               str_equal(results_cell(table, row, same[k]), results_cell(other, found, same[k])))
            k++;
        if (k == count) return found;
    }
    return NULL;
}

// Adds to `table` the columns of `other` that are not in `same`. Puts `prefix` before every name
// that does not begin with it, or, if `source_only`, only before `source`.
static void join(Arena *arena, ResultTable *table, const ResultTable *other, Str prefix,
                 bool source_only, const Str *same, size_t same_count) {
    Str *names = ARENA_NEW(arena, other->column_count + 1, Str);
    size_t *from = ARENA_NEW(arena, other->column_count + 1, size_t), count = 0;
    for (size_t i = 0; i < other->column_count; i++) {
        const Str column = other->columns[i];
        Buf name = {.arena = arena};
        size_t k = 0;
        while (k < same_count && !str_equal(column, same[k])) k++;
        if (k < same_count) continue;
        if ((!source_only && !str_starts(column, prefix)) || str_equal(column, STR("source")))
            buf_add(&name, prefix);
        buf_add(&name, column);
        names[count] = buf_str(&name);
        from[count++] = i;
    }
    Str **added = results_add_columns(arena, table, names, count);
    for (size_t r = 0; r < table->row_count; r++) {
        const ResultRow *found = same_row(table, &table->rows[r], other, same, same_count);
        for (size_t i = 0; found && i < count; i++) added[r][i] = found->cells[from[i]];
    }
}

void join_machine(Arena *arena, ResultTable *counters, const ResultTable *machine) {
    static const Str same[] = {STR("chapter"), STR("kernel"), STR("n"), STR("grid"), STR("block")};
    join(arena, counters, machine, STR("machine_"), false, same, sizeof same / sizeof *same);
}

void join_limits(Arena *arena, ResultTable *device, const ResultTable *limits) {
    static const Str same[] = {STR("chapter"), STR("kernel"), STR("n")};
    join(arena, device, limits, STR("limits_"), true, same, sizeof same / sizeof *same);
}

void join_predicted(Arena *arena, ResultTable *device, const ResultTable *predicted) {
    static const Str same[] = {STR("chapter"), STR("kernel"),   STR("n"),
                               STR("block"),   STR("partials"), STR("sweep")};
    join(arena, device, predicted, STR("predicted_"), false, same, sizeof same / sizeof *same);
}

// --- launches and their recorded rows ---

static bool same_shape(const ResultTable *a, const ResultRow *left, const ResultTable *b,
                       const ResultRow *right) {
    return str_equal(results_cell(a, left, STR("block")), results_cell(b, right, STR("block"))) &&
           str_equal(results_cell(a, left, STR("grid")), results_cell(b, right, STR("partials")));
}

static size_t read_launches(Arena *arena, const ResultTable *predicted, JoinLaunch **launches) {
    static const Str same[] = {STR("kernel"), STR("grid"), STR("block")};
    size_t count = 0;
    *launches = ARENA_NEW(arena, predicted->row_count + 1, JoinLaunch);
    for (size_t r = 0; r < predicted->row_count; r++) {
        const ResultRow *row = &predicted->rows[r];
        const Str bare = kernel_name_bare(results_cell(predicted, row, same[0]));
        size_t i = 0;
        for (; i < count; i++) {
            size_t k = 0;
            while (k < 3 && str_equal(results_cell(predicted, row, same[k]),
                                      results_cell(predicted, (*launches)[i].predicted, same[k])))
                k++;
            if (k == 3) break;
        }
        JoinLaunch *launch = &(*launches)[i];
        count += i == count;
        launch->name = kernel_name_recorded(arena, bare);
        launch->base = kernel_name_recorded(arena, str_slice(bare, 0, str_find(bare, STR("<"))));
        launch->predicted = row;
        launch->count++;
    }
    return count;
}

// The launch of a row with this name. NULL: none, or template instances with the same base and
// shape.
static JoinLaunch *find_launch(JoinLaunch *launches, size_t count, const ResultTable *predicted,
                               const ResultTable *device, const ResultRow *row, Str name) {
    JoinLaunch *exact = NULL, *any = NULL;
    size_t exact_count = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        JoinLaunch *launch = &launches[i];
        if (!str_equal(launch->name, name) && !str_equal(launch->base, name)) continue;
        all += launch->count;
        any = launch;
        if (!same_shape(predicted, launch->predicted, device, row)) continue;
        exact = launch;
        exact_count++;
    }
    if (exact_count == 1) return exact;
    if (all != 1) return NULL;
    const Str block = results_cell(predicted, any->predicted, STR("block"));
    return str_equal(block, results_cell(device, row, STR("block"))) ? any : NULL;
}

size_t join_launches(Arena *arena, const ResultTable *predicted, const ResultTable *device,
                     Str chapter, Str n, JoinLaunch **launches) {
    const size_t count = read_launches(arena, predicted, launches);
    for (size_t r = 0; r < device->row_count; r++) {
        const ResultRow *row = &device->rows[r];
        if (!str_equal(results_cell(device, row, STR("chapter")), chapter) ||
            !str_equal(results_cell(device, row, STR("n")), n) ||
            !str_equal(results_cell(device, row, STR("sweep")), STR("0")))
            continue;
        Str name = results_cell(device, row, STR("kernel")), block;
        JoinLaunch *launch = find_launch(*launches, count, predicted, device, row, name);
        if (!launch && results_split_block(&name, &block) &&
            str_equal(block, results_cell(device, row, STR("block"))))
            launch = find_launch(*launches, count, predicted, device, row, name);
        if (launch && !launch->recorded) launch->recorded = row;
    }
    return count;
}
