// collect: gathers the CSVs that labs wrote into the one CSV of a device, and answers questions of
// scripts about results.
//
// There are four kinds of input. The header row distinguishes three: the times that a lab writes on
// a GPU (--csv), and the counters of the CPU device per kernel (simt --last --csv) and per source
// line (simt --last --lines-csv). The fourth are the limits: LAB.limits.csv is the output of `LAB
// -t 0 --csv` with the names of the kernels, and LAB.ncu.csv beside it is the output of Nsight
// Compute for them. collect adds the chapter and a hash of the lab's code to each row, so that a
// later reader can tell whether the code has changed since. Line numbers refer to the code without
// comments and empty lines, so that a change of prose does not move them; LAB.cu beside
// LAB.lines.csv is the source with #line directives that the lab was compiled from.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalog.h"
#include "base/file.h"
#include "base/kernel_name.h"
#include "base/path.h"
#include "collect/answers.h"
#include "collect/gather.h"
#include "collect/ncu.h"
#include "collect/steps.h"
#include "numbers/read.h"

// clang-format off
static const char usage[] =
    "usage: collect [-c CODE] [-w WITH] [-n ELEMENTS] [-f FACT] [-k OLD] -o FILE LAB.csv...\n"
    "       collect -d [-c CODE] -n ELEMENTS -k OLD LAB...\n"
    "       collect -m\n"
    "       collect -s [-c CODE] -n ELEMENTS -l LINED -o FILE LAB.NAME.csv\n"
    "       collect files [FOLDER]\n"
    "       collect beside PREDICTED.csv results/DEVICE.csv CHAPTER ELEMENTS\n"
    "       collect trace KERNEL TRACE.csv\n"
    "       collect names FILE.csv\n"
    "       collect source LAB\n"
    "       collect gone LAB...\n"
    "\n"
    "Writes FILE, which weave reads, from the CSVs of the labs, in the order given. A lab's CSV\n"
    "has comment lines with facts, `# device: NAME`, the header row `kernel,n,…` and rows. Each\n"
    "row starts with the chapter and a hash of the lab's code, from which weave finds out that\n"
    "the lab has changed since. The hash ignores comments, empty lines and indentation.\n"
    "A CSV is named after its lab: 04_bank_conflicts.csv, or 04_bank_conflicts@1024.csv for\n"
    "another size. Counts of lines, 04_bank_conflicts.lines.csv, need 04_bank_conflicts.cu in\n"
    "the same folder, the source with #line directives. The names of profiled kernels,\n"
    "04_bank_conflicts.limits.csv, need 04_bank_conflicts.ncu.csv, the output of ncu.\n"
    "  -o FILE      the device's results; on an error the old file stays as it is; links are\n"
    "               followed\n"
    "  -c CODE      the folder of the labs' sources: CODE/LAB.cu, or LAB in another language\n"
    "               (default: code)\n"
    "  -w LAB=FILE  hash LAB's code together with FILE, a program that includes the lab and was\n"
    "               measured in its place; may be given for several labs\n"
    "  -n ELEMENTS  the number of elements that the labs summed on the CPU device, for a CSV\n"
    "               without @SIZE in its name\n"
    "  -f FACT      a fact to write at the top of FILE, as in `toolkit: 13000`\n"
    "  -k OLD       an earlier results file: an argument without .csv, LAB or LAB@1024, copies\n"
    "               its rows of this lab and size\n"
    "  -d           print which of LAB... must be recorded. Without OLD, all; otherwise those\n"
    "               that have no rows in OLD, rows of an older source, an empty cell, or no rows\n"
    "               of a kernel that another device in OLD's folder has recorded from the\n"
    "               present source\n"
    "  -m           print the metrics to request from ncu\n"
    "  -s           write a row for each step of a warp in the last launch, for the page's\n"
    "               player. LAB.NAME.csv is the output of simt --trace; LINED is the source with\n"
    "               #line directives\n"
    "These commands print:\n"
    "  files        kind,device,chapter,path of each file in FOLDER (default: results)\n"
    "  beside       the times that simt --time predicted, in PREDICTED.csv, beside the recorded\n"
    "               times of a device\n"
    "  trace        the accesses of one warp in the last launch, for the figures\n"
    "  names        FILE.csv, of simt --csv, with the kernels' names as in results\n"
    "  source       the hash of a lab's code\n"
    "  gone         the files that it changes or removes: it deletes from results/ what belongs to\n"
    "               chapters without a lab among LAB..., except what a GPU measured\n";
