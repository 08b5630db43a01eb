// Reads Markdown line by line. Each line first continues the open containers. Then it either
// belongs to the open fence or HTML block, or opens new containers and at most one leaf block.
#include "markdown/fence.h"

#include <ctype.h>
#include <stdint.h>

#include "markdown/html_block.h"

enum { TAB_STOP = 4, CODE_INDENT = 4 };

// A position in a line. Columns count from 0. A tab extends to the next multiple of four; if a list
// item takes only part of a tab, `pending` is the number of its columns left before line.at[at].
typedef struct {
    Str line;
    size_t at;
    size_t column;
    size_t pending;
} Cursor;

typedef struct {
    bool quote;   // a block quote; otherwise a list item
    bool empty;   // an item without content yet: one blank line ends it
    size_t width; // indent in columns that continues a list item
} Container;

typedef enum { LEAF_NONE, LEAF_PARAGRAPH, LEAF_FENCE, LEAF_HTML } Leaf;

typedef struct {
    Arena *arena;
    FenceParts result;
    size_t part_capacity;
    size_t line;            // number of the current line
    const char *line_start; // start of the current line
    const char *prose;      // start of the prose before it
    size_t prose_line;

    Container containers[FENCE_DEPTH_MAX];
    size_t depth;
    Leaf leaf; // the open leaf block, in the innermost container
    HtmlBlock html;
    FencePart open; // the open fence
    size_t open_indent;
    size_t body_capacity;
} Scanner;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The width of the white space ahead, in columns; *next is the index after it.
static size_t cursor_indent(const Cursor *cursor, size_t *next) {
    size_t column = cursor->column + cursor->pending;
    size_t at = cursor->at;
    for (; at < cursor->line.len && is_blank(cursor->line.at[at]); at++)
        column += cursor->line.at[at] == '\t' ? TAB_STOP - column % TAB_STOP : 1;
    *next = at;
    return column - cursor->column;
}

// Skips `count` columns of white space.
static void cursor_skip_columns(Cursor *cursor, size_t count) {
    for (; count; count--) {
        if (cursor->pending)
            cursor->pending--;
        else if (cursor->line.at[cursor->at++] == '\t')
            cursor->pending = TAB_STOP - cursor->column % TAB_STOP - 1;
        cursor->column++;
    }
}

static void cursor_skip_indent(Cursor *cursor) {
    size_t next;
    cursor_skip_columns(cursor, cursor_indent(cursor, &next));
}

// Skips `count` characters other than white space.
static void cursor_skip(Cursor *cursor, size_t count) {
    cursor->at += count;
    cursor->column += count;
}

static Str cursor_rest(const Cursor *cursor) { return str_from(cursor->line, cursor->at); }

static bool all_blank(Str s) {
    for (size_t i = 0; i < s.len; i++)
        if (!is_blank(s.at[i])) return false;
    return true;
}

static size_t run_length(Str s, char c) {
    size_t n = 0;
    while (n < s.len && s.at[n] == c) n++;
    return n;
}

// Three or more of the same *, - or _, with any white space between. CommonMark 4.1.
static bool is_thematic_break(Str s) {
    char mark = s.at[0];
    size_t count = 0;
    if (mark != '*' && mark != '-' && mark != '_') return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] == mark)
            count++;
        else if (!is_blank(s.at[i]))
            return false;
    return count >= 3;
}

static bool is_heading(Str s) {
    size_t level = run_length(s, '#');
    return level >= 1 && level <= 6 && (level == s.len || is_blank(s.at[level]));
}

// The line under a paragraph that makes it a heading. CommonMark 4.3.
static bool is_underline(Str s) {
    return (s.at[0] == '=' || s.at[0] == '-') && all_blank(str_from(s, run_length(s, s.at[0])));
}

// The length of the list marker at the start of s, or 0. Only an item that has content and no
// number but 1 may interrupt a paragraph. CommonMark 5.2.
static size_t list_marker(Str s, bool interrupts) {
    size_t length = 0;
    bool bullet = s.at[0] == '-' || s.at[0] == '*' || s.at[0] == '+';
    if (bullet) {
        length = 1;
    } else {
        while (length < s.len && length < 9 && isdigit((unsigned char)s.at[length])) length++;
        if (length == 0 || length == s.len) return 0;
        if (s.at[length] != '.' && s.at[length] != ')') return 0;
        if (interrupts && !(length == 1 && s.at[0] == '1')) return 0;
        length++;
    }
    if (length < s.len && !is_blank(s.at[length])) return 0;
    return interrupts && all_blank(str_from(s, length)) ? 0 : length;
}

// The length of the fence that opens s, or 0. A backtick fence's info string has no backtick.
static size_t opening_fence(Str s) {
    char mark = s.at[0];
    if (mark != '`' && mark != '~') return 0;
    size_t length = run_length(s, mark);
    if (length < 3) return 0;
    return mark == '`' && str_find(str_from(s, length), STR("`")) != SIZE_MAX ? 0 : length;
}

