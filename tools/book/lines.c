// Weaves the lines of a chunk with their counts: see blocks.h.
#include "base/source.h"
#include "book/blocks.h"
#include "book/lab.h"
#include "book/prose.h"
#include "numbers/value.h"
#include "tangle/expand.h"

enum { LISTING_COLUMNS_MAX = 8 };

typedef struct {
    const ResultRow *row;
    double code_line;
    double n;
} CountedLine;

typedef struct {
    Book *book;
    KeyScope scope;
    const FencePart *part; // of the listing
    const Chunk *chunk;
    const ResultTable *counts;
    Key key;        // kernel (empty: any that ran the lines) and n
    Str one_kernel; // the kernel whose counts are shown
    double n;
    Str columns[LISTING_COLUMNS_MAX];
    size_t column_count;
    CountedLine *counted; // of this chapter, filtered by kernel and n
    size_t counted_count;
    double *values; // by line and column; negative: no count
    bool stale;
} Listing;

static bool fail(Listing *listing, Buf why) {
    book_error(listing->book, listing->part->line, why);
    return false;
}

static void find_counted(Listing *listing) {
    const ResultTable *table = listing->counts;
    Str wanted = listing->key.kernel;
    listing->counted = ARENA_NEW(listing->book->arena, table->row_count + 1, CountedLine);
    for (size_t i = 0; i < table->row_count; i++) {
        const ResultRow *row = &table->rows[i];
        Str kernel = results_cell(table, row, STR("kernel"));
        double n = results_cell_number(table, row, STR("n"));
        if (!str_equal(results_cell(table, row, STR("chapter")), listing->scope.chapter) ||
            (listing->key.has_n && n != listing->key.n) ||
            (wanted.len && !str_equal(kernel, wanted)))
            continue;
        double code_line = results_cell_number(table, row, STR("code_line"));
        listing->counted[listing->counted_count++] = (CountedLine){row, code_line, n};
    }
}

// Adds the counts of one line of the program to a line of the chunk.
static bool add_counts(Listing *listing, size_t code_line, size_t body) {
    const ResultTable *table = listing->counts;
    for (size_t i = 0; i < listing->counted_count; i++) {
        const CountedLine *counted = &listing->counted[i];
        if (counted->code_line != (double)code_line) continue;
        Str kernel = results_cell(table, counted->row, STR("kernel"));
        if (listing->one_kernel.len == 0) {
            listing->one_kernel = kernel;
            listing->n = counted->n;
        }
        if (!str_equal(kernel, listing->one_kernel) || counted->n != listing->n) {
            Buf why = {.arena = listing->book->arena};
            buf_format(&why,
                       "several kernels or n ran these lines (%.*s with n = %.0f, %.*s with "
                       "n = %.0f): add kernel= or n=",
                       STR_ARG(listing->one_kernel), listing->n, STR_ARG(kernel), counted->n);
            return fail(listing, why);
        }
        listing->stale = listing->stale || key_is_stale(&listing->scope, table, counted->row);
        for (size_t c = 0; c < listing->column_count; c++) {
            double *value = &listing->values[body * listing->column_count + c];
            double more = results_cell_number(table, counted->row, listing->columns[c]);
            *value = (*value < 0 ? 0 : *value) + more;
        }
    }
    return true;
}

// Maps the program's lines to the chunk's by its #line directives, and adds up the counts.
static bool count_lines(Listing *listing, size_t program) {
    const ChunkTable *table = listing->book->chunks;
    SourceLines lines = {.code.arena = table->arena,
                         .rest = expand_text(table, program, EXPAND_WITH_LINES)};
    Str home = table->files[listing->chunk->file].path;
    const FencePart *code = listing->chunk->part;
    while (source_next(&lines)) {
        size_t body = lines.line - (code->line + 1);
        bool ours =
            str_equal(lines.path, home) && lines.line > code->line && body < code->body_count;
        if (ours && !add_counts(listing, lines.number, body)) return false;
    }
    if (listing->one_kernel.len) return true;
    Buf why = {.arena = listing->book->arena};
    buf_format(&why, "%s has no counts for the lines of `%.*s`", listing->counts->path,
               STR_ARG(listing->chunk->name));
    return fail(listing, why);
}

