// grade: grades exercises of the chapters by running the reader's program.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/version.h"
#include "book/chapters.h"
#include "grade/session.h"
#include "numbers/read.h"

// clang-format off
static const char usage[] =
    "usage: grade [OPTIONS] N.M FILE...    grade an exercise: the second of chapter 4 is 4.2;\n"
    "                                      or by its file's NAME\n"
    "       grade [OPTIONS] -l FILE...     list all: solved, not yet solved, never tried\n"
    "       grade [OPTIONS] -p [-e N.M] FILE...  check that the solution passes, the starter\n"
    "                                      fails and each wrong variant is caught and gets a hint\n"
    "\n"
    "Takes the exercises from Markdown chapters; appendix A says how they are written. Your answer\n"
    "goes into WORK/NAME.cu. grade creates this file from the starter and never overwrites it. It\n"
    "compiles the file, runs it on the CPU device and checks it against the requirements.\n"
    "\n"
    "  -a NUMBER  the answer to an exercise that asks for a number\n"
    "  -S         grade the solution, not the reader's file\n"
    "  -w WORK    the reader's folder (default work); WORK/progress.csv stores verdicts\n"
    "  -b BUILD   write programs to BUILD/exercises/ (default build); the CPU device is the\n"
    "             simt in grade's folder\n"
    "  -c NVCC    the compiler (default nvcc)\n"
    "  -g ARCH    also run on the GPU, of this architecture, such as sm_75\n"
    "  -r DIR     the folder of recorded results (default results)\n"
    "  -D DEVICE  the reference device: DIR/DEVICE.csv (default nvidia-h200)\n"
    "  -h         print this text\n"
    "  --version  print the version\n"
    "\n"
    "Exit status: 0 all requirements are met, 1 they are not, 2 the program does not compile or\n"
    "grading failed.\n";
// clang-format on

typedef struct {
    const char *results, *device, *exercise;
    bool list, prove;
} Options;

static _Noreturn void bad_usage(const char *what, const char *which) {
    fprintf(stderr, "grade: %s%s (grade -h explains)\n", what, which);
    exit(2);
}

static void read_option(Session *session, Options *options, int letter) {
    switch (letter) {
    case 'a':
        session->answer = optarg;
        return;
    case 'w':
        session->work = optarg;
        return;
    case 'b':
        session->tools.build = optarg;
        return;
    case 'c':
        session->tools.nvcc = optarg;
        return;
    case 'g':
        session->tools.native = optarg;
        return;
    case 'r':
        options->results = optarg;
        return;
    case 'D':
        options->device = optarg;
        return;
    case 'e':
        options->exercise = optarg;
        return;
    case 'S':
        session->solution = true;
        return;
    case 'l':
        options->list = true;
        return;
    case 'p':
        options->prove = true;
        return;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        break;
    }
    char which[] = {'-', (char)optopt, '\0'};
    bad_usage(letter == ':' ? "a value is missing after " : "no such option: ", which);
}

static Options read_options(Session *session, int argc, char **argv) {
    Options options = {.results = "results", .device = "nvidia-h200"};
    opterr = 0;
    for (int letter; (letter = getopt(argc, argv, ":a:w:b:c:g:r:D:e:Slph")) != -1;)
        read_option(session, &options, letter);
    if (options.list && options.prove) bad_usage("-l and -p exclude each other", "");
    if (!options.list && !options.prove) options.exercise = argv[optind] ? argv[optind++] : NULL;
    if (!options.list && !options.prove && !options.exercise)
        bad_usage("no exercise given: name one by its number, such as 4.2", "");
    if (optind == argc) bad_usage("no FILE given", "");
    return options;
}

// Finds an exercise by its number or its file name in WORK. NULL: an error was printed.
static const Exercise *find(const Session *session, const char *number) {
    const ChunkTable *table = session->table;
    for (size_t i = 0; i < table->exercise_count; i++) {
        const Exercise *exercise = &table->exercises[i];
        if (str_equal(session_number(session, exercise), str_of(number)) ||
            (exercise->kind == EXERCISE_BUILD &&
             str_equal(session_name(session, exercise), str_of(number))))
            return exercise;
    }
    fprintf(stderr, "there is no exercise %s; choose one of", number);
    for (size_t i = 0; i < table->exercise_count; i++)
        fprintf(stderr, " %.*s", STR_ARG(session_number(session, &table->exercises[i])));
    fprintf(stderr, "%s\n", table->exercise_count ? "" : " none");
    return NULL;
}

static int prove_each(const Session *session, const Exercise *only) {
    bool good = true;
    for (size_t i = 0; i < session->table->exercise_count; i++) {
        const Exercise *exercise = &session->table->exercises[i];
        if (!only || only == exercise) good = prove(session, exercise) && good;
        fflush(stdout);
    }
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    if (version_asked(argc, argv, "grade")) return 0;
    Arena arena = {0};
    ChunkTable table = {.arena = &arena};
    Results results;
    ReadError error;
    Session session = {.arena = &arena,
                       .table = &table,
                       .tools = {.build = "build", .nvcc = "nvcc"},
                       .work = "work"};
    Options options = read_options(&session, argc, argv);
    for (int i = optind; i < argc; i++) chunk_read(&table, str_of(argv[i]));
    chunk_check(&table);
    if (table.error_count) {
        fprintf(stderr, "%.*s", STR_ARG(chunk_errors(&table)));
        return 2;
    }
    if (!read_results(&arena, options.results, str_of(options.device), &results, &error)) {
        fprintf(stderr, "%s:%zu: %.*s\n", error.path, error.line, STR_ARG(error.message));
        return 2;
    }
    Book book = {.arena = &arena,
                 .chunks = &table,
                 .results = &results,
                 .reference = str_of(options.device)};
    chapters_open(&book);
    session.book = &book;
    Buf speeds = {.arena = &arena};
    buf_format(&speeds, "%s/%s-machine.csv", options.results, options.device);
    const char *path = str_terminated(&arena, buf_str(&speeds));
    if (access(path, R_OK) == 0) session.tools.speeds = path;
    const Exercise *exercise = options.exercise ? find(&session, options.exercise) : NULL;
    int status = 2;
    if (options.exercise && !exercise)
        status = 2;
    else if (options.list)
        status = list(&session);
    else if (options.prove)
        status = prove_each(&session, exercise);
    else
        status = verdict(&session, exercise);
    fflush(stdout);
    arena_free(&arena);
    return status;
}
