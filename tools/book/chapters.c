// Joins chapters into a book: front matter, contents, and either one text or a page per chapter.
#include "book/chapters.h"

#include "base/path.h"
#include "base/source.h"
#include "book/blocks.h"
#include "book/exercises.h"
#include "book/lab.h"
#include "book/names.h"
#include "book/prose.h"
#include "book/rungs.h"
#include "markdown/wrap.h"
#include "tangle/expand.h"

enum { LINE_MOST = 110 }; // about the chapters' own

// What was woven. For a code host its paragraphs are wrapped again, since values are shorter
// or longer than their keys.
static Str woven(const Book *book) {
    Str text = buf_str(&book->out);
    return book->style == BOOK_GITHUB ? wrap_markdown(book->arena, text, LINE_MOST) : text;
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
            blocks_weave_fence(book, i, part);
        else
            blocks_weave_text(book, part);
    }
    exercises_close_more(book);
    while (book->div_count) {
        Buf message = {.arena = book->arena};
        buf_format(&message, "div `%.*s` is not closed with :::",
                   STR_ARG(book->divs[book->div_count - 1].name));
        book_error(book, book->divs[--book->div_count].line, message);
    }
    book->prediction = NULL;
}

size_t chapters_front(const Book *book) {
    for (size_t i = 0; i < book->chunks->file_count; i++)
        if (str_equal(path_stem(book->chunks->files[i].path), STR("index"))) return i;
    return CHUNK_NONE;
}

static Str title_of(const Book *book, size_t file) {
    const Anchor *title = anchor_find(&book->anchors, file, STR(""));
    Str chapter = key_chapter_of(book->chunks->files[file].path);
    if (!title) return path_stem(book->chunks->files[file].path);
    return anchor_book_title(book->arena, chapter, 1, title->title);
}

// A title without its subtitle after the colon, with its number: `4. Bank conflicts`.
static Str short_title_of(const Book *book, size_t file) {
    const Str title = title_of(book, file);
    return str_slice(title, 0, str_find(title, STR(": ")));
}

static void add_contents(Book *book) {
    size_t front = chapters_front(book);
    book_add(book, STR("## Contents\n\n"));
    for (size_t i = 0; i < book->chunks->file_count; i++) {
        Buf line = {.arena = book->arena};
        if (i == front || !anchor_find(&book->anchors, i, STR(""))) continue;
        buf_format(&line, "- [%.*s](%.*s)\n", STR_ARG(title_of(book, i)),
                   STR_ARG(prose_link_to(book, i)));
        book_add(book, buf_str(&line));
    }
    book_add(book, STR("\n"));
}

// Adds a YAML string, in double quotes with quotes and backslashes escaped.
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

// The hash of the lab's code, followed by that of the program that the attribute names, if any.
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
    names_collect(book);
    rungs_collect(book);
}

void chapters_weave(Book *book) {
    chapters_open(book);
    add_front(book);
    size_t front = chapters_front(book);
    for (int pass = 0; pass < 2; pass++) // the front page comes first
        for (book->file = 0; book->file < book->chunks->file_count; book->file++) {
            if ((book->file == front) != (pass == 0)) continue;
            book_blank(book);
            chapters_weave_file(book);
        }
    Str text = woven(book);
    book->out = (Buf){.arena = book->arena};
    buf_add(&book->out, text);
    book_sort_errors(book);
}

// --- pages ---

// Where each page is, relative to the front page or to another page.
static BookHome *homes_of(const Book *book, Str folder, size_t front, bool from_front) {
    BookHome *homes = ARENA_NEW(book->arena, book->chunks->file_count + 1, BookHome);
    for (size_t i = 0; i < book->chunks->file_count; i++) {
        Buf home = {.arena = book->arena};
        if (i == front && !from_front)
            buf_format(&home, "../%.*s.md", STR_ARG(path_name(folder)));
        else if (i != front)
            buf_format(&home, from_front ? "%.*s/%.*s.md" : "%.*s%.*s.md",
                       STR_ARG(from_front ? path_name(folder) : STR("")),
                       STR_ARG(path_stem(book->chunks->files[i].path)));
        homes[i] = (BookHome){buf_str(&home), true};
    }
    return homes;
}

