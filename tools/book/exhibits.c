// Weaves what happened to a wrong kernel: its runs on each GPU, and what the tools report about it.
// See blocks.h.
#include <unistd.h>

#include "book/blocks.h"
#include "book/prose.h"
#include "numbers/read.h"

static const Str sanitizers[] = {STR("memcheck"), STR("racecheck"), STR("initcheck"),
                                 STR("synccheck")};

// The files that say something about the exhibits of the chapter; NULL: not recorded.
typedef struct {
    Book *book;
    const FencePart *part;
    const ResultTable **runs; // one per device in book->results
    const ResultTable *reports, *sanitizer;
    const ResultTable *sanitizer_device;
} Exhibits;

static const ResultTable *read_file(Book *book, size_t line, const char *path) {
    ResultTable *table = ARENA_NEW(book->arena, 1, ResultTable);
    ReadError error;
    if (access(path, F_OK) != 0) return NULL;
    if (!read_csv(book->arena, path, table, &error)) {
        Buf why = {.arena = book->arena};
        buf_format(&why, "%s:%zu: %.*s", error.path, error.line, STR_ARG(error.message));
        book_error(book, line, why);
        return NULL;
    }
    const KeyScope scope = book_scope(book);
    book_check_stale(book, line, str_of(path),
                     key_source_is_stale(&scope, results_fact(table, STR("chapter")),
                                         results_fact(table, STR("source"))));
    return table;
}

static const ResultTable *read_wrong(Book *book, size_t line, Str device) {
    return read_file(book, line,
                     catalog_path(book->arena, book->results->folder, CATALOG_WRONG, device));
}

static Exhibits open_exhibits(Book *book, const FencePart *part) {
    const Results *results = book->results;
    Exhibits all = {.book = book, .part = part};
    all.runs = ARENA_NEW(book->arena, results->device_count + 1, const ResultTable *);
    for (size_t i = 0; i < results->device_count; i++) {
        const Str device = results->devices[i].device;
        Buf path = {.arena = book->arena};
        all.runs[i] = read_wrong(book, part->line, device);
        buf_format(&path, "%s/compare-wrong-%.*s.csv", results->folder, STR_ARG(device));
        const ResultTable *sanitizer =
            read_file(book, part->line, str_terminated(book->arena, buf_str(&path)));
        if (!sanitizer || all.sanitizer) continue;
        all.sanitizer = sanitizer;
        all.sanitizer_device = &results->devices[i];
    }
    all.reports = read_wrong(book, part->line, STR("cpu"));
    return all;
}

// Whether to show a device: the reference device always, others once they are recorded.
static bool is_shown(const Exhibits *all, size_t device) {
    return all->runs[device] ||
           &all->book->results->devices[device] == all->book->results->reference;
}

// The exhibit's row; NULL: not recorded.
static const ResultRow *row_of(const ResultTable *table, Str exhibit) {
    for (size_t i = 0; table && i < table->row_count; i++)
        if (str_equal(results_cell(table, &table->rows[i], STR("exhibit")), exhibit))
            return &table->rows[i];
    return NULL;
}

// --- the table of all exhibits ---

static void add_part(Buf *text, size_t *parts, const char *word, double count, double of) {
    if (count == 0) return;
    buf_format(text, *parts ? ", %s" : "%s", word);
    if (count < of) buf_format(text, " in %.0f", count);
    ++*parts;
}

// Whether the device made no run: the exhibit can hang a GPU.
static bool has_no_run(const ResultTable *table, const ResultRow *row) {
    return results_cell_number(table, row, STR("right")) == 0 &&
           results_cell_number(table, row, STR("wrong")) == 0 &&
           results_cell_number(table, row, STR("stopped")) == 0;
}

// What a device did with the exhibit, of all its runs.
static void add_runs(Buf *text, const ResultTable *table, Str exhibit) {
    const ResultRow *row = row_of(table, exhibit);
    if (!row) {
        buf_add(text, STR("not recorded"));
        return;
    }
    const double right = results_cell_number(table, row, STR("right")),
                 wrong = results_cell_number(table, row, STR("wrong")),
                 stopped = results_cell_number(table, row, STR("stopped"));
    size_t parts = 0;
    add_part(text, &parts, "wrong", wrong, right + wrong + stopped);
    add_part(text, &parts, "stopped", stopped, right + wrong + stopped);
    if (parts == 0) buf_add(text, right > 0 ? STR("right") : STR("not run"));
}

static void add_finding(Buf *text, const ResultTable *table, Str exhibit) {
    const ResultRow *row = row_of(table, exhibit);
    const Str finding = row ? results_cell(table, row, STR("finding")) : STR("not recorded");
    buf_add(text, finding.len ? finding : STR("nothing"));
}

// The tools that report something. A tool that did not end has the number of its reports empty.
static void add_sanitizers(Buf *text, const ResultTable *table, Str exhibit) {
    const ResultRow *row = row_of(table, exhibit);
    size_t count = 0;
    for (size_t i = 0; row && i < sizeof sanitizers / sizeof *sanitizers; i++) {
        const Str cell = results_cell(table, row, sanitizers[i]);
        if (str_equal(cell, STR("0")) || str_equal(cell, STR("not run"))) continue;
        buf_format(text, count++ ? ", %.*s" : "%.*s", STR_ARG(sanitizers[i]));
        if (cell.len == 0) buf_add(text, STR(" (time limit)"));
    }
    if (count) return;
    const bool ran = row && !str_equal(results_cell(table, row, sanitizers[0]), STR("not run"));
    buf_add(text, !row ? STR("not recorded") : ran ? STR("nothing") : STR("not run"));
}