// Parses pandoc's attributes: braces that end the info string, after at most one word. Ignores
// errors in other info strings, which belong to other dialects, unless braces_meant().
static void read_info(Arena *arena, FencePart *part, size_t column) {
    size_t brace = str_find(part->info, STR("{"));
    Str list = str_from(part->info, brace), words = str_trim(str_slice(part->info, 0, brace));
    size_t first = 0;
    while (first < words.len && !isspace((unsigned char)words.at[first])) first++;
    Braces read = {0};
    if (first) {
        read.classes = ARENA_NEW(arena, 1, Str);
        read.classes[read.class_count++] = str_slice(words, 0, first);
    }
    part->braces = read;
    if (list.len && first < words.len)
        read.error = STR("bad attributes: expected at most one word before \"{\"");
    else if (list.len)
        braces_read(arena, list, column + brace, &read);
    if (read.error.len == 0)
        part->braces = read;
    else if (braces_meant(list))
        part->braces = (Braces){.error = read.error};
}

static void add_part(Scanner *scanner, FencePart part) {
    ARENA_GROW(scanner->arena, scanner->result.parts, scanner->result.count,
               scanner->part_capacity);
    scanner->result.parts[scanner->result.count++] = part;
}

// Adds the prose up to `end` as a part.
static void end_prose(Scanner *scanner, const char *end) {
    if (end == scanner->prose) return;
    add_part(scanner, (FencePart){.source = {scanner->prose, (size_t)(end - scanner->prose)},
                                  .line = scanner->prose_line,
                                  .line_count = scanner->line - scanner->prose_line});
}

static void open_fence(Scanner *scanner, const Cursor *cursor, size_t indent) {
    end_prose(scanner, scanner->line_start);
    size_t ticks_end = cursor->at + opening_fence(cursor_rest(cursor));
    Str info = str_trim(str_from(cursor->line, ticks_end));
    scanner->open = (FencePart){
        .fenced = true,
        .source = {scanner->line_start, 0},
        .line = scanner->line,
        .before = str_slice(cursor->line, 0, cursor->at),
        .ticks = str_slice(cursor->line, cursor->at, ticks_end),
        .info = info,
        .nested = scanner->depth > 0,
    };
    if (info.len)
        read_info(scanner->arena, &scanner->open, (size_t)(info.at - scanner->line_start) + 1);
    scanner->open_indent = indent;
    scanner->body_capacity = 0;
    scanner->leaf = LEAF_FENCE;
}

// Ends the open fence before `next`, the start of line `next_number`.
static void end_fence(Scanner *scanner, const char *next, size_t next_number) {
    scanner->open.source.len = (size_t)(next - scanner->open.source.at);
    scanner->open.line_count = next_number - scanner->open.line;
    add_part(scanner, scanner->open);
    scanner->leaf = LEAF_NONE;
    scanner->prose = next;
    scanner->prose_line = next_number;
}

// Adds a line inside the open fence to its body. Returns true instead if it closes the fence.
static bool fence_line(Scanner *scanner, Cursor *cursor) {
    FencePart *open = &scanner->open;
    size_t next, indent = cursor_indent(cursor, &next);
    Str text = str_from(cursor->line, next);
    size_t length = run_length(text, open->ticks.at[0]);
    if (indent < CODE_INDENT && length >= open->ticks.len && all_blank(str_from(text, length)))
        return true;
    cursor_skip_columns(cursor, indent < scanner->open_indent ? indent : scanner->open_indent);
    Str content = cursor_rest(cursor);
    if (cursor->pending) {
        Buf buf = {.arena = scanner->arena};
        buf_format(&buf, "%*s", (int)cursor->pending, "");
        buf_add(&buf, content);
        content = buf_str(&buf);
    }
    ARENA_GROW(scanner->arena, open->body, open->body_count, scanner->body_capacity);
    open->body[open->body_count++] = content;
    return false;
}

// Returns how many of the open containers this line continues, and skips their markers.
static size_t continue_containers(Scanner *scanner, Cursor *cursor) {
    for (size_t i = 0; i < scanner->depth; i++) {
        Container *container = &scanner->containers[i];
        size_t next, indent = cursor_indent(cursor, &next);
        bool blank = next == cursor->line.len;
        if (container->quote) {
            if (blank || indent >= CODE_INDENT || cursor->line.at[next] != '>') return i;
            cursor_skip_indent(cursor);
            cursor_skip(cursor, 1);
            if (cursor_indent(cursor, &next)) cursor_skip_columns(cursor, 1);
        } else if (indent >= container->width) {
            cursor_skip_columns(cursor, container->width);
        } else if (blank && !container->empty) {
            cursor_skip_indent(cursor);
        } else {
            return i;
        }
        if (!blank) container->empty = false;
    }
    return scanner->depth;
}

