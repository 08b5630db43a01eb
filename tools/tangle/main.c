// tangle: extracts programs from Markdown chapters.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/source.h"
#include "base/version.h"
#include "tangle/expand.h"
#include "tangle/tangle.h"

// clang-format off
static const char help[] =
    "usage: tangle [-o DIR] [-l] [-n] [-p] FILE...   write the programs that the FILEs define\n"
    "       tangle -d [-o DIR] FILE...               print their dependencies, for make\n"
    "       tangle -g FILE...                        print the graph of their chunks, for dot\n"
    "       tangle -a NAME FILE...                   print an attribute of their files, as CSV\n"
    "\n"
    "A FILE is Markdown. Its fenced blocks with these attributes are code; names are common to\n"
    "all FILEs, and the order of the FILEs does not matter:\n"
    "\n"
    "    ``` {.cuda file=code/04_sum.cu}      the text of a file, always below code/\n"
    "    ``` {.cuda #load-tile}               a chunk, to be included elsewhere\n"
    "    ```cuda {#load-tile}                 the same, for pandoc 3\n"
    "    <<load-tile>>                        alone on a line of code: includes the chunk,\n"
    "                                         each line indented as this line is\n"
    "\n"
    "Every other block is prose. A chunk is defined once and can be included many times. Only an\n"
    "exercise has variants, several chunks of one name; its program includes the starter:\n"
    "\n"
    "    ::: {.exercise #padded-tree title=\"Padding after every 16 words\"}\n"
    "    ``` {.cuda #pad .starter}            also .solution, and .wrong\n"
    "                                         why=\"...\" fails=\"...\"\n"
    "    ``` {.cuda file=code/exercises/04_padded_tree.cu}\n"
    "\n"
    "  -o DIR  put code/... below DIR (default: here)\n"
    "  -l      add #line directives, so that a compiler names lines of the FILEs; without\n"
    "          those lines the output is the same, byte for byte\n"
    "  -n      write nothing, only print what would be written or removed\n"
    "  -p      prune: remove the files below DIR/code that no FILE defines (not hidden files,\n"
    "          *.mine, links or folders). Give it all your FILEs\n"
    "  -d      print a make fragment, write nothing. For FILEs that define code/04_sum.cu:\n"
    "              LABS := 04_sum                            every .cu file directly in code/\n"
    "              LAB_OF_4 := 04_sum                        those that start with this number\n"
    "              chapter-4: DIR/code/04_sum.cu\n"
    "              sizes_04_sum := 1 2 3      {.cuda file=code/04_sum.cu sizes=\"1 2 3\"}\n"
    "              DIR/code/04_sum.cu: chapters/04.md chapters/00.md\n"
    "              chapters/04.md chapters/00.md:            a removed chapter stops no build\n"
    "          A file depends on exactly the FILEs whose chunks it contains.\n"
    "  -g      print the chunks and which one uses which, in Graphviz DOT\n"
    "  -a NAME print the attribute NAME of each file's block:\n"
    "              file,line,target,figures\n"
    "              chapters/04.md,95,code/04_sum.cu,counters sum_tree\n"
    "          for `tangle -a figures` and {.cuda file=code/04_sum.cu figures=\"counters ...\"}\n"
    "  -h      print this text\n"
    "  --version  print the version\n"
    "\n"
    "The first line of a program in C, C++ or CUDA is a comment: it names the FILE to edit.\n"
    "Prints the path of each file written, and `removed PATH` for each pruned. A file is replaced\n"
    "in one step, and only if its content differs. Any error in any FILE is printed as\n"
    "FILE:LINE: message, and then nothing is written: undefined, unused, cyclic and doubly\n"
    "defined chunks, fences that do not end, bad attributes or targets, text that is not UTF-8,\n"
    "targets that are links, and links in DIR/code/ that lead out of DIR (DIR may be one).\n"
    "Exit status: 0 done, 1 an error in a FILE or in writing, 2 a wrong command line.\n";
// clang-format on

typedef struct {
    const char *folder;
    ExpandStyle style;
    bool dry;
    bool prune;
    char print;            // 'd', 'g', 'a' or 0
    const char *attribute; // the one that -a prints
} Options;

static _Noreturn void die_usage(const char *what, const char *detail) {
    fprintf(stderr, "tangle: %s%s (tangle -h explains)\n", what, detail);
    exit(2);
}

static void set_print(Options *options, char print) {
    if (options->print && options->print != print)
        die_usage("-d, -g and -a exclude each other", "");
    options->print = print;
}

// Checks what getopt does not. The FILEs start at argv[optind].
static void check_options(const Options *options, int argc, char **argv) {
    if (options->folder[0] == '\0') die_usage("the folder after -o is empty", "");
    if (options->print && (options->dry || options->prune || options->style == EXPAND_WITH_LINES))
        die_usage("-d, -g and -a write no files: leave out -l, -n and -p", "");
    if (optind == argc) die_usage("no FILE given", "");
    for (int i = optind; i < argc; i++)
        for (int j = optind; j < i; j++)
            if (strcmp(argv[i], argv[j]) == 0) die_usage("FILE given twice: ", argv[i]);
}

