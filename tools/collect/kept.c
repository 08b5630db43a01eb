#include "collect/kept.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"

Kept kept_open(Arena *arena, const char *path) {
    Kept kept = {.path = path};
    Str text, line = STR("");
    Buf facts = {.arena = arena};
    if (!file_read(arena, path, &text)) lab_csv_die(path, 0, strerror(errno));
    kept.reader = csv_open(arena, text);
    while (csv_line(&kept.reader, &line) && str_starts(line, STR("#")))
        if (str_starts(line, STR("# date:")))
            kept.date = line;
        else
            buf_format(&facts, "%.*s\n", STR_ARG(line));
    if (kept.reader.fault) lab_csv_die(path, kept.reader.line, kept.reader.fault);
    if (!str_starts(line, STR("chapter,source,kernel,n,")))
        lab_csv_die(path, kept.reader.line, "no header row `chapter,source,kernel,n,...`");
    kept.facts = buf_str(&facts);
    kept.header = line;
    return kept;
}

enum { CHAPTER, SOURCE, KERNEL, N, KEYS };

// The next row of a lab and size, and its first cells; false at the end.
static bool next_of(Csv *reader, const Kept *kept, const LabCsv *csv, Str *row, Str *keys) {
    while (csv_line(reader, row)) {
        Str rest = *row;
        bool more = true;
        for (size_t i = 0; i < KEYS; i++)
            if (!more || !csv_cell(reader, &rest, &keys[i], &more))
                lab_csv_die(kept->path, reader->line, more ? reader->fault : "too few cells");
        if (str_equal(keys[CHAPTER], csv->chapter) && str_equal(keys[N], csv->n)) return true;
    }
    if (reader->fault) lab_csv_die(kept->path, reader->line, reader->fault);
    return false;
}

void kept_add(const Kept *kept, const LabCsv *csv, Buf *out) {
    Csv reader = kept->reader;
    for (Str row, keys[KEYS]; next_of(&reader, kept, csv, &row, keys);)
        buf_format(out, "%.*s\n", STR_ARG(row));
}

bool kept_is_current(const Kept *kept, const LabCsv *csv) {
    Buf source = {.arena = kept->reader.arena};
    buf_format(&source, "%016" PRIx64, csv->source);
    Csv reader = kept->reader;
    size_t rows = 0;
    for (Str row, keys[KEYS]; next_of(&reader, kept, csv, &row, keys); rows++)
        if (!str_equal(keys[SOURCE], buf_str(&source))) return false;
    return rows > 0;
}