static bool read_columns(Listing *listing) {
    Str names;
    Buf why = {.arena = listing->book->arena};
    if (!fence_attribute(listing->part, STR("columns"), &names)) names = STR("warp_insts");
    for (Str name; str_word(&names, &name);) {
        if (listing->column_count == LISTING_COLUMNS_MAX)
            buf_format(&why, "more than %d columns", LISTING_COLUMNS_MAX);
        else if (!results_has_column(listing->counts, name))
            buf_format(&why, "unknown column `%.*s`: not in %s", STR_ARG(name),
                       listing->counts->path);
        if (why.len) return fail(listing, why);
        listing->columns[listing->column_count++] = name;
    }
    return true;
}

static bool read_key(Listing *listing) {
    Str kernel = STR(""), n;
    Buf why = {.arena = listing->book->arena};
    fence_attribute(listing->part, STR("kernel"), &kernel);
    if (fence_attribute(listing->part, STR("n"), &n)) {
        Buf text = {.arena = listing->book->arena};
        buf_format(&text, "any@%.*s", STR_ARG(n));
        Str rest = buf_str(&text);
        if (!key_take(&listing->scope, &rest, &listing->key) || rest.len || !listing->key.has_n) {
            buf_format(&why, "n=%.*s is not a number of elements", STR_ARG(n));
            return fail(listing, why);
        }
    }
    listing->key.kernel = kernel;
    return true;
}

static Str number_text(Arena *arena, double number) {
    Buf text = {.arena = arena};
    if (number >= 0) value_format_bare(&text, (Value){.unit = UNIT_COUNT, .number = number});
    return buf_str(&text);
}

static size_t column_width(const Listing *listing, size_t column) {
    size_t width = 0;
    for (size_t i = 0; i < listing->chunk->part->body_count; i++) {
        double value = listing->values[i * listing->column_count + column];
        Str text = number_text(listing->book->arena, value);
        if (text.len > width) width = text.len;
    }
    Str title = key_counter_title(listing->book->arena, listing->columns[column]);
    for (Str word; str_word(&title, &word);)
        if (word.len > width) width = word.len;
    return width;
}

static void add_right(Buf *text, Str cell, size_t width) {
    for (size_t i = cell.len; i < width; i++) buf_char(text, ' ');
    buf_add(text, cell);
    buf_add(text, STR("  "));
}

static size_t word_count(Str title) {
    size_t words = 1;
    for (size_t i = 0; i < title.len; i++) words += title.at[i] == ' ';
    return words;
}

// Word `row` of a title in a column of `rows` words, aligned to the bottom.
static Str stacked_word(Str title, size_t row, size_t rows) {
    size_t words = word_count(title);
    if (row + words < rows) return STR("");
    for (size_t skip = row + words - rows; skip; skip--)
        title = str_from(title, str_find(title, STR(" ")) + 1);
    return str_slice(title, 0, str_find(title, STR(" ")));
}

static void add_header(const Listing *listing, Buf *text, const size_t *widths) {
    size_t rows = 1;
    for (size_t c = 0; c < listing->column_count; c++) {
        size_t words = word_count(key_counter_title(listing->book->arena, listing->columns[c]));
        if (words > rows) rows = words;
    }
    for (size_t row = 0; row < rows; row++) {
        for (size_t c = 0; c < listing->column_count; c++) {
            Str title = key_counter_title(listing->book->arena, listing->columns[c]);
            add_right(text, stacked_word(title, row, rows), widths[c]);
        }
        buf_add(text, STR("│\n"));
    }
}

static bool is_counted(const Listing *listing, size_t body) {
    for (size_t c = 0; c < listing->column_count; c++)
        if (listing->values[body * listing->column_count + c] >= 0) return true;
    return false;
}

// The lines to show: from the first to the last line with counts, extended upwards to a
// blank line or comment, and downwards by closing braces.
static void shown_lines(const Listing *listing, size_t *start, size_t *end) {
    const FencePart *code = listing->chunk->part;
    *start = 0;
    *end = code->body_count;
    while (*start < *end && !is_counted(listing, *start)) ++*start;
    while (*end > *start && !is_counted(listing, *end - 1)) --*end;
    for (; *start > 0; --*start) {
        Str above = str_trim(code->body[*start - 1]);
        if (above.len == 0 || str_starts(above, STR("//"))) break;
    }
    while (*end < code->body_count && str_starts(str_trim(code->body[*end]), STR("}"))) ++*end;
}

