// Unit tests of the parsers of a line or paragraph of Markdown: first and last lines of HTML
// blocks, the inlines of a paragraph, attributes. Prints `ok NAME` or `not ok NAME` with what was
// wrong below it.
#include <stdio.h>
#include <string.h>

#include "markdown/braces.h"
#include "markdown/html_block.h"
#include "markdown/inline.h"

static Arena arena;
static Buf trouble = {.arena = &arena};

#define WRONG(...)                                                                                 \
    (buf_add(&trouble, STR("    ")), buf_format(&trouble, __VA_ARGS__), buf_char(&trouble, '\n'))
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void told(const char *name) {
    printf("%s %s\n%.*s", trouble.len ? "not ok" : "ok", name, STR_ARG(buf_str(&trouble)));
    trouble.len = 0;
}

// --- HTML blocks, CommonMark 4.6 ---

enum { NO_HTML = 0 };

static void test_html_starts(void) {
    static const struct {
        const char *line;
        int kind; // outside of a paragraph; inside one, a lone tag starts no block
    } rows[] = {{"<", NO_HTML},
                {"a<div>", NO_HTML},
                {"< div>", NO_HTML},
                {"<pre>", HTML_VERBATIM},
                {"<PRE", HTML_VERBATIM},
                {"<script src='x'>", HTML_VERBATIM},
                {"<style\t>", HTML_VERBATIM},
                {"<textarea>x", HTML_VERBATIM},
                {"<pre/>", NO_HTML},
                {"</pre>", HTML_ANY_TAG},
                {"</pre> x", NO_HTML},
                {"<prex>", HTML_ANY_TAG},
                {"<pr>", HTML_ANY_TAG},
                {"<!-- x", HTML_COMMENT},
                {"<!-->", HTML_COMMENT},
                {"<!-", NO_HTML},
                {"<?", HTML_INSTRUCTION},
                {"<?php x", HTML_INSTRUCTION},
                {"<!A", HTML_DECLARATION},
                {"<!doctype html>", HTML_DECLARATION},
                {"<!", NO_HTML},
                {"<!1>", NO_HTML},
                {"<![CDATA[", HTML_CDATA},
                {"<![CDATA", NO_HTML},
                {"<![cdata[", NO_HTML},
                {"<div", HTML_STRUCTURE},
                {"<DIV class=x", HTML_STRUCTURE},
                {"</div>", HTML_STRUCTURE},
                {"</div x", HTML_STRUCTURE},
                {"<div/>", HTML_STRUCTURE},
                {"<div/", NO_HTML},
                {"<divx>", HTML_ANY_TAG},
                {"<h1>", HTML_STRUCTURE},
                {"<h7>", HTML_ANY_TAG},
                {"<hr/> x", HTML_STRUCTURE},
                {"<p>x", HTML_STRUCTURE},
                {"<a>", HTML_ANY_TAG},
                {"<a>  \t", HTML_ANY_TAG},
                {"<a> x", NO_HTML},
                {"<a", NO_HTML},
                {"</a>", HTML_ANY_TAG},
                {"</a >", HTML_ANY_TAG},
                {"</a b>", NO_HTML},
                {"</a/>", NO_HTML},
                {"<a/>", HTML_ANY_TAG},
                {"<a />", HTML_ANY_TAG},
                {"<a / >", NO_HTML},
                {"<a/ >", NO_HTML},
                {"<a//>", NO_HTML},
                {"</>", NO_HTML},
                {"<>", NO_HTML},
                {"<1>", NO_HTML},
                {"<a-b1>", HTML_ANY_TAG},
                {"<a_b>", NO_HTML},
                {"<a b>", HTML_ANY_TAG},
                {"<a b c>", HTML_ANY_TAG},
                {"<a b=c>", HTML_ANY_TAG},
                {"<a b = c>", HTML_ANY_TAG},
                {"<a b='c d' e=\"f>g\">", HTML_ANY_TAG},
                {"<a b='c'd>", NO_HTML},
                {"<a b='c'>", HTML_ANY_TAG},
                {"<a b=''>", HTML_ANY_TAG},
                {"<a b='>", NO_HTML},
                {"<a b=>", NO_HTML},
                {"<a b= >", NO_HTML},
                {"<a b=", NO_HTML},
                {"<a b= ", NO_HTML},
                {"<a b", NO_HTML},
                {"<a ", NO_HTML},
                {"<a _b :c>", HTML_ANY_TAG},
                {"<a 1b>", NO_HTML},
                {"<a -b>", NO_HTML},
                {"<a b.c:d-e_f1>", HTML_ANY_TAG},
                {"<a b=c`>", NO_HTML},
                {"<a b=c=d>", NO_HTML},
                {"<a b=c\"d>", NO_HTML},
                {"<a b=c<d>", NO_HTML},
                {"<a b=c/d>", HTML_ANY_TAG},
                {"<a*>", NO_HTML},
                {"<https://example.org>", NO_HTML},
                {"<a\tb>", HTML_ANY_TAG}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int paragraph = 0; paragraph < 4;
             paragraph++) { // with blanks after the line, or with >
            // the line ends where its memory ends: what follows must not be read
            HtmlBlock kind = HTML_CDATA;
            Str line = str_of(rows[i].line);
            char padded[64];
            memset(padded, paragraph & 2 ? '>' : ' ', sizeof padded);
            memcpy(padded, line.at, line.len);
            bool starts = html_block_starts((Str){padded, line.len}, paragraph & 1, &kind);
            int wanted = paragraph & 1 && rows[i].kind == HTML_ANY_TAG ? NO_HTML : rows[i].kind;
            if (starts != (wanted != NO_HTML) || (starts && (int)kind != wanted))
                WRONG("%s%s: %d, not %d", rows[i].line, paragraph & 1 ? " in a paragraph" : "",
                      (int)kind, wanted);
        }
    }
    told("first lines of HTML blocks");
}

