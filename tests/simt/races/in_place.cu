// In-place algorithms that overwrite elements which other blocks read: selections of Thrust and CUB,
// whose look-back orders those reads before the writes; and shifts, which do not order them.
#include <stdio.h>
#include <string.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/remove.h>
#include <thrust/unique.h>

enum { N = 5000, BLOCK = 256 };

struct Shift {
    int *at;
    __device__ void operator()(int i) const { at[i] = at[i + BLOCK]; }
};

__global__ void shift(int *at) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    at[i] = at[i + BLOCK];
}

// A user's kernel with such a name is not the library's.
struct ScanTileState {};
__global__ void shift_state(ScanTileState, int *at) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    at[i] = at[i + BLOCK];
}

static long run(const char *which, int *at) {
    if (!strcmp(which, "unique")) return thrust::unique(thrust::device, at, at + N) - at;
    if (!strcmp(which, "remove")) return thrust::remove(thrust::device, at, at + N, 3) - at;
    if (!strcmp(which, "shift")) shift<<<N / BLOCK - 1, BLOCK>>>(at);
    if (!strcmp(which, "shift_state")) shift_state<<<N / BLOCK - 1, BLOCK>>>(ScanTileState(), at);
    if (!strcmp(which, "for_each"))
        thrust::for_each(thrust::device, thrust::counting_iterator<int>(0),
                         thrust::counting_iterator<int>(N - BLOCK), Shift{at});
    return 0;
}

int main(int, char **argv) {
    static int host[N];
    int *at;
    for (int i = 0; i < N; i++) host[i] = i / 3 % 7;
    if (cudaMalloc(&at, sizeof host)) return 3;
    if (cudaMemcpy(at, host, sizeof host, cudaMemcpyHostToDevice)) return 3;
    printf("%ld\n", run(argv[1], at));
    return cudaDeviceSynchronize() != cudaSuccess;
}
