// What the CPU device does not have, by name, and ways to end a program that does not look at
// errors: refused NAME [WAY]
#include <cuda_runtime.h>
#include <mma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__global__ void first(int *out) { out[threadIdx.x] = 1; }

__global__ void tensor(const int *a, int *c) { // of numbers of 4 bits
    using namespace nvcuda::wmma;
    fragment<matrix_a, 8, 8, 32, experimental::precision::s4, row_major> x;
    fragment<matrix_b, 8, 8, 32, experimental::precision::s4, col_major> y;
    fragment<accumulator, 8, 8, 32, int> z;
    fill_fragment(z, 0);
    load_matrix_sync(x, a, 32); // LINE tensor
    load_matrix_sync(y, a, 32);
    mma_sync(z, x, y, z);
    store_matrix_sync(c, z, 8, mem_row_major);
}

#ifdef WARP_GROUPS // for sm_90a
__global__ void group(float *c) {
    asm volatile("wgmma.fence.sync.aligned;"); // LINE group
    c[threadIdx.x] = 0;
}
#endif

__global__ void texture(cudaTextureObject_t from, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(from, threadIdx.x); // LINE texture
}

__global__ void surface(cudaSurfaceObject_t to) {
    surf1Dwrite(1.0f, to, threadIdx.x * 4); // LINE surface
}

__global__ void hoard(int *out) {
    int kept[150000];  // LINE hoard
    for (int k = 0; k < 150000; k++) kept[k] = out[k % 32];
    out[threadIdx.x] = kept[out[1]];
}

static __device__ __noinline__ int calls_without_end(int n) {
    volatile int kept[4];
    kept[n & 3] = n;
    return n < 0 ? 0 : calls_without_end(n + 1) + kept[n & 3]; // LINE overflow
}
__global__ void overflow(int *out) { out[threadIdx.x] = calls_without_end(out[threadIdx.x]); }

static __device__ __noinline__ int calls(int n) {
    volatile int kept[16];
    kept[n & 15] = n;
    return n ? calls(n - 1) + kept[n & 15] : 0; // LINE calls
}
__global__ void deep(int *out) { out[threadIdx.x] = calls(out[threadIdx.x] * 3000); }

static void end(const char *way) {
    if (!strcmp(way, "exit")) exit(0);
    if (!strcmp(way, "_exit")) _exit(0);
    if (!strcmp(way, "quick_exit")) quick_exit(0);
    if (!strcmp(way, "abort")) abort();
    if (!strcmp(way, "crash")) *(volatile int *)NULL = 1;
    if (!strcmp(way, "kill")) kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    float *d;
    cudaMalloc((void **)&d, 4096);
    first<<<1, 32>>>((int *)d);
    if (!strcmp(name, "tensor")) tensor<<<1, 32>>>((int *)d, (int *)d);
#ifdef WARP_GROUPS
    if (!strcmp(name, "group")) group<<<1, 128>>>(d);
#endif
    if (!strcmp(name, "texture")) texture<<<1, 32>>>(0, d);
    if (!strcmp(name, "surface")) surface<<<1, 32>>>(0);
    if (!strcmp(name, "hoard")) hoard<<<1, 32>>>((int *)d);
    if (!strcmp(name, "overflow")) overflow<<<9, 1024>>>((int *)d);
    if (!strcmp(name, "deep_enough")) cudaDeviceSetLimit(cudaLimitStackSize, 256 << 10);
    if (!strncmp(name, "deep", 4)) deep<<<1, 32>>>((int *)d);
    if (!strcmp(name, "call")) {
        cudaTextureObject_t object;
        cudaCreateTextureObject(&object, NULL, NULL, NULL);
    }
    cudaError_t launched = cudaGetLastError(), waited = cudaDeviceSynchronize();
    cudaDeviceReset(); // mends nothing
    cudaError_t later = cudaMalloc((void **)&d, 4096);
    printf("%s %s %s\n", cudaGetErrorName(launched), cudaGetErrorName(waited),
           cudaGetErrorName(later));
    fflush(stdout);
    end(argc > 2 ? argv[2] : "");
    return 0;
}
