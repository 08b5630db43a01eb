// Reads and writes the reader's progress.
#include "grade/progress.h"

#include "base/csv.h"
#include "base/file.h"
#include "numbers/results.h"

static bool count_of(Str cell, size_t *count) {
    double number;
    if (!results_number(cell, &number) || number < 0 || number > 1000) return false;
    *count = (size_t)number;
    return true;
}

Progress progress_read(Arena *arena, const char *path) {
    Progress progress = {.arena = arena, .path = path};
    Str text, line, *cells;
    size_t count;
    if (!file_read(arena, path, &text)) return progress;
    Csv csv = csv_open(arena, text);
    while (csv_line(&csv, &line) && csv_cells(&csv, line, &cells, &count)) {
        ProgressRow row = {.exercise = cells[0]};
        if (count != 4 || !count_of(cells[2], &row.met) || !count_of(cells[3], &row.of)) continue;
        row.graded = cells[1];
        ARENA_GROW(arena, progress.rows, progress.count, progress.capacity);
        progress.rows[progress.count++] = row;
    }
    return progress;
}

const ProgressRow *progress_of(const Progress *progress, Str exercise) {
    for (size_t i = 0; i < progress->count; i++)
        if (str_equal(progress->rows[i].exercise, exercise)) return &progress->rows[i];
    return NULL;
}

bool progress_enter(Progress *progress, ProgressRow row) {
    size_t at = 0;
    while (at < progress->count && !str_equal(progress->rows[at].exercise, row.exercise)) at++;
    if (at == progress->count) {
        ARENA_GROW(progress->arena, progress->rows, progress->count, progress->capacity);
        progress->count++;
    }
    progress->rows[at] = row;
    Buf text = {.arena = progress->arena};
    buf_add(&text, STR("exercise,graded,met,of\n"));
    for (size_t i = 0; i < progress->count; i++) {
        csv_add_cell(&text, progress->rows[i].exercise);
        buf_char(&text, ',');
        csv_add_cell(&text, progress->rows[i].graded);
        buf_format(&text, ",%zu,%zu\n", progress->rows[i].met, progress->rows[i].of);
    }
    return file_write_if_changed(progress->arena, progress->path, buf_str(&text)) != FILE_FAILED;
}
