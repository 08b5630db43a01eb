// collect: gather what the labs wrote, one CSV each, into the one CSV of a device.
//
// Four kinds of input. Three are told apart by the header row: the times that a lab writes on a GPU
// (--csv), and the counters of the CPU device per kernel (simt --last --csv) and per source line
// (simt --last --lines-csv). The fourth are the limits: LAB.limits.csv is what `LAB -t 0 --csv`
// writes, which names the kernels, and LAB.ncu.csv beside it what Nsight Compute said of them. Each
// row gets the chapter and a hash of the lab's source in front, so that a later reader can tell
// whether the source has changed since. Source lines are given as lines of the tangled code, which
// a change of prose does not move: beside LAB.lines.csv lies LAB.cu, the source with #line that the
// lab was compiled from when it ran.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/path.h"
#include "collect/limits.h"
#include "collect/lined.h"
#include "collect/steps.h"

static const char usage[] =
    "usage: collect [-c CODE] [-n ELEMENTS] [-f FACT] -o FILE LAB.csv...\n"
    "       collect -m\n"
    "       collect -s [-c CODE] -n ELEMENTS -l LINED -o FILE LAB.NAME.csv\n"
    "\n"
    "Writes FILE, which weave reads, from the CSVs of the labs, in the order given. A lab's CSV\n"
    "is comment lines with facts, `# device: NAME`, the header row `kernel,n,…` and rows. Each\n"
    "row gets the chapter and a hash of the lab's source in front, by which weave sees that\n"
    "the lab has changed since.\n"
    "A CSV is named after its lab: 04_bank_conflicts.csv, or 04_bank_conflicts@1024.csv for a\n"
    "further size. Beside counts of lines, 04_bank_conflicts.lines.csv, lies\n"
    "04_bank_conflicts.cu, with the #line that these lines are of. Beside the names of profiled\n"
    "kernels, 04_bank_conflicts.limits.csv, lies 04_bank_conflicts.ncu.csv, what ncu said.\n"
    "  -o FILE      the device's results, replaced in one step or left as they are; links are\n"
    "               followed\n"
    "  -c CODE      the folder of the labs' sources: CODE/LAB.cu, or LAB in another language\n"
    "               (default: code)\n"
    "  -n ELEMENTS  how many elements the labs summed on the CPU device, if their names do not "
    "say\n"
    "  -f FACT      a fact to note at the head of FILE, as in `toolkit: 13000`\n"
    "  -m           print the metrics that ncu must be asked for\n"
    "  -s           LAB.NAME.csv is what simt --trace wrote, and LAB.cu beside it the source with\n"
    "               #line; FILE gets a row for each step of a warp in the last launch, as the "
    "page's\n"
    "               player shows them\n";

static _Noreturn void die(const char *path, size_t line, const char *message) {
    if (line)
        fprintf(stderr, "%s:%zu: %s\n", path, line, message);
    else
        fprintf(stderr, "%s: %s\n", path, message);
    exit(1);
}

typedef struct {
    const char *path;
    Str lab;         // 04_bank_conflicts
    Str chapter;     // 04
    Str n;           // elements: 1024 of LAB@1024.csv, else what -n says, else empty
    Str facts;       // the comment lines but the date
    Str date;        // the comment line with the date, or empty
    Str header;      // the header row
    size_t columns;  // its cells
    Csv reader;      // before the row that follows it
    uint64_t source; // hash of the lab's source
} LabCsv;

static Str lab_of(Str path) {
    Str base = path_name(path);
    size_t end = 0;
    while (end < base.len && base.at[end] != '@' && base.at[end] != '.') end++;
    return str_slice(base, 0, end);
}

