// cudac: compiles the kernels of a CUDA C source to PTX.
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "simt/cudac/generate/generate.h"
#include "simt/cudac/parse/preprocess.h"
#include "simt/cudac/parse/program.h"

static const char USAGE[] =
    "usage: cudac [-k KERNEL]... [-m] [-o FILE] SOURCE\n"
    "\n"
    "Compiles the kernels of a CUDA C source to PTX, for sm_90. Of templates, it compiles those\n"
    "instances that the host's code names with constants.\n"
    "\n"
    "  -k KERNEL  compile only this kernel, such as 'block_sum<8>'; several are possible\n"
    "  -m         check host code, too: main() and the functions that it names\n"
    "  -o FILE    write the PTX to FILE (default: standard output)\n"
    "  -h         print this text\n";

typedef struct {
    Arena arena;
    const char *source, *out;
    const char **kernels;
    size_t kernel_count;
    bool checks_main;
} Job;

static int usage_error(const char *what, const char *detail) {
    fprintf(stderr, "cudac: %s%s\n%s", what, detail, USAGE);
    return 2;
}

static bool read_included(Arena *arena, Str path, Str *text) {
    return file_read_text(arena, str_terminated(arena, path), text);
}

// Prints `path:line:column: message`, the line, and a caret below the place.
static int print_refusal(const Refusal *refusal) {
    const Place *at = &refusal->place;
    fprintf(stderr, "%.*s:%u:%u: %.*s\n", STR_ARG(at->file), (unsigned)at->line,
            (unsigned)at->column, STR_ARG(refusal->message));
    if (!at->text.len) return 1;
    fprintf(stderr, "%.*s\n", STR_ARG(at->text));
    for (size_t i = 0; i + 1 < at->column; i++)
        fputc(i < at->text.len && at->text.at[i] == '\t' ? '\t' : ' ', stderr);
    fputs("^\n", stderr);
    return 1;
}

static int compile(Job *job) {
    Str text, ptx;
    TokenList tokens = {0};
    Refusal refusal = {0};
    if (!file_read_text(&job->arena, job->source, &text)) {
        fprintf(stderr, "cudac: cannot read %s\n", job->source);
        return 1;
    }
    bool ok = preprocess(&job->arena, str_of(job->source), text, read_included, &tokens, &refusal);
    for (size_t i = 0; ok && i < job->kernel_count; i++)
        ok = token_split(&job->arena, STR("-k"), str_of(job->kernels[i]), &tokens, &refusal);
    const Tree *tree = !ok                ? NULL
                       : job->checks_main ? program_parse_main(&job->arena, &tokens, &refusal)
                                          : program_parse(&job->arena, &tokens, &refusal);
    if (!tree) return print_refusal(&refusal);
    ptx = generate(&job->arena, tree, &refusal);
    if (refusal.message.len) return print_refusal(&refusal);
    if (!job->out) return fwrite(ptx.at, 1, ptx.len, stdout) != ptx.len;
    if (file_write_if_changed(&job->arena, job->out, ptx) != FILE_FAILED) return 0;
    fprintf(stderr, "cudac: cannot write %s\n", job->out);
    return 1;
}

int main(int argc, char **argv) {
    Job job = {.kernels = NULL};
    job.kernels = ARENA_NEW(&job.arena, (size_t)argc, const char *);
    for (int i = 1; i < argc; i++) {
        bool option = argv[i][0] == '-' && argv[i][1];
        if (!strcmp(argv[i], "-h")) return fputs(USAGE, stdout) < 0;
        if (!option && job.source) return usage_error("one source at a time, not also ", argv[i]);
        if (!option)
            job.source = argv[i];
        else if (!strcmp(argv[i], "-m"))
            job.checks_main = true;
        else if (i + 1 == argc || (strcmp(argv[i], "-k") && strcmp(argv[i], "-o")))
            return usage_error("cannot use ", argv[i]);
        else if (argv[i][1] == 'k')
            job.kernels[job.kernel_count++] = argv[++i];
        else
            job.out = argv[++i];
    }
    if (!job.source) return usage_error("name a source", "");
    int status = compile(&job);
    arena_free(&job.arena);
    return status;
}
