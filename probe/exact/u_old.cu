#include <cuda_runtime.h>
#include <stdio.h>
#include "list.h"
#include "old.cuh"
using namespace reduction;
template <class T, class Lane> static void go(const void *in, void *out, size_t n, void *w, int, cudaStream_t s) {
    exact_launch<T, Lane>((const T *)in, (T *)out, n, w, s);
}
static Add a("float", "old", go<float, ExactLevels<float>>, NULL), b("double", "old", go<double, ExactLevels<double>>, NULL);
