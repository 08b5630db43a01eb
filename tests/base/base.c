// The functions of tools/base. Prints `ok NAME` or `not ok NAME` with what was wrong below. Takes
// an empty folder, in which it makes files.
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/catalog.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/kernel_name.h"
#include "base/path.h"
#include "base/source.h"

static Arena arena;
static Buf trouble = {.arena = &arena};

#define WRONG(...)                                                                                 \
    (buf_add(&trouble, STR("    ")), buf_format(&trouble, __VA_ARGS__), buf_char(&trouble, '\n'))
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void told(const char *name) {
    printf("%s %s\n%.*s", trouble.len ? "not ok" : "ok", name, STR_ARG(buf_str(&trouble)));
    trouble.len = 0;
}

static void same(const char *what, Str found, const char *wanted) {
    if (!str_equal(found, str_of(wanted)))
        WRONG("%s: `%.*s`, not `%s`", what, STR_ARG(found), wanted);
}

static void same_number(const char *what, size_t found, size_t wanted) {
    if (found != wanted) WRONG("%s: %zu, not %zu", what, found, wanted);
}

static int sign(int number) { return (number > 0) - (number < 0); }

// --- texts ---

static void test_compare(void) {
    static const struct {
        const char *a, *b;
        int order;
    } rows[] = {{"", "", 0},     {"", "a", -1},    {"a", "a", 0},     {"a", "b", -1},
                {"a", "ab", -1}, {"ab", "b", -1},  {"abc", "abc", 0}, {"abc", "abd", -1},
                {"a", "", 1},    {"\xff", "a", 1}, {"aa", "a", 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        Str a = str_of(rows[i].a), b = str_of(rows[i].b);
        if (sign(str_compare(a, b)) != rows[i].order) WRONG("%s and %s", rows[i].a, rows[i].b);
        if (sign(str_compare(b, a)) != -rows[i].order) WRONG("%s and %s", rows[i].b, rows[i].a);
        if (str_equal(a, b) != (rows[i].order == 0)) WRONG("%s equals %s", rows[i].a, rows[i].b);
    }
    if (!str_equal((Str){NULL, 0}, STR(""))) WRONG("no text is not the empty one");
    if (str_compare((Str){NULL, 0}, STR("a")) >= 0) WRONG("no text is not before a");
    told("texts in order");
}

static void test_slices(void) {
    Str s = STR("abcdef");
    same("from 2", str_from(s, 2), "cdef");
    same("from the end", str_from(s, 6), "");
    same("from beyond", str_from(s, 7), "");
    same("of none", str_from((Str){NULL, 0}, 3), "");
    same("slice", str_slice(s, 1, 3), "bc");
    same("slice to beyond", str_slice(s, 4, 9), "ef");
    same("slice backwards", str_slice(s, 4, 2), "");
    if (str_slice(s, 4, 2).at != s.at + 2) WRONG("a backward slice lies elsewhere");
    if (!str_starts(s, STR("abc")) || str_starts(s, STR("abd")) || !str_starts(s, STR("")) ||
        str_starts(STR("ab"), STR("abc")))
        WRONG("starts");
    if (!str_ends(s, STR("def")) || str_ends(s, STR("dee")) || !str_ends(s, s) ||
        !str_ends(s, STR("")) || str_ends(STR("ef"), STR("def")))
        WRONG("ends");
    same("trim", str_trim(STR(" \t\n\r\v\fa b \t\n\r\v\f")), "a b");
    same("trim blanks", str_trim(STR(" \n ")), "");
    same("one line", str_one_line(&arena, STR(" a  b\n\tc ")), "a b c");
    same("one line of blanks", str_one_line(&arena, STR(" \n ")), "");
    same("a plain path in a command", str_shell(&arena, STR("../a-b/c_1.cu")), "../a-b/c_1.cu");
    same("a path with a space", str_shell(&arena, STR("a b/c")), "'a b/c'");
    same("one with a quote", str_shell(&arena, STR("it's $x")), "'it'\\''s $x'");
    same("no path", str_shell(&arena, STR("")), "''");
    Str words = STR("  ab\tc\n"), word;
    if (!str_word(&words, &word)) WRONG("a first word");
    same("first word", word, "ab");
    if (!str_word(&words, &word) || str_word(&words, &word)) WRONG("two words");
    Buf html = {.arena = &arena};
    json_in_html(&html, STR("\"a</script><!--\""));
    same("JSON in HTML", buf_str(&html), "\"a\\u003c/script>\\u003c!--\"");
    same("trim a letter", str_trim(STR("a")), "a");
    same("trim nothing",
         str_trim(STR("\x01"
                      "a\x1f")),
         "\x01"
         "a\x1f");
    same_number("find", str_find(s, STR("cd")), 2);
    same_number("find at the start", str_find(s, STR("a")), 0);
    same_number("find at the end", str_find(s, STR("ef")), 4);
    same_number("find all", str_find(s, s), 0);
    same_number("find nothing", str_find(s, STR("")), 0);
    same_number("find none", str_find(s, STR("ce")), SIZE_MAX);
    same_number("find more than there is", str_find(STR("a"), STR("ab")), SIZE_MAX);
    if (str_hash(STR("")) != 14695981039346656037u || str_hash(STR("a")) != 0xaf63dc4c8601ec8cu ||
        str_hash(STR("foobar")) != 0x85944171f73967e8u) // published with FNV-1a
        WRONG("hash");
    same("terminated", str_of(str_terminated(&arena, str_slice(s, 1, 3))), "bc");
    same("terminated none", str_of(str_terminated(&arena, (Str){NULL, 0})), "");
    told("parts of texts");
}

static void test_lines(void) {
    static const char *const wanted[] = {"a", "", "b", "c\rd", "", "\r", "e"};
    Str rest = STR("a\n\nb\r\nc\rd\n\r\n\r\r\ne"), line;
    size_t count = 0;
    for (; str_line(&rest, &line); count++)
        if (count < COUNT(wanted)) same("line", line, wanted[count]);
    same_number("lines", count, COUNT(wanted));
    rest = STR("a\n");
    if (!str_line(&rest, &line) || str_line(&rest, &line)) WRONG("a line end begins no line");
    told("lines");
}

// source_add keeps the part of a program that is hashed: its code without comments.
static Str code_of(const char *path, const char *text) {
    Buf code = {.arena = &arena};
    source_add(&code, str_of(path), str_of(text));
    return buf_str(&code);
}

static void test_source(void) {
    static const struct {
        const char *text, *code;
    } cases[] = {
        {"a = 1; // one\n\n  /* two\n * lines */ b;\n", "a = 1;\nb;\n"},
        {"a /* x */ b/**/c\t \td\r\n", "a b c d\n"},
        {"s = \"a  // b\"; // c\n", "s = \"a  // b\";\n"},
        {"s = \"\\\"/*\"; t;  u;\n", "s = \"\\\"/*\"; t; u;\n"},
        {"c = '\"'; // c\nd = '\\''; // d\n", "c = '\"';\nd = '\\'';\n"},
        {"n = 1'000; // n\n  x0 = '0';  y;\n", "n = 1'000;\nx0 = '0'; y;\n"},
        {"f(R \"(\"); // f\n", "f(R \"(\");\n"},
        {"a; // goes \\\n on\nb;\n", "a;\nb;\n"},
        {"s = \"one \\\n  // two\"; // s\n", "s = \"one \\\n  // two\";\n"},
        {"s = \"not closed\n  b; // c\n", "s = \"not closed\nb;\n"},
        {"s = R\"(a \\\n  // \" b\n)\";  // c\n", "s = R\"(a \\\n  // \" b\n)\";\n"},
        {"a / b /= c * d; /*/ e */ f;\n", "a / b /= c * d; f;\n"},
        {"// all\n/* of it */\n\n", ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        same(cases[i].text, code_of("code/a.cu", cases[i].text), cases[i].code);
    same("Python", code_of("code/a.py", "  a // b  # c\n"), "  a // b  # c\n");
    same("header", code_of("a.cuh", "  a // b\n"), "a\n");
    told("programs without comments");
}

static void test_source_lines(void) {
    const Str text = STR("#line 7 \"a.md\"\n// x\na;\n\n#line 3 \"b.md\"\nb; // y\nc;\n");
    static const struct {
        Str path;
        size_t line, number;
    } cases[] = {{STR("a.md"), 7, 0}, {STR("a.md"), 8, 1}, {STR("a.md"), 9, 0},
                 {STR("b.md"), 3, 2}, {STR("b.md"), 4, 3}, {STR("b.md"), 8, 0}};
    const SourceMap map = source_map(&arena, text);
    for (size_t i = 0; i < COUNT(cases); i++)
        same_number("number", source_number(&map, cases[i].path, cases[i].line), cases[i].number);
    SourceLines lines = {.code.arena = &arena, .rest = text};
    while (source_next(&lines) && lines.number < 2) continue;
    same("text", lines.text, "b; // y");
    same("code", buf_str(&lines.code), "b;");
    // The text ends in a number at the end of mapped memory, and its #line names no file.
    const Str mark = STR("a;\n#line 12");
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + page, page);
    memcpy(pages + page - mark.len, mark.at, mark.len);
    source_map(&arena, (Str){pages + page - mark.len, mark.len});
    munmap(pages, page);
    const SourceMap one = source_map(&arena, STR("#line 3 \"a.md\"\na;\n#line 9\nb;\n"));
    same_number("the file stays", source_number(&one, STR("a.md"), 9), 2);
    told("lines of programs");
}

static void test_utf8(void) {
    static const struct {
        const char *text;
        size_t bad;
    } rows[] = {{"", SIZE_MAX},
                {"abc\x7f", SIZE_MAX},
                // the first and the last of each length
                {"\xC2\x80", SIZE_MAX},
                {"\xDF\xBF", SIZE_MAX},
                {"\xE0\xA0\x80", SIZE_MAX},
                {"\xED\x9F\xBF", SIZE_MAX},
                {"\xEE\x80\x80", SIZE_MAX},
                {"\xEF\xBF\xBF", SIZE_MAX},
                {"\xF0\x90\x80\x80", SIZE_MAX},
                {"\xF4\x8F\xBF\xBF", SIZE_MAX},
                {"\xE1\x80\x80", SIZE_MAX},
                {"\xF3\xBF\xBF\xBF", SIZE_MAX},
                {"\xF1\x80\x80\x80"
                 "a",
                 SIZE_MAX},
                // and the nearest invalid sequences
                {"\x80", 0},
                {"a\xBF", 1},
                {"\xC0\x80", 0},
                {"\xC1\xBF", 0},
                {"ab\xC2", 2},
                {"\xC2"
                 "a",
                 0},
                {"\xC2\x7F", 0},
                {"\xC2\xC0", 0},
                {"\xDF\xC0", 0},
                {"\xE0\x9F\xBF", 0},
                {"\xE0\xC0\x80", 0},
                {"\xED\xA0\x80", 0},
                {"\xE1\x80", 0},
                {"\xE1\x80\x7F", 0},
                {"\xE1\x80\xC0", 0},
                {"\xEF\xBF\xC0", 0},
                {"\xF0\x8F\xBF\xBF", 0},
                {"\xF0\xC0\x80\x80", 0},
                {"\xF4\x90\x80\x80", 0},
                {"\xF5\x80\x80\x80", 0},
                {"\xF1\x80\x80", 0},
                {"\xF1\x80\x80\x7F", 0},
                {"\xF1\x80\xC0\x80", 0},
                {"\xFF", 0},
                {"\xC2\x80\xC2\x80\xFE", 4}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t bad = str_invalid_utf8(str_of(rows[i].text));
        if (bad != rows[i].bad) WRONG("row %zu: %zu, not %zu", i, bad, rows[i].bad);
    }
    told("UTF-8");
}

static void test_building(void) {
    Buf buf = {.arena = &arena};
    same("nothing", buf_str(&buf), "");
    buf_add(&buf, (Str){NULL, 0});
    for (int i = 0; i < 1000; i++) buf_format(&buf, "%d,", i);
    buf_char(&buf, 'x');
    Str text = buf_str(&buf);
    same_number("length", text.len, 10 * 2 + 90 * 3 + 900 * 4 + 1);
    same("start", str_slice(text, 0, 8), "0,1,2,3,");
    same("end", str_from(text, text.len - 9), "998,999,x");
    buf_format(&buf, "%s", "");
    same_number("length after nothing", buf.len, text.len);
    for (size_t size = 250; size < 260; size++) { // sizes around the first capacity
        Buf one = {.arena = &arena}, two = {.arena = &arena};
        for (size_t i = 0; i < size; i++) buf_char(&one, (char)('a' + i % 26));
        buf_format(&two, "%.*s", STR_ARG(buf_str(&one)));
        buf_format(&two, "%s", "!");
        if (two.len != size + 1 || two.at[size] != '!' || memcmp(one.at, two.at, size) != 0)
            WRONG("%zu bytes", size);
    }
    told("texts that grow");
}

// --- paths ---

static void test_paths(void) {
    static const struct {
        const char *path, *folder, *name, *stem, *back;
    } parts[] = {{"a/b/c.tar.gz", "a/b/", "c.tar.gz", "c.tar", "../../"},
                 {"c.md", "", "c.md", "c", ""},
                 {"a/", "a/", "", "", "../"},
                 {"/a/b", "/a/", "b", "b", ""},
                 {"a.b/c", "a.b/", "c", "c", "../"},
                 {".hidden", "", ".hidden", "", ""},
                 {"./a", "./", "a", "a", ""},
                 {"./a/b", "./a/", "b", "b", "../"},
                 {"../a", "../", "a", "a", ""},
                 {"a/../b", "a/../", "b", "b", ""},
                 {"b/a", "b/", "a", "a", "../"},
                 {"", "", "", "", ""}};
    static const struct {
        const char *folder, *name, *joined;
    } joins[] = {{"a", "b", "a/b"}, {"a//", "b", "a/b"},   {".", "b", "b"},     {"/", "b", "/b"},
                 {"//", "b", "/b"}, {"a/b", "c", "a/b/c"}, {"..", "b", "../b"}, {"./", "b", "b"}};
    static const struct {
        const char *folder, *relative, *resolved;
    } resolves[] = {{"a/", "b", "a/b"},       {"a/", "../b", "b"},       {"", "b", "b"},
                    {"a/b/", "../../c", "c"}, {"a/", "../../c", "../c"}, {"", "../../c", "../../c"},
                    {"a/", "./b", "a/b"},     {"a/", "b//c", "a/b/c"},   {"a/", "/b", "/b"},
                    {"a/", "/../b", "/../b"}, {"a/", ".", "a/"},         {"a/", "b/..", "a/"},
                    {"", "..", ".."},         {"aa/bb/", "..", "aa/"},   {"/", "b", "/b"},
                    {"a/", "", "a/"},         {"a/", "..b", "a/..b"},    {"../a/", "../b", "../b"}};
    for (size_t i = 0; i < COUNT(parts); i++) {
        Str path = str_of(parts[i].path);
        same("folder", path_folder(path), parts[i].folder);
        same("name", path_name(path), parts[i].name);
        same("stem", path_stem(path), parts[i].stem);
        same("path_up", path_up(&arena, path), parts[i].back);
    }
    for (size_t i = 0; i < COUNT(joins); i++)
        same("joined", path_join(&arena, str_of(joins[i].folder), str_of(joins[i].name)),
             joins[i].joined);
    for (size_t i = 0; i < COUNT(resolves); i++)
        same(resolves[i].relative,
             path_resolve(&arena, str_of(resolves[i].folder), str_of(resolves[i].relative)),
             resolves[i].resolved);
    told("paths");
}

// --- CSV ---

// Returns the cells of a row, each in brackets, or the error.
static Str cells_of(const char *row) {
    Csv csv = csv_open(&arena, str_of(row));
    Buf out = {.arena = &arena};
    Str line, *cells;
    size_t count;
    if (!csv_line(&csv, &line) || !csv_cells(&csv, line, &cells, &count)) return str_of(csv.fault);
    for (size_t i = 0; i < count; i++) buf_format(&out, "[%.*s]", STR_ARG(cells[i]));
    return buf_str(&out);
}

static void test_csv_rows(void) {
    static const struct {
        const char *row, *cells;
    } rows[] = {{"a", "[a]"},
                {"a,b", "[a][b]"},
                {" a , b ", "[a][b]"},
                {",", "[][]"},
                {"a,,b,", "[a][][b][]"},
                {"\"a, b\",c", "[a, b][c]"},
                {"\" a \"", "[ a ]"},
                {"\"a \"\"b\"\"\",c", "[a \"b\"][c]"},
                {"\"\",\"\"", "[][]"},
                {"\"\"\"\"", "[\"]"},
                {"a\"b", "[a\"b]"},
                {"\"a", "a quoted cell is not closed"},
                {"\"", "a quoted cell is not closed"},
                {"\"a\"\"", "a quoted cell is not closed"},
                {"\"a\"b", "text after the closing quote of a cell"},
                {"\"a\" ,b", "text after the closing quote of a cell"}};
    for (size_t i = 0; i < COUNT(rows); i++)
        same(rows[i].row, cells_of(rows[i].row), rows[i].cells);
    Buf row = {.arena = &arena};
    Str line, *cells;
    size_t count;
    for (int i = 0; i < 100; i++) buf_format(&row, "%s%d", i ? "," : "", i);
    Csv csv = csv_open(&arena, buf_str(&row));
    if (!csv_line(&csv, &line) || !csv_cells(&csv, line, &cells, &count) || count != 100)
        WRONG("a hundred cells");
    for (int i = 0; i < 100 && !trouble.len; i++)
        if (atoi(str_terminated(&arena, cells[i])) != i) WRONG("cell %d", i);
    told("rows of CSV");
}

static void test_csv_lines(void) {
    Str text = STR("# a: b\n\n  \t\nh,i\r\n1,2\n\xff,3\n4,5\n"), line;
    static const struct {
        const char *line;
        size_t number;
    } wanted[] = {{"# a: b", 1}, {"h,i", 4}, {"1,2", 5}};
    Csv csv = csv_open(&arena, text);
    for (size_t i = 0; i < COUNT(wanted); i++) {
        if (!csv_line(&csv, &line)) WRONG("no line %zu", wanted[i].number);
        same("line", line, wanted[i].line);
        same_number("number", csv.line, wanted[i].number);
    }
    if (csv_line(&csv, &line) || csv_line(&csv, &line)) WRONG("a line that is not UTF-8");
    same("fault", str_of(csv.fault ? csv.fault : "none"), "invalid UTF-8");
    same_number("at", csv.line, 6);
    csv = csv_open(&arena, STR("a,\xc3\xa4\n\xff"));
    if (!csv_line(&csv, &line)) WRONG("a line before one that is not UTF-8");
    if (csv_line(&csv, &line) || !csv.fault) WRONG("bad UTF-8 at the start of a line");
    csv = csv_open(&arena, STR("a\n\n"));
    if (!csv_line(&csv, &line) || csv_line(&csv, &line) || csv.fault) WRONG("the end");
    told("lines of CSV");
}

static void test_csv_writing(void) {
    static const char *const cells[] = {"a", "", "a,b", "a\"b", "\"", ",", "a b"};
    Buf row = {.arena = &arena};
    for (size_t i = 0; i < COUNT(cells); i++) {
        if (i) buf_char(&row, ',');
        csv_add_cell(&row, str_of(cells[i]));
    }
    same("row", buf_str(&row), "a,,\"a,b\",\"a\"\"b\",\"\"\"\",\",\",a b");
    same("read again", cells_of(str_terminated(&arena, buf_str(&row))),
         "[a][][a,b][a\"b][\"][,][a b]");
    told("CSV cells survive writing and reading");
}

// --- JSON ---

static void test_json(void) {
    Buf out = {.arena = &arena};
    Json json = {.out = &out};
    json_open(&json, STR(""), '{');
    json_open(&json, STR("a"), '[');
    json_close(&json, ']');
    json_open(&json, STR("b"), '[');
    json_text(&json, STR(""), STR("\"\\\n\r\t\b\f\x01\x1f /\x7f\xc3\xa4"));
    json_plain(&json, STR(""), STR("1"));
    json_open(&json, STR(""), '{');
    json_close(&json, '}');
    json_close(&json, ']');
    json_plain(&json, STR("c\""), STR("null"));
    json_close(&json, '}');
    same("object", buf_str(&out),
         "{\n \"a\": [],\n \"b\": [\n  \"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001f /\x7f\xc3\xa4\",\n  "
         "1,\n  {}\n ],\n"
         " \"c\\\"\": null\n}");
    told("JSON as Python lays it out");
}

// --- files ---

static size_t files_in(const char *folder) {
    size_t count = 0;
    DIR *entries = opendir(folder);
    while (entries && readdir(entries)) count++;
    if (entries) closedir(entries);
    return count - 2;
}

static void test_files(void) {
    Buf large = {.arena = &arena};
    for (int i = 0; i < 40000; i++) buf_format(&large, "%d\n", i);
    Str text;
    if (file_write_if_changed(&arena, "a/b/c", buf_str(&large)) != FILE_WRITTEN) WRONG("written");
    if (!file_read(&arena, "a/b/c", &text) || !str_equal(text, buf_str(&large)))
        WRONG("read again");
    struct stat before, after;
    stat("a/b/c", &before);
    if (file_write_if_changed(&arena, "a/b/c", text) != FILE_UNCHANGED) WRONG("unchanged");
    stat("a/b/c", &after);
    if (before.st_ino != after.st_ino) WRONG("the unchanged file is another");
    if (file_write_if_changed(&arena, "a/b/c", STR("new")) != FILE_WRITTEN) WRONG("changed");
    if (!file_read(&arena, "a/b/c", &text)) WRONG("changed, read again");
    same("changed", text, "new");
    if (file_write_if_changed(&arena, "a/b/c", STR("")) != FILE_WRITTEN) WRONG("emptied");
    if (!file_read(&arena, "a/b/c", &text) || text.len) WRONG("an empty file");
    same_number("files beside it", files_in("a/b"), 1);
    stat("a/b/c", &after);
    mode_t mask = umask(0);
    umask(mask);
    if ((after.st_mode & 0777) != (0666 & ~mask)) WRONG("mode %o", (unsigned)after.st_mode);
    if (file_read(&arena, "a/none", &text) || errno != ENOENT) WRONG("no file");
    if (file_read(&arena, "a/b", &text) || errno != EISDIR) WRONG("a folder is not a file");
    if (file_write_if_changed(&arena, "a/b/c/d", STR("x")) != FILE_FAILED || errno != ENOTDIR)
        WRONG("a file where a folder must be: %s", strerror(errno));
    mkdir("a/d", 0777);
    if (file_write_if_changed(&arena, "a/d", STR("x")) != FILE_FAILED || errno != EISDIR)
        WRONG("a folder where the file must be: %s", strerror(errno));
    same_number("files beside the folder", files_in("a"), 2);
    if (file_write_if_changed(&arena, "e", STR("here")) != FILE_WRITTEN) WRONG("without a folder");
    char here[4096];
    if (!getcwd(here, sizeof here - 8)) WRONG("no folder");
    strcat(here, "/f/g/h");
    if (file_write_if_changed(&arena, here, STR("x")) != FILE_WRITTEN ||
        !file_read(&arena, "f/g/h", &text))
        WRONG("a path from the root");
    told("files");
}

// --- results ---

static void test_kinds(void) {
    static const struct {
        const char *name, *kind, *device, *chapter;
    } rows[] = {{"nvidia-a", "times", "nvidia-a", ""},
                {"nvidia-a-x4", "times", "nvidia-a-x4", ""},
                {"nvidia-a-newest", "newest", "nvidia-a", ""},
                {"nvidia-a-shapes", "shapes", "nvidia-a", ""},
                {"nvidia-a-newest-shapes", "shapes", "nvidia-a-newest", ""},
                {"nvidia-a-limits", "limits", "nvidia-a", ""},
                {"nvidia-a-machine", "machine", "nvidia-a", ""},
                {"nvidia-a-wrong", "wrong", "nvidia-a", ""},
                {"cpu-wrong", "wrong", "cpu", ""},
                {"predicted/nvidia-a", "predicted", "nvidia-a", ""},
                {"cpu", "counts", "", ""},
                {"cpu-machine", "counts-machine", "", ""},
                {"cpu-lines", "counts-lines", "", ""},
                {"cpu-small", "counts-small", "", ""},
                {"cpu-x", "times", "cpu-x", ""},
                {"trace-04-sum", "trace", "", "04"},
                {"steps/04-sum-64", "steps", "", "04"},
                {"errors/rounding", "errors", "", ""},
                {"compare-machine", "compare", "", ""}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const CatalogFile file = catalog_file(str_of(rows[i].name));
        same(rows[i].name, catalog_kind_name(file.kind), rows[i].kind);
        same(rows[i].name, file.device, rows[i].device);
        same(rows[i].name, file.chapter, rows[i].chapter);
        if (!file.device.len) continue;
        Buf path = {.arena = &arena};
        buf_format(&path, "r/%s.csv", rows[i].name);
        same("path", str_of(catalog_path(&arena, "r", file.kind, file.device)),
             str_terminated(&arena, buf_str(&path)));
    }
    told("kinds of files of results");
}

static void test_listing(void) {
    static const char *const names[] = {"nvidia-a-x4", "nvidia-a", ".hidden", "steps/04-a", "cpu"};
    CatalogFile *files;
    for (size_t i = 0; i < COUNT(names); i++) {
        Buf path = {.arena = &arena};
        buf_format(&path, "results/%s.csv", names[i]);
        if (file_write_if_changed(&arena, str_terminated(&arena, buf_str(&path)), STR("n\n")) ==
            FILE_FAILED)
            WRONG("%s cannot be written", names[i]);
    }
    file_write_if_changed(&arena, "results/notes.txt", STR("n\n"));
    static const char *const wanted[] = {"cpu", "nvidia-a", "nvidia-a-x4", "steps/04-a"};
    same_number("files", catalog_list(&arena, "results", &files), COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) same("a file", files[i].name, wanted[i]);
    same_number("files of no folder", catalog_list(&arena, "none", &files), 0);
    told("the files of a folder of results");
}

static void test_kernel_names(void) {
    static const struct {
        const char *demangled, *bare, *recorded;
        bool library;
    } rows[] = {
        {"sum", "sum", "sum", false},
        {"sum(float const*, int)", "sum", "sum", false},
        {"void sum<64u>(float const*)", "sum<64u>", "sum_64", false},
        {"void f<float, (Kind)1, 256u>(int)", "f<float, (Kind)1, 256u>", "f_float_1_256", false},
        {"void f<2u, au>()", "f<2u, au>", "f_2_au", false},
        {"void f<(a)1, g<2u>>()", "f<(a)1, g<2u>>", "f_1_g_2", false},
        {"void cub::a::Reduce<int, 4>(int)", "cub::a::Reduce<int, 4>", "Reduce", true},
        {"(anonymous namespace)::sum(int)", "(anonymous namespace)::sum", "sum", true},
        {"void f<ns::Add>(int)", "f<ns::Add>", "f_ns::Add", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const Str bare = kernel_name_bare(str_of(rows[i].demangled));
        same("bare", bare, rows[i].bare);
        same("bare again", kernel_name_bare(bare), rows[i].bare);
        same("recorded", kernel_name_recorded(&arena, bare), rows[i].recorded);
        if (kernel_name_is_library(bare) != rows[i].library) WRONG("library: %s", rows[i].bare);
    }
    told("names of kernels");
}

// --- memory ---

static void test_arena(void) {
    Arena own = {0};
    static const size_t sizes[] = {1, 15, 16, 17, 1000, 65535, 65536, 65537, 1 << 20, 3, 70000};
    unsigned char *last[COUNT(sizes)];
    for (size_t i = 0; i < COUNT(sizes); i++) {
        last[i] = arena_alloc(&own, sizes[i], 1);
        if ((uintptr_t)last[i] % 16) WRONG("%zu bytes are not aligned", sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            if (last[i][k]) WRONG("%zu bytes are not zero", sizes[i]);
        memset(last[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < sizes[i]; k++)
            if (last[i][k] != i + 1) WRONG("%zu bytes lie where others do", sizes[i]);
    if (own.blocks == NULL) WRONG("no blocks");
    arena_free(&own);
    if (own.blocks) WRONG("blocks are left");
    size_t *items = NULL, count = 0, capacity = 0;
    for (; count < 1000; count++) {
        ARENA_GROW(&own, items, count, capacity);
        if (count >= capacity) WRONG("no room for element %zu", count);
        items[count] = count * 3;
    }
    for (size_t i = 0; i < count; i++)
        if (items[i] != i * 3) WRONG("element %zu", i);
    arena_free(&own);
    told("many allocations");
}

// An allocation jumps to `leave` if its size overflows or the memory is not available.
static void test_no_memory(void) {
    static const size_t asked[][2] = {{SIZE_MAX / 2, 2},
                                      {SIZE_MAX / 4 + 1, 1},
                                      {3, SIZE_MAX / 8},
                                      {SIZE_MAX, SIZE_MAX},
                                      {(size_t)1 << 60, 2}};
    for (volatile size_t i = 0; i < COUNT(asked); i++) {
        Arena own = {0};
        jmp_buf leave;
        own.leave = &leave;
        if (setjmp(leave) == 0) {
            arena_alloc(&own, asked[i][0], asked[i][1]);
            WRONG("%zu times %zu bytes", asked[i][0], asked[i][1]);
        }
        arena_free(&own);
    }
    Arena own = {0};
    if (!arena_alloc(&own, SIZE_MAX, 0) || !arena_alloc(&own, 0, SIZE_MAX)) WRONG("nothing");
    arena_free(&own);
    told("failed allocations jump to `leave`");
}

// Without `leave`, a failed allocation prints the reason and ends the program.
static void test_out_of_memory(void) {
    pid_t child = fork();
    if (child == 0) {
        Arena own = {0};
        if (!freopen("said", "w", stderr)) _exit(3);
        alarm(5);
        arena_alloc(&own, SIZE_MAX, SIZE_MAX);
        _exit(4);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) WRONG("no child");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) WRONG("status %x", (unsigned)status);
    Str said = STR("");
    if (!file_read(&arena, "said", &said)) WRONG("nothing said");
    same("said", said, "out of memory\n");
    told("failed allocations end the program");
}

int main(int argc, char **argv) {
    if (argc != 2 || chdir(argv[1]) != 0) return 2;
    test_compare();
    test_slices();
    test_lines();
    test_source();
    test_source_lines();
    test_utf8();
    test_building();
    test_paths();
    test_csv_rows();
    test_csv_lines();
    test_csv_writing();
    test_json();
    test_files();
    test_kinds();
    test_listing();
    test_kernel_names();
    test_arena();
    test_no_memory();
    test_out_of_memory();
    arena_free(&arena);
    return 0;
}
