// Fuzzes weave: weaves chapters and results for a code host, for pandoc and into notebooks. An
// input is several files: each starts with a line `%%% PATH`; chapters end in .md, results in .csv.
#include "book/chapters.h"
#include "fuzz.h"
#include "notebook/notebook.h"
#include "numbers/read.h"

enum { FILES_MAX = 12, JSON_DEPTH_MAX = 64 };

typedef struct {
    Str path, text;
} File;

typedef struct {
    File chapters[FILES_MAX], results[FILES_MAX];
    size_t chapter_count, result_count;
} Files;

static const Str frame =
    STR("about the frame\n# %% [front]\n# %% [markdown]\n# *words*\n# %% setup\n"
        "name = \"@name@\"\n# %% [harness]\n# %% workbench\n#@title Title\nx = 1\n"
        "# %% [recorded]\n# %% [chapters]\n# %% end\n");

static Files split(Str text) {
    Files files = {0};
    File *file = NULL;
    Str line, mark = STR("%%% ");
    while (str_line(&text, &line)) {
        if (!str_starts(line, mark)) {
            if (file) file->text.len = (size_t)(text.at - file->text.at);
            continue;
        }
        Str path = str_from(line, mark.len);
        file = NULL;
        if (str_invalid_utf8(path) != SIZE_MAX) continue; // a path does not have to be UTF-8
        bool chapter = str_ends(path, STR(".md"));
        size_t *count = chapter ? &files.chapter_count : &files.result_count;
        if (*count == FILES_MAX) break;
        file = &(chapter ? files.chapters : files.results)[(*count)++];
        *file = (File){path, {text.at, 0}};
    }
    return files;
}

// Skips a JSON value at the start of *text, which must follow RFC 8259.
static void skip_json(Str *text);

static char next(Str *text) {
    *text = str_trim(*text);
    must(text->len > 0, "JSON ends too soon");
    return text->at[0];
}

static void skip_string(Str *text) {
    must(next(text) == '"', "JSON: a string starts with a quote");
    size_t end = 1;
    for (; end < text->len && text->at[end] != '"'; end++) {
        must((unsigned char)text->at[end] >= ' ', "JSON: a control character");
        if (text->at[end] == '\\') end++;
    }
    must(end < text->len, "JSON: a string does not end");
    *text = str_from(*text, end + 1);
}

static void skip_list(Str *text, char close) {
    static int depth;
    must(++depth < JSON_DEPTH_MAX, "JSON is too deep");
    *text = str_from(*text, 1);
    while (next(text) != close) {
        if (close == '}') {
            skip_string(text);
            must(next(text) == ':', "JSON: a colon is missing");
            *text = str_from(*text, 1);
        }
        skip_json(text);
        if (next(text) == close) break;
        must(next(text) == ',', "JSON: a comma is missing");
        *text = str_from(*text, 1);
        must(next(text) != close, "JSON: a comma too many");
    }
    *text = str_from(*text, 1);
    depth--;
}

static void skip_json(Str *text) {
    char first = next(text);
    if (first == '"') {
        skip_string(text);
    } else if (first == '{' || first == '[') {
        skip_list(text, first == '{' ? '}' : ']');
    } else {
        size_t end = 0;
        while (end < text->len && ((text->at[end] >= 'a' && text->at[end] <= 'z') ||
                                   (text->at[end] >= '0' && text->at[end] <= '9')))
            end++;
        must(end > 0, "JSON: no value");
        *text = str_from(*text, end);
    }
}

static void check_notebooks(Book *book) {
    NotebookPlan plan = {STR("notebooks"), frame, STR("some/where")};
    BookFile *files;
    size_t count = notebook_weave(book, &plan, &files);
    for (size_t i = 0; i < count && book->error_count == 0; i++) {
        Str text = files[i].text;
        must(str_invalid_utf8(text) == SIZE_MAX, "a notebook is not UTF-8");
        skip_json(&text);
        must(str_trim(text).len == 0, "there is text behind the notebook's JSON");
    }
}

static void weave(Arena *arena, const Files *files, const Results *results, BookStyle style) {
    ChunkTable chunks = {.arena = arena};
    for (size_t i = 0; i < files->chapter_count; i++)
        chunk_add(&chunks, files->chapters[i].path, files->chapters[i].text);
    chunk_check(&chunks);
    for (size_t i = 0; i < chunks.error_count; i++)
        must_be_located(chunks.errors[i].message, chunks.errors[i].line,
                        chunks.files[chunks.errors[i].file].text);
    if (chunks.error_count) return;
    Book book = {.arena = arena,
                 .style = style,
                 .title = STR("A *title*"),
                 .up = STR("../"),
                 .chunks = &chunks,
                 .results = results,
                 .reference = STR("nvidia-h200")};
    if (style == BOOK_NOTEBOOK)
        check_notebooks(&book);
    else
        chapters_weave(&book);
    for (size_t i = 0; i < book.error_count; i++)
        must_be_located(book.errors[i].message, book.errors[i].line,
                        chunks.files[book.errors[i].file].text);
    must(style == BOOK_NOTEBOOK || str_invalid_utf8(buf_str(&book.out)) == SIZE_MAX,
         "the book is not UTF-8");
}

// Reads the tables of an input's valid result files, as read_results does.
static Results results_of(Arena *arena, const Files *files, ResultTable *tables) {
    Results results = {.folder = "results", .devices = tables};
    for (size_t i = 0; i < files->result_count; i++) {
        const File *file = &files->results[i];
        ReadError error;
        ResultTable table;
        Str device = str_slice(file->path, 0, str_find(file->path, STR(".csv")));
        if (device.len == 0) continue;
        char *path = str_terminated(arena, file->path);
        if (!read_text(arena, path, device, file->text, &table, &error)) {
            must_be_located(error.message, error.line, file->text);
            continue;
        }
        bool counters = str_equal(device, STR("cpu")), lines = str_equal(device, STR("cpu-lines"));
        ResultTable *kept =
            counters || lines ? ARENA_NEW(arena, 1, ResultTable) : &tables[results.device_count++];
        *kept = table;
        if (counters) results.counters = kept;
        if (lines) results.lines = kept;
        if (str_equal(device, STR("nvidia-h200"))) results.reference = kept;
    }
    return results;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    Arena arena = {0};
    ResultTable tables[FILES_MAX];
    Files files = split((Str){(const char *)bytes, size});
    if (files.chapter_count) {
        Results results = results_of(&arena, &files, tables);
        for (int style = BOOK_GITHUB; style <= BOOK_NOTEBOOK; style++)
            weave(&arena, &files, &results, (BookStyle)style);
    }
    arena_free(&arena);
    return 0;
}
