// EXPECT: wrong: cudaMemset(…, 1, …) sets bytes: every float is 2.4e-38 and not 1, at "cudaMemset(w, 1, n * sizeof(float));"
// ON A GPU: no error, wrong values (Runtime API, cudaMemset: "value to set for each byte")
#include <stdio.h>

__global__ void weighted(const float *w, const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = w[i] * x[i];
}

int main(void) {
    int n = 256;
    float h[256], *w, *x;
    for (int i = 0; i < n; i++) h[i] = 3.0f;
    cudaMalloc(&w, n * sizeof(float));
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(w, 1, n * sizeof(float));
    weighted<<<1, 256>>>(w, x, x, n);
    cudaMemcpy(h, x, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g, should be 3\n", h[0]);
    cudaFree(w); cudaFree(x);
    return 0;
}
