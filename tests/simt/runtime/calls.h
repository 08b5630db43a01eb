// Shared by programs that test the runtime's calls: each behaviour is a line of output, "ok NAME",
// or "not ok NAME" with the failed line below it.
#ifndef CALLS_H
#define CALLS_H

#if CUDART_VERSION < 13000 && !defined AS_CUDA_12
#define AS_CUDA_12
#endif

#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

static int failed_line; // first failed check of the running test

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition) && !failed_line) failed_line = __LINE__;                                  \
    } while (0)
#define GOOD(call)        CHECK((call) == cudaSuccess)
#define ERROR(code, call) CHECK((call) == (code))

static void run_test(const char *name, void (*test)()) {
    failed_line = 0;
    test();
    if (failed_line)
        printf("not ok %s\n    line %d, last error %s\n", name, failed_line,
               cudaGetErrorName(cudaPeekAtLastError()));
    else
        printf("ok %s\n", name);
}

#endif
