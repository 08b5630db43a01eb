// EXPECT: wrong: no barrier at the end of the tile loop, a fast warp overwrites what others still read, at "ta[ty][tx] = a[row * n + t + tx];"
// ON A GPU: shared-memory race (Programming Guide, "Shared Memory" matrix multiplication: second __syncthreads()); often right by luck
#include <stdio.h>
#include <stdlib.h>
#define T 16

__global__ void mul(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[T][T], tb[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    for (int t = 0; t < n; t += T) {
        ta[ty][tx] = a[row * n + t + tx];
        tb[ty][tx] = b[(t + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += ta[ty][k] * tb[k][tx];
    }
    c[row * n + col] = sum;
}

int main(void) {
    int n = 64, bytes = n * n * sizeof(float);
    float *h = (float *)malloc(bytes), *a, *b, *c;
    for (int i = 0; i < n * n; i++) h[i] = i % 7;
    cudaMalloc(&a, bytes); cudaMalloc(&b, bytes); cudaMalloc(&c, bytes);
    cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, h, bytes, cudaMemcpyHostToDevice);
    mul<<<dim3(n / T, n / T), dim3(T, T)>>>(a, b, c, n);
    cudaMemcpy(h, c, bytes, cudaMemcpyDeviceToHost);
    printf("c[0] = %g\n", h[0]);
    cudaFree(a); cudaFree(b); cudaFree(c); free(h);
    return 0;
}
