// Blocks: see blocks.h. Each kind of block has a module of its own; this one decides which.
#include "book/blocks.h"

#include "book/code.h"
#include "book/exercises.h"
#include "book/predict.h"
#include "book/prose.h"
#include "book/rungs.h"
#include "markdown/braces.h"

// --- text: headings, divs and paragraphs ---

// For pandoc the number of a chapter is a span, so that the page can style it.
static Str heading_text(Book *book, int level, Str title, size_t line) {
    Str chapter = book_chapter(book), text = prose_inline(book, title, line);
    if (book->style != BOOK_PANDOC || level != 1 || chapter.len == 0)
        return anchor_book_title(book->arena, chapter, level, text);
    Buf numbered = {.arena = book->arena};
    Str number = key_chapter_number(chapter);
    text = anchor_chapter_title(chapter, text);
    bool letter = chapter.at[0] >= 'A';
    buf_format(&numbered, "[%.*s]{.chapter-number%s} %.*s", STR_ARG(number),
               letter ? " .appendix" : "", STR_ARG(text));
    return buf_str(&numbered);
}

static void add_heading(Book *book, int level, Str title, Str attributes, size_t line) {
    const Anchor *anchor = anchor_at(&book->anchors, book->file, line);
    Str text = heading_text(book, level, title, line);
    Buf out = {.arena = book->arena};
    for (int i = 0; i < level; i++) buf_char(&out, '#');
    buf_format(&out, " %.*s", STR_ARG(text));
    if (book->style == BOOK_PANDOC && anchor) {
        Braces braces = {0};
        if (attributes.len) braces_read(book->arena, attributes, 1, &braces);
        buf_format(&out, " {#%.*s", STR_ARG(anchor->name));
        for (size_t i = 0; i < braces.class_count; i++)
            buf_format(&out, " .%.*s", STR_ARG(braces.classes[i]));
        buf_char(&out, '}');
    }
    buf_char(&out, '\n');
    if (book->style == BOOK_NOTEBOOK && anchor)
        buf_format(&out, "<a name=\"%.*s\"></a>\n", STR_ARG(anchor->name));
    book_add(book, buf_str(&out));
}

static void add_div_label(Book *book, Str name) {
    Buf label = {.arena = book->arena};
    char initial =
        name.at[0] >= 'a' && name.at[0] <= 'z' ? (char)(name.at[0] - 'a' + 'A') : name.at[0];
    if (book->style != BOOK_PANDOC)
        buf_format(&label, "**%c%.*s**\n\n", initial, STR_ARG(str_from(name, 1)));
    else
        buf_format(&label, "::: label\n%c%.*s\n:::\n\n", initial, STR_ARG(str_from(name, 1)));
    book_add(book, buf_str(&label));
}

static size_t hint_number(Book *book) {
    for (int i = book->div_count - 1; i >= 0; i--)
        if (str_equal(book->divs[i].name, STR("exercise"))) return ++book->divs[i].hints;
    return 0;
}

// Opens a div of an exercise: the exercise itself, or a hint or answer in it. False: the name is of
// another div.
static bool opens_exercise(Book *book, Str name, size_t number) {
    if (str_equal(name, STR("exercise")))
        exercises_open(book, number);
    else if (str_equal(name, STR("hint")))
        book_open_fold(book, name, "Hint", hint_number(book));
    else if (str_equal(name, STR("answer")))
        book_open_fold(book, name, "Answer", 0);
    else
        return false;
    return true;
}

// A suggestion of a change, ::: try, is only for a page that can run kernels.
static bool is_hidden(const Book *book, Str name) {
    return str_equal(name, STR("try")) && !book->runnables;
}

static bool in_hidden(const Book *book) {
    for (int i = 0; i < book->div_count; i++)
        if (book->divs[i].hidden) return true;
    return false;
}

static void open_div(Book *book, Str line, const Braces *braces, size_t number) {
    BookDiv div = {.name = braces->classes[0], .line = number};
    Str name = div.name;
    if (str_equal(name, STR("predict"))) {
        predict_open(book, braces, number);
        return;
    }
    if (str_equal(name, STR("why"))) {
        predict_why(book, number);
        return;
    }
    bool rung = str_equal(name, STR("rung"));
    div.hidden = is_hidden(book, name);
    div.plain = div.hidden || opens_exercise(book, name, number) || str_equal(name, STR("summary"));
    if (rung) line = STR("::: rung");
    if (!div.plain && book->style == BOOK_PANDOC) {
        Buf text = {.arena = book->arena};
        buf_format(&text, "%.*s\n", STR_ARG(line));
        book_add(book, buf_str(&text));
    }
    book->divs[book->div_count++] = div;
    if (rung)
        rungs_open(book, number);
    else if (!div.plain && !str_equal(name, STR("try")))
        add_div_label(book, name);
}