static void test_html_ends(void) {
    static const struct {
        HtmlBlock kind;
        const char *line;
        bool ends;
    } rows[] = {{HTML_VERBATIM, "x</pre>y", true},  {HTML_VERBATIM, "</PRE>", true},
                {HTML_VERBATIM, "</script>", true}, {HTML_VERBATIM, "</a></style>", true},
                {HTML_VERBATIM, "</pre", false},    {HTML_VERBATIM, "</pre >", false},
                {HTML_VERBATIM, "</prex>", false},  {HTML_VERBATIM, "<pre>", false},
                {HTML_VERBATIM, "", false},         {HTML_VERBATIM, "</", false},
                {HTML_VERBATIM, "</div>", false},   {HTML_COMMENT, "a -->b", true},
                {HTML_COMMENT, "-- >", false},      {HTML_COMMENT, "", false},
                {HTML_INSTRUCTION, "a?>", true},    {HTML_INSTRUCTION, "a>", false},
                {HTML_DECLARATION, "a>", true},     {HTML_DECLARATION, "a", false},
                {HTML_CDATA, "]]>", true},          {HTML_CDATA, "]>", false},
                {HTML_STRUCTURE, "", true},         {HTML_STRUCTURE, " \t", true},
                {HTML_STRUCTURE, "</div>", false},  {HTML_ANY_TAG, "", true},
                {HTML_ANY_TAG, "x", false}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (html_block_ends(rows[i].kind, str_of(rows[i].line)) != rows[i].ends)
            WRONG("kind %d: `%s`", (int)rows[i].kind, rows[i].line);
    told("last lines of HTML blocks");
}

// --- inlines of a paragraph ---

static Str pieces_of(Str paragraph) {
    static const char *const kinds[] = {
        [INLINE_TEXT] = "text",     [INLINE_CODE] = "code",
        [INLINE_TARGET] = "target", [INLINE_ATTRIBUTES] = "attributes",
        [INLINE_NOTE] = "note",     [INLINE_AUTOLINK] = "link",
        [INLINE_MATH] = "math"};
    Buf out = {.arena = &arena}, whole = {.arena = &arena};
    InlineScan scan = inline_scan(paragraph);
    for (Inline piece; inline_next(&scan, &piece);) {
        buf_format(&out, "%s%s(%.*s)", out.len ? " " : "",
                   piece.image ? "image" : kinds[piece.kind], STR_ARG(piece.text));
        if (piece.attributes.len) buf_format(&out, "%.*s", STR_ARG(piece.attributes));
        buf_add(&whole, piece.whole);
        if (piece.whole.len == 0) break;
    }
    if (!str_equal(buf_str(&whole), paragraph))
        WRONG("the pieces of `%.*s` are not the whole", STR_ARG(paragraph));
    return buf_str(&out);
}

static void test_pieces(void) {
    static const struct {
        const char *paragraph, *pieces;
    } rows[] = {
        {"", ""},
        {"a *b* c", "text(a *b* c)"},
        {"a `b` c", "text(a ) code(b) text( c)"},
        {"``a`b``", "code(a`b)"},
        {"`` ` ``", "code( ` )"},
        {"`a``b`", "code(a``b)"},
        {"`a", "text(`a)"},
        {"``a`", "text(``a`)"},
        {"```", "text(```)"},
        {"\\`a`", "text(\\`a`)"},
        {"\\", "text(\\)"},
        {"a\\\\`b`", "text(a\\\\) code(b)"},
        {"`a`{.b}", "code(a){.b}"},
        {"`a`{.b c=\"}\"}d", "code(a){.b c=\"}\"} text(d)"},
        {"`a` {.b}", "code(a) text( {.b})"},
        {"`a`{b}", "code(a) text({b})"},
        {"`a`{b=c}", "code(a){b=c}"},
        {"`a`{#b}", "code(a){#b}"},
        {"`a`{-}", "code(a){-}"},
        {"`a`{Z=1}", "code(a){Z=1}"},
        {"`a`{[=1}", "code(a) text({[=1})"},
        {"`a`{@=1}", "code(a) text({@=1})"},
        {"`a`{1=1}", "code(a) text({1=1})"},
        {"`a`{b}=", "code(a) text({b}=)"},
        {"`a`{.b", "code(a) text({.b)"},
        {"`a`{.b \"}", "code(a) text({.b \"})"},
        {"`a`{}", "code(a) text({})"},
        {"{.b}", "text({.b})"},
        {"(a){.b}", "text((a){.b})"},
        {"[a](b c){.d}", "text([a]() target(b) text( c)) attributes({.d})"},
        {"[a](b)", "text([a]() target(b) text())"},
        {"[a](b){.c}", "text([a]() target(b) text()) attributes({.c})"},
        {"[a](b) {.c}", "text([a]() target(b) text() {.c})"},
        {"![a](b)", "text(![a]() image(b) text())"},
        {"[a](b \"c\")", "text([a]() target(b) text( \"c\"))"},
        {"[a](b(c)d)", "text([a]() target(b(c)d) text())"},
        {"[a](b\nc)", "text([a]() target(b) text(\nc))"},
        {"[a](b\tc)", "text([a]() target(b) text(\tc))"},
        {"[a](b", "text([a]() target(b)"},
        {"[a] (b)", "text([a] (b))"},
        {"a](b)", "text(a](b))"},
        {"[a]{.b}", "text([a]) attributes({.b})"},
        {"[[a](b)](c)", "text([[a]() target(b) text()]() target(c) text())"},
        {"[![a](b)](c)", "text([![a]() image(b) text()]() target(c) text())"},
        {"![[a](b)](c)", "text(![[a]() target(b) text()]() image(c) text())"},
        {"[`]`](b)", "text([) code(]) text(]() target(b) text())"},
        {"\\[a](b)", "text(\\[a](b))"},
        {"[a\\](b)", "text([a\\](b))"},
        {"[a](<b c>)", "text([a]() target(<b) text( c>))"},
        {"[^a] b", "note(a) text( b)"},
        {"[^]", "text([^])"},
        {"[^a b]", "text([^a b])"},
        {"[^a", "text([^a)"},
        {"[^a\n]", "text([^a\n])"},
        {"[^a[]", "text([^a[])"},
        {"[^ab]:c", "note(ab) text(:c)"},
        {"<https://a.b/c>d", "link(https://a.b/c) text(d)"},
        {"<a b:c>", "text(<a b:c>)"},
        {"< a:b>", "text(< a:b>)"},
        {"<a:b c>", "text(<a:b c>)"},
        {"<a:b\nc>", "text(<a:b\nc>)"},
        {"<a:<b>", "text(<a:<b>)"},
        {"<ab>:", "text(<ab>:)"},
        {"<a:b", "text(<a:b)"},
        {"<abcdefgh:i>", "link(abcdefgh:i)"},
        {"<abcdefghi:j>", "text(<abcdefghi:j>)"},
        {"$a$b", "math($a$) text(b)"},
        {"$$a$b$$c", "math($$a$b$$) text(c)"},
        {"$a", "text($a)"},
        {"$ a$", "text($ a$)"},
        {"$\na$", "text($\na$)"},
        {"$a $", "text($a $)"},
        {"$a\n$", "text($a\n$)"},
        {"$a $b$", "math($a $b$)"},
        {"$a$1", "text($a$1)"},
        {"$a$9", "text($a$9)"},
        {"$a$0", "text($a$0)"},
        {"$a\\$b$", "math($a\\$b$)"},
        {"$a$:", "math($a$) text(:)"},
        {"$$ a $$", "math($$ a $$)"},
        {"$$a$", "text($) math($a$)"},
        {"$", "text($)"},
        {"$a$/", "math($a$) text(/)"},
        {"[a]: b", "text([a]: ) target(b)"},
        {"   [a]:b c", "text(   [a]:) target(b) text( c)"},
        {"    [a]: b", "text(    [a]: b)"},
        {"x\n [a]: b", "text(x\n [a]: ) target(b)"},
        {"x [a]: b", "text(x [a]: b)"},
        {"[^a]: b", "note(a) text(: b)"},
        {"[a] : b", "text([a] : b)"},
        {"[a]: b\n[c]: d", "text([a]: ) target(b) text(\n[c]: ) target(d)"},
        {"![x] [a](b)", "text(![x] [a]() target(b) text())"},
        {"!\n[a](b)", "text(!\n[a]() target(b) text())"},
    };
    // The result must not depend on how the next paragraph begins.
    static const char behind[] = " `{$(:^]=)9>'";
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (const char *next = behind; *next && !trouble.len; next++) {
            Buf text = {.arena = &arena};
            buf_format(&text, "%s%c", rows[i].paragraph, *next);
            Str found = pieces_of(str_slice(buf_str(&text), 0, text.len - 1));
            if (!str_equal(found, str_of(rows[i].pieces)))
                WRONG("`%s`: %.*s, not %s", rows[i].paragraph, STR_ARG(found), rows[i].pieces);
        }
    }
    told("inlines of paragraphs");
}

