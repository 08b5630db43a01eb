// Weaves code blocks: captions with links, changed lines, and folds.
#include "book/code.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "book/changes.h"
#include "book/lab.h"
#include "book/runnable.h"

Str code_name(const Book *book, size_t chunk) {
    const Chunk *named = &book->chunks->chunks[chunk];
    return named->name.len ? named->name : named->target;
}

static Str anchor_of(const Book *book, size_t chunk) {
    Buf anchor = {.arena = book->arena};
    Str name = code_name(book, chunk);
    buf_add(&anchor, STR("chunk-"));
    for (size_t i = 0; i < name.len; i++)
        buf_char(&anchor, name.at[i] == '/' || name.at[i] == '.' ? '-' : name.at[i]);
    return buf_str(&anchor);
}

static bool on_page(const Book *book) { return book->style == BOOK_GITHUB && book->homes; }

// Pages link to a lab instead of showing it, since code/ is in the same repository.
static bool links_lab(const Book *book, size_t chunk) {
    return on_page(book) && lab_is(book->chunks, chunk);
}

bool code_links_program(const Book *book, size_t chunk) {
    const Chunk *at = &book->chunks->chunks[chunk];
    if (at->target.len == 0 || at->exercise == CHUNK_NONE) return false;
    return book->style == BOOK_GITHUB ||
           book->chunks->exercises[at->exercise].kind == EXERCISE_BUILD;
}

static void add_link(const Book *book, Buf *text, size_t chunk) {
    const Chunk *named = &book->chunks->chunks[chunk];
    Str name = named->name.len ? named->name : path_name(named->target);
    if (code_links_program(book, chunk) || links_lab(book, chunk)) { // it is not shown
        buf_format(text, "[`%.*s`](%.*s%.*s)", STR_ARG(name), STR_ARG(book->up),
                   STR_ARG(named->target));
        return;
    }
    if (book->cells && !book->homes[named->file].apart) { // a cell has no anchor
        buf_format(text, "`%.*s`", STR_ARG(name));
        return;
    }
    Str page = book->homes ? book->homes[named->file].path : STR("");
    Str anchor = anchor_of(book, chunk);
    buf_format(text, "[`%.*s`](%.*s#%.*s)", STR_ARG(name), STR_ARG(page), STR_ARG(anchor));
}

// On the pages of a code host, a caption links only to chunks on other pages.
static bool leads_to(const Book *book, size_t chunk) {
    return !on_page(book) || book->chunks->chunks[chunk].file != book->file;
}

// Nothing on such a page links to the hole of an exercise, so it has no caption.
static bool has_caption(const Book *book, size_t chunk) {
    return !on_page(book) || book->chunks->chunks[chunk].variant != VARIANT_STARTER;
}

// Adds links to the chunks that this one includes, each once, in order.
static void add_parts(const Book *book, Buf *text, size_t index) {
    const Chunk *chunk = &book->chunks->chunks[index];
    bool first = true;
    for (size_t i = 0; i < chunk->reference_count; i++) {
        size_t part = chunk->references[i].chunk;
        if (part == CHUNK_NONE || book->named_by[part] == index + 1) continue;
        if (!leads_to(book, part)) continue;
        book->named_by[part] = index + 1;
        buf_add(text, first ? STR(" · contains ") : STR(", "));
        add_link(book, text, part);
        first = false;
    }
}

// Adds links to the chunks that use this one; on a code host's page the first three elsewhere.
static void add_users(const Book *book, Buf *text, const Chunk *chunk) {
    size_t count = 0;
    for (size_t i = 0; i < chunk->user_count; i++) {
        if (!leads_to(book, chunk->users[i])) continue;
        if (++count > 3 && on_page(book)) continue;
        buf_add(text, count == 1 ? STR(" · used in ") : STR(", "));
        add_link(book, text, chunk->users[i]);
    }
    if (count > 3 && on_page(book)) buf_format(text, " and %zu more", count - 3);
}

static void add_changes(const Book *book, Buf *text, const FencePart *part,
                        const Changes *changes) {
    if (changes->base == CHUNK_NONE) return;
    buf_add(text, STR(" · differs from "));
    add_link(book, text, changes->base);
    if (fence_has_class(part, STR("diff"))) return; // the diff shows the lines
    buf_add(text, STR(" in "));
    changes_add_words(changes, text);
}

