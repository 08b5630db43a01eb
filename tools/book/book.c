// The state shared by all kinds of blocks: errors, output with its quote marks, folds, provenance.
#include "book/book.h"

#include <stdlib.h>

#include "base/path.h"
#include "numbers/value.h"

void book_error(Book *book, size_t line, Buf message) {
    ARENA_GROW(book->arena, book->errors, book->error_count, book->error_capacity);
    book->errors[book->error_count++] = (BookError){book->file, line, buf_str(&message)};
}

static int in_order(const void *a, const void *b) {
    const BookError *left = a, *right = b;
    if (left->file != right->file) return left->file < right->file ? -1 : 1;
    if (left->line != right->line) return left->line < right->line ? -1 : 1;
    return str_compare(left->message, right->message);
}

void book_sort_errors(Book *book) {
    size_t count = 0;
    if (book->error_count) qsort(book->errors, book->error_count, sizeof *book->errors, in_order);
    for (size_t i = 0; i < book->error_count; i++)
        if (i == 0 || in_order(&book->errors[i], &book->errors[count - 1]) != 0)
            book->errors[count++] = book->errors[i];
    book->error_count = count;
}

Str book_chapter(const Book *book) { return key_chapter_of(book->chunks->files[book->file].path); }

KeyScope book_scope(const Book *book) {
    return (KeyScope){.arena = book->arena,
                      .results = book->results,
                      .reference = book->reference,
                      .sources = book->sources,
                      .source_count = book->source_count,
                      .chapter = book_chapter(book)};
}

static Str marks(const Book *book) {
    Buf prefix = {.arena = book->arena};
    for (int i = 0; book->style != BOOK_PANDOC && i < book->div_count; i++)
        if (!book->divs[i].plain) buf_add(&prefix, STR("> "));
    buf_add(&prefix, book->container);
    return buf_str(&prefix);
}

static Str without_trailing_spaces(Str s) {
    while (s.len && s.at[s.len - 1] == ' ') s.len--;
    return s;
}

void book_add(Book *book, Str text) {
    Str prefix = marks(book), line;
    while (str_line(&text, &line)) {
        buf_add(&book->out, line.len ? prefix : without_trailing_spaces(prefix));
        buf_add(&book->out, line);
        buf_char(&book->out, '\n');
    }
}

void book_blank(Book *book) {
    Str text = buf_str(&book->out), prefix = without_trailing_spaces(marks(book));
    size_t start = text.len ? text.len - 1 : 0;
    while (start && text.at[start - 1] != '\n') start--;
    if (text.len && !str_equal(str_trim(str_from(text, start)), str_trim(prefix)))
        book_add(book, STR("\n"));
}

void book_open_fold(Book *book, Str class_name, const char *label, size_t number) {
    Buf text = {.arena = book->arena}, words = {.arena = book->arena};
    buf_format(&words, number ? "%s %zu" : "%s", label, number);
    book_blank(book);
    if (book->style == BOOK_PANDOC)
        buf_format(&text, "::: {.fold .%.*s}\n::: label\n%.*s\n:::\n\n", STR_ARG(class_name),
                   STR_ARG(buf_str(&words)));
    else
        buf_format(&text, "<details><summary>%.*s</summary>\n\n", STR_ARG(buf_str(&words)));
    book_add(book, buf_str(&text));
}

void book_close_fold(Book *book) {
    book_blank(book);
    book_add(book, book->style == BOOK_PANDOC ? STR(":::\n") : STR("</details>\n"));
    book_blank(book);
}

void book_check_stale(Book *book, size_t line, Str what, bool stale) {
    if (!stale || !book->stale_is_error) return;
    Buf message = {.arena = book->arena};
    buf_format(&message, "`%.*s` is stale: its lab has changed since it was recorded",
               STR_ARG(what));
    book_error(book, line, message);
}

bool book_check_attributes(Book *book, const FencePart *part, const Str *known) {
    bool good = true;
    for (size_t i = 0; i < part->braces.attribute_count; i++) {
        const Str *name = known;
        while (name->len && !str_equal(*name, part->braces.attributes[i].key)) name++;
        if (name->len) continue;
        Buf message = {.arena = book->arena};
        buf_format(&message, "unknown attribute `%.*s`; known here:",
                   STR_ARG(part->braces.attributes[i].key));
        for (name = known; name->len; name++) buf_format(&message, " %.*s", STR_ARG(*name));
        book_error(book, part->line, message);
        good = false;
    }
    return good;
}

bool book_from(Book *book, const FencePart *part, const char **path) {
    Str file;
    Buf why = {.arena = book->arena};
    if (!fence_attribute(part, STR("from"), &file)) {
        buf_add(&why, STR("from= is missing"));
        book_error(book, part->line, why);
        return false;
    }
    if (str_starts(file, STR("../"))) file = str_from(file, 3); // chapters/ is next to results/
    *path = str_terminated(book->arena, file);
    return true;
}

Str book_source(const Book *book, Str path) {
    Buf text = {.arena = book->arena};
    buf_format(&text, "Generated from %.*s and %s/ by weave: edit those, not this file.",
               STR_ARG(path.len ? path : STR("./")), book->results->folder);
    return buf_str(&text);
}

Str book_provenance(const Book *book) {
    Buf text = {.arena = book->arena};
    KeyScope scope = book_scope(book);
    Str folder = path_folder(book->chunks->files[0].path);
    buf_format(&text, "Woven by tools/weave from %.*s and %s/; do not edit.",
               STR_ARG(folder.len ? folder : STR("./")), book->results->folder);
    for (size_t i = 0; i < book->results->device_count; i++) {
        const ResultTable *device = &book->results->devices[i];
        Str date = results_fact(device, STR("date"));
        Str toolkit = key_fact_text(&scope, device, STR("toolkit"));
        buf_add(&text, i ? STR("; ") : STR(" Times measured on: "));
        data_text_add(&text, results_device_name(book->arena, device));
        if (date.len) buf_add(&text, STR(", "));
        data_text_add(&text, date);
        if (toolkit.len) buf_add(&text, STR(", CUDA "));
        data_text_add(&text, toolkit);
        if (i + 1 == book->results->device_count) buf_char(&text, '.');
    }
    return buf_str(&text);
}
