// Compares a chunk with its base by the longest common subsequence of their lines.
#include "book/changes.h"

// A line without its comment.
static Str code_of(Str line) { return str_trim(str_slice(line, 0, str_find(line, STR("//")))); }

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether a line defines something; where its name, the word before the first `(`, begins and ends.
static bool defined_name(Str line, size_t *start, size_t *end) {
    size_t at = str_find(line, STR("("));
    if (at == SIZE_MAX || line.at[0] == ' ') return false;
    *end = at;
    while (at > 0 && is_name(line.at[at - 1])) at--;
    *start = at;
    return at < *end;
}

static bool same(Str a, Str b) {
    size_t start_a, end_a, start_b, end_b;
    if (str_equal(code_of(a), code_of(b))) return true;
    return defined_name(a, &start_a, &end_a) && defined_name(b, &start_b, &end_b) &&
           str_equal(str_slice(a, 0, start_a), str_slice(b, 0, start_b)) &&
           str_equal(code_of(str_from(a, end_a)), code_of(str_from(b, end_b)));
}

// The weight of a pair of lines in the common subsequence; 0 if they differ. Equal indentation
// weighs more, so that a closing brace is matched with its own counterpart.
static size_t line_weight(Str a, Str b) {
    if (!same(a, b)) return 0;
    return str_find(a, code_of(a)) == str_find(b, code_of(b)) ? 3 : 2;
}

// The greatest weight of a common subsequence of every two suffixes, in rows of `width` entries.
static size_t *common_lines(Arena *arena, const FencePart *now, const FencePart *then) {
    size_t width = then->body_count + 1;
    size_t *common = ARENA_NEW(arena, (now->body_count + 1) * width, size_t);
    for (size_t i = now->body_count; i-- > 0;)
        for (size_t k = then->body_count; k-- > 0;) {
            size_t below = common[(i + 1) * width + k], right = common[i * width + k + 1];
            size_t most = below > right ? below : right,
                   value = line_weight(now->body[i], then->body[k]);
            if (value && common[(i + 1) * width + k + 1] + value > most)
                most = common[(i + 1) * width + k + 1] + value;
            common[i * width + k] = most;
        }
    return common;
}

// Whether lines i and k are matched in the common subsequence.
static bool shared(const FencePart *now, const FencePart *then, const size_t *common, size_t i,
                   size_t k) {
    const size_t width = then->body_count + 1, value = line_weight(now->body[i], then->body[k]);
    return value && common[i * width + k] == common[(i + 1) * width + k + 1] + value;
}

static void compare(Arena *arena, const FencePart *now, const FencePart *then, Changes *changes) {
    size_t width = then->body_count + 1, k = 0;
    const size_t *common = common_lines(arena, now, then);
    changes->lines = ARENA_NEW(arena, now->body_count + 1, size_t);
    for (size_t i = 0; i < now->body_count; i++) {
        while (k < then->body_count && !shared(now, then, common, i, k) &&
               common[i * width + k] == common[i * width + k + 1])
            k++;
        if (k < then->body_count && shared(now, then, common, i, k))
            k++;
        else if (code_of(now->body[i]).len)
            changes->lines[changes->count++] = i + 1;
    }
}

Changes changes_of(Book *book, size_t chunk) {
    Changes changes = {.base = CHUNK_NONE};
    const FencePart *part = book->chunks->chunks[chunk].part;
    Str name;
    if (!fence_attribute(part, STR("from"), &name)) return changes;
    changes.base = chunk_find(book->chunks, name);
    if (changes.base == CHUNK_NONE) {
        Buf message = {.arena = book->arena};
        buf_format(&message, "from=%.*s: there is no chunk of this name", STR_ARG(name));
        book_error(book, part->line, message);
        return changes;
    }
    compare(book->arena, part, book->chunks->chunks[changes.base].part, &changes);
    return changes;
}

// --- as a diff ---

typedef struct {
    char mark; // '+', '-' or ' '
    Str line;
} DiffLine;

// The lines of both, with removed lines before the lines that replace them.
static size_t diff_lines(Arena *arena, const FencePart *now, const FencePart *then,
                         DiffLine *lines) {
    size_t width = then->body_count + 1, count = 0, i = 0, k = 0;
    const size_t *common = common_lines(arena, now, then);
    while (i < now->body_count || k < then->body_count) {
        bool both = i < now->body_count && k < then->body_count;
        if (both && shared(now, then, common, i, k)) {
            lines[count++] = (DiffLine){' ', now->body[i]};
            i++, k++;
        } else if (k < then->body_count &&
                   (!both || common[i * width + k + 1] >= common[(i + 1) * width + k])) {
            lines[count++] = (DiffLine){'-', then->body[k++]};
        } else {
            lines[count++] = (DiffLine){'+', now->body[i++]};
        }
    }
    size_t kept = 0;
    for (size_t at = 0; at < count; at++)
        if (code_of(lines[at].line).len) lines[kept++] = lines[at];
    return kept;
}

static bool is_near_change(const DiffLine *lines, size_t count, size_t at) {
    size_t first = at ? at - 1 : 0, last = at + 1 < count ? at + 1 : at;
    for (size_t i = first; i <= last; i++)
        if (lines[i].mark != ' ') return true;
    return false;
}

size_t changes_add_lines(Arena *arena, const FencePart *now, const FencePart *then, Buf *text) {
    DiffLine *lines = ARENA_NEW(arena, now->body_count + then->body_count + 1, DiffLine);
    size_t count = diff_lines(arena, now, then, lines), added = 0;
    bool shown = true;
    for (size_t i = 0; i < count; i++) {
        bool show = is_near_change(lines, count, i);
        if (show) buf_format(text, "%c %.*s\n", lines[i].mark, STR_ARG(lines[i].line));
        if (!show && shown) buf_add(text, STR("  …\n"));
        added += show || shown;
        shown = show;
    }
    return added;
}

bool changes_add_diff(Book *book, size_t chunk, Buf *text) {
    const FencePart *part = book->chunks->chunks[chunk].part;
    size_t base = changes_of(book, chunk).base;
    if (base == CHUNK_NONE) return false;
    changes_add_lines(book->arena, part, book->chunks->chunks[base].part, text);
    return true;
}

// --- in words ---

void changes_add_words(const Changes *changes, Buf *text) {
    if (changes->count == 0) buf_add(text, STR("no line"));
    for (size_t i = 0, end; i < changes->count; i = end) {
        for (end = i + 1; end < changes->count; end++)
            if (changes->lines[end] != changes->lines[end - 1] + 1) break;
        if (end - i == 2) end = i + 1; // a pair of lines is listed, not shown as a range
        bool last = end == changes->count;
        const char *before = last ? " and " : ", ";
        if (i == 0) before = changes->count == 1 ? "line " : "lines ";
        buf_format(text, "%s%zu", before, changes->lines[i]);
        if (end - i > 1) buf_format(text, " to %zu", changes->lines[end - 1]);
    }
}
