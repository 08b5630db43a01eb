// Prints how many pages of memory later launches of a kernel request from the system, after the first
// launch has its own. Each block waits until the last one has started.
#include <cooperative_groups.h>
#include <stdio.h>
#include <sys/resource.h>

__global__ void meet() {
    extern __shared__ float room[];
    room[threadIdx.x] = 1;
    cooperative_groups::this_grid().sync();
}

static long pages() {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

int main() {
    enum { LAUNCHES = 20, BYTES = 48 << 10 };
    long before = 0;
    for (int k = 0; k <= LAUNCHES; k++) {
        if (k == 1) before = pages();
        cudaLaunchCooperativeKernel((const void *)meet, dim3(132), dim3(256), NULL, BYTES, 0);
        if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    }
    printf("%ld pages a launch\n", (pages() - before) / LAUNCHES);
    return 0;
}
