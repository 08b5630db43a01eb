// Errors that the program checks or ignores; memory that it frees or not: unread CASE
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

__global__ void k(int *out) { out[threadIdx.x] = 1; }

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    int h[64], *d;
    cudaMalloc((void **)&d, sizeof h);
    if (!strcmp(way, "freed")) {
        cudaFree(d);
        return 0;
    }
    for (int i = 0; i < 20; i++) k<<<1, 2048>>>(d);
    if (!strcmp(way, "asked")) cudaGetLastError();
    if (!strcmp(way, "peeked")) cudaPeekAtLastError();
    if (!strcmp(way, "later")) cudaDeviceSynchronize(), cudaGetLastError();
    if (!strcmp(way, "noted")) cudaGetLastError(), cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice);
    if (!strcmp(way, "badly")) return 3;
    if (!strcmp(way, "aborts")) abort();
    if (!strcmp(way, "never")) {
        k<<<1, 64, 100000>>>(d);
        k<<<0, 64>>>(d);
        cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice);
    }
    return 0;
}