// A mark is closed by another one within 4096 bytes, or else is text; brackets nest 64 deep.
static void test_far_pieces(void) {
    for (size_t inside = 4090; inside < 4100; inside++) {
        Buf code = {.arena = &arena}, list = {.arena = &arena};
        buf_format(&code, "`%*s`", (int)inside, "");
        Str found = pieces_of(buf_str(&code));
        if (str_starts(found, STR("code")) != (inside + 1 < 4096))
            WRONG("code of %zu bytes", inside);
        buf_format(&list, "`a`{.b%*s}", (int)inside, "");
        found = pieces_of(buf_str(&list));
        if (str_ends(found, STR("}")) != (inside + 3 < 4096))
            WRONG("attributes of %zu blanks", inside);
    }
    for (int depth = 60; depth < 70; depth++) {
        Buf text = {.arena = &arena};
        for (int i = 0; i < depth; i++) buf_add(&text, STR("!["));
        for (int i = 0; i < depth; i++) buf_add(&text, STR("](a)"));
        Str found = pieces_of(buf_str(&text));
        size_t images = 0;
        for (size_t at; (at = str_find(found, STR("image("))) != SIZE_MAX; images++)
            found = str_from(found, at + 1);
        if (images != (size_t)(depth < 64 ? depth : 64)) WRONG("%zu images %d deep", images, depth);
    }
    told("inlines that end far away");
}

