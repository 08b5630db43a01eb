// Values that do not exist, which must not look like those of a right program. Prints each as an
// integer; 2139062143 is 0x7F7F7F7F.
#include <cstdio>
#include <cuda_runtime.h>

#define FULL 0xffffffffu

__global__ void past(const int *in, int at, int *out) { *out = in[at]; }

// Of a warp with 20 threads, of which the last has ended.
__global__ void lanes(int way, int *out) {
    int v = 1;
    if (threadIdx.x == 19) return;
    if (way == 0) v = __shfl_down_sync(FULL, v, 20);
    if (way == 1) v = __shfl_sync(FULL, v, 31);
    if (way == 2) v = __shfl_xor_sync(FULL, v, 16 + 4);
    if (way == 3) v = __shfl_down_sync(FULL, v, 20, 16); // its own
    if (threadIdx.x == 0) *out = v;
}

int main() {
    int *small, *aligned, *last, *out, host[1100] = {};
    cudaMalloc(&small, 400);
    cudaMalloc(&aligned, 4400);
    cudaMalloc(&last, 8192);
    cudaMalloc(&out, 4);
    cudaMemcpy(small, host, 400, cudaMemcpyHostToDevice);
    cudaMemcpy(aligned, host, 4400, cudaMemcpyHostToDevice);
    const struct {
        const int *in;
        int at;
    } reads[] = {{small, 99}, {small, 100}, {small, 163}, {small, 900}, {aligned, 1100}, {aligned, 2000}};
    for (const auto &read : reads) {
        past<<<1, 1>>>(read.in, read.at, out);
        cudaMemcpy(host, out, 4, cudaMemcpyDeviceToHost);
        printf("%d ", host[0]);
    }
    for (int way = 0; way < 4; way++) {
        lanes<<<1, 20>>>(way, out);
        cudaMemcpy(host, out, 4, cudaMemcpyDeviceToHost);
        printf("%d ", host[0]);
    }
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
