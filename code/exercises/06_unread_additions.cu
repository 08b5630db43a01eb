// Generated from chapters/06-last-warp-unroll.md by tangle: edit that file, not this one.
// Exercise: unread additions. Each block spoils one addition of the tail.
#include <stdio.h>

enum { LEVELS = 6, LANES = 32, ADDITIONS = LEVELS * LANES };

__global__ void spoiled_sum(float *sum) {
    __shared__ float s[2 * LANES];
    unsigned t = threadIdx.x, level = 0;
    float mine = 1;
    s[t] = s[t + LANES] = mine;
    __syncwarp();  // every element is in s[] before any two are added
    for (unsigned d = LANES; d > 0; d /= 2, level++) {
        mine += s[t + d];
        if (blockIdx.x == level * LANES + t) mine += 1000;
        __syncwarp();  // every lane has read its partner before any partner changes
        s[t] = mine;
        __syncwarp();  // every lane has written before the next level reads
    }
    if (t == 0) sum[blockIdx.x] = mine;
}

int main() {
    float sum[ADDITIONS + 1], *d_sum;
    int unread = 0;
    cudaMalloc(&d_sum, sizeof sum);
    spoiled_sum<<<ADDITIONS + 1, LANES>>>(d_sum);
    cudaMemcpy(sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
    for (int k = 0; k < ADDITIONS; k++) unread += sum[k] == sum[ADDITIONS];
    printf("unread = %d\n", unread);
    return 0;
}