// clang-format on

typedef struct {
    LabSource source;
    const char *out, *n, *fact, *lined, *recorded;
    bool steps, due;
} Options;

static Str condense(Arena *arena, const char *path, const Options *options) {
    const Str lab = lab_csv_lab(str_of(path));
    Steps steps = {.arena = arena};
    Buf out = {.arena = arena};
    Str trace;
    if (!options->n || !options->lined) lab_csv_die(path, 0, "steps need -n ELEMENTS and -l LINED");
    if (!file_read(arena, options->lined, &steps.lined))
        lab_csv_die(options->lined, 0, strerror(errno));
    if (!file_read(arena, path, &trace)) lab_csv_die(path, 0, strerror(errno));
    buf_format(&out, "# source: %016" PRIx64 "\n# n: %s\n",
               lab_csv_source(arena, &options->source, lab), options->n);
    if (!steps_condense(&steps, trace, &out)) lab_csv_die(path, steps.line, steps.fault);
    return buf_str(&out);
}

static Str read_and_gather(Arena *arena, char **paths, size_t count, const Options *options) {
    LabCsv *csvs = ARENA_NEW(arena, count, LabCsv);
    Recorded recorded;
    if (options->recorded) recorded = recorded_open(arena, options->recorded);
    for (size_t i = 0; i < count; i++) {
        bool file = lab_csv_is_file(paths[i]);
        csvs[i] =
            (file ? lab_csv_open : lab_csv_name)(arena, paths[i], &options->source, options->n);
        if (file) continue;
        if (!options->recorded) lab_csv_die(paths[i], 0, "an argument without .csv needs -k OLD");
        if (!csvs[i].n.len) lab_csv_die(paths[i], 0, "an argument without .csv needs -n ELEMENTS");
    }
    Gather gather = {options->fact, options->recorded ? &recorded : NULL};
    return gather_rows(arena, csvs, count, &gather);
}

static bool is_due(const Recorded *recorded, const Recorded *others, size_t count,
                   const LabCsv *csv) {
    if (!recorded_is_current(recorded, csv)) return true;
    for (size_t i = 0; i < count; i++)
        if (recorded_lacks(recorded, &others[i], csv)) return true;
    return false;
}

// Opens other devices' results of the same kind, in KEPT's folder. The CPU device has no others.
static size_t open_others(Arena *arena, const char *path, Recorded **others) {
    const Str folder = str_slice(path_folder(str_of(path)), 0, path_folder(str_of(path)).len - 1);
    const CatalogFile own = catalog_file(path_stem(str_of(path)));
    CatalogFile *files;
    const char *where = folder.len ? str_terminated(arena, folder) : ".";
    const size_t file_count = catalog_list(arena, where, &files);
    size_t count = 0;
    *others = ARENA_NEW(arena, file_count + 1, Recorded);
    for (size_t i = 0; i < file_count; i++)
        if (files[i].kind == own.kind && !str_equal(files[i].name, own.name) &&
            (own.kind == CATALOG_TIMES || own.kind == CATALOG_LIMITS))
            (*others)[count++] =
                recorded_open(arena, catalog_path(arena, where, own.kind, files[i].device));
    return count;
}

