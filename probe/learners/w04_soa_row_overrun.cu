// EXPECT: wrong: i <= n lets the last thread write the first element of the next row of one allocation, at "p.x[i] += dt * p.vx[i];"
// ON A GPU: no error: the address is inside the allocation; y[0] is changed (memcheck is silent: it knows allocations, not rows)
#include <stdio.h>
#include <stdlib.h>

struct Particles { float *x, *y, *vx; };

__global__ void move(struct Particles p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        p.x[i] += dt * p.vx[i];
}

int main(void) {
    int n = 300;
    float *h = (float *)calloc(4 * n, sizeof(float)), *d;
    for (int i = 0; i < 4 * n; i++) h[i] = 1.0f;
    cudaMalloc(&d, 4 * n * sizeof(float));                 // four rows: x, y, vx, vy
    cudaMemcpy(d, h, 4 * n * sizeof(float), cudaMemcpyHostToDevice);
    struct Particles p = {d, d + n, d + 2 * n};
    move<<<(n + 128) / 128, 128>>>(p, n, 0.5f);
    cudaMemcpy(h, d, 4 * n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("y[0] = %g, should be 1\n", h[n]);
    cudaFree(d); free(h);
    return 0;
}
