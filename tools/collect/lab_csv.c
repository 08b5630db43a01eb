// Reads the CSV of a lab and hashes the lab's source.
#define _XOPEN_SOURCE 700
#include "collect/lab_csv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/source.h"

_Noreturn void lab_csv_die(const char *path, size_t line, const char *message) {
    if (line)
        fprintf(stderr, "%s:%zu: %s\n", path, line, message);
    else
        fprintf(stderr, "%s: %s\n", path, message);
    exit(1);
}

Str lab_csv_lab(Str path) {
    Str base = path_name(path);
    size_t end = 0;
    while (end < base.len && base.at[end] != '@' && base.at[end] != '.') end++;
    return str_slice(base, 0, end);
}

static Str n_of(Str path) {
    Str base = path_name(path);
    size_t start = str_find(base, STR("@")), end = start;
    if (start == SIZE_MAX) return STR("");
    do end++;
    while (end < base.len && base.at[end] >= '0' && base.at[end] <= '9');
    return str_slice(base, start + 1, end);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The part before the first _ or -: `04` of 04_bank_conflicts, `A` of A_tools.
static Str chapter_of(const char *path, Str lab) {
    bool digits = lab.len > 2 && is_digit(lab.at[0]) && is_digit(lab.at[1]);
    bool letter = lab.len > 1 && lab.at[0] >= 'A' && lab.at[0] <= 'Z';
    size_t end = digits ? 2 : 1;
    if ((!digits && !letter) || (lab.at[end] != '_' && lab.at[end] != '-'))
        lab_csv_die(
            path, 0,
            "the file's name has no chapter number: call it NN_NAME.csv, like the lab's source");
    return str_slice(lab, 0, end);
}

// The path of the lab's source, in any language: CODE/LAB.cu, or else the only file LAB.*.
static char *source_path(Arena *arena, const char *code, Str lab) {
    Buf stem = {.arena = arena}, path = {.arena = arena};
    buf_format(&stem, "%.*s.", STR_ARG(lab));
    buf_format(&path, "%s/%.*s.cu", code, STR_ARG(lab));
    char *usual = str_terminated(arena, buf_str(&path)), *found = NULL;
    DIR *folder = access(usual, F_OK) == 0 ? NULL : opendir(code);
    if (!folder) return usual;
    for (struct dirent *entry; (entry = readdir(folder));) {
        Str name = str_of(entry->d_name);
        if (!str_starts(name, buf_str(&stem))) continue;
        if (found)
            lab_csv_die(found, 0, "several sources have the name of this lab: remove all but one");
        found = str_terminated(arena, path_join(arena, str_of(code), name));
    }
    closedir(folder);
    return found ? found : usual;
}

static void add_file(Buf *text, const char *path) {
    Str file;
    if (!file_read(text->arena, path, &file)) lab_csv_die(path, 0, strerror(errno));
    source_add(text, str_of(path), file);
}

uint64_t lab_csv_source(Arena *arena, const LabSource *source, Str lab) {
    Buf all = {.arena = arena};
    add_file(&all, source_path(arena, source->code, lab));
    for (size_t i = 0; i < source->with_count; i++) {
        const Str with = str_of(source->with[i]),
                  name = str_slice(with, 0, str_find(with, STR("=")));
        if (str_equal(name, lab)) add_file(&all, source->with[i] + name.len + 1);
    }
    return str_hash(buf_str(&all));
}

bool lab_csv_is_file(const char *path) { return str_ends(str_of(path), STR(".csv")); }

LabCsv lab_csv_name(Arena *arena, const char *path, const LabSource *source, const char *n) {
    LabCsv csv = {.path = path, .lab = lab_csv_lab(str_of(path)), .n = n_of(str_of(path))};
    csv.chapter = chapter_of(path, csv.lab);
    if (!csv.n.len && n) csv.n = str_of(n);
    csv.source = lab_csv_source(arena, source, csv.lab);
    return csv;
}

LabCsvHead lab_csv_head(Arena *arena, const char *path, Str columns) {
    LabCsvHead head = {.date = STR("")};
    Str text, line = STR("");
    Buf facts = {.arena = arena}, fault = {.arena = arena};
    if (!file_read(arena, path, &text)) lab_csv_die(path, 0, strerror(errno));
    head.reader = csv_open(arena, text);
    while (csv_line(&head.reader, &line) && str_starts(line, STR("#")))
        if (str_starts(line, STR("# date:")))
            head.date = line;
        else
            buf_format(&facts, "%.*s\n", STR_ARG(line));
    if (head.reader.fault) lab_csv_die(path, head.reader.line, head.reader.fault);
    buf_format(&fault, "no header row `%.*s...`", STR_ARG(columns));
    if (!str_starts(line, columns))
        lab_csv_die(path, head.reader.line, str_terminated(arena, buf_str(&fault)));
    head.facts = buf_str(&facts);
    head.header = line;
    return head;
}

LabCsv lab_csv_open(Arena *arena, const char *path, const LabSource *source, const char *n) {
    LabCsv csv = lab_csv_name(arena, path, source, n);
    Str *cells;
    csv.head = lab_csv_head(arena, path, STR("kernel,"));
    if (!csv_cells(&csv.head.reader, csv.head.header, &cells, &csv.columns))
        lab_csv_die(path, csv.head.reader.line, csv.head.reader.fault);
    return csv;
}

bool lab_csv_row(Csv *reader, const LabCsv *csv, Str *row) {
    Str *cells;
    size_t count = csv->columns;
    bool more = csv_line(reader, row) && csv_cells(reader, *row, &cells, &count);
    if (reader->fault) lab_csv_die(csv->path, reader->line, reader->fault);
    if (count != csv->columns)
        lab_csv_die(csv->path, reader->line, "the number of cells differs from the header's");
    return more;
}

void lab_csv_take(Csv *reader, const LabCsv *csv, Str *row, Str *cells, size_t count,
                  const char *expected) {
    bool more = true;
    for (size_t i = 0; i < count && more; i++)
        if (!csv_cell(reader, row, &cells[i], &more))
            lab_csv_die(csv->path, reader->line, reader->fault);
    if (!more || cells[0].len == 0) lab_csv_die(csv->path, reader->line, expected);
}
