// Chapters: see chapters.h.
#include "book/chapters.h"

#include "base/source.h"
#include "book/claims.h"
#include "book/code.h"
#include "book/csv_table.h"
#include "book/exercises.h"
#include "book/lab.h"
#include "book/lines.h"
#include "book/player.h"
#include "book/prose.h"
#include "book/table.h"
#include "tangle/expand.h"

// Container marks on a fence's first line, as its further lines need them: a quote's > stays, a
// list item's bullet becomes the same width of spaces.
static Str continuation(Arena *arena, Str before) {
    Buf marks_below = {.arena = arena};
    for (size_t i = 0; i < before.len; i++)
        buf_char(&marks_below, before.at[i] == '>' || before.at[i] == '\t' ? before.at[i] : ' ');
    return buf_str(&marks_below);
}

static void weave_fence(Book *book, size_t index, const FencePart *part) {
    size_t chunk = chunk_of_part(book->chunks, book->file, index);
    Str columns;
    if (chunk != CHUNK_NONE && book->prediction) {
        Buf message = {.arena = book->arena};
        buf_add(&message, STR("a chunk of a program stands outside of predictions"));
        book_error(book, part->line, message);
        return;
    }
    book->container = continuation(book->arena, part->before);
    if (fence_has_class(part, STR("results"))) {
        table_weave(book, part);
    } else if (fence_has_class(part, STR("csv"))) {
        csv_table_weave(book, part);
    } else if (fence_has_class(part, STR("lines"))) {
        lines_weave(book, part);
    } else if (fence_has_class(part, STR("player"))) {
        player_weave(book, part);
    } else if (fence_has_class(part, STR("claim"))) {
        claims_check(book, part);
    } else if (exercises_weave(book, part, chunk)) {
        // done
    } else if (chunk != CHUNK_NONE && book->add_chunk) {
        book->add_chunk(book, chunk);
    } else if (chunk != CHUNK_NONE) {
        code_weave(book, chunk);
    } else if (fence_attribute(part, STR("columns"), &columns)) {
        Buf message = {.arena = book->arena};
        buf_add(&message, STR("columns= belongs to a block with .results or .lines"));
        book_error(book, part->line, message);
    } else {
        code_weave_plain(book, part);
    }
    book->container = STR("");
}

void chapters_weave_file(Book *book) {
    const ChunkFile *file = &book->chunks->files[book->file];
    book->div_count = 0;
    book->prediction_count = 0;
    book->prediction = NULL;
    book->container = STR("");
    for (size_t i = 0; i < file->parts.count; i++) {
        const FencePart *part = &file->parts.parts[i];
        if (part->fenced)
            weave_fence(book, i, part);
        else
            prose_weave(book, part);
    }
    while (book->div_count) {
        Buf message = {.arena = book->arena};
        buf_format(&message, "div `%.*s` is not closed with :::",
                   STR_ARG(book->divs[book->div_count - 1].name));
        book_error(book, book->divs[--book->div_count].line, message);
    }
    book->prediction = NULL;
}

static void add_contents(Book *book) {
    book_add(book, STR("## Contents\n\n"));
    for (size_t i = 0; i < book->anchors.count; i++) {
        const Anchor *anchor = &book->anchors.items[i];
        if (anchor->level != 1) continue;
        Buf line = {.arena = book->arena};
        Str chapter = key_chapter_of(book->chunks->files[anchor->file].path);
        buf_format(&line, "- [%.*s](#%.*s)\n",
                   STR_ARG(anchor_book_title(book->arena, chapter, 1, anchor->title)),
                   STR_ARG(anchor->name));
        book_add(book, buf_str(&line));
    }
    book_add(book, STR("\n"));
}

// A YAML string: "…" with its quotes and backslashes escaped.
static void add_yaml(Buf *text, const char *name, Str value) {
    buf_format(text, "%s: \"", name);
    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] == '"' || value.at[i] == '\\') buf_char(text, '\\');
        buf_char(text, value.at[i]);
    }
    buf_add(text, STR("\"\n"));
}

static void add_front(Book *book) {
    Str from = book_provenance(book);
    Buf text = {.arena = book->arena};
    if (book->style == BOOK_PANDOC) {
        buf_add(&text, STR("---\n"));
        add_yaml(&text, "title", book->title);
        add_yaml(&text, "provenance", from);
        buf_add(&text, STR("lang: en\n---\n\n"));
        book_add(book, buf_str(&text));
        return;
    }
    buf_format(&text, "*%.*s*\n\n", STR_ARG(from));
    if (book->title.len) buf_format(&text, "# %.*s\n\n", STR_ARG(book->title));
    book_add(book, buf_str(&text));
    add_contents(book);
}

static void add_program(Buf *all, const ChunkTable *table, size_t chunk) {
    source_add(all, table->chunks[chunk].target, expand_text(table, chunk, EXPAND_CLEAN));
}

// The lab's code, and behind it that of the program that its block names, if it does.
static uint64_t hash_with(const ChunkTable *table, size_t lab, Str attribute) {
    Buf all = {.arena = table->arena}, target = {.arena = table->arena};
    Str name;
    add_program(&all, table, lab);
    if (!fence_attribute(table->chunks[lab].part, attribute, &name)) return str_hash(buf_str(&all));
    buf_format(&target, "code/%.*s", STR_ARG(name));
    for (size_t i = 0; i < table->chunk_count; i++)
        if (str_equal(table->chunks[i].target, buf_str(&target))) add_program(&all, table, i);
    return str_hash(buf_str(&all));
}

static void collect_sources(Book *book) {
    const ChunkTable *table = book->chunks;
    book->sources = ARENA_NEW(book->arena, table->chunk_count + 1, KeySource);
    for (size_t i = 0; i < table->chunk_count; i++) {
        if (!lab_is(table, i)) continue;
        Str chapter = key_chapter_of(table->chunks[i].target);
        KeySource *source = &book->sources[book->source_count++];
        *source = (KeySource){chapter, .device = STR("")};
        source->hash[PROGRAM_LAB] = hash_with(table, i, STR(""));
        source->hash[PROGRAM_NEWEST] = hash_with(table, i, STR("newest_from"));
        source->hash[PROGRAM_SHAPES] = hash_with(table, i, STR("shapes"));
        fence_attribute(table->chunks[i].part, STR("device"), &source->device);
    }
}

void chapters_open(Book *book) {
    bool host = book->style == BOOK_GITHUB;
    Str first[] = {book->title, STR("Contents")};
    size_t skipped = book->title.len ? 0 : 1;
    book->out.arena = book->arena;
    book->anchors = anchor_collect(book->chunks, host ? ANCHOR_HOST : ANCHOR_CHAPTER,
                                   first + skipped, host ? 2 - skipped : 0);
    book->harness = lab_harness(book->chunks);
    book->named_by = ARENA_NEW(book->arena, book->chunks->chunk_count + 1, size_t);
    collect_sources(book);
}

void chapters_weave(Book *book) {
    chapters_open(book);
    add_front(book);
    for (book->file = 0; book->file < book->chunks->file_count; book->file++) {
        book_blank(book);
        chapters_weave_file(book);
    }
    book_sort_errors(book);
}
