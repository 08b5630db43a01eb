// Tests memory that device code allocates, and __managed__ variables.
#include <stdio.h>
#include <cuda_runtime.h>

__managed__ int total = 5, table[300];
__device__ int scale = 3;

__global__ void add_up() {
    table[threadIdx.x] += scale * (int)threadIdx.x;
    if (threadIdx.x == 0) total += 2;
}

struct Pair {
    int a, b;
    __device__ Pair(int x) : a(x), b(2 * x) {}
};

// Blocks of different lengths, allocated by all threads at once, freed, and allocated again.
__global__ void lists(int *out) {
    const int t = (int)threadIdx.x;
    int *mine[3], sum = 0;
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 3; k++) {
            mine[k] = (int *)malloc((size_t)(t % 7 + k + 1) * 4);
            for (int i = 0; i <= t % 7 + k; i++) mine[k][i] = t + i + round;
        }
        __syncthreads();
        for (int k = 0; k < 3; k++) sum += mine[k][t % 7 + k];
        for (int k = 0; k < 3; k++) free(mine[k]);
    }
    Pair *pair = new Pair(t);
    out[blockIdx.x * blockDim.x + t] = sum + pair->b;
    delete pair;
    free(NULL);
}

static int listed(int t) {
    int sum = 2 * t;
    for (int round = 0; round < 4; round++)
        for (int k = 0; k < 3; k++) sum += t + t % 7 + k + round;
    return sum;
}

// Counts the blocks of 1,000 bytes that fit, and checks that they can be allocated again.
__global__ void exhaust(int *out, char **blocks) {
    int count = 0;
    while ((blocks[count] = (char *)malloc(1000))) {
        if ((size_t)blocks[count] % 16) out[2] = 1;
        blocks[count][999] = (char)count;
        count++;
    }
    out[0] = count;
    for (int i = 0; i < count; i++) {
        if (blocks[i][999] != (char)i) out[2] = 2;
        free(blocks[i]);
    }
    char *large = (char *)malloc(1000 * (size_t)(count - 1));
    out[1] = large != NULL;
    free(large);
}

int main() {
    static int got[256];
    int *d;
    cudaMalloc((void **)&d, 1024);
    total = 7;
    table[31] = 1;
    add_up<<<1, 256>>>();
    cudaDeviceSynchronize();
    if (total != 9 || table[31] != 94 || table[255] != 765) return printf("managed: %d %d\n", total, table[31]);
    int one = 1;
    cudaMemcpyToSymbol(total, &one, sizeof one);
    add_up<<<1, 1>>>();
    cudaMemcpyFromSymbol(&one, total, sizeof one);
    if (total != 3 || one != 3) return printf("managed, by symbol: %d\n", total);
    lists<<<4, 64>>>(d);
    cudaMemcpy(got, d, sizeof got, cudaMemcpyDefault);
    for (int i = 0; i < 256; i++)
        if (got[i] != listed(i % 64)) return printf("lists: %d: %d\n", i, got[i]);
    size_t limit;
    char **blocks;
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);  // too late
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    cudaMalloc((void **)&blocks, 10000 * sizeof *blocks);
    cudaMemset(d, 0, 12);
    exhaust<<<1, 1>>>(d, blocks);
    cudaMemcpy(got, d, 12, cudaMemcpyDefault);
    printf("%zu %d %d %d\n%s\n", limit, got[0] / 100, got[1], got[2],
           cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
