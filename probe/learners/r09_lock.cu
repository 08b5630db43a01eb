// EXPECT: right
// ON A GPU: right: one thread a block takes the lock by compare-and-swap, fences on both sides of plain accesses (PTX ISA, memory consistency model: fence and strong operation make acquire and release patterns)
#include <stdio.h>

__device__ int lock = 0;

__global__ void deposit(int *balance, int *visits) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        __threadfence();
        int b = *balance;
        *balance = b + (int)blockIdx.x;
        visits[*visits + 1] = blockIdx.x;
        *visits += 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}

int main(void) {
    int sum = 0, n = 0, *balance, *visits;
    cudaMalloc(&balance, sizeof(int));
    cudaMalloc(&visits, 101 * sizeof(int));
    cudaMemset(balance, 0, sizeof(int));
    cudaMemset(visits, 0, sizeof(int));      // the count; the rest is written before it is read
    deposit<<<100, 32>>>(balance, visits);
    cudaMemcpy(&sum, balance, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(&n, visits, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d, should be 4950 100\n", sum, n);
    cudaFree(balance); cudaFree(visits);
    return sum != 4950 || n != 100;
}
