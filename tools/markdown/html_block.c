// Recognizes the start and end of HTML blocks in Markdown.
#include "markdown/html_block.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <strings.h>

static const char *const verbatim_tags[] = {"pre", "script", "style", "textarea", NULL};

static const char *const structure_tags[] = {
    "address",  "article",  "aside",    "base",       "basefont", "blockquote", "body",   "caption",
    "center",   "col",      "colgroup", "dd",         "details",  "dialog",     "dir",    "div",
    "dl",       "dt",       "fieldset", "figcaption", "figure",   "footer",     "form",   "frame",
    "frameset", "h1",       "h2",       "h3",         "h4",       "h5",         "h6",     "head",
    "header",   "hr",       "html",     "iframe",     "legend",   "li",         "link",   "main",
    "menu",     "menuitem", "nav",      "noframes",   "ol",       "optgroup",   "option", "p",
    "param",    "search",   "section",  "summary",    "table",    "tbody",      "td",     "tfoot",
    "th",       "thead",    "title",    "tr",         "track",    "ul",         NULL};

static bool is_space(char c) { return c == ' ' || c == '\t'; }

static size_t skip_space(Str s, size_t at) {
    while (at < s.len && is_space(s.at[at])) at++;
    return at;
}

static size_t tag_name_length(Str s) {
    size_t n = 0;
    if (s.len == 0 || !isalpha((unsigned char)s.at[0])) return 0;
    while (n < s.len && (isalnum((unsigned char)s.at[n]) || s.at[n] == '-')) n++;
    return n;
}

static bool is_one_of(Str name, const char *const *list) {
    for (; *list; list++) {
        Str entry = str_of(*list);
        if (entry.len == name.len && strncasecmp(entry.at, name.at, name.len) == 0) return true;
    }
    return false;
}

// The end of the attribute that starts at s[at] with its name, or SIZE_MAX. CommonMark 6.6.
static size_t attribute_end(Str s, size_t at) {
    if (at >= s.len) return SIZE_MAX;
    if (!isalpha((unsigned char)s.at[at]) && s.at[at] != '_' && s.at[at] != ':') return SIZE_MAX;
    while (at < s.len && (isalnum((unsigned char)s.at[at]) ||
                          str_find(STR("_.:-"), str_slice(s, at, at + 1)) != SIZE_MAX))
        at++;
    size_t equals = skip_space(s, at);
    if (equals >= s.len || s.at[equals] != '=') return at;
    at = skip_space(s, equals + 1);
    if (at >= s.len) return SIZE_MAX;
    if (s.at[at] == '"' || s.at[at] == '\'') {
        size_t close = str_find(str_from(s, at + 1), str_slice(s, at, at + 1));
        return close == SIZE_MAX ? SIZE_MAX : at + 1 + close + 1;
    }
    size_t start = at;
    while (at < s.len && str_find(STR(" \t\"'=<>`"), str_slice(s, at, at + 1)) == SIZE_MAX) at++;
    return at > start ? at : SIZE_MAX;
}

// A complete tag with nothing after it, other than an opening tag of HTML_VERBATIM.
static bool is_lone_tag(Str s) {
    bool closing = s.len > 1 && s.at[1] == '/';
    size_t at = closing ? 2 : 1;
    Str name = str_slice(s, at, at + tag_name_length(str_from(s, at)));
    if (name.len == 0 || (!closing && is_one_of(name, verbatim_tags))) return false;
    at += name.len;
    for (size_t next; !closing && (next = skip_space(s, at)) > at; at = next) {
        next = attribute_end(s, next);
        if (next == SIZE_MAX) break;
    }
    at = skip_space(s, at);
    if (!closing && at < s.len && s.at[at] == '/') at++;
    if (at >= s.len || s.at[at] != '>') return false;
    return skip_space(s, at + 1) == s.len;
}

bool html_block_starts(Str line, bool in_paragraph, HtmlBlock *kind) {
    if (line.len < 2 || line.at[0] != '<') return false;
    bool closing = line.at[1] == '/';
    size_t start = closing ? 2 : 1;
    Str name = str_slice(line, start, start + tag_name_length(str_from(line, start)));
    Str after = str_from(line, start + name.len);
    bool ended = after.len == 0 || is_space(after.at[0]) || after.at[0] == '>';
    *kind = 0;
    if (str_starts(line, STR("<!--")))
        *kind = HTML_COMMENT;
    else if (str_starts(line, STR("<?")))
        *kind = HTML_INSTRUCTION;
    else if (str_starts(line, STR("<![CDATA[")))
        *kind = HTML_CDATA;
    else if (line.len > 2 && line.at[1] == '!' && isalpha((unsigned char)line.at[2]))
        *kind = HTML_DECLARATION;
    else if (!closing && ended && is_one_of(name, verbatim_tags))
        *kind = HTML_VERBATIM;
    else if ((ended || str_starts(after, STR("/>"))) && is_one_of(name, structure_tags))
        *kind = HTML_STRUCTURE;
    else if (!in_paragraph && is_lone_tag(line))
        *kind = HTML_ANY_TAG;
    return *kind != 0;
}

static bool has_verbatim_end(Str line) {
    for (size_t at; (at = str_find(line, STR("</"))) != SIZE_MAX;) {
        line = str_from(line, at + 2);
        Str name = str_slice(line, 0, tag_name_length(line));
        if (is_one_of(name, verbatim_tags) && str_starts(str_from(line, name.len), STR(">")))
            return true;
    }
    return false;
}

bool html_block_ends(HtmlBlock kind, Str line) {
    static const char *const ends[] = {[HTML_COMMENT] = "-->",
                                       [HTML_INSTRUCTION] = "?>",
                                       [HTML_DECLARATION] = ">",
                                       [HTML_CDATA] = "]]>"};
    if (kind == HTML_VERBATIM) return has_verbatim_end(line);
    if (kind == HTML_STRUCTURE || kind == HTML_ANY_TAG) return str_trim(line).len == 0;
    return str_find(line, str_of(ends[kind])) != SIZE_MAX;
}
