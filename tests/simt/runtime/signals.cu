// Programs that only a signal ends: signals WHERE
#include <cuda_runtime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__global__ void counted(int *out) { out[threadIdx.x] = 1; }

__global__ void spins(volatile int *out) {
    while (out[0] != 77) out[1] = out[1] + 1;
}

static void own(int number) { _exit(number == SIGTERM ? 40 : 41); }

int main(int argc, char **argv) {
    const char *where = argc > 1 ? argv[1] : "";
    int *d;
    if (!strcmp(where, "own")) signal(SIGTERM, own);
    cudaMalloc((void **)&d, 4096);
    counted<<<3, 32>>>(d);
    cudaDeviceSynchronize();
    printf("ready\n");
    fflush(stdout);
    if (!strcmp(where, "kernel")) {
        spins<<<1, 32>>>(d);
        cudaDeviceSynchronize();
        printf("goes on\n");
        return 0;
    }
    for (;;) {
        if (!strcmp(where, "allocating")) free(malloc(100 + rand() % 1000));
        if (!strcmp(where, "calling")) cudaMemset(d, 0, 4096);
        if (strcmp(where, "allocating") && strcmp(where, "calling")) pause();
    }
}
