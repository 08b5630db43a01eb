// Writes recorded times as Python data: see parts.h.
#include <inttypes.h>

#include "base/json.h"
#include "book/names.h"
#include "book/rungs.h"
#include "notebook/parts.h"
#include "tangle/expand.h"

// Adds a recorded number as Python reads it, without leading zeros. False: there is none.
static bool add_number(Buf *text, const ResultTable *device, const ResultRow *row, Str column) {
    Str digits = results_cell(device, row, column);
    double number;
    if (!results_number(digits, &number)) return false;
    while (digits.len > 1 && digits.at[0] == '0' && digits.at[1] >= '0' && digits.at[1] <= '9')
        digits = str_from(digits, 1);
    buf_add(text, digits);
    return true;
}

// Adds what the following rows share: the device, the lab and the number of elements.
static bool add_group(Buf *text, const ResultTable *device, const Lab *lab, const ResultRow *row) {
    buf_add(text, STR("("));
    json_string(text, results_device_name(text->arena, device));
    buf_add(text, STR(", "));
    json_string(text, lab->name);
    buf_add(text, STR(", "));
    const bool complete = add_number(text, device, row, STR("n"));
    buf_add(text, STR(", [\n"));
    return complete;
}

// Uses single quotes, which JSON does not escape: there are hundreds of these rows.
static bool add_time(Buf *text, const ResultTable *device, const ResultRow *row) {
    const Str kernel = results_cell(device, row, STR("kernel"));
    buf_add(text, STR("("));
    if (str_find(kernel, STR("'")) == SIZE_MAX && str_find(kernel, STR("\\")) == SIZE_MAX)
        buf_format(text, "'%.*s'", STR_ARG(kernel));
    else
        json_string(text, kernel);
    buf_add(text, STR(","));
    const bool complete = add_number(text, device, row, STR("median_us"));
    buf_add(text, STR("),\n"));
    return complete;
}

// Adds one size of each kernel of a device and lab, except rows without times.
static void add_rows(Book *book, Buf *text, const ResultTable *device, const Lab *lab) {
    KeyScope scope = book_scope(book);
    Key key = {.chapter = lab->chapter, .kernel = STR("*"), .or_largest = true};
    KeyRows rows;
    Buf why = {.arena = book->arena};
    Str n = STR("");
    if (!key_rows(&scope, device, &key, &rows, &why)) return;
    for (size_t i = 0; i < rows.count; i++) {
        const ResultRow *row = rows.rows[i];
        const size_t before = text->len;
        const Str elements = results_cell(device, row, STR("n"));
        if (key_is_stale(&scope, device, row)) continue;
        const bool same = n.len && str_equal(n, elements);
        if (!same && n.len) buf_add(text, STR("]),\n"));
        if ((same || add_group(text, device, lab, row)) && add_time(text, device, row))
            n = elements;
        else
            text->len = before;
    }
    if (n.len) buf_add(text, STR("]),\n"));
}

// Adds the names of the labs' kernels, and which of them are rungs of the ladder.
static void add_names(Buf *text, const Book *book, const Labs *labs, const bool *inside) {
    buf_add(text,
            STR("\n# lab: {kernel: what it is called}, and the rungs of the ladder\nNAMES = {\n"));
    Buf rungs = {.arena = book->arena};
    for (size_t i = 0; i < labs->count; i++) {
        const Lab *lab = &labs->items[i];
        bool any = false;
        if (!inside[labs->table->chunks[lab->chunk].file]) continue;
        for (size_t k = 0; k < names_count(book); k++) {
            Name name = names_at(book, k);
            if (!str_equal(name.chapter, lab->chapter)) continue;
            buf_add(text, any ? STR(", ") : STR("    "));
            if (!any) json_string(text, lab->name);
            if (!any) buf_add(text, STR(": {"));
            json_string(text, name.kernel);
            buf_add(text, STR(": "));
            json_string(text, name.name);
            any = true;
            if (!rungs_has(book, name.chapter, name.kernel)) continue;
            buf_add(&rungs, rungs.len ? STR(", ") : STR(""));
            json_string(&rungs, name.kernel);
        }
        if (any) buf_add(text, STR("},\n"));
    }
    buf_format(text, "}\nRUNGS = [%.*s]", STR_ARG(buf_str(&rungs)));
}

// Adds for each lab the hash of its cells, by which Python detects changes, and the hash of its
// program in results/.
static void add_sources(Buf *text, const Book *book, const Labs *labs, const bool *inside) {
    buf_add(text,
            STR("\n# lab: (the hash of its cells above, the hash of its program in results/)\n"
                "SOURCES = {\n"));
    for (size_t i = 0; i < labs->count; i++) {
        const Lab *lab = &labs->items[i];
        if (!inside[labs->table->chunks[lab->chunk].file]) continue;
        Str cells = expand_text(labs->table, lab->chunk, EXPAND_CLEAN);
        const KeySource *source = book->sources;
        while (!str_equal(source->chapter, lab->chapter)) source++;
        buf_add(text, STR("    "));
        json_string(text, lab->name);
        buf_format(text, ": (\"%016" PRIx64 "\", \"%016" PRIx64 "\"),\n", str_hash(cells),
                   source->hash[PROGRAM_LAB]);
    }
    buf_char(text, '}');
}

Str recorded_text(Book *book, const Labs *labs, const bool *inside) {
    size_t file = book->file; // keys are resolved in each lab's chapter
    Buf text = {.arena = book->arena};
    buf_add(&text, STR("#@title Times of other devices, for comparison\n"
                       "# (device, lab, elements, kernel, median in microseconds)\n"
                       "RECORDED = [(device, lab, n, *row) for device, lab, n, rows in [\n"));
    for (size_t d = 0; d < book->results->device_count; d++)
        for (size_t i = 0; i < labs->count; i++) {
            book->file = labs->table->chunks[labs->items[i].chunk].file;
            if (inside[book->file] && !results_newest_of(&book->results->devices[d]).len)
                add_rows(book, &text, &book->results->devices[d], &labs->items[i]);
        }
    buf_add(&text, STR("] for row in rows]"));
    add_names(&text, book, labs, inside);
    add_sources(&text, book, labs, inside);
    book->file = file;
    return buf_str(&text);
}