static Str n_of(Str path) {
    Str base = path_name(path);
    size_t start = str_find(base, STR("@")), end = start;
    if (start == SIZE_MAX) return STR("");
    do end++;
    while (end < base.len && base.at[end] >= '0' && base.at[end] <= '9');
    return str_slice(base, start + 1, end);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `04` of 04_bank_conflicts, `A` of A_tools: what stands before the first _ or -.
static Str chapter_of(const char *path, Str lab) {
    bool digits = lab.len > 2 && is_digit(lab.at[0]) && is_digit(lab.at[1]);
    bool letter = lab.len > 1 && lab.at[0] >= 'A' && lab.at[0] <= 'Z';
    size_t end = digits ? 2 : 1;
    if ((!digits && !letter) || (lab.at[end] != '_' && lab.at[end] != '-'))
        die(path, 0, "the name says no chapter: call it NN_NAME.csv, as the lab's source is");
    return str_slice(lab, 0, end);
}

// The lab's source, whatever language it is in: CODE/LAB.cu, or else the one file LAB.*.
static char *source_path(Arena *arena, const char *code, Str lab) {
    Buf stem = {.arena = arena}, path = {.arena = arena};
    buf_format(&stem, "%.*s.", STR_ARG(lab));
    buf_format(&path, "%s/%.*s.cu", code, STR_ARG(lab));
    char *usual = str_terminated(arena, buf_str(&path)), *found = NULL;
    DIR *folder = access(usual, F_OK) == 0 ? NULL : opendir(code);
    if (!folder) return usual;
    for (struct dirent *entry; (entry = readdir(folder));) {
        Str name = str_of(entry->d_name);
        if (!str_starts(name, buf_str(&stem))) continue;
        if (found) die(found, 0, "which of several sources of this name is the lab's?");
        found = str_terminated(arena, path_join(arena, str_of(code), name));
    }
    closedir(folder);
    return found ? found : usual;
}

static uint64_t source_hash(Arena *arena, const char *code, Str lab) {
    char *name = source_path(arena, code, lab);
    Str source;
    if (!file_read(arena, name, &source)) die(name, 0, strerror(errno));
    return str_hash(source);
}

typedef struct {
    const char *out, *code, *n, *fact, *lined;
    bool steps;
} Options;

static LabCsv read_csv(Arena *arena, const char *path, const Options *options) {
    LabCsv csv = {.path = path, .lab = lab_of(str_of(path)), .n = n_of(str_of(path))};
    Str text, line = STR(""), *cells;
    csv.chapter = chapter_of(path, csv.lab);
    if (!csv.n.len && options->n) csv.n = str_of(options->n);
    if (!file_read(arena, path, &text)) die(path, 0, strerror(errno));
    Buf facts = {.arena = arena};
    csv.reader = csv_open(arena, text);
    while (csv_line(&csv.reader, &line) && str_starts(line, STR("#"))) {
        if (str_starts(line, STR("# date:"))) {
            csv.date = line;
        } else {
            buf_add(&facts, line);
            buf_char(&facts, '\n');
        }
    }
    if (csv.reader.fault) die(path, csv.reader.line, csv.reader.fault);
    if (!str_starts(line, STR("kernel,"))) die(path, csv.reader.line, "no header row `kernel,...`");
    if (!csv_cells(&csv.reader, line, &cells, &csv.columns))
        die(path, csv.reader.line, csv.reader.fault);
    csv.facts = buf_str(&facts);
    csv.header = line;
    csv.source = source_hash(arena, options->code, csv.lab);
    return csv;
}

// The next row; false at the end. A fault ends the program.
static bool next_row(Csv *reader, const LabCsv *csv, Str *row) {
    Str *cells;
    size_t count = csv->columns;
    bool more = csv_line(reader, row) && csv_cells(reader, *row, &cells, &count);
    if (reader->fault) die(csv->path, reader->line, reader->fault);
    if (count != csv->columns) die(csv->path, reader->line, "not as many cells as columns");
    return more;
}

// Takes `count` cells off a row that has more than these.
static void take_cells(Csv *reader, const LabCsv *csv, Str *row, Str *cells, size_t count,
                       const char *expected) {
    bool more = true;
    for (size_t i = 0; i < count && more; i++)
        if (!csv_cell(reader, row, &cells[i], &more)) die(csv->path, reader->line, reader->fault);
    if (!more || cells[0].len == 0) die(csv->path, reader->line, expected);
}

// A demangled signature as the labs' tables name the kernel: `void block_sum_unrolled<(unsigned
// int)64>(float const*, ...)` is block_sum_unrolled_64, `f<float>` is f_float.
static Str table_name(Arena *arena, Str signature) {
    if (str_starts(signature, STR("void "))) signature = str_from(signature, 5);
    Buf name = {.arena = arena};
    int depth = 0;
    bool cast = false;
    for (size_t i = 0; i < signature.len; i++) {
        char c = signature.at[i];
        if (c == '(' && depth == 0) break;
        if (c == '(') cast = true;
        if (c == '<' || c == ',') buf_char(&name, '_');
        if (c == '<') depth++;
        if (c == '>') depth--;
        if (!cast && !strchr("<>, ()", c)) buf_char(&name, c);
        if (c == ')') cast = false;
    }
    Str result = buf_str(&name);
    bool literal = result.len > 1 && result.at[result.len - 1] == 'u' && // 64u, from a demangler
                   result.at[result.len - 2] >= '0' && result.at[result.len - 2] <= '9';
    return str_slice(result, 0, result.len - literal);
}

// Kernels in a namespace are not the lab's own.
static bool is_library(Str kernel) { return str_find(kernel, STR("::")) != SIZE_MAX; }

static void add_prefix(Buf *out, const LabCsv *csv) {
    buf_format(out, "%.*s,%016" PRIx64 ",", STR_ARG(csv->chapter), csv->source);
}

static void add_times(Buf *out, const LabCsv *csv) {
    Csv reader = csv->reader;
    for (Str row; next_row(&reader, csv, &row);) {
        add_prefix(out, csv);
        buf_add(out, row);
        buf_char(out, '\n');
    }
}

static void add_counters(Arena *arena, Buf *out, const LabCsv *csv) {
    Csv reader = csv->reader;
    for (Str row, cells[2]; next_row(&reader, csv, &row);) { // the kernel, the number of the launch
        take_cells(&reader, csv, &row, cells, 2, "not a row of simt --csv");
        Str kernel = table_name(arena, cells[0]);
        if (is_library(kernel)) continue;
        add_prefix(out, csv);
        buf_format(out, "%.*s,%.*s,%.*s\n", STR_ARG(kernel), STR_ARG(csv->n), STR_ARG(row));
    }
}

static void add_lines(Arena *arena, Buf *out, const LabCsv *csv) {
    Buf path = {.arena = arena};
    Str counts = str_of(csv->path), suffix = STR(".lines.csv");
    if (!str_ends(counts, suffix)) die(csv->path, 0, "counts of lines need a name in .lines.csv");
    buf_format(&path, "%.*s.cu", STR_ARG(str_slice(counts, 0, counts.len - suffix.len)));
    char *name = str_terminated(arena, buf_str(&path));
    Str code;
    if (!file_read(arena, name, &code)) die(name, 0, strerror(errno));
    Csv reader = csv->reader;
    for (Str row, cells[3]; next_row(&reader, csv, &row);) { // kernel, file, line
        take_cells(&reader, csv, &row, cells, 3, "not a row of simt --lines-csv");
        Str kernel = table_name(arena, cells[0]);
        size_t line = strtoul(str_terminated(arena, cells[2]), NULL, 10);
        size_t at = lined_code_line(code, cells[1], line);
        if (at == 0 || is_library(kernel)) continue;
        add_prefix(out, csv);
        buf_format(out, "%.*s,%.*s,%zu,%.*s\n", STR_ARG(kernel), STR_ARG(csv->n), at, STR_ARG(row));
    }
}

static Limits read_limits(Arena *arena, const LabCsv *csv) {
    Buf path = {.arena = arena};
    Str names = str_of(csv->path), suffix = STR(".limits.csv");
    buf_format(&path, "%.*s.ncu.csv", STR_ARG(str_slice(names, 0, names.len - suffix.len)));
    char *name = str_terminated(arena, buf_str(&path));
    Str text;
    Limits limits;
    if (!file_read(arena, name, &text)) die(name, 0, strerror(errno));
    if (!limits_read(arena, text, &limits)) die(name, limits.line, limits.fault);
    return limits;
}

static bool is_limits(const LabCsv *csv) { return str_ends(str_of(csv->path), STR(".limits.csv")); }

// The k-th kernel that the lab names is the k-th stage that ncu saw.
static void add_limits(Arena *arena, Buf *out, const LabCsv *csv) {
    Limits limits = read_limits(arena, csv);
    Csv reader = csv->reader;
    size_t stage = 0;
    for (Str row, cells[2]; next_row(&reader, csv, &row); stage++) { // kernel, n
        take_cells(&reader, csv, &row, cells, 2, "not a row of LAB -t 0 --csv");
        if (stage == limits.count) die(csv->path, reader.line, "ncu saw fewer kernels than these");
        const Str *found = limits.stages[stage].cells;
        if (!found) continue; // nothing that runs on a GPU
        add_prefix(out, csv);
        buf_format(out, "%.*s,%.*s", STR_ARG(cells[0]), STR_ARG(cells[1]));
        for (size_t i = 0; i < limits_columns(); i++) buf_format(out, ",%.*s", STR_ARG(found[i]));
        buf_char(out, '\n');
    }
    if (stage < limits.count) die(csv->path, 0, "ncu saw more kernels than these");
}

static Str condense(Arena *arena, const char *path, const Options *options) {
    const Str lab = lab_of(str_of(path));
    Steps steps = {.arena = arena};
    Buf out = {.arena = arena};
    Str trace;
    if (!options->n || !options->lined) die(path, 0, "steps need -n ELEMENTS and -l LINED");
    if (!file_read(arena, options->lined, &steps.lined)) die(options->lined, 0, strerror(errno));
    if (!file_read(arena, path, &trace)) die(path, 0, strerror(errno));
    buf_format(&out, "# source: %016" PRIx64 "\n# n: %s\n", source_hash(arena, options->code, lab),
               options->n);
    if (!steps_condense(&steps, trace, &out)) die(path, steps.line, steps.fault);
    return buf_str(&out);
}

static Str gather(Arena *arena, const LabCsv *csvs, size_t count, const Options *options) {
    Buf out = {.arena = arena};
    const Str counters = STR("kernel,launch,"), lines = STR("kernel,file,line,");
    Str header = csvs[0].header;
    bool counted = str_starts(header, counters), lined = str_starts(header, lines);
    bool limited = is_limits(&csvs[0]);
    if (options->fact) buf_format(&out, "# %s\n", options->fact);
    buf_add(&out, csvs[0].facts);
    for (size_t i = 0; i < count; i++) {
        if (!str_equal(csvs[i].facts, csvs[0].facts))
            die(csvs[i].path, 1, "another device or toolkit than in the first file");
        if (!str_equal(csvs[i].header, header))
            die(csvs[i].path, csvs[i].reader.line, "other columns than in the first file");
        if (is_limits(&csvs[i]) != limited) die(csvs[i].path, 0, "limits beside what are none");
        if ((counted || lined) && !csvs[i].n.len) die(csvs[i].path, 0, "counts need -n ELEMENTS");
    }
    if (csvs[count - 1].date.len) buf_format(&out, "%.*s\n", STR_ARG(csvs[count - 1].date));
    buf_add(&out, STR("chapter,source,"));
    if (counted)
        buf_format(&out, "kernel,n,%.*s\n", STR_ARG(str_from(header, counters.len)));
    else if (lined)
        buf_format(&out, "kernel,n,code_line,%.*s\n", STR_ARG(str_from(header, lines.len)));
    else if (limited)
        buf_add(&out, STR("kernel,n,")), limits_add_header(&out), buf_char(&out, '\n');
    else
        buf_format(&out, "%.*s\n", STR_ARG(header));
    for (size_t i = 0; i < count; i++)
        if (counted)
            add_counters(arena, &out, &csvs[i]);
        else if (lined)
            add_lines(arena, &out, &csvs[i]);
        else if (limited)
            add_limits(arena, &out, &csvs[i]);
        else
            add_times(&out, &csvs[i]);
    return buf_str(&out);
}

static Str read_and_gather(Arena *arena, char **paths, size_t count, const Options *options) {
    LabCsv *csvs = ARENA_NEW(arena, count, LabCsv);
    for (size_t i = 0; i < count; i++) csvs[i] = read_csv(arena, paths[i], options);
    return gather(arena, csvs, count, options);
}

static void print_metrics(void) {
    Arena arena = {0};
    Buf metrics = {.arena = &arena};
    limits_add_metrics(&metrics);
    printf("%.*s\n", STR_ARG(buf_str(&metrics)));
    arena_free(&arena);
}

static int read_options(Options *options, int argc, char **argv) {
    const struct {
        char letter;
        const char **value;
    } known[] = {{'o', &options->out},
                 {'c', &options->code},
                 {'n', &options->n},
                 {'f', &options->fact},
                 {'l', &options->lined}};
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at += 2) {
        if (!strcmp(argv[at], "-s")) {
            options->steps = true;
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
    }
    size_t digits = options->n ? strspn(options->n, "0123456789") : 0;
    if (options->n && (digits == 0 || digits > 15 || options->n[digits])) {
        fprintf(stderr, "collect: -n %s is not a number of elements\n", options->n);
        exit(2);
    }
    if (!options->out || at == argc) {
        fputs("collect: -o FILE and at least one CSV are needed (-h explains)\n", stderr);
        exit(2);
    }
    if (options->steps && at + 1 < argc) {
        fputs("collect: -s takes one trace (-h explains)\n", stderr);
        exit(2);
    }
    return at;
}

int main(int argc, char **argv) {
    Arena arena = {0};
    Options options = {.code = "code"};
    int first = read_options(&options, argc, argv);
    size_t count = (size_t)(argc - first);
    Str text = options.steps ? condense(&arena, argv[first], &options)
                             : read_and_gather(&arena, argv + first, count, &options);
    if (file_write_if_changed(&arena, options.out, text) == FILE_FAILED)
        die(options.out, 0, strerror(errno));
    arena_free(&arena);
    return 0;
}
