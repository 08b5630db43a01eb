// EXPECT: wrong: rows are pitch bytes apart, the kernel takes them width floats apart: it reads padding that nothing wrote, at "out[row * width + col] = 2.0f * in[row * width + col];"
// ON A GPU: no error, wrong values (Runtime API, cudaMallocPitch: T* pElement = (T*)((char*)BaseAddress + Row * pitch) + Column)
#include <stdio.h>
#include <stdlib.h>

__global__ void twice(const float *in, float *out, int width, int height) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < width && row < height)
        out[row * width + col] = 2.0f * in[row * width + col];
}

int main(void) {
    int width = 100, height = 8;
    float *h = (float *)malloc(width * height * sizeof(float)), *in, *out;
    size_t pitch;
    for (int i = 0; i < width * height; i++) h[i] = i;
    cudaMallocPitch((void **)&in, &pitch, width * sizeof(float), height);
    cudaMalloc(&out, width * height * sizeof(float));
    cudaMemcpy2D(in, pitch, h, width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice);
    twice<<<dim3(4, 1), dim3(32, 8)>>>(in, out, width, height);
    cudaMemcpy(h, out, width * height * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g, should be %d\n", h[150], 300);
    cudaFree(in); cudaFree(out); free(h);
    return 0;
}
