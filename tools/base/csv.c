// Reads and writes CSV with RFC 4180's quotes.
#include "base/csv.h"

#include <stdint.h>

Csv csv_open(Arena *arena, Str text) {
    return (Csv){
        .arena = arena, .rest = text, .start = text.at, .good_until = str_invalid_utf8(text)};
}

// A control character would break a figure, a page or a terminal that shows the cell.
static bool has_control(Str line) {
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.at[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) return true;
        bool second = c == 0xc2 && i + 1 < line.len; // U+0080 to U+009F
        if (second && (unsigned char)line.at[i + 1] < 0xa0) return true;
    }
    return false;
}

static bool fail(Csv *csv, const char *what) {
    csv->fault = what;
    return false;
}

bool csv_line(Csv *csv, Str *line) {
    while (!csv->fault && str_line(&csv->rest, line)) {
        csv->line++;
        if ((size_t)(line->at - csv->start) + line->len > csv->good_until)
            return fail(csv, "invalid UTF-8");
        if (csv->line == 1 && str_starts(*line, STR("\xef\xbb\xbf")))
            return fail(csv, "the file starts with a byte order mark (BOM): save it without one");
        if (has_control(*line)) return fail(csv, "a control character");
        if (str_trim(*line).len) return true;
    }
    return false;
}

// Reads the quoted cell at the start of the row; *end is the index after its closing quote.
static bool quoted_cell(Csv *csv, Str row, Str *cell, size_t *end) {
    Buf text = {.arena = csv->arena};
    for (*end = 1;; ++*end) {
        if (*end >= row.len) return fail(csv, "a quoted cell is not closed");
        if (row.at[*end] == '"') {
            if (*end + 1 >= row.len || row.at[*end + 1] != '"') break;
            ++*end;
        }
        buf_char(&text, row.at[*end]);
    }
    *cell = buf_str(&text);
    ++*end;
    if (*end == row.len || row.at[*end] == ',') return true;
    return fail(csv, "text after the closing quote of a cell");
}

bool csv_cell(Csv *csv, Str *row, Str *cell, bool *more) {
    size_t end = 0;
    if (row->len && row->at[0] == '"') {
        if (!quoted_cell(csv, *row, cell, &end)) return false;
    } else {
        while (end < row->len && row->at[end] != ',') end++;
        *cell = str_trim(str_slice(*row, 0, end));
    }
    *more = end < row->len;
    *row = str_from(*row, end + 1);
    return true;
}

bool csv_cells(Csv *csv, Str row, Str **cells, size_t *count) {
    size_t capacity = 0;
    *cells = NULL;
    *count = 0;
    for (bool more = true; more;) {
        ARENA_GROW(csv->arena, *cells, *count, capacity);
        if (!csv_cell(csv, &row, &(*cells)[*count], &more)) return false;
        ++*count;
    }
    return true;
}

void csv_add_cell(Buf *out, Str text) {
    bool trimmed = str_trim(text).len == text.len;
    if (trimmed && str_find(text, STR(",")) == SIZE_MAX && str_find(text, STR("\"")) == SIZE_MAX) {
        buf_add(out, text);
        return;
    }
    buf_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '"') buf_char(out, '"');
        buf_char(out, text.at[i]);
    }
    buf_char(out, '"');
}
