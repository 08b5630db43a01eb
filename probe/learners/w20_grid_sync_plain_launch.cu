// EXPECT: wrong: grid.sync() in a kernel that was not launched cooperatively, at "grid.sync();"
// ON A GPU: undefined; today's headers trap in an invalid grid group: cudaErrorLaunchFailure (Programming Guide, "Grid Synchronization": must use cudaLaunchCooperativeKernel)
#include <cooperative_groups.h>
#include <stdio.h>
namespace cg = cooperative_groups;

__global__ void two_phases(int *a, int *out) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    grid.sync();
    out[i] = a[n - 1 - i];
}

int main(void) {
    int h[256], *a, *out;
    cudaMalloc(&a, sizeof(h));
    cudaMalloc(&out, sizeof(h));
    two_phases<<<4, 64>>>(a, out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d, should be 255\n", h[0]);
    cudaFree(a); cudaFree(out);
    return 0;
}
