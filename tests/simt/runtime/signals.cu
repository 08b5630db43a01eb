// Programs that do not return from main: signals WHERE
#include <assert.h>
#include <cuda_runtime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void counted(int *out) { out[threadIdx.x] = 1; }

__global__ void spins(volatile int *out) {
    while (out[0] != 77) out[1] = out[1] + 1;
}

__global__ void races(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    out[threadIdx.x] = s[63 - threadIdx.x];
}

// Ends the process; or lets a child process end, which must not print a report.
static void end(const char *how, int *d) {
    if (!strcmp(how, "child")) {
        if (fork() == 0) abort();
        int status;
        wait(&status);
        exit(WTERMSIG(status) == SIGABRT ? 0 : 1);
    }
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "_Exit")) _Exit(3);
    if (!strcmp(how, "quick_exit")) quick_exit(0);
    if (!strcmp(how, "assert")) assert(d == NULL);
    if (!strcmp(how, "divide")) raise(SIGFPE);
    if (!strcmp(how, "copy")) cudaMemcpy(d, (void *)16, 4096, cudaMemcpyHostToDevice);
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
    if (argc > 2) {
        races<<<1, 64>>>(d);
        end(where, d);
    }
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