static void add_caption(Book *book, size_t index, const Changes *changes) {
    const Chunk *chunk = &book->chunks->chunks[index];
    bool host = book->style != BOOK_PANDOC;
    Buf text = {.arena = book->arena};
    Str anchor = anchor_of(book, index), name = code_name(book, index);
    bool exhibit = fence_has_class(chunk->part, STR("exhibit")); // whose name tells the bug
    if (host) buf_format(&text, "<sub><a id=\"%.*s\"></a>", STR_ARG(anchor));
    if (exhibit)
        buf_add(&text, STR("find the bug"));
    else
        buf_format(&text, host ? "**`%.*s`**" : "[`%.*s`]{.chunk-name}", STR_ARG(name));
    bool exercises = fence_has_class(chunk->part, STR("exercise"));
    if (book->harness[index])
        buf_add(&text, exercises ? STR(" · used in every exercise") : STR(" · used in every lab"));
    if (!book->harness[index]) add_users(book, &text, chunk);
    add_parts(book, &text, index);
    add_changes(book, &text, chunk->part, changes);
    buf_add(&text, host ? STR("</sub>\n") : STR("\n"));
    book_add(book, buf_str(&text));
}

// The blanks that all lines of a block start with. Lines that the preprocessor reads start at the
// left anyway.
static size_t common_indent(const FencePart *part) {
    size_t common = SIZE_MAX;
    for (size_t i = 0; i < part->body_count; i++) {
        Str line = part->body[i];
        size_t blanks = 0;
        while (blanks < line.len && line.at[blanks] == ' ') blanks++;
        bool counts = blanks < line.len && line.at[0] != '#';
        if (counts && blanks < common) common = blanks;
    }
    return common == SIZE_MAX ? 0 : common;
}

// Adds the lines of a block between fences, without their common indent. If `shown` is not NULL,
// "…" replaces each run of other lines.
static void add_lines(Book *book, const FencePart *part, const char *opening, Str info,
                      const bool *shown) {
    Buf text = {.arena = book->arena};
    bool skipped = false;
    const size_t indent = common_indent(part);
    buf_format(&text, "%.*s%s%.*s\n", STR_ARG(part->ticks), opening, STR_ARG(info));
    for (size_t i = 0; i < part->body_count; i++) {
        bool skip = shown && !shown[i];
        Str line = part->body[i];
        bool indented = line.len && line.at[0] == ' ';
        if (!skip) buf_format(&text, "%.*s\n", STR_ARG(indented ? str_from(line, indent) : line));
        if (skip && !skipped) buf_add(&text, STR("    …\n"));
        skipped = skip;
    }
    buf_format(&text, "%.*s\n", STR_ARG(part->ticks));
    book_add(book, buf_str(&text));
}

static void add_body(Book *book, const FencePart *part, const char *opening, Str info) {
    add_lines(book, part, opening, info, NULL);
}

// Adds what changes the base of a derived chunk of class .diff into it.
static void add_diff(Book *book, size_t chunk) {
    const FencePart *part = book->chunks->chunks[chunk].part;
    Buf text = {.arena = book->arena};
    buf_format(&text, "%.*sdiff\n", STR_ARG(part->ticks));
    changes_add_diff(book, chunk, &text);
    buf_format(&text, "%.*s\n", STR_ARG(part->ticks));
    book_add(book, buf_str(&text));
}

static Str language_of(const FencePart *part) {
    return part->braces.class_count ? part->braces.classes[0] : STR("");
}

// The info string after the fence: the language and, for pandoc, the numbers of the changed lines
// to highlight, counted among the `shown` lines if that is not NULL.
static Str info_of(Book *book, const FencePart *part, const Changes *changes, const bool *shown) {
    Str language = language_of(part);
    if (book->style != BOOK_PANDOC || changes->count == 0) return language;
    Buf info = {.arena = book->arena};
    buf_format(&info, " {.%.*s changed=\"", STR_ARG(language));
    size_t place = 0, next = 0;
    for (size_t i = 0; i < part->body_count; i++) {
        bool skip = shown && !shown[i];
        if (!skip || (i && shown[i - 1]) || i == 0) place++;
        if (next == changes->count || changes->lines[next] != i + 1) continue;
        buf_format(&info, next++ ? " %zu" : "%zu", place);
    }
    buf_add(&info, STR("\"}"));
    return buf_str(&info);
}

