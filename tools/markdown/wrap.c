// Wraps Markdown line by line: collects the lines of a paragraph, splits them at blanks where a
// line may end, and fills new lines.
#include "markdown/wrap.h"

#include <ctype.h>

#include "markdown/fence.h"
#include "markdown/html_block.h"
#include "markdown/inline.h"

typedef struct {
    Arena *arena;
    size_t width;
    Buf out;
    Buf text;         // the lines of the open paragraph
    bool open;        // a paragraph is open
    Str first, below; // what its first line and its other lines have before the text
    size_t marks;     // the length of the quote marks in these
    size_t item;      // the column of the text of the list item that contains the line
    HtmlBlock html;   // the open HTML block, or 0
    bool verbatim;    // lines are kept until the next blank one
} Wrap;

// --- what a line or a word starts ---

static bool consists_of(Str s, const char *characters) {
    for (size_t i = 0; i < s.len; i++)
        if (str_find(str_of(characters), str_slice(s, i, i + 1)) == SIZE_MAX) return false;
    return s.len > 0;
}

// The length of a list marker with its blanks, or 0.
static size_t marker_length(Str line) {
    size_t at = 0;
    while (at < line.len && at < 9 && isdigit((unsigned char)line.at[at])) at++;
    Str marks = at ? STR(".)") : STR("-+*");
    if (at >= line.len || str_find(marks, str_slice(line, at, at + 1)) == SIZE_MAX) return 0;
    size_t blanks = 0;
    while (at + 1 + blanks < line.len && line.at[at + 1 + blanks] == ' ') blanks++;
    return blanks >= 1 && blanks <= 4 && at + 1 + blanks < line.len ? at + 1 + blanks : 0;
}

static bool is_definition(Str line) {
    size_t close = str_find(line, STR("]"));
    return str_starts(line, STR("[")) && close != SIZE_MAX &&
           str_starts(str_from(line, close), STR("]:"));
}

// Whether a line belongs to no paragraph: a heading, a row of a table, a rule, a div.
static bool is_line_of_its_own(Str line) {
    return str_starts(line, STR("#")) || str_starts(line, STR("|")) ||
           str_starts(line, STR(":::")) || consists_of(line, "-= ") || consists_of(line, "* ") ||
           consists_of(line, "_ ");
}

// Whether a line that began with this word might not continue the paragraph.
static bool must_not_begin(Str word) {
    HtmlBlock kind;
    Str last = str_from(word, word.len - 1), letters = str_slice(word, 0, word.len - 1);
    bool numbers = str_equal(last, STR(".")) || str_equal(last, STR(")"));
    return consists_of(word, "-+=*_:~") || str_starts(word, STR(">")) || is_definition(word) ||
           str_starts(word, STR("```")) || str_starts(word, STR("~~~")) ||
           str_starts(word, STR("$$")) || is_line_of_its_own(word) ||
           html_block_starts(word, true, &kind) ||
           (numbers && (letters.len == 1 || consists_of(letters, "0123456789ivx")));
}

// --- words ---

typedef struct {
    Str *at;
    size_t count, capacity;
    Buf word;
} Words;

static void end_word(Arena *arena, Words *words) {
    if (words->word.len == 0) return;
    ARENA_GROW(arena, words->at, words->count, words->capacity);
    words->at[words->count++] = buf_str(&words->word);
    words->word = (Buf){.arena = arena};
}

// The length of the HTML tag at the start of s, or 0.
static size_t tag_length(Str s) {
    enum { TAG_MOST = 400 };
    bool tag = s.len > 1 && s.at[0] == '<' && (isalpha((unsigned char)s.at[1]) || s.at[1] == '/');
    size_t end = tag ? str_find(str_slice(s, 0, TAG_MOST), STR(">")) : SIZE_MAX;
    return end == SIZE_MAX ? 0 : end + 1;
}

static void add_whole(Words *words, Str s) {
    for (size_t i = 0; i < s.len; i++) buf_char(&words->word, s.at[i] == '\n' ? ' ' : s.at[i]);
}

static void add_plain(Arena *arena, Words *words, Str s) {
    for (size_t i = 0; i < s.len; i++) {
        bool escaped = i > 0 && s.at[i - 1] == '\\' && s.at[i] == ' ';
        size_t tag = tag_length(str_from(s, i));
        if (tag) {
            add_whole(words, str_slice(s, i, i + tag));
            i += tag - 1;
        } else if ((s.at[i] == ' ' && !escaped) || s.at[i] == '\n' || s.at[i] == '\t') {
            end_word(arena, words);
        } else {
            buf_char(&words->word, s.at[i]);
        }
    }
}

static Words words_of(Arena *arena, Str text) {
    Words words = {.word = {.arena = arena}};
    InlineScan scan = inline_scan(text);
    for (Inline span; inline_next(&scan, &span);)
        if (span.kind == INLINE_TEXT)
            add_plain(arena, &words, span.whole);
        else
            add_whole(&words, span.whole);
    end_word(arena, &words);
    return words;
}

// --- filling lines ---

static size_t columns(Str s) {
    size_t count = 0;
    for (size_t i = 0; i < s.len; i++) count += ((unsigned char)s.at[i] & 0xc0) != 0x80;
    return count;
}

// The end of the words from `start` on that stay on one line.
static size_t unit_end(const Words *words, size_t start) {
    size_t end = start + 1;
    while (end < words->count &&
           (must_not_begin(words->at[end]) || str_ends(words->at[end - 1], STR("\\"))))
        end++;
    return end;
}

