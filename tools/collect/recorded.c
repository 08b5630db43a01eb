// Reads the rows of a results file recorded before.
#include "collect/recorded.h"

#include <inttypes.h>

Recorded recorded_open(Arena *arena, const char *path) {
    return (Recorded){path, lab_csv_head(arena, path, STR("chapter,source,kernel,n,"))};
}

enum { CHAPTER, SOURCE, KERNEL, N, KEYS };

// Reads the next row of a lab and size, with its first cells; false at the end.
static bool next_of(Csv *reader, const Recorded *recorded, const LabCsv *csv, Str *row, Str *keys) {
    while (csv_line(reader, row)) {
        Str rest = *row;
        bool more = true;
        for (size_t i = 0; i < KEYS; i++)
            if (!more || !csv_cell(reader, &rest, &keys[i], &more))
                lab_csv_die(recorded->path, reader->line, more ? reader->fault : "too few cells");
        if (str_equal(keys[CHAPTER], csv->chapter) && str_equal(keys[N], csv->n)) return true;
    }
    if (reader->fault) lab_csv_die(recorded->path, reader->line, reader->fault);
    return false;
}

bool recorded_has(const Recorded *recorded, const LabCsv *csv) {
    Csv reader = recorded->head.reader;
    Str row, keys[KEYS];
    return next_of(&reader, recorded, csv, &row, keys);
}

void recorded_add(const Recorded *recorded, const LabCsv *csv, Buf *out) {
    Csv reader = recorded->head.reader;
    for (Str row, keys[KEYS]; next_of(&reader, recorded, csv, &row, keys);)
        buf_format(out, "%.*s\n", STR_ARG(row));
}

static Str source_now(const Recorded *recorded, const LabCsv *csv) {
    Buf source = {.arena = recorded->head.reader.arena};
    buf_format(&source, "%016" PRIx64, csv->source);
    return buf_str(&source);
}

// Whether a cell is empty because the row was recorded before its column existed.
static bool has_gap(Str row) {
    return str_find(row, STR(",,")) != SIZE_MAX || str_ends(row, STR(","));
}

bool recorded_is_current(const Recorded *recorded, const LabCsv *csv) {
    const Str source = source_now(recorded, csv);
    Csv reader = recorded->head.reader;
    size_t rows = 0;
    for (Str row, keys[KEYS]; next_of(&reader, recorded, csv, &row, keys); rows++)
        if (!str_equal(keys[SOURCE], source) || has_gap(row)) return false;
    return rows > 0;
}

static bool has_kernel(const Recorded *recorded, const LabCsv *csv, Str kernel) {
    Csv reader = recorded->head.reader;
    for (Str row, keys[KEYS]; next_of(&reader, recorded, csv, &row, keys);)
        if (str_equal(keys[KERNEL], kernel)) return true;
    return false;
}

bool recorded_lacks(const Recorded *recorded, const Recorded *other, const LabCsv *csv) {
    const Str source = source_now(recorded, csv);
    Csv reader = other->head.reader;
    for (Str row, keys[KEYS]; next_of(&reader, other, csv, &row, keys);)
        if (str_equal(keys[SOURCE], source) && !has_kernel(recorded, csv, keys[KERNEL]))
            return true;
    return false;
}
