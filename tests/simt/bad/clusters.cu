// What goes wrong in clusters and in copies in bulk, by name: the line that is marked with it says so.
#include <cooperative_groups.h>
#include <stdio.h>
#include <string.h>

namespace cg = cooperative_groups;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void two_barriers(int *out) {
    if (blockIdx.x > 0 || threadIdx.x < 32)
        cg::this_cluster().sync(); // AT two_barriers
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void not_arrived(int *out) {
    asm volatile("barrier.cluster.wait;" ::: "memory"); // AT not_arrived
    out[threadIdx.x] = 1;
}

__global__ void arrived_twice(int *out) {
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    if (threadIdx.x == 5) asm volatile("barrier.cluster.arrive;" ::: "memory"); // AT arrived_twice
    asm volatile("barrier.cluster.wait;" ::: "memory");
    out[threadIdx.x] = 1;
}

__global__ void no_block(int *out) {
    __shared__ int s[64];
    unsigned at;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 2;" : "=r"(at) : "r"(shared_address(s)));
    asm volatile("st.shared::cluster.u32 [%0], 1;" ::"r"(at) : "memory"); // AT no_block
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void past_end(int *out, int index) {
    __shared__ int s[64];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    *(volatile int *)&cluster.map_shared_rank(s, 1)[index] = 1; // AT past_end
    cluster.sync();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void block_ended(int *out) {
    __shared__ int s[64];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    if (cluster.block_rank() == 1) return;
    s[threadIdx.x] = *(volatile int *)&cluster.map_shared_rank(s, 1)[threadIdx.x]; // AT block_ended
    out[threadIdx.x] = s[threadIdx.x];
}

// The space of one's own block is not that of the cluster.
__global__ void own_space(int *out) {
    __shared__ int s[64];
    unsigned at;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(at) : "r"(shared_address(s)));
    asm volatile("st.shared::cta.u32 [%0], 1;" ::"r"(at) : "memory"); // AT own_space
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void bulk(const char *in, int from, int to, int bytes, int barrier) {
    __shared__ __align__(128) char s[1024];
    __shared__ __align__(16) char b[32];
    const unsigned at = shared_address(b);
    if (threadIdx.x) return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(s) + to), "l"(in + from), "r"(bytes), "r"(at + barrier) : "memory"); // AT bulk
}

__global__ void tensor(const void *map, int *out) {
    __shared__ __align__(128) char s[1024];
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(map), "r"(0), "r"(shared_address(s)) : "memory"); // AT tensor
    out[0] = s[0];
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t pair = {dim3(2), dim3(64), 0, 0, &attribute, 1};
    int *d;
    cudaMalloc((void **)&d, 4096);
    if (!strcmp(name, "two_barriers")) cudaLaunchKernelEx(&pair, two_barriers, d);
    if (!strcmp(name, "not_arrived")) cudaLaunchKernelEx(&pair, not_arrived, d);
    if (!strcmp(name, "arrived_twice")) cudaLaunchKernelEx(&pair, arrived_twice, d);
    if (!strcmp(name, "no_block")) cudaLaunchKernelEx(&pair, no_block, d);
    if (!strcmp(name, "past_end")) cudaLaunchKernelEx(&pair, past_end, d, 100000);
    if (!strcmp(name, "block_ended")) cudaLaunchKernelEx(&pair, block_ended, d);
    if (!strcmp(name, "own_space")) cudaLaunchKernelEx(&pair, own_space, d);
    if (!strcmp(name, "bytes")) bulk<<<1, 32>>>((char *)d, 0, 0, 24, 0);
    if (!strcmp(name, "from")) bulk<<<1, 32>>>((char *)d, 8, 0, 32, 0);
    if (!strcmp(name, "to")) bulk<<<1, 32>>>((char *)d, 0, 4, 32, 0);
    if (!strcmp(name, "barrier")) bulk<<<1, 32>>>((char *)d, 0, 0, 32, 4);
    if (!strcmp(name, "past_shared")) bulk<<<1, 32>>>((char *)d, 0, 992, 512, 0);
    if (!strcmp(name, "past_global")) bulk<<<1, 32>>>((char *)d, 1 << 30, 0, 512, 0);
    if (!strcmp(name, "tensor")) tensor<<<1, 1>>>(d, d);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(error));
    return error != cudaSuccess;
}
