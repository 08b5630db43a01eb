// Shared by the corpus files: the table of cases and main.
//
// A case is one launch of a kernel, wrong on purpose or right, with a verdict in its source:
//     // HAZARD case: kind [with label]     this line must be reported, [together with the label's]
//     // HAZARD-NEXT case: kind [with label] the same of the next line that is not such a comment
//     // NOTE case: kind [with label]       a note of that kind, which fails no run
//     // LABEL label                        a line that may be the other side
//     // SILENT case: kind                  wrong, but not a hazard that --check looks for
// A case that no HAZARD or NOTE names must give no report at all. Where a race has its two sides on
// one line there is no `with`. Reports between any two lines marked for a case are accepted.
#ifndef CORPUS_H
#define CORPUS_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 128

typedef struct {
    const char *name;
    void (*run)(int *d_in, int *d_out); // BLOCK * 4 ints each, all written
} Case;

static int corpus_main(const Case *cases, size_t count, int argc, char **argv) {
    if (argc != 2) {
        for (size_t i = 0; i < count; i++) puts(cases[i].name);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(cases[i].name, argv[1]) != 0) continue;
        int host[BLOCK * 4], *d_in = NULL, *d_out = NULL;
        for (int k = 0; k < BLOCK * 4; k++) host[k] = k;
        if (cudaMalloc((void **)&d_in, sizeof host) || cudaMalloc((void **)&d_out, sizeof host))
            return 3;
        cudaMemcpy(d_in, host, sizeof host, cudaMemcpyHostToDevice);
        cudaMemset(d_out, 0, sizeof host);
        cases[i].run(d_in, d_out);
        cudaError_t error = cudaDeviceSynchronize();
        printf("ran %s: %s\n", cases[i].name, cudaGetErrorName(error));
        return 0;
    }
    fprintf(stderr, "no case %s\n", argv[1]);
    return 2;
}

#define CORPUS_MAIN(cases)                                                                         \
    int main(int argc, char **argv) {                                                              \
        return corpus_main(cases, sizeof cases / sizeof *cases, argc, argv);                       \
    }

// Rows of the table: a launch, a kernel with both arrays as arguments, a wrong kernel and its right
// twin.
#define RUN(name, ...)                                                                             \
    {                                                                                              \
        name, [](int *d_in, int *d_out) {                                                          \
            (void)d_in, (void)d_out;                                                               \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    }
#define ONE(blocks, threads, name, ...) RUN(name, __VA_ARGS__<<<blocks, threads>>>(d_in, d_out))
#define TWINS(blocks, threads, kernel)                                                             \
    ONE(blocks, threads, #kernel, kernel<false>),                                                  \
        ONE(blocks, threads, #kernel "_right", kernel<true>)

#endif
