// EXPECT: right
// ON A GPU: right: padding in structs and in a shared tile is copied or skipped, and no value comes from it
#include <stdio.h>

struct __align__(16) Point { float x, y, z; };
struct Item { char tag; double weight; short id; };

__global__ void make(struct Point *p, struct Item *it) {
    int t = threadIdx.x;
    p[t].x = t; p[t].y = 2 * t; p[t].z = 3 * t;
    it[t].tag = 'a'; it[t].weight = t; it[t].id = t;
}

__global__ void mirror(const struct Point *p, struct Point *q, const struct Item *it, struct Item *ju) {
    __shared__ float tile[8][9];
    int t = threadIdx.x, n = blockDim.x;
    q[t] = p[n - 1 - t];
    ju[t] = it[n - 1 - t];
    tile[t / 8][t % 8] = p[t].y;
    __syncthreads();
    q[t].z += tile[t % 8][t / 8];
}

int main(void) {
    struct Point *p, *q, hq[64];
    struct Item *it, *ju, hj[64];
    cudaMalloc(&p, sizeof(hq)); cudaMalloc(&q, sizeof(hq));
    cudaMalloc(&it, sizeof(hj)); cudaMalloc(&ju, sizeof(hj));
    make<<<1, 64>>>(p, it);
    mirror<<<1, 64>>>(p, q, it, ju);
    cudaMemcpy(hq, q, sizeof(hq), cudaMemcpyDeviceToHost);
    cudaMemcpy(hj, ju, sizeof(hj), cudaMemcpyDeviceToHost);
    printf("%g %g, should be 205 62\n", hq[1].z - hq[0].z + hq[0].x * 3 + 3, hj[1].weight);
    cudaFree(p); cudaFree(q); cudaFree(it); cudaFree(ju);
    return hq[1].z != 62 * 3 + 16 || hj[1].weight != 62;
}
