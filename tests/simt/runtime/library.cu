// A program that is linked with a library of machine code, and calls it if an argument says so.
#include <cuda_runtime.h>
#include <stdio.h>

extern "C" int COMPUTE(int);
extern "C" int cublasCreate_v2(void **);
extern "C" int cublasSetMathMode(void *, int);

__global__ void seven(int *out) { *out = 7; }

int main(int argc, char **argv) {
    int *d, h = 0;
    void *handle = nullptr;
#ifdef BLAS
    if (cublasCreate_v2(&handle) || !handle || cublasSetMathMode(handle, 3)) return 9;
#endif
    cudaMalloc(&d, sizeof h);
    seven<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDefault);
    printf("%d\n", h);
    if (argc > 1) printf("%d\n", COMPUTE(3));
    return handle && argc < 0;
}
