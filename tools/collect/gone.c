// Removes the traces, steps and counts of chapters without a lab.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/catalog.h"
#include "base/csv.h"
#include "base/file.h"
#include "collect/answers.h"
#include "collect/lab_csv.h"

static bool has_lab(char **labs, size_t count, Str chapter) {
    for (size_t i = 0; i < count; i++) {
        const Str lab = str_of(labs[i]);
        if (str_equal(str_slice(lab, 0, str_find(lab, STR("_"))), chapter)) return true;
    }
    return false;
}

// The chapter of a row, or of a fact about one chapter; empty: the line is about the whole file.
static Str chapter_of(Csv *csv, Str line) {
    const Str toolkit = STR("# toolkit of ");
    Str cell;
    bool more;
    if (str_starts(line, toolkit)) return str_slice(line, toolkit.len, str_find(line, STR(": ")));
    if (line.at[0] == '#' || str_starts(line, STR("chapter,"))) return STR("");
    return csv_cell(csv, &line, &cell, &more) ? cell : STR("");
}

static void remove_rows(Arena *arena, const char *path, char **labs, size_t count) {
    Str text, line;
    if (!file_read(arena, path, &text)) lab_csv_die(path, 0, strerror(errno));
    Csv csv = csv_open(arena, text);
    Buf left = {.arena = arena};
    size_t rows = 0, facts = 0;
    while (csv_line(&csv, &line)) {
        const Str chapter = chapter_of(&csv, line);
        if (chapter.len && !has_lab(labs, count, chapter)) {
            *(line.at[0] == '#' ? &facts : &rows) += 1;
            continue;
        }
        buf_format(&left, "%.*s\n", STR_ARG(line));
    }
    if (csv.fault) lab_csv_die(path, csv.line, csv.fault);
    if (rows + facts == 0) return;
    if (file_write_if_changed(arena, path, buf_str(&left)) == FILE_FAILED)
        lab_csv_die(path, 0, strerror(errno));
    printf("removed from %s: rows of removed chapters: %zu\n", path, rows);
}

void gone_remove(Arena *arena, const char *folder, char **labs, size_t count) {
    CatalogFile *files;
    const size_t file_count = catalog_list(arena, folder, &files);
    for (size_t i = 0; i < file_count; i++) {
        const CatalogKind kind = files[i].kind;
        const char *path = catalog_file_path(arena, folder, &files[i]);
        if (catalog_is_counts(kind)) {
            remove_rows(arena, path, labs, count);
        } else if (files[i].chapter.len && !has_lab(labs, count, files[i].chapter)) {
            if (unlink(path) != 0) lab_csv_die(path, 0, strerror(errno));
            printf("removed %s\n", path);
        }
    }
}
