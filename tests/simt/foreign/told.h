// How the programs here tell what they found: a line `ok NAME` or `wrong NAME: why`.
#ifndef TOLD_H
#define TOLD_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong_count;

static void tell(const char *name, bool good, const char *why) {
    printf(good ? "ok %s\n" : "wrong %s: %s\n", name, why);
    wrong_count += !good;
}

#define CUDA(call) cuda_or_exit((call), #call)
static void cuda_or_exit(cudaError_t error, const char *call) {
    if (error == cudaSuccess) return;
    printf("wrong %s: %s\n", call, cudaGetErrorName(error));
    exit(1);
}

// Small integers, so that sums are exact in every type and order.
static int element(unsigned i) { return (int)((i * 2654435761u) >> 27) - 15; }

template <typename T> static T *device_elements(unsigned n) {
    T *host = (T *)malloc((n + 1) * sizeof(T)), *device;
    for (unsigned i = 0; i < n; i++) host[i] = (T)element(i);
    CUDA(cudaMalloc((void **)&device, (n + 1) * sizeof(T)));
    CUDA(cudaMemcpy(device, host, n * sizeof(T), cudaMemcpyHostToDevice));
    free(host);
    return device;
}

template <typename T> static void tell_value(const char *what, T got, double want) {
    char name[200], why[100];
    snprintf(name, sizeof name, "%s", what);
    snprintf(why, sizeof why, "%.17g, not %.17g", (double)got, want);
    tell(name, (double)got == want, why);
}

#endif
