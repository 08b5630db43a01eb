// Shared by every.cu and ends.cuh: errors, random numbers, elements.
#ifndef ROWS_COMMON_CUH
#define ROWS_COMMON_CUH

#include <stdio.h>
#include <stdlib.h>

#include "reduce_rows.cuh"

using namespace reduction;

static unsigned seed = 1;
static int wrong;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "every: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static unsigned next_random() { return seed = seed * 1664525u + 1013904223u, seed >> 8; }

static void to_element(float x, float *to) { *to = x; }
static void to_element(float x, __half *to) { *to = __float2half(x); }
static void to_element(float x, __nv_bfloat16 *to) { *to = __float2bfloat16(x); }
static float of_element(float x) { return x; }
static float of_element(__half x) { return __half2float(x); }
static float of_element(__nv_bfloat16 x) { return __bfloat162float(x); }

#endif
