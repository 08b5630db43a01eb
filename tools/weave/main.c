// weave: turns chapters and recorded results into Markdown for code hosts or pandoc, or notebooks.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/version.h"
#include "book/chapters.h"
#include "book/programs.h"
#include "book/rungs.h"
#include "book/runnable.h"
#include "notebook/notebook.h"
#include "numbers/read.h"

// clang-format off
static const char usage[] =
    "usage: weave [-t github|pages|pandoc|notebook|names|programs] [-r DIR] [-D DEVICE] [-T TITLE]\n"
    "             [-e] [-s] [-n] [-o OUT] FILE…\n"
    "Weaves Markdown chapters and recorded results into one book.\n"
    "  -t github   Markdown for code hosts, all in one: plain fences, pipe tables (default)\n"
    "  -t pages    the same, a page for each file: OUT/NAME.md, and OUT.md with the front page and\n"
    "              the contents\n"
    "  -t pandoc   Markdown for pandoc, which makes HTML and EPUB of it\n"
    "  -t notebook Jupyter notebooks in the folder OUT: one for each chapter with a lab, and\n"
    "              workbook.ipynb with all of them\n"
    "  -t names    the names of kernels in tables and plots, as CSV\n"
    "  -t programs the programs around the kernels that the HTML page can run, as JSON\n"
    "  -P FILE     the Python cells of the notebooks (default tools/notebook/cells.py, here\n"
    "              or beside weave's folder)\n"
    "  -R OWNER/NAME  the repository on GitHub: notebooks get a badge that opens them in Colab\n"
    "  -r DIR      the folder of results (default results)\n"
    "  -D DEVICE   the reference device: DIR/DEVICE.csv (default nvidia-h200)\n"
    "  -T TITLE    title of the book\n"
    "  -e          with -t pandoc: the page will contain the engine that runs kernels\n"
    "  -s          treat stale results as errors instead of marking them\n"
    "  -n          write nothing: list the files that would change; exit status 1 if any would\n"
    "  -o OUT      write to OUT, but only if the content changes (default: standard output);\n"
    "              links are followed\n"
    "  --version   print the version\n"
    "\n"
    "In a chapter, besides pandoc's Markdown and tangle's chunks:\n"
    "  `KEY`{.result}     a recorded number, or a formula of numbers; with {.result device=NAME}\n"
    "      those of DIR/NAME.csv\n"
    "      KEY is [CHAPTER/]KERNEL[@N].FIELD. CHAPTER: two digits or a letter, by default this\n"
    "      chapter. N: elements, Ki Mi Gi allowed, by default 25600000 or the only one recorded.\n"
    "      FIELD: time p5 p95 gbps pin_pct read_pct samples block grid partials n; if the kernel\n"
    "      was profiled, bottleneck stall issue_pct memory_pct and others of DIR/DEVICE-limits.csv;\n"
    "      if its time was predicted, predicted limiter; or a column of cpu.csv, or machine_ and a\n"
    "      column of cpu-machine.csv.\n"
    "      Also device (its name), device.NAME and cpu.NAME: `# NAME: …` of the CSV files; and\n"
    "      machine.NAME: a latency or a rate of the device, of DIR/DEVICE-machine.csv.\n"
    "      + - * / ( ), min(…) max(…) geomean(…) of a list or of a key with *, such as 04/*.time;\n"
    "      percent(x), bytes(x), count(x) give a number a unit. A quotient reads 1.83×.\n"
    "      Write spaces around the / of a division, and none around the / after a chapter.\n"
    "  ``` {.results columns=\"time spread gbps read_pct speedup\" n=N caption=\"…\"}\n"
    "      a table with a row for each line KERNEL or KERNEL | label; * is every kernel of the\n"
    "      chapter, KERNEL@* every n. speedup is against the first row, step against the row\n"
    "      above, ≈ marks no measurable difference. with=others adds the times of other devices,\n"
    "      with=newest those of DIR/DEVICE-newest.csv, the same labs with a newer CUB\n"
    "  ``` {.names}\n"
    "      shows nothing; KERNEL | NAME: the name of a kernel of this chapter in tables, figures\n"
    "      and players\n"
    "  ::: {.rung kernel=NAME after=KEY harris=3 code=\"CHUNK…\" predicted=\"…\"}\n"
    "      a rung of the ladder, and what it teaches; ::: summary is for a chapter without rungs\n"
    "  In index.md, the front page: ``` {.rungs} is a table of the rungs, ``` {.story} a section for\n"
    "      each, ``` {.summaries} the ::: summary of each other chapter\n"
    "  ``` {.csv from=../results/FILE.csv columns=\"a b\" caption=\"…\"}\n"
    "      a CSV file as it is, all columns or these\n"
    "  ``` {.output from=../results/first/FILE.txt}\n"
    "      the text that a program printed\n"
    "  ``` {.lines chunk=NAME columns=\"warp_insts shared_ld_conflicts\" kernel=NAME n=N}\n"
    "      the lines of a chunk with what DIR/cpu-lines.csv counted on each\n"
    "  ``` {.player kernels=\"A B\" blocks=\"256 64\"}\n"
    "      around a still picture: the page plays the recorded steps of these kernels of the\n"
    "      chapter's lab (DIR/steps/CHAPTER-KERNEL-BLOCK.csv) instead\n"
    "  ``` {.cuda file=code/NN_NAME.cu device=NAME}\n"
    "      keys of this chapter refer to DIR/NAME.csv instead of the reference device's file\n"
    "  ``` {.claim device=NAME}\n"
    "      shows nothing; each line is a comparison (< <= > >= == !=) that must hold on that\n"
    "      device, by default the chapter's, or a.time ~ b.time: no measurable difference. #\n"
    "      starts a comment. KERNEL@each: at each of the n recorded for the first such kernel.\n"
    "  ::: {.exercise #name title=\"...\"}\n"
    "      an exercise with its number: hints, answers, the program and the solution are folded,\n"
    "      wrong variants are left out; grade -h explains them\n"
    "  ::: try\n"
    "      after a listing that the page can run: a change for the reader to try. Other targets\n"
    "      leave it out\n"
    "  [text](04-other.md#heading) and ![alt](../figures/x.svg) link to the right place in the\n"
    "  book.\n"
    "\n"
    "  ::: {.predict key=\"KEY\" unit=\"µs\"}\n"
    "      a question, to be answered with a number: that of the key. ::: why … ::: at its end is\n"
    "      shown with the answer. Without key= the question ends with a list, each option with\n"
    "      the comparison that makes it the right one: - *text* `a.time < b.time`{.when}. One\n"
    "      option may have no comparison: it is right if no other is.\n"
    "\n"
    "A measurement typed by hand is an error: a number with ns, us, µs, ms, s, kB/s to TB/s, %, ×\n"
    "or such a unit in words. Allowed in predictions, inside ::: estimate … ::: and in a block\n"
    "quote with a link, note or citation; code is not checked. 32 banks, 48 KB, 2 × 4 and\n"
    "128×128 are not measurements.\n"
    "\n"
    "Errors are printed as FILE:LINE: message; then nothing is written and the status is 1.\n"
    "Results of a lab that has changed since are marked (stale).\n";
