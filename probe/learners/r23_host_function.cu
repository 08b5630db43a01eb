// EXPECT: right
// ON A GPU: right: the host function reads the pinned buffer in the stream's order, before main waits (Runtime API, cudaLaunchHostFunc)
#include <stdio.h>

static int total = 0;
static int *pin;

static void CUDART_CB add_up(void *arg) {
    int n = *(int *)arg;
    for (int i = 0; i < n; i++) total += pin[i];
}

__global__ void fill(int *x, int v) { x[threadIdx.x] = v; }

int main(void) {
    static int n = 64;
    int *x;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc(&x, n * sizeof(int));
    cudaMallocHost((void **)&pin, n * sizeof(int));
    for (int k = 1; k <= 3; k++) {
        fill<<<1, 64, 0, s>>>(x, k);
        cudaMemcpyAsync(pin, x, n * sizeof(int), cudaMemcpyDeviceToHost, s);
        cudaLaunchHostFunc(s, add_up, &n);
    }
    cudaStreamSynchronize(s);
    printf("%d, should be 384\n", total);
    cudaFreeHost(pin); cudaFree(x); cudaStreamDestroy(s);
    return total != 384;
}
