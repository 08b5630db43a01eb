// Copies unwritten or written memory to the host or into a kernel: copied CASE
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = N * sizeof(int) };

typedef struct {
    double a;
    int b; // four bytes of padding after it
} Pair;

__global__ void fill(int *p, int n) {
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) p[i] = i;
}
__global__ void pairs(Pair *p, int n) {
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) p[i].a = p[i].b = i;
}
__global__ void sum(const int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i];
    if (s == 7) asm volatile("trap;");
}
__global__ void count(int *p) { atomicAdd(p, 1); }
__device__ int zeros[N];

static char h[BYTES * 4];
static int *d;

static void to_host(size_t bytes) { cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost); }

// Rows of 100 bytes, farther apart in device memory.
static void rows(int height, int written) {
    size_t pitch;
    cudaMallocPitch((void **)&d, &pitch, 100, (size_t)height);
    cudaMemcpy2D(d, pitch, h, 100, 100, (size_t)written, cudaMemcpyHostToDevice);
    cudaMemcpy2D(h, 100, d, pitch, 100, (size_t)height, cudaMemcpyDeviceToHost);
}

// Through other device memory, and to pinned memory.
static void around(void) {
    int *other, *pinned;
    cudaMalloc((void **)&other, BYTES);
    cudaMallocHost((void **)&pinned, BYTES);
    cudaMemcpy(other, d, BYTES, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(pinned, other, BYTES, cudaMemcpyDefault, 0);
}

// Managed memory in which kernels count: set by the host, by a read into it elsewhere, by a call, or not set.
static void managed(const char *way) {
    int *p, *before;
    cudaMallocManaged((void **)&p, 8192 * sizeof *p);
    cudaMallocManaged((void **)&before, BYTES);
    before[0] = 1;
    if (!strcmp(way, "managed_set")) p[0] = 0;
    if (!strcmp(way, "managed_filled")) cudaMemset(p, 0, 4);
    if (!strcmp(way, "managed_copied")) cudaMemcpy(p, h, 8, cudaMemcpyDefault);
    if (!strcmp(way, "managed_file")) {
        FILE *file = fopen("/dev/zero", "r");
        setbuf(file, NULL); // the system call writes into the memory directly
        if (fread(p, 4, 8192, file) != 8192) exit(3);
        fclose(file);
    }
    count<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    if (p[0] != 32) exit(4);
    p[1] = 0;
    if (!strcmp(way, "managed_later")) p += 1;
    count<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    cudaMemcpy(d, p, 4, cudaMemcpyDefault);
    count<<<1, 32>>>(d);
    cudaDeviceSynchronize();
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    cudaMalloc((void **)&d, sizeof h);
    cudaMemset((char *)d + BYTES, 0, sizeof h - BYTES);
    if (!strcmp(way, "all")) fill<<<1, 128>>>(d, N), to_host(BYTES);
    if (!strcmp(way, "one_less")) fill<<<1, 128>>>(d, N - 1), to_host(BYTES - 4);
    if (!strcmp(way, "one_short")) fill<<<1, 128>>>(d, N - 1), to_host(BYTES);
    if (!strcmp(way, "tail")) fill<<<1, 128>>>(d, 768), to_host(BYTES);
    if (!strcmp(way, "nothing")) to_host(BYTES);
    if (!strcmp(way, "nothing") && !(fabs(*(float *)h - 1) > 1e-5)) exit(5); // written so that NaN exits too
    if (!strncmp(way, "managed", 7)) managed(way);
    if (!strcmp(way, "padded")) pairs<<<1, 128>>>((Pair *)d, N / 4), to_host(BYTES);
    if (!strcmp(way, "symbol")) cudaMemcpyFromSymbol(h, zeros, sizeof zeros);
    if (!strcmp(way, "rows")) rows(10, 10);
    if (!strcmp(way, "row_short")) rows(10, 9);
    if (!strcmp(way, "around")) fill<<<1, 128>>>(d, 900), around();
    if (!strcmp(way, "in_elements")) {
        int *e;
        cudaMalloc((void **)&e, BYTES);
        cudaMemcpy(e, h, N, cudaMemcpyHostToDevice);
        sum<<<1, 1>>>(e, N);
        cudaDeviceSynchronize();
    }
    return 0;
}