// Opens a block quote or list item that starts here, in the first `depth` containers. Skips its
// marker.
static bool open_container(Scanner *scanner, Cursor *cursor, size_t depth, bool in_paragraph) {
    size_t next, indent = cursor_indent(cursor, &next);
    Str text = str_from(cursor->line, next);
    Container container = {.quote = text.at[0] == '>'};
    size_t mark = container.quote ? 1 : list_marker(text, in_paragraph);
    if (mark == 0 || depth == FENCE_DEPTH_MAX) return false;
    cursor_skip_columns(cursor, indent);
    cursor_skip(cursor, mark);
    size_t space = cursor_indent(cursor, &next);
    container.empty = next == cursor->line.len;
    bool one = container.quote || container.empty || space > CODE_INDENT;
    size_t taken = one && space ? 1 : space;
    cursor_skip_columns(cursor, taken);
    container.width = indent + mark + (container.empty ? 1 : taken);
    scanner->containers[depth] = container;
    scanner->depth = depth + 1;
    scanner->leaf = LEAF_NONE;
    return true;
}

typedef enum { START_NONE, START_FENCE, START_HTML, START_LINE } LeafStart;

// The kind of leaf block that starts with this text, as far as fences depend on it. Sets the kind
// of an HTML block. `lazy`: a paragraph is open; `in_paragraph`: and the line has the markers of
// its containers.
static LeafStart leaf_start(Str text, bool lazy, bool in_paragraph, HtmlBlock *html) {
    if (opening_fence(text)) return START_FENCE;
    if (html_block_starts(text, lazy, html)) return START_HTML;
    if (is_heading(text) || is_thematic_break(text)) return START_LINE;
    return in_paragraph && is_underline(text) ? START_LINE : START_NONE;
}

// Reads a line outside fences and HTML blocks, after the markers of the first `matched` containers.
static void scan_block_start(Scanner *scanner, Cursor *cursor, size_t matched) {
    bool lazy = scanner->leaf == LEAF_PARAGRAPH; // text continues it even without container markers
    size_t next, indent;
    LeafStart start = START_NONE;
    for (;;) {
        indent = cursor_indent(cursor, &next);
        if (next == cursor->line.len || indent >= CODE_INDENT) break;
        bool in_paragraph = lazy && matched == scanner->depth;
        start = leaf_start(str_from(cursor->line, next), lazy, in_paragraph, &scanner->html);
        if (start != START_NONE || !open_container(scanner, cursor, matched, in_paragraph)) break;
        matched = scanner->depth;
        lazy = false;
    }
    bool blank = next == cursor->line.len;
    if (!blank && start == START_NONE && (lazy || indent < CODE_INDENT)) {
        if (!lazy) scanner->depth = matched;
        scanner->leaf = LEAF_PARAGRAPH;
        return;
    }
    scanner->depth = matched;
    scanner->leaf = LEAF_NONE;
    Str text = str_from(cursor->line, next);
    if (start == START_FENCE) {
        cursor_skip_indent(cursor);
        open_fence(scanner, cursor, indent);
    } else if (start == START_HTML && !html_block_ends(scanner->html, text)) {
        scanner->leaf = LEAF_HTML;
    }
}

// Reads one line. `next_line` is the start of the next.
static void scan_line(Scanner *scanner, Str line, const char *next_line) {
    Cursor cursor = {.line = line};
    size_t matched = continue_containers(scanner, &cursor);
    bool inside = matched == scanner->depth;
    if (scanner->leaf == LEAF_FENCE && inside) {
        if (fence_line(scanner, &cursor)) {
            scanner->open.closed = true;
            end_fence(scanner, next_line, scanner->line + 1);
        }
        return;
    }
    if (scanner->leaf == LEAF_HTML && inside) {
        if (html_block_ends(scanner->html, cursor_rest(&cursor))) scanner->leaf = LEAF_NONE;
        return;
    }
    if (scanner->leaf == LEAF_FENCE) end_fence(scanner, scanner->line_start, scanner->line);
    if (scanner->leaf == LEAF_HTML) scanner->leaf = LEAF_NONE;
    scan_block_start(scanner, &cursor, matched);
}

FenceParts fence_scan(Arena *arena, Str text) {
    Scanner *scanner = ARENA_NEW(arena, 1, Scanner);
    *scanner = (Scanner){.arena = arena, .line = 1, .prose = text.at, .prose_line = 1};
    Str rest = text, line;
    for (; str_line(&rest, &line); scanner->line++) {
        scanner->line_start = line.at;
        scan_line(scanner, line, rest.at);
    }
    if (scanner->leaf == LEAF_FENCE) end_fence(scanner, rest.at, scanner->line);
    end_prose(scanner, rest.at);
    return scanner->result;
}

bool fence_has_class(const FencePart *part, Str class_name) {
    return braces_have_class(&part->braces, class_name);
}

bool fence_attribute(const FencePart *part, Str key, Str *value) {
    return braces_value(&part->braces, key, value);
}
