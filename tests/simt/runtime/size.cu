// Prints what a program sees of the device's size: attributes, properties, occupancy, special
// registers, and the largest grid of a cooperative launch.
#include <cooperative_groups.h>
#include <cstdio>

__global__ void registers(unsigned *out) {
    asm("mov.u32 %0, %%nsmid;" : "=r"(out[0]));
    asm("mov.u32 %0, %%nwarpid;" : "=r"(out[1]));
    unsigned mine;
    asm("mov.u32 %0, %%smid;" : "=r"(mine));
    atomicMax(&out[2], mine);
}

__global__ void together(void) { cooperative_groups::this_grid().sync(); }

int main() {
    int sms, threads, blocks, fit;
    cudaDeviceProp p;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
    cudaDeviceGetAttribute(&blocks, cudaDevAttrMaxBlocksPerMultiprocessor, 0);
    cudaGetDeviceProperties(&p, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, registers, 512, 0);
    unsigned *d_out, out[3];
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_out, 0, sizeof out);
    registers<<<1000, 32>>>(d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaError_t full = cudaLaunchCooperativeKernel((void *)together, sms * fit, 512, NULL, 0, 0);
    cudaError_t more = cudaLaunchCooperativeKernel((void *)together, sms * fit + 1, 512, NULL, 0, 0);
    printf("%d x %d threads, %d blocks, %d of 512; %d x %d, %d; %u, %u warps, last %u; %s, %s\n",
           sms, threads, blocks, fit, p.multiProcessorCount, p.maxThreadsPerMultiProcessor,
           p.maxBlocksPerMultiProcessor, out[0], out[1], out[2], cudaGetErrorName(full),
           cudaGetErrorName(more));
    return 0;
}
