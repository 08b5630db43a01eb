// Weaves running text: values, links, images, notes, and the check for typed measurements.
#include "book/prose.h"

#include <unistd.h>

#include "base/path.h"
#include "markdown/inline.h"

typedef struct {
    Book *book;
    size_t line; // of the current inline element
    Buf text;    // the paragraph as woven
    bool exempt; // measurements are allowed: an estimate, or a quotation with its source
} Paragraph;

static void error_at(Paragraph *paragraph, Buf message) {
    book_error(paragraph->book, paragraph->line, message);
}

static size_t line_ends(Str s) {
    size_t count = 0;
    for (size_t i = 0; i < s.len; i++) count += s.at[i] == '\n';
    return count;
}

// Measurements in plain text must come from results.
static void check_measurements(Paragraph *paragraph, Str text) {
    size_t length, start = paragraph->line;
    if (paragraph->exempt) return;
    for (size_t i = 0; (i = typed_numbers_find(text, i, &length)) != SIZE_MAX; i += length) {
        Buf message = {.arena = paragraph->book->arena};
        buf_add(&message, STR("measurement typed by hand: `"));
        for (size_t k = i; k < i + length; k++)
            buf_char(&message, text.at[k] == '\n' ? ' ' : text.at[k]);
        buf_add(&message, STR("`; take it from results, or put it into ::: estimate, a prediction "
                              "or a quotation with its source"));
        paragraph->line = start + line_ends(str_slice(text, 0, i));
        error_at(paragraph, message);
    }
    paragraph->line = start;
}

static Str code_text(Str ticked) {
    bool padded = ticked.len > 2 && ticked.at[0] == ' ' && ticked.at[ticked.len - 1] == ' ';
    return padded ? str_slice(ticked, 1, ticked.len - 1) : ticked;
}

// Adds a value from the device that the code span names, or from the chapter's device.
static void add_value(Paragraph *paragraph, Str expression, const Braces *attributes) {
    Book *book = paragraph->book;
    KeyScope scope = book_scope(book);
    braces_value(attributes, STR("device"), &scope.device);
    Buf plain = {.arena = book->arena}, why = {.arena = book->arena};
    Value value;
    for (size_t i = 0; i < expression.len; i++)
        buf_char(&plain, expression.at[i] == '\n' ? ' ' : expression.at[i]);
    if (expr_value(&scope, str_trim(buf_str(&plain)), &value, &why)) {
        value_format(&paragraph->text, value);
        book_check_stale(book, paragraph->line, buf_str(&plain), value.stale);
        return;
    }
    Buf message = {.arena = book->arena};
    buf_format(&message, "`%.*s`: %.*s", STR_ARG(buf_str(&plain)), STR_ARG(buf_str(&why)));
    error_at(paragraph, message);
}

static void add_code(Paragraph *paragraph, const Inline *piece) {
    Book *book = paragraph->book;
    Braces braces = {0};
    if (piece->attributes.len) braces_read(book->arena, piece->attributes, 1, &braces);
    if (braces.error.len) {
        Buf message = {.arena = book->arena};
        buf_add(&message, braces.error);
        error_at(paragraph, message);
    } else if (braces_have_class(&braces, STR("result"))) {
        add_value(paragraph, code_text(piece->text), &braces);
    } else if (braces_have_class(&braces, STR("when"))) {
        Buf message = {.arena = book->arena};
        buf_add(&message,
                STR("a condition is allowed only in the options of a prediction without key="));
        error_at(paragraph, message);
    } else if (book->style != BOOK_PANDOC) {
        buf_add(&paragraph->text,
                str_slice(piece->whole, 0, piece->whole.len - piece->attributes.len));
    } else {
        buf_add(&paragraph->text, piece->whole);
    }
}

static size_t file_with_path(Book *book, Str path) {
    for (size_t i = 0; i < book->chunks->file_count; i++)
        if (str_equal(path_resolve(book->arena, STR(""), book->chunks->files[i].path), path))
            return i;
    return CHUNK_NONE;
}

static bool is_outside(Str target) {
    size_t colon = str_find(target, STR(":")), slash = str_find(target, STR("/"));
    return colon != SIZE_MAX && colon < slash;
}

// The target of a link to a heading, from the current page. The first heading of another page is
// the page itself.
static Str heading_target(const Book *book, size_t file, const Anchor *anchor) {
    Buf target = {.arena = book->arena};
    BookHome home = book->homes ? book->homes[file] : (BookHome){STR(""), false};
    buf_add(&target, home.path);
    if (home.apart && home.path.len && anchor->level == 1) return buf_str(&target);
    buf_format(&target, "#%.*s", STR_ARG(home.apart ? anchor->slug : anchor->name));
    return buf_str(&target);
}

