#define reduction last
#include <cuda_runtime.h>
#include <stdio.h>
#include "list.h"
#include "final.cuh"
using namespace last;
static void go(const void *in, void *out, size_t n, void *w, int sms, cudaStream_t s) {
    ExactInput<double> input = exact_split((const double *)in, n);
    const size_t tile = 64 * 10, tiles = (input.vectors + tile - 1) / tile, fit = sms * 4;
    const unsigned blocks = tiles == 0 ? 1 : tiles < fit ? (unsigned)tiles : (unsigned)fit;
    exact_kernel<double, 64, 4, 10><<<blocks, 64, 0, s>>>(input, (double *)out, (unsigned long long *)w);
}
static Add a("double", "new_64_4_10", go, (const void *)exact_kernel<double, 64, 4, 10>);
