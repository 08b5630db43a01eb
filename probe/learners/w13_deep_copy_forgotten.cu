// EXPECT: wrong: the struct is copied to the device, but its pointer is still the host's, at "v->data[i] *= 2.0f;"
// ON A GPU: cudaErrorIllegalAddress where pageableMemoryAccess is 0; with HMM/ATS (attribute 1) it works (Programming Guide, "Unified Memory": system-allocated memory)
#include <stdio.h>
#include <stdlib.h>

struct Vector { int n; float *data; };

__global__ void twice(struct Vector *v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v->n)
        v->data[i] *= 2.0f;
}

int main(void) {
    struct Vector v, *d;
    v.n = 100;
    v.data = (float *)malloc(v.n * sizeof(float));
    for (int i = 0; i < v.n; i++) v.data[i] = 1.0f;
    cudaMalloc(&d, sizeof(v));
    cudaMemcpy(d, &v, sizeof(v), cudaMemcpyHostToDevice);
    twice<<<1, 128>>>(d);
    cudaDeviceSynchronize();
    printf("%g, should be 2\n", v.data[5]);
    cudaFree(d); free(v.data);
    return 0;
}
