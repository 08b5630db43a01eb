// Writes the programs around the kernels that the page can run as JSON: see programs.h.
#include "book/programs.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/path.h"
#include "book/code.h"
#include "book/exercises.h"
#include "book/runnable.h"
#include "numbers/value.h"

// --- chunks ---

// What comes after the lab or the exercise: the code that runs it.
static bool is_driver(const ChunkTable *table, size_t chunk) {
    const FencePart *part = table->chunks[chunk].part;
    return fence_has_class(part, STR("harness")) && part->body_count > 0 &&
           (str_starts(part->body[0], STR("// ---- The harness")) ||
            str_starts(part->body[0], STR("// ---- The driver")));
}

typedef struct {
    Str name;
    size_t chunk;
} Named;

typedef struct {
    const Book *book;
    bool *added; // one per chunk
    Named *items;
    size_t count, capacity;
} Pieces;

static void add_piece(Pieces *pieces, size_t chunk) {
    if (pieces->added[chunk]) return;
    pieces->added[chunk] = true;
    ARENA_GROW(pieces->book->arena, pieces->items, pieces->count, pieces->capacity);
    pieces->items[pieces->count++] = (Named){code_name(pieces->book, chunk), chunk};
}

// Adds a program's chunks, without the driver and what it includes if `whole` is false.
static void add_pieces(Pieces *pieces, size_t program, bool whole) {
    const ChunkTable *table = pieces->book->chunks;
    size_t next = pieces->count;
    add_piece(pieces, program);
    for (; next < pieces->count; next++) {
        const Chunk *at = &table->chunks[pieces->items[next].chunk];
        for (size_t r = 0; r < at->reference_count; r++)
            if (whole || !is_driver(table, at->references[r].chunk))
                add_piece(pieces, at->references[r].chunk);
    }
}

static int by_name(const void *a, const void *b) {
    return str_compare(((const Named *)a)->name, ((const Named *)b)->name);
}

static void add_number(Json *json, Str key, double number) {
    Buf text = {.arena = json->out->arena};
    buf_format(&text, "%.0f", number);
    json_plain(json, key, buf_str(&text));
}

static void add_chunks(Json *json, Pieces *pieces) {
    const ChunkTable *table = pieces->book->chunks;
    qsort(pieces->items, pieces->count, sizeof *pieces->items, by_name);
    json_open(json, STR("chunks"), '{');
    for (size_t i = 0; i < pieces->count; i++) {
        const Chunk *chunk = &table->chunks[pieces->items[i].chunk];
        json_open(json, pieces->items[i].name, '{');
        if (is_driver(table, pieces->items[i].chunk)) json_plain(json, STR("driver"), STR("true"));
        json_text(json, STR("file"), path_name(table->files[chunk->file].path));
        add_number(json, STR("line"), (double)chunk->line + 1);
        json_text(json, STR("text"), runnable_text(table, pieces->items[i].chunk));
        json_close(json, '}');
    }
    json_close(json, '}');
}

// --- labs ---

// Whether a column is a counter of the PTX that the page runs, not of machine code or of a launch.
static bool is_counter(const ResultTable *table, size_t column) {
    return column >= results_column(table, STR("warp_insts")) &&
           !str_starts(table->columns[column], STR("machine_"));
}

static void add_counters(Json *json, const ResultTable *table) {
    Arena *arena = json->out->arena;
    json_open(json, STR("counters"), '{');
    for (size_t i = 0; table && i < table->column_count; i++)
        if (is_counter(table, i))
            json_text(json, table->columns[i], key_counter_title(arena, table->columns[i]));
    json_close(json, '}');
}

// Whether a key in the chapter's text, such as `block_sum_mask.shared_ld_conflicts`, names a
// column.
static bool mentions(Str text, Str column) {
    for (size_t at; (at = str_find(text, column)) != SIZE_MAX;) {
        const char before = at ? text.at[at - 1] : ' ';
        text = str_from(text, at + column.len);
        const char after = text.len ? text.at[0] : ' ';
        if (before == '.' && after != '_') return true;
    }
    return false;
}

static void add_first(Json *json, const ResultTable *table, Str chapter_text) {
    json_open(json, STR("first"), '[');
    for (size_t i = 0; table && i < table->column_count; i++)
        if (is_counter(table, i) && mentions(chapter_text, table->columns[i]))
            json_text(json, STR(""), table->columns[i]);
    json_close(json, ']');
}

// Adds the rows of cpu-small.csv. Those of another version of the lab are left out.
static void add_recorded(Json *json, const Book *book, Str chapter) {
    const ResultTable *table = book->results->small;
    const KeyScope scope = book_scope(book);
    size_t kernel_count = 0;
    const ResultKernel *kernels = table ? results_kernels(table, chapter, &kernel_count) : NULL;
    json_open(json, STR("recorded"), '[');
    for (size_t k = 0; k < kernel_count; k++)
        for (size_t r = 0; r < kernels[k].row_count; r++) {
            const ResultRow *row = &table->rows[kernels[k].rows[r]];
            if (key_is_stale(&scope, table, row)) continue;
            json_open(json, STR(""), '{');
            json_plain(json, STR("block"), results_cell(table, row, STR("block")));
            json_open(json, STR("counters"), '{');
            for (size_t c = 0; c < table->column_count; c++)
                if (is_counter(table, c)) json_plain(json, table->columns[c], row->cells[c]);
            json_close(json, '}');
            add_number(json, STR("n"), row->n);
            json_text(json, STR("stage"), kernels[k].name);
            json_close(json, '}');
        }
    json_close(json, ']');
}