static void close_div(Book *book) {
    const BookDiv *div = &book->divs[book->div_count - 1];
    if (str_equal(div->name, STR("exercise"))) exercises_end(book, div->line);
    if (str_equal(div->name, STR("predict")))
        predict_close(book);
    else if (div->plain && exercises_folds(div->name))
        book_close_fold(book);
    else if (book->style == BOOK_PANDOC && !div->hidden && !str_equal(div->name, STR("why")) &&
             !str_equal(div->name, STR("summary")))
        book_add(book, STR(":::\n"));
    book->div_count--;
    book_blank(book);
}

static void add_div_line(Book *book, Str line, DivLine kind, const Braces *braces, size_t number) {
    Str name = braces->class_count ? braces->classes[0] : STR("");
    Buf message = {.arena = book->arena};
    if (kind == DIV_CLOSES && book->div_count == 0)
        buf_add(&message, STR("::: closes a div that was not opened"));
    else if (kind == DIV_OPENS && book->div_count == BOOK_DIV_MAX)
        buf_format(&message, "more than %d divs inside each other", BOOK_DIV_MAX);
    else if (kind == DIV_OPENS && name.len == 0)
        buf_add(&message, STR("a div has a class: ::: name"));
    if (message.len)
        book_error(book, number, message);
    else if (kind == DIV_OPENS)
        open_div(book, line, braces, number);
    else
        close_div(book);
}

void blocks_weave_text(Book *book, const FencePart *part) {
    Str rest = part->source, line, start = rest;
    size_t number = part->line, first = number;
    int level;
    Str title, attributes;
    Braces braces;
    // `start` is the first line of the current paragraph.
    for (Str before = rest;; before = rest, number++) {
        bool more = str_line(&rest, &line);
        bool heading = more && anchor_heading(line, &level, &title, &attributes);
        bool blank = more && str_trim(line).len == 0;
        DivLine div = more ? div_line(book->arena, line, &braces) : DIV_NONE;
        if (more && !heading && !blank && div == DIV_NONE) continue;
        Str paragraph = {start.at, (size_t)(before.at - start.at)};
        if (paragraph.len && !predict_take_options(book, paragraph, first)) {
            const Str text = prose_inline(book, paragraph, first);
            if (!in_hidden(book)) book_add(book, text);
        }
        if (!more) break;
        if (heading) exercises_close_more(book);
        if (heading)
            add_heading(book, level, title, attributes, number);
        else if (blank)
            book_blank(book);
        else
            add_div_line(book, line, div, &braces, number);
        start = rest;
        first = number + 1;
    }
}

// --- fenced blocks ---

// What further lines of a fence need before them, from the marks before its first line: the > of a
// quote stays, and a list item's bullet becomes spaces.
static Str continuation(Arena *arena, Str before) {
    Buf marks_below = {.arena = arena};
    for (size_t i = 0; i < before.len; i++)
        buf_char(&marks_below, before.at[i] == '>' || before.at[i] == '\t' ? before.at[i] : ' ');
    return buf_str(&marks_below);
}

void blocks_weave_fence(Book *book, size_t index, const FencePart *part) {
    size_t chunk = chunk_of_part(book->chunks, book->file, index);
    if (fence_has_class(part, STR("names"))) return;
    Str columns;
    if (chunk != CHUNK_NONE && book->prediction) {
        Buf message = {.arena = book->arena};
        buf_add(&message, STR("a prediction contains a chunk of a program: move it outside"));
        book_error(book, part->line, message);
        return;
    }
    book->container = continuation(book->arena, part->before);
    if (fence_has_class(part, STR("results"))) {
        table_weave(book, part);
    } else if (fence_has_class(part, STR("csv"))) {
        csv_table_weave(book, part);
    } else if (fence_has_class(part, STR("output"))) {
        code_weave_output(book, part);
    } else if (fence_has_class(part, STR("exhibits"))) {
        exhibits_weave(book, part);
    } else if (fence_has_class(part, STR("runs"))) {
        exhibits_weave_runs(book, part);
    } else if (fence_has_class(part, STR("report"))) {
        exhibits_weave_report(book, part);
    } else if (fence_has_class(part, STR("lines"))) {
        lines_weave(book, part);
    } else if (fence_has_class(part, STR("player"))) {
        player_weave(book, part);
    } else if (fence_has_class(part, STR("claim"))) {
        claims_check(book, part);
    } else if (exercises_weave(book, part, chunk) || rungs_weave(book, part)) {
        // done
    } else if (chunk != CHUNK_NONE && book->add_chunk) {
        book->add_chunk(book, chunk);
    } else if (chunk != CHUNK_NONE) {
        code_weave(book, chunk);
    } else if (fence_attribute(part, STR("columns"), &columns)) {
        Buf message = {.arena = book->arena};
        buf_add(&message, STR("columns= works only in a block with .results or .lines: remove it"));
        book_error(book, part->line, message);
    } else {
        code_weave_plain(book, part);
    }
    book->container = STR("");
}