static Options read_options(int argc, char **argv) {
    Options options = {.folder = ".", .style = EXPAND_CLEAN};
    char letter[] = "-?";
    opterr = 0;
    for (int option; (option = getopt(argc, argv, ":o:lnpdga:h")) != -1;) {
        letter[1] = (char)optopt;
        switch (option) {
        case 'o':
            options.folder = optarg;
            break;
        case 'l':
            options.style = EXPAND_WITH_LINES;
            break;
        case 'n':
            options.dry = true;
            break;
        case 'p':
            options.prune = true;
            break;
        case 'd':
        case 'g':
        case 'a':
            set_print(&options, (char)option);
            options.attribute = option == 'a' ? optarg : NULL;
            break;
        case 'h':
            fputs(help, stdout);
            exit(fflush(stdout) == 0 ? 0 : 1);
        case ':':
            die_usage(optopt == 'a' ? "a name must follow " : "a folder must follow ", letter);
        default:
            die_usage("unknown option ", letter);
        }
    }
    check_options(&options, argc, argv);
    return options;
}

static void print(Str text) { fwrite(text.at, 1, text.len, stdout); }

// Flushes standard output; returns 1 if not everything could be printed.
static int finish(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "tangle: cannot print: %s\n", strerror(errno));
    return 1;
}

static bool would_change(Arena *arena, const char *path, Str text) {
    Str current;
    return !file_read(arena, path, &current) || !str_equal(current, text);
}

// The text of a target. The first line of a program is a comment that names the file to edit
// instead.
static Str target_text(const ChunkTable *table, size_t chunk, ExpandStyle style) {
    Buf text = {.arena = table->arena};
    Str from = table->files[table->chunks[chunk].file].path;
    Str program = expand_text(table, chunk, style);
    if (!source_is_code(table->chunks[chunk].target)) return program;
    buf_add(&text, STR("// Generated from "));
    for (size_t i = 0; i < from.len; i++)
        buf_char(&text, (unsigned char)from.at[i] < ' ' ? '?' : from.at[i]);
    buf_add(&text, STR(" by tangle: edit that file, not this one.\n"));
    buf_add(&text, program);
    return buf_str(&text);
}

// Writes every target, after it has expanded them all.
static bool write_targets(const ChunkTable *table, const Options *options) {
    Arena *arena = table->arena;
    Str *texts = ARENA_NEW(arena, table->chunk_count, Str);
    for (size_t i = 0; i < table->chunk_count; i++)
        if (table->chunks[i].target.len) texts[i] = target_text(table, i, options->style);
    for (size_t i = 0; i < table->chunk_count; i++) {
        if (table->chunks[i].target.len == 0) continue;
        Str target = table->chunks[i].target;
        const char *path = str_terminated(arena, path_join(arena, str_of(options->folder), target));
        FileResult result = FILE_UNCHANGED;
        if (!options->dry)
            result = file_write_if_changed(arena, path, texts[i]);
        else if (would_change(arena, path, texts[i]))
            result = FILE_WRITTEN;
        if (result == FILE_WRITTEN) printf("%s\n", path);
        if (result == FILE_FAILED) {
            fprintf(stderr, "%s: cannot write: %s\n", path, strerror(errno));
            return false;
        }
    }
    return true;
}

static bool prune_targets(const ChunkTable *table, const Options *options) {
    size_t targets = 0;
    for (size_t i = 0; i < table->chunk_count; i++) targets += table->chunks[i].target.len > 0;
    if (targets == 0) {
        fputs("tangle: no FILE defines a file: -p would remove all of code/\n", stderr);
        return false;
    }
    Str *stale;
    size_t count = prune_stale_files(table, str_of(options->folder), &stale);
    for (size_t i = 0; i < count; i++) {
        const char *path = str_terminated(table->arena, stale[i]);
        if (!options->dry && unlink(path) != 0) {
            fprintf(stderr, "%s: cannot remove: %s\n", path, strerror(errno));
            return false;
        }
        printf("removed %s\n", path);
    }
    return true;
}

int main(int argc, char **argv) {
    if (version_asked(argc, argv, "tangle")) return 0;
    Options options = read_options(argc, argv);
    Arena arena = {0};
    ChunkTable table = {.arena = &arena};
    for (int i = optind; i < argc; i++) chunk_read(&table, str_of(argv[i]));
    if (!options.print) tree_check(&table, str_of(options.folder));
    chunk_check(&table);
    bool good = table.error_count == 0;
    if (!good) {
        Str errors = chunk_errors(&table);
        fwrite(errors.at, 1, errors.len, stderr);
    } else if (options.print == 'd') {
        print(print_dependencies(&table, str_of(options.folder)));
    } else if (options.print == 'g') {
        print(print_graph(&table));
    } else if (options.print == 'a') {
        print(print_attribute(&table, str_of(options.attribute)));
    } else {
        good =
            write_targets(&table, &options) && (!options.prune || prune_targets(&table, &options));
    }
    int status = finish(good ? 0 : 1);
    arena_free(&arena);
    return status;
}