static void print_due(Arena *arena, char **names, size_t count, const Options *options) {
    const bool any = access(options->recorded, F_OK) == 0;
    Recorded recorded, *others = NULL;
    size_t other_count = 0;
    if (any) {
        recorded = recorded_open(arena, options->recorded);
        other_count = open_others(arena, options->recorded, &others);
    }
    for (size_t i = 0; i < count; i++) {
        LabCsv csv = lab_csv_name(arena, names[i], &options->source, options->n);
        if (!any || is_due(&recorded, others, other_count, &csv)) puts(names[i]);
    }
}

static void print_metrics(void) {
    Arena arena = {0};
    Buf metrics = {.arena = &arena};
    ncu_add_metrics(&metrics);
    printf("%.*s\n", STR_ARG(buf_str(&metrics)));
    arena_free(&arena);
}

static _Noreturn void refuse(const char *what) {
    fprintf(stderr, "collect: %s (-h explains)\n", what);
    exit(2);
}

static void check_options(const Options *options, int arguments) {
    size_t digits = options->n ? strspn(options->n, "0123456789") : 0;
    if (options->n && (digits == 0 || digits > 15 || options->n[digits])) {
        fprintf(stderr, "collect: -n %s is not a number of elements\n", options->n);
        exit(2);
    }
    if (options->due && (!options->recorded || !options->n || arguments == 0))
        refuse("-d needs -n ELEMENTS, -k OLD and at least one LAB");
    if (!options->due && (!options->out || arguments == 0))
        refuse("-o FILE and at least one CSV are needed");
    if (options->steps && arguments > 1) refuse("-s takes one trace");
}

static void add_with(LabSource *source, const char *with) {
    if (!strchr(with, '=')) {
        fprintf(stderr, "collect: -w %s is not LAB=FILE\n", with);
        exit(2);
    }
    source->with[source->with_count++] = with;
}

static int read_options(Options *options, int argc, char **argv) {
    const char *with = NULL;
    const struct {
        char letter;
        const char **value;
    } known[] = {{'o', &options->out},  {'c', &options->source.code}, {'w', &with},
                 {'n', &options->n},    {'f', &options->fact},        {'k', &options->recorded},
                 {'l', &options->lined}};
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at += 2) {
        bool *flag = !strcmp(argv[at], "-s")   ? &options->steps
                     : !strcmp(argv[at], "-d") ? &options->due
                                               : NULL;
        if (flag) {
            *flag = true;
            at--;
            continue;
        }
        const char **value = NULL;
        if (!strcmp(argv[at], "-h")) {
            fputs(usage, stdout);
            exit(0);
        }
        if (!strcmp(argv[at], "-m")) {
            print_metrics();
            exit(0);
        }
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (argv[at][1] == known[i].letter && !argv[at][2]) value = known[i].value;
        if (!value || at + 1 == argc) {
            fprintf(stderr, "collect: cannot use %s (-h explains)\n", argv[at]);
            exit(2);
        }
        *value = argv[at + 1];
        if (value == &with) add_with(&options->source, with);
    }
    check_options(options, argc - at);
    return at;
}

// --- commands ---

static void print_files(Arena *arena, char **words, size_t count) {
    const char *folder = count ? words[0] : "results";
    Buf out = {.arena = arena};
    CatalogFile *files;
    const size_t file_count = catalog_list(arena, folder, &files);
    buf_add(&out, STR("kind,device,chapter,path\n"));
    for (size_t i = 0; i < file_count; i++) {
        buf_format(&out, "%.*s,", STR_ARG(catalog_kind_name(files[i].kind)));
        csv_add_cell(&out, files[i].device);
        buf_char(&out, ',');
        csv_add_cell(&out, files[i].chapter);
        buf_char(&out, ',');
        csv_add_cell(&out, str_of(catalog_file_path(arena, folder, &files[i])));
        buf_char(&out, '\n');
    }
    printf("%.*s", STR_ARG(buf_str(&out)));
}

static ResultTable read_or_die(Arena *arena, const char *path) {
    ResultTable table;
    ReadError error;
    if (!read_csv(arena, path, &table, &error))
        lab_csv_die(error.path, error.line, str_terminated(arena, error.message));
    return table;
}

