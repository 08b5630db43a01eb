#define reduction last
#include <cuda_runtime.h>
#include <stdio.h>
#include "list.h"
#include "final.cuh"
using namespace last;
static void go(const void *in, void *out, size_t n, void *w, int sms, cudaStream_t s) {
    ExactInput<float> input = exact_split((const float *)in, n);
    const size_t tile = 256 * 2, tiles = (input.vectors + tile - 1) / tile, fit = sms * 4;
    const unsigned blocks = tiles == 0 ? 1 : tiles < fit ? (unsigned)tiles : (unsigned)fit;
    exact_kernel<float, 256, 4, 2><<<blocks, 256, 0, s>>>(input, (float *)out, (unsigned long long *)w);
}
static Add a("float", "new_256_4_2", go, (const void *)exact_kernel<float, 256, 4, 2>);
