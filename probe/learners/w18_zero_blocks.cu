// EXPECT: wrong: n / 256 is 0 for n = 100: a launch of no blocks fails, at "scale<<<n / 256, 256>>>(d, n);"
// ON A GPU: cudaErrorInvalidConfiguration, asked for by nobody; the data is as it was (Runtime API, cudaLaunchKernel; error 9)
#include <stdio.h>

__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 10.0f;
}

int main(void) {
    int n = 100;
    float h[100], *d;
    for (int i = 0; i < n; i++) h[i] = 1.0f;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<n / 256, 256>>>(d, n);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g, should be 10\n", h[0]);
    cudaFree(d);
    return 0;
}