static void end_paragraph(Wrap *wrap) {
    Words words = words_of(wrap->arena, buf_str(&wrap->text));
    size_t at = 0;
    for (size_t start = 0, end; start < words.count; start = end) {
        size_t wide = 0;
        end = unit_end(&words, start);
        for (size_t i = start; i < end; i++) wide += 1 + columns(words.at[i]);
        bool fits = start && at + wide <= wrap->width;
        if (start && !fits) buf_char(&wrap->out, '\n');
        if (!fits) buf_add(&wrap->out, start ? wrap->below : wrap->first);
        if (!fits) at = columns(start ? wrap->below : wrap->first) - 1;
        for (size_t i = start; i < end; i++) {
            if (fits || i > start) buf_char(&wrap->out, ' ');
            buf_add(&wrap->out, words.at[i]);
        }
        at += wide;
    }
    wrap->text.len = 0;
    wrap->open = false;
}

static void close_paragraph(Wrap *wrap) {
    bool some = wrap->open && wrap->text.len;
    end_paragraph(wrap);
    if (some) buf_char(&wrap->out, '\n');
}

// --- lines ---

static void keep_line(Wrap *wrap, Str line) {
    close_paragraph(wrap);
    buf_add(&wrap->out, line);
    buf_char(&wrap->out, '\n');
}

static Str joined(Arena *arena, Str a, size_t blanks) {
    Buf text = {.arena = arena};
    buf_add(&text, a);
    for (size_t i = 0; i < blanks; i++) buf_char(&text, ' ');
    return buf_str(&text);
}

// Adds a line to the paragraph; after a hard break the text goes on in a new line.
static void add_line(Wrap *wrap, Str line) {
    bool backslash = str_ends(line, STR("\\")), hard = backslash || str_ends(line, STR("  "));
    if (wrap->text.len) buf_char(&wrap->text, '\n');
    buf_add(&wrap->text, line);
    if (!hard) return;
    end_paragraph(wrap);
    buf_add(&wrap->out, backslash ? STR("\n") : STR("  \n"));
    wrap->first = wrap->below;
    wrap->open = true;
}

static size_t quote_length(Str line) {
    size_t length = 0;
    for (;;) {
        size_t at = length;
        while (at < line.len && at < length + 3 && line.at[at] == ' ') at++;
        if (at >= line.len || line.at[at] != '>') return length;
        bool blank = at + 1 < line.len && (line.at[at + 1] == ' ' || line.at[at + 1] == '\t');
        length = at + 1 + blank;
    }
}

static void open_paragraph(Wrap *wrap, Str line, Str text, size_t marker) {
    wrap->first = (Str){line.at, (size_t)(text.at - line.at) + marker};
    Str marks = str_slice(line, 0, wrap->marks);
    wrap->below = joined(wrap->arena, marks, wrap->first.len - wrap->marks);
    wrap->open = true;
    if (marker) wrap->item = wrap->first.len - wrap->marks;
    add_line(wrap, str_from(text, marker));
}

static void take_line(Wrap *wrap, Str line) {
    size_t marks = quote_length(line), lead = 0;
    Str content = str_from(line, marks);
    while (lead < content.len && content.at[lead] == ' ') lead++;
    Str text = str_from(content, lead);
    bool blank = str_trim(text).len == 0;
    if (wrap->html || wrap->verbatim || blank) {
        if (wrap->html && html_block_ends(wrap->html, text)) wrap->html = 0;
        if (blank) wrap->verbatim = false;
        keep_line(wrap, line);
        return;
    }
    if (wrap->open && marks != wrap->marks) close_paragraph(wrap);
    if (marks != wrap->marks) wrap->item = 0;
    wrap->marks = marks;
    if (!wrap->open && lead < wrap->item) wrap->item = lead;
    size_t marker = marker_length(text);
    if (wrap->open && wrap->item == 0 && isdigit((unsigned char)text.at[0]) &&
        !str_starts(text, STR("1")))
        marker = 0; // only a list that starts with 1 can interrupt a paragraph
    bool code = !wrap->open && (lead >= wrap->item + 4 || str_starts(text, STR("\t")));
    wrap->verbatim = !code && (str_starts(text, STR("$$")) || is_definition(text));
    if (html_block_starts(text, wrap->open, &wrap->html)) {
        if (html_block_ends(wrap->html, text)) wrap->html = 0;
        keep_line(wrap, line);
    } else if (code || wrap->verbatim || is_line_of_its_own(text) ||
               (marker && must_not_begin(str_from(text, marker)))) {
        keep_line(wrap, line);
    } else if (marker || !wrap->open) {
        close_paragraph(wrap);
        open_paragraph(wrap, line, text, marker);
    } else {
        add_line(wrap, text);
    }
}

Str wrap_markdown(Arena *arena, Str text, size_t width) {
    Wrap wrap = {.arena = arena, .width = width, .out = {.arena = arena}, .text = {.arena = arena}};
    FenceParts parts = fence_scan(arena, text);
    for (size_t i = 0; i < parts.count; i++) {
        Str rest = parts.parts[i].source, line;
        if (parts.parts[i].fenced) {
            close_paragraph(&wrap);
            buf_add(&wrap.out, rest);
            continue;
        }
        while (str_line(&rest, &line)) take_line(&wrap, line);
    }
    close_paragraph(&wrap);
    return buf_str(&wrap.out);
}
