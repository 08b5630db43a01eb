// EXPECT: right
// ON A GPU: right: host and device take turns, with a stream's synchronisation between (Programming Guide, "Unified Memory": concurrent access, cudaStreamSynchronize)
#include <stdio.h>

__managed__ int rounds = 0;

__global__ void step(int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += i;
    if (i == 0) rounds++;
}

int main(void) {
    int n = 1000, *a;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocManaged((void **)&a, n * sizeof(int));
    for (int i = 0; i < n; i++) a[i] = 1;
    for (int k = 0; k < 3; k++) {
        step<<<(n + 127) / 128, 128, 0, s>>>(a, n);
        cudaStreamSynchronize(s);
        a[k] = -1;                           // the host's turn
        rounds += 10;
    }
    step<<<(n + 127) / 128, 128, 0, s>>>(a, n);
    cudaDeviceSynchronize();
    printf("%d %d, should be 401 34\n", a[100], rounds);
    int bad = a[100] != 401 || rounds != 34 || a[2] != 1;
    cudaFree(a); cudaStreamDestroy(s);
    return bad;
}