// Adds navigation links: previous · contents · next.
static void add_navigation(Book *book, Str folder, size_t front) {
    size_t count = book->chunks->file_count, before = book->file, after = book->file + 1;
    Buf text = {.arena = book->arena};
    while (before > 0 && before - 1 == front) before--;
    while (after < count && after == front) after++;
    if (before > 0)
        buf_format(&text, "[← %.*s](%.*s) · ", STR_ARG(short_title_of(book, before - 1)),
                   STR_ARG(prose_link_to(book, before - 1)));
    buf_format(&text, "[Contents](../%.*s.md#contents)", STR_ARG(path_name(folder)));
    if (after < count)
        buf_format(&text, " · [%.*s →](%.*s)", STR_ARG(short_title_of(book, after)),
                   STR_ARG(prose_link_to(book, after)));
    buf_char(&text, '\n');
    book_blank(book);
    book_add(book, buf_str(&text));
    book_blank(book);
}

static Str take_text(Book *book) {
    Buf text = {.arena = book->arena};
    buf_add(&text, woven(book));
    book->out.len = 0;
    return buf_str(&text);
}

// Adds a comment to the start of a page, which code hosts do not show.
static void add_source(Book *book, Str source) {
    Buf text = {.arena = book->arena};
    buf_format(&text, "<!-- %.*s -->\n\n", STR_ARG(book_source(book, source)));
    book_add(book, buf_str(&text));
}

static BookFile weave_front(Book *book, Str folder, size_t front) {
    Buf path = {.arena = book->arena}, from = {.arena = book->arena};
    book->homes = homes_of(book, folder, front, true);
    book->up = path_up(book->arena, folder);
    add_source(book, path_folder(book->chunks->files[0].path));
    if (front == CHUNK_NONE) {
        Buf title = {.arena = book->arena};
        if (book->title.len) buf_format(&title, "# %.*s\n\n", STR_ARG(book->title));
        book_add(book, buf_str(&title));
    } else {
        book->file = front;
        chapters_weave_file(book);
    }
    book_blank(book);
    add_contents(book);
    book->file = 0;
    buf_format(&from, "*%.*s*\n", STR_ARG(book_provenance(book)));
    book_add(book, buf_str(&from));
    buf_format(&path, "%.*s.md", STR_ARG(folder));
    return (BookFile){buf_str(&path), take_text(book)};
}

static BookFile weave_page(Book *book, Str folder, size_t front) {
    Str source = book->chunks->files[book->file].path;
    Buf path = {.arena = book->arena}, from = {.arena = book->arena};
    buf_format(&from, "*Woven by tools/weave from %.*s and %s/; do not edit.*\n", STR_ARG(source),
               book->results->folder);
    add_source(book, source);
    add_navigation(book, folder, front);
    chapters_weave_file(book);
    add_navigation(book, folder, front);
    book_add(book, buf_str(&from));
    buf_format(&path, "%.*s/%.*s.md", STR_ARG(folder), STR_ARG(path_stem(source)));
    return (BookFile){buf_str(&path), take_text(book)};
}

size_t chapters_weave_pages(Book *book, Str folder, BookFile **pages) {
    size_t count = 0, front;
    chapters_open(book);
    front = chapters_front(book);
    *pages = ARENA_NEW(book->arena, book->chunks->file_count + 2, BookFile);
    (*pages)[count++] = weave_front(book, folder, front);
    book->homes = homes_of(book, folder, front, false);
    book->up = path_up(book->arena, path_join(book->arena, folder, STR("any")));
    for (book->file = 0; book->file < book->chunks->file_count; book->file++)
        if (book->file != front) (*pages)[count++] = weave_page(book, folder, front);
    book_sort_errors(book);
    return count;
}
