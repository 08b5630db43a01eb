// Weaves {.player} blocks: recorded steps as JSON for the page's player. See blocks.h.
#include <unistd.h>

#include "base/json.h"
#include "base/source.h"
#include "book/blocks.h"
#include "book/lab.h"
#include "book/names.h"
#include "book/prose.h"
#include "numbers/read.h"
#include "tangle/expand.h"

enum { CODE_LINES_MAX = 64 };

typedef struct {
    Book *book;
    const FencePart *part;
    const Chunk *lab; // of the current chapter
    Str code;         // its text
    bool stale;
    // The current kernel:
    Str kernel;
    size_t lines[CODE_LINES_MAX]; // line numbers in the code that its steps name
    size_t line_count;
} Player;

static bool fail(Player *player, Buf why) {
    book_error(player->book, player->part->line, why);
    return false;
}

static bool has_word(Str words, Str wanted) {
    for (Str word; str_word(&words, &word);)
        if (str_equal(word, wanted)) return true;
    return false;
}

// Finds the chapter's lab. The attributes of the lab name the kernels whose steps are recorded.
static bool find_lab(Player *player) {
    const Book *book = player->book;
    Buf why = {.arena = book->arena};
    size_t lab = lab_of_chapter(book->chunks, book_chapter(book));
    if (lab == CHUNK_NONE) {
        buf_add(&why, STR("a player needs a lab, and this chapter has none"));
        return fail(player, why);
    }
    player->lab = &book->chunks->chunks[lab];
    player->code = expand_text(book->chunks, lab, EXPAND_CLEAN);
    return true;
}

// Checks that the lab records every word of the block's attribute `asked`.
static bool check_words(Player *player, const char *asked, const char *recorded, Str *words) {
    Str there = STR(""), rest, word;
    Buf why = {.arena = player->book->arena};
    if (!fence_attribute(player->part, str_of(asked), words) || !str_trim(*words).len) {
        buf_format(&why, "a player needs %s=\"…\"", asked);
        return fail(player, why);
    }
    fence_attribute(player->lab->part, str_of(recorded), &there);
    for (rest = *words; str_word(&rest, &word);) {
        if (has_word(there, word)) continue;
        buf_format(&why, "`%.*s` is not recorded: the lab of this chapter has %s=\"%.*s\"",
                   STR_ARG(word), recorded, STR_ARG(there));
        return fail(player, why);
    }
    return true;
}

// --- one file of steps ---

static bool fail_in_file(Player *player, const char *path, size_t line, Str message) {
    Buf why = {.arena = player->book->arena};
    buf_format(&why, "%s", path);
    if (line) buf_format(&why, ":%zu", line); // 0: the whole file
    buf_format(&why, ": %.*s", STR_ARG(message));
    return fail(player, why);
}

static bool note_line(Player *player, Str cell) {
    size_t line = 0;
    for (size_t i = 0; i < cell.len; i++) line = line * 10 + (size_t)(cell.at[i] - '0');
    for (size_t i = 0; i < player->line_count; i++)
        if (player->lines[i] == line) return true;
    if (player->line_count == CODE_LINES_MAX) return false;
    player->lines[player->line_count++] = line;
    return true;
}

// Adds the rows of the file, one per line.
static bool add_rows(Player *player, const ResultTable *table, Buf *rows) {
    static const Str columns[] = {STR("warp"),  STR("line"),   STR("op"),   STR("lanes"),
                                  STR("words"), STR("values"), STR("races")};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    for (size_t c = 0; c < COLUMNS; c++)
        if (table->column_count != COLUMNS || !str_equal(table->columns[c], columns[c]))
            return fail_in_file(player, table->path, 0,
                                STR("expected the steps of a kernel, as collect -s writes them"));
    for (size_t r = 0; r < table->row_count; r++) {
        const ResultRow *row = &table->rows[r];
        if (!note_line(player, row->cells[1]))
            return fail_in_file(player, table->path, row->line, STR("too many lines of code"));
        for (size_t c = 0; c < COLUMNS; c++) {
            if (c) buf_char(rows, ',');
            buf_add(rows, row->cells[c]);
        }
        buf_char(rows, '\n');
    }
    return true;
}