Str prose_link_to(const Book *book, size_t file) {
    const Anchor *title = anchor_find(&book->anchors, file, STR(""));
    return title ? heading_target(book, file, title) : STR("");
}

static void add_heading_link(Paragraph *paragraph, Str target, size_t file, Str fragment) {
    Book *book = paragraph->book;
    const Anchor *anchor = anchor_find(&book->anchors, file, fragment);
    Buf message = {.arena = book->arena};
    if (anchor) {
        buf_add(&paragraph->text, heading_target(book, file, anchor));
        return;
    }
    buf_format(&message, "link to `%.*s`: %.*s has no such heading", STR_ARG(target),
               STR_ARG(book->chunks->files[file].path));
    error_at(paragraph, message);
}

// Links within the book become anchors. File links are relative to the book's folder; images are
// relative to the working folder, where pandoc looks for them.
static void add_target(Paragraph *paragraph, Str target, bool image) {
    Book *book = paragraph->book;
    Str own = book->chunks->files[book->file].path;
    size_t hash = str_find(target, STR("#"));
    Str fragment = hash == SIZE_MAX ? STR("") : str_from(target, hash + 1);
    Str relative = str_slice(target, 0, hash);
    if (is_outside(target) || str_starts(target, STR("<"))) {
        buf_add(&paragraph->text, target);
        return;
    }
    Str path = path_resolve(book->arena, path_folder(own), relative);
    size_t file = relative.len ? file_with_path(book, path) : book->file;
    if (file != CHUNK_NONE) {
        add_heading_link(paragraph, target, file, fragment);
    } else if (access(str_terminated(book->arena, path), F_OK) != 0) {
        Buf message = {.arena = book->arena};
        buf_format(&message, "%s `%.*s`: there is no %.*s", image ? "image" : "link to",
                   STR_ARG(target), STR_ARG(path));
        error_at(paragraph, message);
    } else if (image && book->add_image) {
        Buf why = {.arena = book->arena};
        if (!book->add_image(book, path, &paragraph->text, &why)) error_at(paragraph, why);
    } else {
        bool from_here = image && book->style == BOOK_PANDOC;
        if (!from_here && !str_starts(path, STR("/"))) buf_add(&paragraph->text, book->up);
        buf_add(&paragraph->text, path);
        if (hash != SIZE_MAX) buf_add(&paragraph->text, str_from(target, hash));
    }
}

// Note labels are unique only within a chapter, so the book adds the chapter's name to them.
static void add_note(Paragraph *paragraph, Str label) {
    Str chapter = book_chapter(paragraph->book);
    if (chapter.len)
        buf_format(&paragraph->text, "[^%.*s-%.*s]", STR_ARG(chapter), STR_ARG(label));
    else
        buf_format(&paragraph->text, "[^%.*s]", STR_ARG(label));
}

static void add_piece(Paragraph *paragraph, const Inline *piece) {
    switch (piece->kind) {
    case INLINE_TEXT:
        check_measurements(paragraph, piece->text);
        buf_add(&paragraph->text, piece->whole);
        break;
    case INLINE_CODE:
        add_code(paragraph, piece);
        break;
    case INLINE_TARGET:
        add_target(paragraph, piece->text, piece->image);
        break;
    case INLINE_NOTE:
        add_note(paragraph, piece->text);
        break;
    case INLINE_ATTRIBUTES:
        if (paragraph->book->style == BOOK_PANDOC) buf_add(&paragraph->text, piece->whole);
        break;
    case INLINE_AUTOLINK:
    case INLINE_MATH:
        buf_add(&paragraph->text, piece->whole);
        break;
    }
    paragraph->line += line_ends(piece->whole);
}

// Whether a block quote names its source: a link, a note or a citation.
static bool is_sourced_quote(Str text) {
    if (!str_starts(str_trim(text), STR(">"))) return false;
    if (str_find(text, STR("[@")) != SIZE_MAX) return true;
    InlineScan scan = inline_scan(text);
    for (Inline piece; inline_next(&scan, &piece);)
        if (piece.kind == INLINE_TARGET || piece.kind == INLINE_AUTOLINK ||
            piece.kind == INLINE_NOTE)
            return true;
    return false;
}

// Whether the text is in an estimate or a prediction, whose numbers are not measurements.
static bool in_estimate(const Book *book) {
    for (int i = 0; i < book->div_count; i++)
        if (str_equal(book->divs[i].name, STR("estimate"))) return true;
    return book->prediction;
}

Str prose_inline(Book *book, Str text, size_t line) {
    Paragraph paragraph = {.book = book,
                           .line = line,
                           .text = {.arena = book->arena},
                           .exempt = in_estimate(book) || is_sourced_quote(text)};
    InlineScan scan = inline_scan(text);
    for (Inline piece; inline_next(&scan, &piece);) add_piece(&paragraph, &piece);
    return buf_str(&paragraph.text);
}