// clang-format on

typedef enum { ONE_TEXT, PAGES, NOTEBOOKS, NAMES, PROGRAMS } Target;

typedef struct {
    Target target;
    BookStyle style;
    const char *results, *device, *title, *output, *frame, *repository;
    bool stale_is_error, only_lists, has_engine;
    int first_file;
} Options;

static _Noreturn void bad_usage(const char *what, const char *which) {
    fprintf(stderr, "weave: %s%s (-h explains)\n", what, which);
    exit(2);
}

static void read_option(Options *options, char letter, const char *value) {
    switch (letter) {
    case 'r':
        options->results = value;
        return;
    case 'D':
        options->device = value;
        return;
    case 'T':
        options->title = value;
        return;
    case 'o':
        options->output = value;
        return;
    case 'P':
        options->frame = value;
        return;
    case 'R':
        options->repository = value;
        return;
    default:
        break;
    }
    static const struct {
        const char *name;
        Target target;
        BookStyle style;
    } targets[] = {{"github", ONE_TEXT, BOOK_GITHUB}, {"pages", PAGES, BOOK_GITHUB},
                   {"pandoc", ONE_TEXT, BOOK_PANDOC}, {"notebook", NOTEBOOKS, BOOK_NOTEBOOK},
                   {"names", NAMES, BOOK_GITHUB},     {"programs", PROGRAMS, BOOK_PANDOC}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (strcmp(value, targets[i].name)) continue;
        options->target = targets[i].target;
        options->style = targets[i].style;
        return;
    }
    bad_usage("no such target: ", value);
}

