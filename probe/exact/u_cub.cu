#include <cuda_runtime.h>
#include <stdio.h>
#include "list.h"
#include <cub/cub.cuh>
static void *temp(size_t *bytes) {
    static void *d = NULL;
    *bytes = 64 << 20;
    if (!d) cudaMalloc(&d, *bytes);
    return d;
}
template <class T> static void go(const void *in, void *out, size_t n, void *, int, cudaStream_t s) {
    size_t bytes;
    void *d = temp(&bytes);
    cub::detail::rfa::dispatch(d, bytes, (const T *)in, (T *)out, (int)n, T(0), s);
}
void prepare_cub() { size_t b; temp(&b); printf("# cub %d.%d.%d\n", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION); }
static Add a("float", "cub", go<float>, NULL), b("double", "cub", go<double>, NULL);
