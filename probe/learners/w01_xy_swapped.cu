// EXPECT: wrong: x and y swapped in a 70 by 20 image, writes past the end of the buffer, at "dst[x * width + y] = 255 - src[x * width + y];"
// ON A GPU: out-of-bounds global access: undefined (CUDA C++ Best Practices / compute-sanitizer "Memcheck"); with 5.6 KB in a 2 MB page often no error, only a wrong picture
#include <stdio.h>
#include <stdlib.h>

__global__ void invert(unsigned char *dst, const unsigned char *src, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        dst[x * width + y] = 255 - src[x * width + y];
}

int main(void) {
    int width = 70, height = 20, bytes = width * height;
    unsigned char *h = (unsigned char *)malloc(bytes), *src, *dst;
    for (int i = 0; i < bytes; i++) h[i] = i % 251;
    cudaMalloc(&src, bytes);
    cudaMalloc(&dst, bytes);
    cudaMemcpy(src, h, bytes, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    invert<<<grid, block>>>(dst, src, width, height);
    cudaMemcpy(h, dst, bytes, cudaMemcpyDeviceToHost);
    printf("last pixel %d\n", h[bytes - 1]);
    cudaFree(src); cudaFree(dst); free(h);
    return 0;
}