// Which lines of a derived chunk to show: its head, through the first line that is no comment, and
// the changed lines with a line of context. NULL if that is most of the chunk or it has no base.
static const bool *shown_of(Book *book, const FencePart *part, const Changes *changes) {
    bool *shown = ARENA_NEW(book->arena, part->body_count + 1, bool);
    size_t count = 0, head = 0;
    if (changes->base == CHUNK_NONE || changes->count == 0) return NULL;
    while (head + 1 < part->body_count && str_starts(part->body[head], STR("//"))) head++;
    for (size_t i = 0; i <= head && i < part->body_count; i++) shown[i] = true;
    for (size_t c = 0; c < changes->count; c++)
        for (size_t i = changes->lines[c] - 1; i <= changes->lines[c] + 1; i++)
            if (i >= 1 && i <= part->body_count) shown[i - 1] = true;
    for (size_t i = 0; i < part->body_count; i++) {
        bool alone = i && i + 1 < part->body_count && shown[i - 1] && shown[i + 1];
        if (alone) shown[i] = true; // a "…" would take as much space
        count += shown[i];
    }
    return count + 4 < part->body_count && count * 5 <= part->body_count * 3 ? shown : NULL;
}

void code_weave(Book *book, size_t chunk) {
    const FencePart *part = book->chunks->chunks[chunk].part;
    Buf text = {.arena = book->arena};
    Changes changes = changes_of(book, chunk);
    const bool *shown = shown_of(book, part, &changes);
    book_blank(book);
    if (links_lab(book, chunk)) {
        buf_add(&text, STR("The whole program, with its table and the harness: "));
        add_link(book, &text, chunk);
        buf_char(&text, '\n');
        book_add(book, buf_str(&text));
        return;
    }
    if (book->style == BOOK_PANDOC) {
        buf_add(&text, STR(":::: {.chunk"));
        runnable_add_classes(book, &text, chunk);
        buf_format(&text, " #%.*s", STR_ARG(anchor_of(book, chunk)));
        runnable_add_attributes(book, &text, chunk);
        buf_add(&text, STR("}\n::: caption\n"));
        book_add(book, buf_str(&text));
    }
    if (has_caption(book, chunk)) {
        add_caption(book, chunk, &changes);
        if (book->style == BOOK_PANDOC) book_add(book, STR(":::\n"));
        book_add(book, STR("\n"));
    }
    const bool differs = fence_has_class(part, STR("diff"));
    if (differs)
        add_diff(book, chunk);
    else
        add_lines(book, part, "", info_of(book, part, &changes, shown), shown);
    if (shown && !differs) {
        book_open_fold(book, STR("whole"), "The whole", 0);
        add_body(book, part, "", info_of(book, part, &changes, NULL));
        book_close_fold(book);
    }
    if (book->style == BOOK_PANDOC) book_add(book, STR("::::\n"));
}

void code_weave_bare(Book *book, const FencePart *part) {
    add_body(book, part, "", language_of(part));
}

void code_weave_output(Book *book, const FencePart *part) {
    static const Str known[] = {STR("from"), STR("")};
    const char *path;
    Str output;
    Buf text = {.arena = book->arena};
    if (!book_check_attributes(book, part, known) || !book_from(book, part, &path)) return;
    if (!file_read(book->arena, path, &output)) {
        buf_format(&text, "%s: %s", path, strerror(errno));
        book_error(book, part->line, text);
        return;
    }
    buf_format(&text, "%.*stext\n%.*s%.*s\n", STR_ARG(part->ticks), STR_ARG(output),
               STR_ARG(part->ticks));
    book_add(book, buf_str(&text));
}

void code_weave_plain(Book *book, const FencePart *part) {
    bool braces = str_find(part->info, STR("{")) != SIZE_MAX;
    if (braces && book->style == BOOK_PANDOC)
        add_body(book, part, " ", part->info);
    else
        add_body(book, part, "", braces ? language_of(part) : part->info);
}