// Adds how many kernels of cpu-small.csv were compared with nvcc, and how many have its accesses in
// every row.
static void add_checked(Json *json, const Book *book) {
    const ResultTable *table = book->results->small;
    const KeyScope scope = book_scope(book);
    size_t of = 0, same = 0;
    for (size_t i = 0; table && i < book->runnables->lab_count; i++) {
        size_t count;
        const ResultKernel *kernels =
            results_kernels(table, book->runnables->labs[i].chapter, &count);
        for (size_t k = 0; k < count; k++) {
            bool stale = false, all = true;
            for (size_t r = 0; r < kernels[k].row_count; r++) {
                const ResultRow *row = &table->rows[kernels[k].rows[r]];
                stale |= key_is_stale(&scope, table, row);
                all &= str_equal(results_cell(table, row, STR("page")), STR("1"));
            }
            of += !stale;
            same += !stale && all;
        }
    }
    json_open(json, STR("checked"), '{');
    add_number(json, STR("of"), (double)of);
    add_number(json, STR("same"), (double)same);
    json_close(json, '}');
}

static void add_stages(Json *json, const RunnableLab *lab) {
    json_open(json, STR("stages"), '[');
    for (size_t i = 0; i < lab->stage_count; i++) {
        const Stage *stage = &lab->stages[i];
        json_open(json, STR(""), '{');
        json_plain(json, STR("block"), stage->block.len ? stage->block : STR("0"));
        json_text(json, STR("function"), stage->function);
        json_text(json, STR("kernel"), stage->kernel);
        json_text(json, STR("name"), stage->name);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_labs(Json *json, Pieces *pieces) {
    const Book *book = pieces->book;
    const ResultTable *counters = book->results->counters;
    json_open(json, STR("labs"), '{');
    for (size_t i = 0; i < book->runnables->lab_count; i++) {
        const RunnableLab *lab = &book->runnables->labs[i];
        const Chunk *chunk = &book->chunks->chunks[lab->chunk];
        json_open(json, lab->chapter, '{');
        add_first(json, counters, book->chunks->files[chunk->file].text);
        json_text(json, STR("program"), code_name(book, lab->chunk));
        add_recorded(json, book, lab->chapter);
        add_stages(json, lab);
        json_close(json, '}');
        add_pieces(pieces, lab->chunk, false);
    }
    json_close(json, '}');
}

// --- exercises ---

static void add_demands(Json *json, const Exercise *exercise, bool *relative) {
    json_open(json, STR("demands"), '[');
    for (size_t d = 0; d < exercise->demand_count; d++) {
        const ExerciseDemand *demand = &exercise->demands[d];
        Buf words = {.arena = json->out->arena};
        demands_add(&words, demand->text, false);
        *relative |= str_find(demand->text, STR("solution.")) != SIZE_MAX;
        json_open(json, STR(""), '{');
        json_open(json, STR("hints"), '[');
        for (size_t c = 0; c < demand->choice_count; c++) {
            json_open(json, STR(""), '{');
            add_number(json, STR("hint"), (double)demand->choices[c].hint);
            json_text(json, STR("if"), demand->choices[c].condition);
            json_close(json, '}');
        }
        json_close(json, ']');
        json_text(json, STR("text"), demand->text);
        json_text(json, STR("words"), buf_str(&words));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_exercises(Json *json, Pieces *pieces) {
    const Book *book = pieces->book;
    const ChunkTable *table = book->chunks;
    json_open(json, STR("exercises"), '{');
    for (size_t i = 0; i < table->exercise_count; i++) {
        const Exercise *exercise = &table->exercises[i];
        bool relative = false;
        if (!runnable_is_checked(book, exercise)) continue;
        json_open(json, exercises_number(book, exercise), '{');
        add_demands(json, exercise, &relative);
        json_text(json, STR("hole"), code_name(book, exercise->starter));
        json_text(json, STR("program"), code_name(book, exercise->program));
        if (relative) json_text(json, STR("solution"), runnable_text(table, exercise->solution));
        json_close(json, '}');
        add_pieces(pieces, exercise->program, true);
    }
    json_close(json, '}');
}

Str programs_json(Book *book) {
    Buf text = {.arena = book->arena};
    Json json = {.out = &text};
    Pieces pieces = {.book = book,
                     .added = ARENA_NEW(book->arena, book->chunks->chunk_count + 1, bool)};
    runnable_collect(book);
    json_open(&json, STR(""), '{');
    add_checked(&json, book);
    add_counters(&json, book->results->counters);
    add_exercises(&json, &pieces);
    add_labs(&json, &pieces);
    add_chunks(&json, &pieces);
    json_close(&json, '}');
    buf_char(&text, '\n');
    return buf_str(&text);
}