// --- attributes ---

static void test_meant(void) {
    static const struct {
        const char *text;
        bool meant;
    } rows[] = {{"{.a}", true},
                {"{ .a", true},
                {"{a .b}", false},
                {"{a #b}", true},
                {"{#b}", true},
                {"{file=x}", true},
                {"{a file = x}", true},
                {"{files=x}", false},
                {"{file x}", false},
                {"{'#a'}", false},
                {"{\"#a\" #b}", true},
                {"{'a\" #b'}", false},
                {"{r, echo=FALSE}", false},
                {"{1,3-5}", false},
                {"{a#b}", false},
                {"{}", false},
                {"{", false},
                {"{\"file=\"}", false},
                {"{x\tfile=y}", true}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (braces_meant(str_of(rows[i].text)) != rows[i].meant) WRONG("%s", rows[i].text);
    told("what looks like attributes");
}

static void test_braces(void) {
    static const struct {
        const char *text, *error; // "": none
    } rows[] = {
        {"{.a #b c=d}", ""},
        {"{ .a\t}  ", ""},
        {"{}", ""},
        {"{.a", "bad attributes at column 8: expected \"}\", found the end of the line"},
        {"{.a} b", "bad attributes at column 10: expected nothing after \"}\", found `b`"},
        {"{.}", "bad attributes at column 6: expected a class such as .cuda, found `.`"},
        {"{.1}", "bad attributes at column 6: expected a class such as .cuda, found `.1`"},
        {"{.a.b .c+}", "bad attributes at column 11: expected a class such as .cuda, found `.c+`"},
        {"{#a #b}", "bad attributes at column 9: expected one #name only, found `#b`"},
        {"{a=1 a=2}", "bad attributes at column 10: expected each key once, found `a=2`"},
        {"{a=}",
         "bad attributes at column 8: expected a value, in quotes if it has spaces, found `}`"},
        {"{a=\"b}", "bad attributes at column 8: expected a closing quote, found `\"b`"},
        {"{a=\"b\"c}", "bad attributes at column 8: expected a value, in quotes if it has spaces, "
                       "found `\"b\"c`"},
        {"{a=b{c}",
         "bad attributes at column 8: expected a value, in quotes if it has spaces, found `b{c`"},
        {"{=b}", "bad attributes at column 6: expected .class, #name or key=value, found `=b`"}};
    static const char *const values[][2] = {{"{k=a}", "a"},
                                            {"{k=\"a b\"}", "a b"},
                                            {"{k='a \"b\"'}", "a \"b\""},
                                            {"{k=\"a\\\"b\"}", "a\"b"},
                                            {"{k=a\\ b}", NULL},
                                            {"{k=a\\{b}", "a{b"},
                                            {"{k=\"a\\b\"}", "a\\b"},
                                            {"{k=\"\"}", ""},
                                            {"{k=a'b}", "a'b"},
                                            {"{k=\"a}b\"}", "a}b"},
                                            {"{j=1 k=2 l=3}", "2"},
                                            {"{k=a\\\\}", "a\\"},
                                            {"{k=a\\}", NULL}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        Braces braces = {0};
        braces_read(&arena, str_of(rows[i].text), 5, &braces);
        if (!str_equal(braces.error, str_of(rows[i].error)))
            WRONG("%s: %.*s", rows[i].text, STR_ARG(braces.error));
    }
    for (size_t i = 0; i < COUNT(values); i++) {
        Braces braces = {0};
        Str value = {0};
        braces_read(&arena, str_of(values[i][0]), 1, &braces);
        bool found = !braces.error.len && braces_value(&braces, STR("k"), &value);
        if (found != (values[i][1] != NULL) || (found && !str_equal(value, str_of(values[i][1]))))
            WRONG("%s: `%.*s` %.*s", values[i][0], STR_ARG(value), STR_ARG(braces.error));
    }
    told("attributes");
}

// A message quotes at most 60 bytes, and never part of a character; a list has at most 64 keys.
static void test_long_attributes(void) {
    for (int bytes = 55; bytes < 66; bytes++) {
        Buf plain = {.arena = &arena}, wide = {.arena = &arena};
        Braces one = {0}, two = {0};
        buf_char(&plain, '{'), buf_add(&wide, STR("{+"));
        for (int i = 0; i < bytes; i++) buf_char(&plain, '+');
        for (int i = 1; i < bytes; i += 2) buf_add(&wide, STR("\u00e4"));
        braces_read(&arena, buf_str(&plain), 1, &one);
        braces_read(&arena, buf_str(&wide), 1, &two);
        size_t quoted = one.error.len - str_find(one.error, STR("`+")) - 2;
        if (quoted != (size_t)(bytes < 60 ? bytes : 60))
            WRONG("%d bytes: %zu are quoted", bytes, quoted);
        if (str_invalid_utf8(two.error) != SIZE_MAX) WRONG("%d bytes: part of a character", bytes);
        quoted = two.error.len - str_find(two.error, STR("`+")) - 2;
        size_t all = (size_t)(1 + bytes / 2 * 2), most = 59;
        if (quoted != (all < most ? all : most))
            WRONG("%d bytes: %zu of letters are quoted", bytes, quoted);
    }
    for (int keys = 63; keys < 67; keys++) {
        Buf list = {.arena = &arena};
        Braces braces = {0};
        buf_char(&list, '{');
        for (int i = 0; i < keys; i++) buf_format(&list, "k%d=1 ", i);
        buf_char(&list, '}');
        braces_read(&arena, buf_str(&list), 1, &braces);
        if ((braces.error.len == 0) != (keys <= 64))
            WRONG("%d keys: %.*s", keys, STR_ARG(braces.error));
    }
    told("unclosed attributes");
}

int main(void) {
    test_html_starts();
    test_html_ends();
    test_pieces();
    test_far_pieces();
    test_meant();
    test_braces();
    test_long_attributes();
    arena_free(&arena);
    return 0;
}