static void add_code(const Listing *listing, Buf *text) {
    size_t widths[LISTING_COLUMNS_MAX], start, end;
    Arena *arena = listing->book->arena;
    for (size_t c = 0; c < listing->column_count; c++) widths[c] = column_width(listing, c);
    add_header(listing, text, widths);
    shown_lines(listing, &start, &end);
    for (size_t i = start; i < end; i++) {
        for (size_t c = 0; c < listing->column_count; c++)
            add_right(text, number_text(arena, listing->values[i * listing->column_count + c]),
                      widths[c]);
        Str line = listing->chunk->part->body[i];
        buf_format(text, line.len ? "│ %.*s\n" : "│%.*s\n", STR_ARG(line));
    }
}

static void add_caption(const Listing *listing) {
    Buf text = {.arena = listing->book->arena};
    Str own, toolkit = key_fact_text(&listing->scope, listing->counts, STR("toolkit"));
    bool host = listing->book->style != BOOK_PANDOC;
    if (!host) buf_add(&text, STR("::: caption\n"));
    buf_add(&text, host ? STR("*") : STR(""));
    if (fence_attribute(listing->part, STR("caption"), &own) && own.len) {
        buf_add(&text, prose_inline(listing->book, own, listing->part->line));
        buf_char(&text, ' ');
    }
    Str kernel = listing->key.kernel.len ? listing->key.kernel : listing->one_kernel;
    buf_add(&text, STR("Counted line by line by the CPU device: "));
    data_text_add_code(&text, kernel, false);
    buf_add(&text, STR(", n = "));
    value_format_bare(&text, (Value){.unit = UNIT_COUNT, .number = listing->n});
    if (toolkit.len) buf_add(&text, STR(", CUDA "));
    data_text_add(&text, toolkit);
    buf_add(&text, listing->stale ? STR(". Stale: recorded before the lab changed.") : STR("."));
    buf_add(&text, host ? STR("*\n") : STR("\n:::\n"));
    book_add(listing->book, buf_str(&text));
}

static bool find_chunk(Listing *listing, size_t *program) {
    Book *book = listing->book;
    Buf why = {.arena = book->arena};
    Str name;
    size_t chunk = CHUNK_NONE;
    *program = lab_of_chapter(book->chunks, book_chapter(book));
    if (!fence_attribute(listing->part, STR("chunk"), &name))
        buf_add(&why, STR("a listing needs chunk=NAME"));
    else if ((chunk = chunk_find(book->chunks, name)) == CHUNK_NONE)
        buf_format(&why, "there is no chunk `%.*s`", STR_ARG(name));
    else if (*program == CHUNK_NONE)
        buf_add(&why, STR("this chapter has no lab, so no lines were counted"));
    else if (!book->results->lines)
        buf_format(&why, "%s/cpu-lines.csv is missing", book->results->folder);
    else if (!results_has_column(book->results->lines, STR("code_line")))
        buf_format(&why, "%s has no column `code_line`", book->results->lines->path);
    if (why.len) return fail(listing, why);
    listing->chunk = &book->chunks->chunks[chunk];
    listing->counts = book->results->lines;
    return true;
}

void lines_weave(Book *book, const FencePart *part) {
    static const Str known[] = {STR("chunk"), STR("columns"), STR("kernel"),
                                STR("n"),     STR("caption"), {NULL, 0}};
    Listing listing = {.book = book, .scope = book_scope(book), .part = part};
    size_t program;
    if (!book_check_attributes(book, part, known) || !find_chunk(&listing, &program) ||
        !read_columns(&listing) || !read_key(&listing))
        return;
    size_t cells = listing.chunk->part->body_count * listing.column_count;
    listing.values = ARENA_NEW(book->arena, cells + 1, double);
    for (size_t i = 0; i < cells; i++) listing.values[i] = -1;
    find_counted(&listing);
    if (!count_lines(&listing, program)) return;
    book_check_stale(book, part->line, listing.chunk->name, listing.stale);
    Buf text = {.arena = book->arena};
    Str ticks = listing.chunk->part->ticks;
    buf_format(&text, book->style == BOOK_PANDOC ? "%.*s {.cuda .counted}\n" : "%.*scuda\n",
               STR_ARG(ticks));
    add_code(&listing, &text);
    buf_format(&text, "%.*s\n", STR_ARG(ticks));
    bool host = book->style != BOOK_PANDOC;
    book_blank(book);
    if (!host) book_add(book, STR(":::: counts\n"));
    book_add(book, buf_str(&text));
    book_blank(book);
    add_caption(&listing);
    if (!host) book_add(book, STR("::::\n"));
    book_blank(book);
}
