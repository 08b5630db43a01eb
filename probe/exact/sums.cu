// The bits of exact sums of given elements. Reads cases from a file, each {1 if doubles, number of
// elements, elements in front of the first, the elements}, and prints a line for each: the bits of
// the sum by doubles and by integers, in several grids, all of which must be the same.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "new.cuh"

using namespace fresh;

static void *d_data, *d_out, *d_workspace;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "sums: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

template <class T> static void tell(const char *how) {
    T out;
    uint64_t bits = 0;
    stop_on(cudaGetLastError(), how);
    stop_on(cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost), how);
    memcpy(&bits, &out, sizeof out);
    printf("%llx ", (unsigned long long)bits);
    stop_on(cudaMemset(d_out, 0xA5, sizeof out), "poison");
}

template <class T, int THREADS, int VECTORS>
static void sum(const T *d_in, size_t n, unsigned grid) {
    exact_kernel<T, THREADS, 1, VECTORS>
        <<<grid, THREADS>>>(exact_split(d_in, n), (T *)d_out, (unsigned long long *)d_workspace);
    tell<T>("a grid");
}
template <class T> static void many(const T *d_in, size_t n);
template <> void many(const float *d_in, size_t n) {
    exact_launch<float, 256, 4, 4>(d_in, (float *)d_out, n, d_workspace, 132, 0); tell<float>("l");
    sum<float, 128, 2>(d_in, n, 1); sum<float, 256, 4>(d_in, n, 3); sum<float, 128, 2>(d_in, n, 7); sum<float, 512, 1>(d_in, n, 20);
}
template <> void many(const double *d_in, size_t n) {
    exact_launch<double, 64, 4, 12>(d_in, (double *)d_out, n, d_workspace, 132, 0); tell<double>("l");
    sum<double, 64, 2>(d_in, n, 1); sum<double, 64, 4>(d_in, n, 3); sum<double, 64, 2>(d_in, n, 7); sum<double, 64, 1>(d_in, n, 20);
}
template <class T> static void sums(const T *in, size_t n, size_t offset) {
    T *d_in = (T *)d_data + offset;
    stop_on(cudaMemcpy(d_in, in, n * sizeof(T), cudaMemcpyHostToDevice), "copy");
    many(d_in, n);
    printf("\n");
}
int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    unsigned head[3];
    char *in = (char *)malloc(8 << 20);
    if (!file || !in) return 1;
    stop_on(cudaMalloc(&d_data, 9 << 20), "memory");
    stop_on(cudaMalloc(&d_out, sizeof(double)), "memory");
    stop_on(cudaMalloc(&d_workspace, fresh::REDUCE_EXACT_WORKSPACE_BYTES), "memory");
    stop_on(cudaMemset(d_workspace, 0, fresh::REDUCE_EXACT_WORKSPACE_BYTES), "clear");
    while (fread(head, sizeof *head, 3, file) == 3) {
        size_t each = head[0] ? sizeof(double) : sizeof(float);
        if (head[1] * each > 8 << 20 || fread(in, each, head[1], file) != head[1]) return 1;
        if (head[0]) sums((const double *)in, head[1], head[2]);
        else sums((const float *)in, head[1], head[2]);
    }
    return 0;
}
