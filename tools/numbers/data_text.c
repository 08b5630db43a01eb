// Escapes text from results for Markdown.
#include <string.h>

#include "numbers/value.h"

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

static char at(Str s, size_t i) { return i < s.len ? s.at[i] : '\0'; }

// The index of the character to escape in what would begin a list or another block, such as the
// point of `12.`; SIZE_MAX: nothing would.
static size_t block_mark(Str text) {
    size_t end = at(text, 0) == '(';
    if (text.len && memchr("-+#=:>%", text.at[0], 7)) return 0;
    while (end < text.len && is_word(text.at[end])) end++;
    bool marked = end && (at(text, end) == '.' || at(text, end) == ')');
    return marked && (end + 1 == text.len || text.at[end + 1] == ' ') ? end : SIZE_MAX;
}

// Whether Markdown would read the character at i as markup. Two hyphens would become a dash, two
// points an ellipsis, and a colon may end a URL scheme.
static bool is_markup(Str text, size_t i) {
    char c = text.at[i], before = i ? text.at[i - 1] : ' ', after = at(text, i + 1);
    switch (c) {
    case '-':
        return before == '-' || after == '-';
    case '.':
        return before == '.' || after == '.' || (i >= 3 && memcmp(text.at + i - 3, "www", 3) == 0);
    case ':':
        return after == '/' || after == ':' || before == ':';
    case '_':
        return !is_word(before) || !is_word(after);
    default:
        return memchr("\\`*{}[]<>|~^$&@!\"'", c, 18) != NULL;
    }
}

void data_text_add(Buf *out, Str text) {
    text = str_trim(text);
    size_t mark = block_mark(text);
    for (size_t i = 0; i < text.len; i++) {
        char c = (unsigned char)text.at[i] < ' '
                     ? ' '
                     : text.at[i]; // a name may contain a tab or a line end
        if (i == mark || is_markup(text, i)) buf_char(out, '\\');
        buf_char(out, c);
    }
}

// The length of the longest run of backticks. The delimiter must be longer.
static size_t longest_ticks(Str text) {
    size_t longest = 0;
    for (size_t i = 0, run = 0; i < text.len; i++) {
        run = text.at[i] == '`' ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    return longest;
}

void data_text_add_code(Buf *out, Str text, bool bars_escaped) {
    if (bars_escaped && str_find(text, STR("\\|")) != SIZE_MAX) {
        // Markdown readers disagree on what \\| means in code in a table cell.
        buf_add(out, STR("<code>"));
        data_text_add(out, text);
        buf_add(out, STR("</code>"));
        return;
    }
    size_t ticks = longest_ticks(text) + 1;
    bool padded = text.len == 0 || text.at[0] == '`' || text.at[text.len - 1] == '`';
    for (size_t i = 0; i < ticks; i++) buf_char(out, '`');
    if (padded) buf_char(out, ' ');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '|' && bars_escaped) buf_char(out, '\\');
        buf_char(out, (unsigned char)text.at[i] < ' ' ? ' ' : text.at[i]);
    }
    if (padded) buf_char(out, ' ');
    for (size_t i = 0; i < ticks; i++) buf_char(out, '`');
}