static void print_beside(Arena *arena, char **words, size_t count) {
    (void)count;
    const ResultTable predicted = read_or_die(arena, words[0]);
    ResultTable device = {0}; // a missing file means that nothing was recorded
    Buf out = {.arena = arena};
    if (access(words[1], R_OK) == 0) device = read_or_die(arena, words[1]);
    beside_add(&out, &predicted, &device, path_stem(str_of(words[1])), str_of(words[2]),
               str_of(words[3]));
    printf("%.*s", STR_ARG(buf_str(&out)));
}

static void print_trace(Arena *arena, char **words, size_t count) {
    (void)count;
    Str text;
    if (!file_read(arena, words[1], &text)) lab_csv_die(words[1], 0, strerror(errno));
    Csv csv = csv_open(arena, text);
    Buf out = {.arena = arena};
    if (!trace_add(&csv, str_of(words[0]), &out)) lab_csv_die(words[1], csv.line, csv.fault);
    printf("%.*s", STR_ARG(buf_str(&out)));
}

static void print_named(Arena *arena, char **words, size_t count) {
    (void)count;
    Str text, line, kernel;
    bool more;
    if (!file_read(arena, words[0], &text)) lab_csv_die(words[0], 0, strerror(errno));
    Csv csv = csv_open(arena, text);
    Buf out = {.arena = arena};
    for (bool header = false; csv_line(&csv, &line);) {
        const bool row = header && line.at[0] != '#';
        header |= line.at[0] != '#';
        if (row) {
            if (!csv_cell(&csv, &line, &kernel, &more)) break;
            csv_add_cell(&out, kernel_name_recorded(arena, kernel));
            if (more) buf_char(&out, ',');
        }
        buf_format(&out, "%.*s\n", STR_ARG(line));
    }
    if (csv.fault) lab_csv_die(words[0], csv.line, csv.fault);
    printf("%.*s", STR_ARG(buf_str(&out)));
}

static void print_source(Arena *arena, char **words, size_t count) {
    (void)count;
    const LabSource source = {.code = "code"};
    printf("%016" PRIx64 "\n", lab_csv_source(arena, &source, str_of(words[0])));
}

static void remove_gone(Arena *arena, char **words, size_t count) {
    gone_remove(arena, "results", words, count);
}

static const struct {
    const char *word;
    int least, most; // number of arguments
    void (*print)(Arena *arena, char **words, size_t count);
} commands[] = {{"files", 0, 1, print_files},   {"beside", 4, 4, print_beside},
                {"trace", 2, 2, print_trace},   {"names", 1, 1, print_named},
                {"source", 1, 1, print_source}, {"gone", 0, INT_MAX, remove_gone}};

// Returns false if the first argument is not a command.
static bool run_command(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].word) != 0) continue;
        Arena arena = {0};
        if (argc - 2 < commands[i].least || argc - 2 > commands[i].most)
            refuse("wrong number of arguments for this command");
        commands[i].print(&arena, argv + 2, (size_t)(argc - 2));
        arena_free(&arena);
        return true;
    }
    return false;
}

int main(int argc, char **argv) {
    if (run_command(argc, argv)) return 0;
    Arena arena = {0};
    Options options = {.source.code = "code"};
    options.source.with = ARENA_NEW(&arena, (size_t)argc, const char *);
    int first = read_options(&options, argc, argv);
    size_t count = (size_t)(argc - first);
    if (options.due) {
        print_due(&arena, argv + first, count, &options);
        arena_free(&arena);
        return 0;
    }
    Str text = options.steps ? condense(&arena, argv[first], &options)
                             : read_and_gather(&arena, argv + first, count, &options);
    if (file_write_if_changed(&arena, options.out, text) == FILE_FAILED)
        lab_csv_die(options.out, 0, strerror(errno));
    arena_free(&arena);
    return 0;
}
