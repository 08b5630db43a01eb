// EXPECT: right
// ON A GPU: right: two stages and one barrier a round: who fills a stage again has met the barrier behind its last reader (Programming Guide, "Synchronization Functions")
#include <stdio.h>
#include <stdlib.h>

__global__ void tile_sums(const int *in, int *out, int tiles) {
    __shared__ int stage[2][64];
    int t = threadIdx.x, sum = 0;
    stage[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            stage[(k + 1) % 2][t] = in[(k + 1) * 64 + t];
        for (int j = 0; j < 64; j++) sum += stage[k % 2][(j + t) % 64];
        __syncthreads();
    }
    out[t] = sum;
}

int main(void) {
    int tiles = 5, n = 64 * tiles, *h = (int *)malloc(n * sizeof(int)), *in, *out;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    tile_sums<<<1, 64>>>(in, out, tiles);
    cudaMemcpy(h, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d, should be %d\n", h[9], n * (n - 1) / 2);
    int bad = h[9] != n * (n - 1) / 2;
    cudaFree(in); cudaFree(out); free(h);
    return bad;
}
