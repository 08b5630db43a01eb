// Code: see code.h.
#include "book/code.h"

#include "base/path.h"
#include "book/changes.h"

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

static void add_link(const Book *book, Buf *text, size_t chunk) {
    const Chunk *named = &book->chunks->chunks[chunk];
    Str name = named->name.len ? named->name : path_name(named->target);
    Str anchor = anchor_of(book, chunk);
    buf_format(text, "[`%.*s`](#%.*s)", STR_ARG(name), STR_ARG(anchor));
}

// What the chunk pulls in, each once, in order.
static void add_parts(const Book *book, Buf *text, size_t index) {
    const Chunk *chunk = &book->chunks->chunks[index];
    bool first = true;
    for (size_t i = 0; i < chunk->reference_count; i++) {
        size_t part = chunk->references[i].chunk;
        if (part == CHUNK_NONE || book->named_by[part] == index + 1) continue;
        book->named_by[part] = index + 1;
        buf_add(text, first ? STR(" · contains ") : STR(", "));
        add_link(book, text, part);
        first = false;
    }
}

static void add_changes(const Book *book, Buf *text, const Changes *changes) {
    if (changes->base == CHUNK_NONE) return;
    buf_add(text, STR(" · differs from "));
    add_link(book, text, changes->base);
    buf_add(text, STR(" in "));
    changes_add_words(changes, text);
}

static void add_caption(Book *book, size_t index, const Changes *changes) {
    const Chunk *chunk = &book->chunks->chunks[index];
    bool host = book->style != BOOK_PANDOC;
    Buf text = {.arena = book->arena};
    Str anchor = anchor_of(book, index), name = code_name(book, index);
    if (host) buf_format(&text, "<sub><a id=\"%.*s\"></a>", STR_ARG(anchor));
    buf_format(&text, host ? "**`%.*s`**" : "[`%.*s`]{.chunk-name}", STR_ARG(name));
    if (book->harness[index]) buf_add(&text, STR(" · used in every lab"));
    for (size_t i = 0; i < chunk->user_count && !book->harness[index]; i++) {
        buf_add(&text, i ? STR(", ") : STR(" · used in "));
        add_link(book, &text, chunk->users[i]);
    }
    add_parts(book, &text, index);
    add_changes(book, &text, changes);
    buf_add(&text, host ? STR("</sub>\n") : STR("\n"));
    book_add(book, buf_str(&text));
}

static void add_body(Book *book, const FencePart *part, const char *opening, Str info) {
    Buf text = {.arena = book->arena};
    buf_format(&text, "%.*s%s%.*s\n", STR_ARG(part->ticks), opening, STR_ARG(info));
    for (size_t i = 0; i < part->body_count; i++)
        buf_format(&text, "%.*s\n", STR_ARG(part->body[i]));
    buf_format(&text, "%.*s\n", STR_ARG(part->ticks));
    book_add(book, buf_str(&text));
}

// The language behind the fence; for pandoc with the lines that the page marks.
static Str info_of(Book *book, const FencePart *part, const Changes *changes) {
    Str language = part->braces.class_count ? part->braces.classes[0] : STR("");
    if (book->style != BOOK_PANDOC || changes->count == 0) return language;
    Buf info = {.arena = book->arena};
    buf_format(&info, " {.%.*s changed=\"", STR_ARG(language));
    changes_add_numbers(changes, &info);
    buf_add(&info, STR("\"}"));
    return buf_str(&info);
}

void code_weave(Book *book, size_t chunk) {
    const FencePart *part = book->chunks->chunks[chunk].part;
    Buf text = {.arena = book->arena};
    Changes changes = changes_of(book, chunk);
    book_blank(book);
    if (book->style == BOOK_PANDOC) {
        buf_format(&text, ":::: {.chunk #%.*s}\n::: caption\n", STR_ARG(anchor_of(book, chunk)));
        book_add(book, buf_str(&text));
    }
    add_caption(book, chunk, &changes);
    if (book->style == BOOK_PANDOC) book_add(book, STR(":::\n"));
    book_add(book, STR("\n"));
    add_body(book, part, "", info_of(book, part, &changes));
    if (book->style == BOOK_PANDOC) book_add(book, STR("::::\n"));
}

void code_weave_plain(Book *book, const FencePart *part) {
    Str language = part->braces.class_count ? part->braces.classes[0] : STR("");
    bool braces = str_find(part->info, STR("{")) != SIZE_MAX;
    if (braces && book->style == BOOK_PANDOC)
        add_body(book, part, " ", part->info);
    else
        add_body(book, part, "", braces ? language : part->info);
}
