// EXPECT: right
// ON A GPU: right: release store and acquire load of device scope between blocks; the roles go by ticket, so the producer always runs first (libcu++, cuda::atomic_ref; Programming Guide, "Memory Fence Functions")
#include <cuda/atomic>
#include <stdio.h>

__device__ int tickets = 0;

__global__ void hand_over(int *data, int *flag, int *out) {
    __shared__ int role;
    if (threadIdx.x == 0) role = atomicAdd(&tickets, 1);
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (role == 0) {
        data[threadIdx.x] = 5 * threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) ready.store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0)
            while (ready.load(cuda::memory_order_acquire) == 0)
                ;
        __syncthreads();
        out[threadIdx.x] = data[63 - threadIdx.x];
    }
}

int main(void) {
    int h[64], *data, *flag, *out;
    cudaMalloc(&data, sizeof(h)); cudaMalloc(&flag, sizeof(int)); cudaMalloc(&out, sizeof(h));
    cudaMemset(flag, 0, sizeof(int));
    hand_over<<<2, 64>>>(data, flag, out);
    cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d, should be 315\n", h[0]);
    cudaFree(data); cudaFree(flag); cudaFree(out);
    return h[0] != 315;
}