static Options read_options(int argc, char **argv) {
    Options options = {
        .results = "results", .device = "nvidia-h200", .title = "", .repository = ""};
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        const char *flag = argv[i];
        if (!strcmp(flag, "-h") || !strcmp(flag, "--help")) {
            fputs(usage, stdout);
            exit(0);
        }
        if (flag[2] || !strchr("trDTosnePR", flag[1])) bad_usage("no such option: ", flag);
        if (strchr("sne", flag[1])) {
            options.stale_is_error |= flag[1] == 's';
            options.only_lists |= flag[1] == 'n';
            options.has_engine |= flag[1] == 'e';
            continue;
        }
        if (i + 1 == argc) bad_usage("a value is missing after ", flag);
        read_option(&options, flag[1], argv[++i]);
    }
    if (i == argc) bad_usage("no files given", "");
    bool folder = options.target == PAGES || options.target == NOTEBOOKS;
    if (folder && !options.output) bad_usage("pages and notebooks need -o FOLDER", "");
    options.first_file = i;
    return options;
}

// Prints an error as one line: a control character in it would break the line.
static void print_error(Arena *arena, Str path, size_t line, Str message) {
    Buf text = {.arena = arena};
    buf_add(&text, path);
    if (line) buf_format(&text, ":%zu", line); // 0: the whole file
    buf_format(&text, ": %.*s", STR_ARG(message));
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 0x7f) text.at[i] = ' ';
    fprintf(stderr, "%.*s\n", STR_ARG(buf_str(&text)));
}

static int print_errors(const Book *book) {
    for (size_t i = 0; i < book->error_count; i++) {
        const BookError *error = &book->errors[i];
        print_error(book->arena, book->chunks->files[error->file].path, error->line,
                    error->message);
    }
    return 1;
}

// Whether the file would change; prints its path if so.
static bool would_change(Arena *arena, const char *path, Str text) {
    Str old;
    if (file_read(arena, path, &old) && str_equal(old, text)) return false;
    printf("%s\n", path);
    return true;
}

