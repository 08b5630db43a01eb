// Book: see book.h.
#include "book/book.h"

#include <stdlib.h>

void book_claims(Book *book, const FencePart *part) {
    static const Str known[] = {STR("device"), {NULL, 0}};
    KeyScope scope = book_scope(book);
    if (!book_check_attributes(book, part, known)) return;
    fence_attribute(part, STR("device"), &scope.device);
    for (size_t i = 0; i < part->body_count; i++) {
        Str claim = str_trim(part->body[i]);
        if (claim.len == 0 || claim.at[0] == '#') continue;
        Buf why = {.arena = book->arena};
        bool stale = false;
        if (expr_claim(&scope, claim, &stale, &why)) {
            book_check_stale(book, part->line + 1 + i, claim, stale);
            continue;
        }
        Buf message = {.arena = book->arena};
        buf_format(&message, "`%.*s`: %.*s", STR_ARG(claim), STR_ARG(buf_str(&why)));
        book_error(book, part->line + 1 + i, message);
    }
}

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
    book->container = continuation(book->arena, part->before);
    if (fence_has_class(part, STR("results"))) {
        book_table(book, part);
    } else if (fence_has_class(part, STR("csv"))) {
        book_csv(book, part);
    } else if (fence_has_class(part, STR("lines"))) {
        book_lines(book, part);
    } else if (fence_has_class(part, STR("claim"))) {
        book_claims(book, part);
    } else if (chunk != CHUNK_NONE && book->add_chunk) {
        book->add_chunk(book, chunk);
    } else if (chunk != CHUNK_NONE) {
        book_chunk(book, chunk);
    } else if (fence_attribute(part, STR("columns"), &columns)) {
        Buf message = {.arena = book->arena};
        buf_add(&message, STR("columns= belongs to a block with .results or .lines"));
        book_error(book, part->line, message);
    } else {
        book_plain_code(book, part);
    }
    book->container = STR("");
}

void book_chapter_text(Book *book) {
    const ChunkFile *file = &book->chunks->files[book->file];
    book->div_count = 0;
    book->container = STR("");
    for (size_t i = 0; i < file->parts.count; i++) {
        const FencePart *part = &file->parts.parts[i];
        if (part->fenced)
            weave_fence(book, i, part);
        else
            book_prose(book, part);
    }
    while (book->div_count) {
        Buf message = {.arena = book->arena};
        buf_format(&message, "div `%.*s` is not closed with :::",
                   STR_ARG(book->divs[book->div_count - 1].name));
        book_error(book, book->divs[--book->div_count].line, message);
    }
}

static Str folder_of(Str path) {
    size_t end = path.len;
    while (end && path.at[end - 1] != '/') end--;
    return end ? str_slice(path, 0, end) : STR("./");
}

Str book_provenance(const Book *book) {
    Buf text = {.arena = book->arena};
    KeyScope scope = book_scope(book);
    buf_format(&text, "Woven by tools/weave from %.*s and %s/; do not edit.",
               STR_ARG(folder_of(book->chunks->files[0].path)), book->results->folder);
    for (size_t i = 0; i < book->results->device_count; i++) {
        const ResultTable *device = &book->results->devices[i];
        Str name = results_fact(device, STR("device")), date = results_fact(device, STR("date"));
        Str toolkit = key_fact_text(&scope, device, STR("toolkit"));
        buf_format(&text, "%s %.*s",
                   i ? ";" : " Times measured on:", STR_ARG(name.len ? name : device->device));
        if (date.len) buf_format(&text, ", %.*s", STR_ARG(date));
        if (toolkit.len) buf_format(&text, ", CUDA %.*s", STR_ARG(toolkit));
        if (i + 1 == book->results->device_count) buf_char(&text, '.');
    }
    return buf_str(&text);
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

static void collect_sources(Book *book) {
    const ChunkTable *table = book->chunks;
    book->sources = ARENA_NEW(book->arena, table->chunk_count + 1, KeySource);
    for (size_t i = 0; i < table->chunk_count; i++) {
        Str chapter = key_chapter_of(table->chunks[i].target);
        if (chapter.len == 0) continue;
        uint64_t hash = str_hash(chunk_expand(table, i, CHUNK_CLEAN));
        KeySource *source = &book->sources[book->source_count++];
        *source = (KeySource){.chapter = chapter, .hash = hash};
        fence_attribute(table->chunks[i].part, STR("device"), &source->device);
    }
}

static int in_order(const void *a, const void *b) {
    const BookError *left = a, *right = b;
    if (left->file != right->file) return left->file < right->file ? -1 : 1;
    if (left->line != right->line) return left->line < right->line ? -1 : 1;
    return str_compare(left->message, right->message);
}

void book_open(Book *book) {
    bool host = book->style == BOOK_GITHUB;
    Str first[] = {book->title, STR("Contents")};
    size_t skipped = book->title.len ? 0 : 1;
    book->out.arena = book->arena;
    book->anchors = anchor_collect(book->chunks, host ? ANCHOR_HOST : ANCHOR_CHAPTER,
                                   first + skipped, host ? 2 - skipped : 0);
    collect_sources(book);
}

void book_sort_errors(Book *book) {
    if (book->error_count) qsort(book->errors, book->error_count, sizeof *book->errors, in_order);
}

void book_weave(Book *book) {
    book_open(book);
    add_front(book);
    for (book->file = 0; book->file < book->chunks->file_count; book->file++) {
        book_blank(book);
        book_chapter_text(book);
    }
    book_sort_errors(book);
}
