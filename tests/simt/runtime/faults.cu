// Kernels that fail while they run, one per run: prints the error codes of the calls that follow.
#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void out_of_bounds(int *at) { at[1 << 30] = 1; }
__global__ void misaligned(int *at) { *(int *)((char *)at + 2) = 1; }
__global__ void asserts(int *at) { assert(at == nullptr); }
__global__ void traps(int *at) {
    if (at) __trap();
}
__global__ void spins(volatile int *at) {
    while (*at == 0) {
    }
}
__global__ void good(int *at) { *at = 1; }

static const struct {
    const char *name;
    void (*kernel)(int *);
} cases[] = {
    {"out_of_bounds", out_of_bounds},
    {"misaligned", misaligned},
    {"asserts", asserts},
    {"traps", traps},
    {"spins", (void (*)(int *))spins},
    {"good", good},
};

int main(int argc, char **argv) {
    int *d;
    cudaMalloc(&d, 64);
    cudaMemset(d, 0, 64);
    if (argc == 2 && strcmp(argv[1], "host_reads") == 0) return *(volatile int *)d;
    for (const auto &c : cases) {
        if (argc != 2 || strcmp(argv[1], c.name) != 0) continue;
        c.kernel<<<1, 32>>>(d);
        cudaError_t synchronize = cudaDeviceSynchronize();
        cudaError_t later = cudaMemset(d, 0, 4);
        printf("%s %s\n", cudaGetErrorName(synchronize), cudaGetErrorName(later));
    }
    return 0;
}
