// EXPECT: wrong: cudaMemset gets the number of elements, not of bytes: three quarters of the counters are what they were, at "atomicAdd(&hist[text[i]], 1);"
// ON A GPU: no error; counters from 64 on start from whatever the memory held (Runtime API, cudaMemset: count in bytes)
#include <stdio.h>
#include <string.h>

__global__ void count(const unsigned char *text, int n, unsigned *hist) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&hist[text[i]], 1);
}

int main(void) {
    const char *s = "the quick brown fox jumps over the lazy dog";
    int n = (int)strlen(s);
    unsigned char *text;
    unsigned *hist, h[256];
    cudaMalloc(&text, n);
    cudaMalloc(&hist, 256 * sizeof(unsigned));
    cudaMemcpy(text, s, n, cudaMemcpyHostToDevice);
    cudaMemset(hist, 0, 256);
    count<<<1, 64>>>(text, n, hist);
    cudaMemcpy(h, hist, sizeof(h), cudaMemcpyDeviceToHost);
    printf("o: %u\n", h['o']);
    cudaFree(text); cudaFree(hist);
    return 0;
}
