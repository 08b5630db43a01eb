// EXPECT: wrong: double buffer, but the next tile goes into the stage that is being read, at "stage[k % 2][t] = in[(k + 1) * 64 + t];"
// ON A GPU: shared-memory race: other threads still read stage[k % 2] (Programming Guide, "Synchronization Functions"); wrong values
#include <stdio.h>
#include <stdlib.h>

__global__ void tile_sums(const int *in, int *out, int tiles) {
    __shared__ int stage[2][64];
    int t = threadIdx.x, sum = 0;
    stage[0][t] = in[t];
    stage[1][t] = 0;
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            stage[k % 2][t] = in[(k + 1) * 64 + t];
        for (int j = 0; j < 64; j++) sum += stage[k % 2][j];
        __syncthreads();
    }
    out[t] = sum;
}

int main(void) {
    int tiles = 4, n = 64 * tiles, *h = (int *)malloc(n * sizeof(int)), *in, *out;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    tile_sums<<<1, 64>>>(in, out, tiles);
    cudaMemcpy(h, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d, should be %d\n", h[0], n * (n - 1) / 2);
    cudaFree(in); cudaFree(out); free(h);
    return 0;
}
