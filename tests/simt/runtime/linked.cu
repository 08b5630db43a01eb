// Device code that -rdc=true compiles: alone, with part.cu (-DPART), launching kernels (-DNESTED).
#include <stdio.h>
#include <cuda_runtime.h>

#ifdef PART
extern __device__ int twice(int x);
#else
__device__ __noinline__ int twice(int x) { return 2 * x; }
#endif

__global__ void doubled(int *out) { out[threadIdx.x] = twice((int)threadIdx.x); }

#ifdef NESTED
__global__ void nested(int *out) { doubled<<<1, 32>>>(out); }
#else
#define nested doubled
#endif

int main() {
    int *d, got[32] = {0};
    cudaMalloc((void **)&d, sizeof got);
    nested<<<1, 32>>>(d);
    cudaError_t error = cudaMemcpy(got, d, sizeof got, cudaMemcpyDefault);
    printf("%s %d\n", cudaGetErrorName(error), got[31]);
    return 0;
}
