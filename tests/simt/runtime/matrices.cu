// Matrix instructions that are used wrongly: matrices NAME. The kernel's name is the argument; a
// comment `LINE NAME` marks the line that must be named.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define PRODUCT                                                                                    \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %0, %0, %0}, {%1, %1}, "   \
                 "{%1}, {%0, %0, %0, %0};"                                                         \
                 : "+f"(sum)                                                                       \
                 : "r"(x))
#define ROWS(at)                                                                                   \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %0, %0, %0}, [%1];"                \
                 : "=r"(x)                                                                         \
                 : "r"((unsigned)__cvta_generic_to_shared(at)))

__global__ void right(float *out) {
    float sum = 0;
    unsigned x = 0x3c003c00;
    if (out) PRODUCT;
    out[threadIdx.x] = sum;
}

__global__ void short_of_lanes(float *out) { // 16 threads
    float sum = 0;
    unsigned x = 0x3c003c00;
    PRODUCT; // LINE short_of_lanes
    out[threadIdx.x] = sum;
}

__global__ void left(float *out) {
    float sum = 0;
    unsigned x = 0x3c003c00;
    if (threadIdx.x == 5) return;
    PRODUCT; // LINE left
    out[threadIdx.x] = sum;
}

__global__ void apart(float *out) {
    float sum = 0;
    unsigned x = 0x3c003c00;
    if (threadIdx.x < 8) {
        PRODUCT;
        sum += 1;
    } else {
        PRODUCT;
        sum += 2;
    }
    out[threadIdx.x] = sum;
}

__global__ void misaligned(float *out) {
    __shared__ __align__(16) unsigned s[256];
    unsigned x = 0;
    for (int i = threadIdx.x; i < 256; i += 32) s[i] = i;
    __syncwarp();
    ROWS(s + threadIdx.x * 4 + (threadIdx.x == 9)); // LINE misaligned
    out[threadIdx.x] = x;
}

__global__ void outside(float *out) {
    __shared__ __align__(16) unsigned s[128];
    unsigned x = 0;
    for (int i = threadIdx.x; i < 128; i += 32) s[i] = i;
    __syncwarp();
    ROWS(s + threadIdx.x * 4 + 4096); // LINE outside
    out[threadIdx.x] = x;
}

__global__ void unordered(float *out) { // 64 threads
    __shared__ __align__(16) unsigned s[256];
    unsigned x = 0;
    for (int i = threadIdx.x; i < 256; i += 64) s[i] = i;
    ROWS(s + threadIdx.x * 4); // LINE unordered
    out[threadIdx.x] = x;
}

int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*kernel)(float *);
        int threads;
    } kernels[] = {{"right", right, 32},
                   {"short_of_lanes", short_of_lanes, 16},
                   {"left", left, 32},
                   {"apart", apart, 32},
                   {"misaligned", misaligned, 32},
                   {"outside", outside, 32},
                   {"unordered", unordered, 64}};
    float *d;
    cudaMalloc((void **)&d, 4096);
    for (const auto &kernel : kernels)
        if (argc > 1 && !strcmp(argv[1], kernel.name)) kernel.kernel<<<1, kernel.threads>>>(d);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