static void add_heading(const Exhibits *all, Buf *text) {
    const Results *results = all->book->results;
    size_t columns = 3;
    buf_add(text, STR("| exhibit |"));
    for (size_t i = 0; i < results->device_count; i++) {
        if (!is_shown(all, i)) continue;
        const Str name = results_device_name(all->book->arena, &results->devices[i]);
        buf_format(text, " %.*s |", STR_ARG(name));
        columns++;
    }
    buf_add(text, STR(" CPU device |"));
    if (all->sanitizer)
        buf_format(text, " compute-sanitizer, %.*s |\n|",
                   STR_ARG(results_device_name(all->book->arena, all->sanitizer_device)));
    else
        buf_add(text, STR(" compute-sanitizer |\n|"));
    for (size_t i = 0; i < columns; i++) buf_add(text, STR(" :--- |"));
    buf_char(text, '\n');
}

static bool exists(Exhibits *all, Str exhibit, size_t line) {
    if (chunk_find(all->book->chunks, exhibit) != CHUNK_NONE) return true;
    Buf why = {.arena = all->book->arena};
    buf_format(&why, "there is no chunk `%.*s`: an exhibit has the name of its chunk",
               STR_ARG(exhibit));
    book_error(all->book, line, why);
    return false;
}

static void add_table(Book *book, Str table) {
    const bool host = book->style == BOOK_GITHUB;
    book_blank(book);
    if (!host) book_add(book, STR("::: results\n"));
    book_add(book, table);
    if (!host) book_add(book, STR(":::\n"));
    book_blank(book);
}

void exhibits_weave(Book *book, const FencePart *part) {
    static const Str known[] = {{NULL, 0}};
    if (!book_check_attributes(book, part, known)) return;
    Exhibits all = open_exhibits(book, part);
    Buf text = {.arena = book->arena};
    add_heading(&all, &text);
    for (size_t i = 0; i < part->body_count; i++) {
        Str title = part->body[i], name = str_slice(title, 0, str_find(title, STR("|")));
        const size_t line = part->line + 1 + i;
        title = str_trim(str_from(title, name.len == title.len ? 0 : name.len + 1));
        name = str_trim(name);
        if (name.len == 0 || !exists(&all, name, line)) continue;
        buf_format(&text, "| %.*s |", STR_ARG(prose_inline(book, title, line)));
        for (size_t k = 0; k < book->results->device_count; k++) {
            if (!is_shown(&all, k)) continue;
            buf_char(&text, ' ');
            add_runs(&text, all.runs[k], name);
            buf_add(&text, STR(" |"));
        }
        buf_char(&text, ' ');
        add_finding(&text, all.reports, name);
        buf_add(&text, STR(" | "));
        add_sanitizers(&text, all.sanitizer, name);
        buf_add(&text, STR(" |\n"));
    }
    add_table(book, buf_str(&text));
}

// --- one exhibit ---

static bool open_one(Book *book, const FencePart *part, Exhibits *all, Str *exhibit) {
    static const Str known[] = {STR("exhibit"), {NULL, 0}};
    if (!book_check_attributes(book, part, known)) return false;
    *all = open_exhibits(book, part);
    *exhibit = STR("");
    fence_attribute(part, STR("exhibit"), exhibit);
    return exists(all, *exhibit, part->line);
}

void exhibits_weave_runs(Book *book, const FencePart *part) {
    enum { FIXED = 3, COLUMNS };
    static const Str columns[COLUMNS] = {STR("right"), STR("wrong"), STR("stopped"),
                                         STR("fixed_right")};
    Exhibits all;
    Str exhibit;
    Buf text = {.arena = book->arena};
    if (!open_one(book, part, &all, &exhibit)) return;
    buf_add(&text, STR("| of 100 runs | right | wrong | stopped | fixed: right |\n"
                       "| :--- | ---: | ---: | ---: | ---: |\n"));
    for (size_t i = 0; i < book->results->device_count; i++) {
        if (!is_shown(&all, i)) continue;
        const ResultRow *row = row_of(all.runs[i], exhibit);
        buf_format(&text, "| %.*s |",
                   STR_ARG(results_device_name(book->arena, &book->results->devices[i])));
        for (size_t k = 0; k < COLUMNS; k++) {
            Str cell = row ? results_cell(all.runs[i], row, columns[k]) : STR("");
            if (row && k < FIXED && has_no_run(all.runs[i], row)) cell = STR("");
            if (k == 0 && cell.len == 0) cell = row ? STR("not run") : STR("not recorded");
            buf_format(&text, " %.*s |", STR_ARG(cell));
        }
        buf_char(&text, '\n');
    }
    add_table(book, buf_str(&text));
}

void exhibits_weave_report(Book *book, const FencePart *part) {
    Exhibits all;
    Str exhibit;
    Buf text = {.arena = book->arena};
    if (!open_one(book, part, &all, &exhibit)) return;
    buf_format(&text, "%.*stext\n", STR_ARG(part->ticks));
    if (!row_of(all.reports, exhibit)) buf_add(&text, STR("not recorded\n"));
    for (size_t i = 0; all.reports && i < all.reports->row_count; i++) {
        const ResultRow *row = &all.reports->rows[i];
        if (!str_equal(results_cell(all.reports, row, STR("exhibit")), exhibit)) continue;
        buf_format(&text, "%.*s\n", STR_ARG(results_cell(all.reports, row, STR("text"))));
    }
    buf_format(&text, "%.*s\n", STR_ARG(part->ticks));
    book_add(book, buf_str(&text));
}