static bool add_run(Player *player, Str block, Buf *json) {
    Arena *arena = player->book->arena;
    Buf path = {.arena = arena}, rows = {.arena = arena};
    ResultTable table;
    ReadError error;
    buf_format(&path, "%s/steps/%.*s-%.*s-%.*s.csv", player->book->results->folder,
               STR_ARG(book_chapter(player->book)), STR_ARG(player->kernel), STR_ARG(block));
    char *name = str_terminated(arena, buf_str(&path));
    if (access(name, F_OK) != 0)
        return fail_in_file(player, name, 0, STR("not recorded yet: run make record DEVICE=cpu"));
    if (!read_csv(arena, name, &table, &error))
        return fail_in_file(player, error.path, error.line, error.message);
    KeyScope scope = book_scope(player->book);
    Str source = results_fact(&table, STR("source"));
    player->stale |= !source.len || key_source_is_stale(&scope, scope.chapter, source);
    if (!add_rows(player, &table, &rows)) return false;
    buf_add(json, STR("{\"block\":"));
    json_string(json, block);
    buf_add(json, STR(",\"n\":"));
    json_string(json, results_fact(&table, STR("n")));
    buf_add(json, STR(",\"steps\":"));
    json_string(json, buf_str(&rows));
    buf_char(json, '}');
    return true;
}

// --- all of them ---

// Adds the lines of code that the kernel's steps name: {"24":"s[t] += s[t + d];"}.
static void add_code(const Player *player, Buf *json) {
    SourceLines lines = {.code.arena = json->arena, .rest = player->code};
    const char *comma = "";
    buf_char(json, '{');
    while (source_next(&lines)) {
        for (size_t i = 0; i < player->line_count; i++) {
            if (player->lines[i] != lines.number) continue;
            buf_format(json, "%s\"%zu\":", comma, lines.number);
            json_string(json, str_trim(lines.text));
            comma = ",";
        }
    }
    buf_char(json, '}');
}

static Str kernel_label(const Player *player) {
    Str name = names_of(player->book, book_chapter(player->book), player->kernel);
    return name.len ? name : player->kernel;
}

static bool add_kernels(Player *player, Str kernels, Str blocks, Buf *json) {
    const char *comma = "";
    buf_char(json, '[');
    while (str_word(&kernels, &player->kernel)) {
        const char *between = "";
        buf_format(json, "%s{\"name\":", comma);
        json_string(json, player->kernel);
        buf_add(json, STR(",\"label\":"));
        json_string(json, kernel_label(player));
        buf_add(json, STR(",\"runs\":["));
        player->line_count = 0;
        for (Str rest = blocks, block; str_word(&rest, &block); between = ",") {
            buf_add(json, str_of(between));
            if (!add_run(player, block, json)) return false;
        }
        buf_add(json, STR("],\"code\":"));
        add_code(player, json);
        buf_char(json, '}');
        comma = ",";
    }
    buf_char(json, ']');
    return true;
}

void player_weave(Book *book, const FencePart *part) {
    static const Str known[] = {STR("kernels"), STR("blocks"), {NULL, 0}};
    Player player = {.book = book, .part = part};
    Buf json = {.arena = book->arena}, text = {.arena = book->arena},
        still = {.arena = book->arena};
    Str kernels, blocks;
    if (!book_check_attributes(book, part, known) || !find_lab(&player) ||
        !check_words(&player, "kernels", "steps", &kernels) ||
        !check_words(&player, "blocks", "blocks", &blocks) ||
        !add_kernels(&player, kernels, blocks, &json))
        return;
    book_check_stale(book, part->line, kernels, player.stale);
    for (size_t i = 0; i < part->body_count; i++)
        buf_format(&still, "%.*s\n", STR_ARG(part->body[i]));
    book_blank(book);
    if (book->style == BOOK_PANDOC) {
        buf_format(&text,
                   ":::: player\n```{=html}\n<script "
                   "type=\"application/json\">{\"stale\":%s,\"kernels\":",
                   player.stale ? "true" : "false");
        json_in_html(&text, buf_str(&json));
        buf_add(&text, STR("}</script>\n```\n\n"));
        book_add(book, buf_str(&text));
    }
    book_add(book, prose_inline(book, buf_str(&still), part->line + 1));
    book_blank(book);
    if (book->style == BOOK_PANDOC) book_add(book, STR("::::\n"));
    book_blank(book);
}
