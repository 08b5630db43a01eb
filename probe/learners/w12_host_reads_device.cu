// EXPECT: wrong: host code reads memory of cudaMalloc, at "printf("first %d\n", d[0]);"
// ON A GPU: segmentation fault (Programming Guide, "Device Memory": linear memory of cudaMalloc is not the host's)
#include <stdio.h>

__global__ void fill(int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = i + 7;
}

int main(void) {
    int n = 100, *d;
    cudaMalloc(&d, n * sizeof(int));
    fill<<<1, 128>>>(d, n);
    cudaDeviceSynchronize();
    printf("first %d\n", d[0]);
    cudaFree(d);
    return 0;
}