static int write_book(Arena *arena, const Options *options, const char *path, Str text) {
    if (path && options->only_lists) return would_change(arena, path, text);
    if (!path) {
        bool written = fwrite(text.at, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
        if (!written) perror("weave: standard output");
        return !written;
    }
    if (file_write_if_changed(arena, path, text) != FILE_FAILED) return 0;
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 1;
}

static bool read_part(Arena *arena, const char *path, Str *text) {
    if (file_read(arena, path, text)) return true;
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

// Reads the cells of the notebooks. A line `# %% include FILE` includes a file of the same folder.
static bool read_frame(Arena *arena, const char *path, Str *frame) {
    const Str mark = STR("# %% include ");
    Str rest, line, part;
    Buf text = {.arena = arena};
    if (!read_part(arena, path, &rest)) return false;
    for (Str before = rest; str_line(&rest, &line); before = rest) {
        if (!str_starts(line, mark)) {
            buf_add(&text, (Str){before.at, (size_t)(rest.at - before.at)});
            continue;
        }
        Buf beside = {.arena = arena};
        buf_add(&beside, path_folder(str_of(path)));
        buf_add(&beside, str_trim(str_from(line, mark.len)));
        if (!read_part(arena, str_terminated(arena, buf_str(&beside)), &part)) return false;
        buf_add(&text, part);
    }
    *frame = buf_str(&text);
    return true;
}

static int write_files(Arena *arena, Book *book, const Options *options, const BookFile *files,
                       size_t count) {
    int status = 0;
    if (book->error_count) return print_errors(book);
    for (size_t i = 0; i < count && !(status && !options->only_lists); i++)
        status |= write_book(arena, options, str_terminated(arena, files[i].path), files[i].text);
    return status;
}

static int write_notebooks(Arena *arena, Book *book, const Options *options) {
    NotebookPlan plan = {.folder = str_of(options->output),
                         .repository = str_of(options->repository)};
    BookFile *files;
    const char *frame = options->frame ? options->frame : "tools/notebook/cells.py";
    if (!options->frame && access(frame, R_OK) != 0)
        frame = file_beside(arena, "../tools/notebook/cells.py");
    if (!read_frame(arena, frame, &plan.frame)) return 1;
    while (plan.folder.len > 1 && str_ends(plan.folder, STR("/"))) plan.folder.len--;
    const size_t count = notebook_weave(book, &plan, &files);
    return write_files(arena, book, options, files, count);
}

static int write_pages(Arena *arena, Book *book, const Options *options) {
    Str folder = str_of(options->output);
    BookFile *pages;
    while (folder.len > 1 && str_ends(folder, STR("/"))) folder.len--;
    size_t count = chapters_weave_pages(book, folder, &pages);
    return write_files(arena, book, options, pages, count);
}

static int write_names(Arena *arena, Book *book, const Options *options) {
    chapters_open(book);
    if (book->error_count) return print_errors(book);
    rungs_add_csv(book, &book->out);
    return write_book(arena, options, options->output, buf_str(&book->out));
}

static int write_programs(Arena *arena, Book *book, const Options *options) {
    chapters_open(book);
    Str programs = programs_json(book);
    if (book->error_count) return print_errors(book);
    return write_book(arena, options, options->output, programs);
}

static int weave(Arena *arena, const Options *options, char **paths) {
    ChunkTable chunks = {.arena = arena};
    for (; *paths; paths++) chunk_read(&chunks, str_of(*paths));
    chunk_check(&chunks);
    if (chunks.error_count) {
        fprintf(stderr, "%.*s", STR_ARG(chunk_errors(&chunks)));
        return 1;
    }
    Results results;
    ReadError error;
    if (!read_results(arena, options->results, str_of(options->device), &results, &error)) {
        print_error(arena, str_of(error.path), error.line, error.message);
        return 1;
    }
    Str output = str_of(options->output ? options->output : "");
    if (options->target == NOTEBOOKS) output = path_join(arena, output, STR("any"));
    Book book = {.arena = arena,
                 .style = options->style,
                 .stale_is_error = options->stale_is_error,
                 .title = str_of(options->title),
                 .up = path_up(arena, output),
                 .chunks = &chunks,
                 .results = &results,
                 .reference = str_of(options->device)};
    if (options->target == NOTEBOOKS) return write_notebooks(arena, &book, options);
    if (options->target == PAGES) return write_pages(arena, &book, options);
    if (options->target == NAMES) return write_names(arena, &book, options);
    if (options->target == PROGRAMS) return write_programs(arena, &book, options);
    if (options->has_engine) runnable_collect(&book);
    chapters_weave(&book);
    if (book.error_count) return print_errors(&book);
    return write_book(arena, options, options->output, buf_str(&book.out));
}

int main(int argc, char **argv) {
    if (version_asked(argc, argv, "weave")) return 0;
    Options options = read_options(argc, argv);
    Arena arena = {0};
    int status = weave(&arena, &options, argv + options.first_file);
    arena_free(&arena);
    return status;
}
