// Kernels that fail, do not end, or need features that the CPU device does not have, by name:
//
//     wrong NAME [WAY]      WAY: how the program ends, without checking errors
//
// It prints the errors of the launch, of waiting for it and of the next call. `AT NAME` marks the
// line that must be named.
#include <assert.h>
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace cg = cooperative_groups;

__global__ void hello(int *out) { out[threadIdx.x] = 40 + (int)threadIdx.x; }
__global__ void divide(int *out, int by) { out[threadIdx.x] = out[threadIdx.x] / by; }

// --- faults ---

__global__ void out_of_bounds(int *at) { at[1 << 30] = 1; }                // AT out_of_bounds
__global__ void misaligned(int *at) { *(int *)((char *)at + 2) = 1; }      // AT misaligned
__global__ void asserts(int *at) { assert(at == nullptr); }                // AT asserts
__global__ void traps(int *at) {
    if (at) __trap(); // AT traps
}

// --- kernels that do not end ---

__global__ void endless(volatile int *out) {
    while (out[0] != 12345) out[1] = out[1] + 1; // AT endless
}

// These wait for others repeatedly, and never in vain.
__global__ void endless_barrier(volatile int *out) {
    while (out[0] != 12345) __syncthreads();
}

__global__ void endless_syncwarp(volatile int *out) {
    while (out[0] != 12345) {
        if (threadIdx.x % 2) out[1] = 1;
        __syncwarp();
    }
}

__global__ void endless_shuffle(int *out) {
    int x = (int)threadIdx.x;
    while (x < 100) x = __shfl_xor_sync(0xffffffffu, x, 1);
    out[0] = x;
}

__global__ void endless_grid(volatile int *out) {
    while (out[0] != 12345) cg::this_grid().sync();
}

// Warps synchronise in pairs, each pair at its own barrier.
__global__ void endless_pairs(volatile int *out) {
    while (out[0] != 12345) asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
}

// Warp 0 waits at a barrier for warp 1, which waits for a word that warp 0 would write after it.
__global__ void deadlock(volatile int *out) {
    __shared__ volatile int flag;
    flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        __syncthreads();
        flag = 1;
    } else {
        while (flag == 0) {
        }
        __syncthreads();
    }
    out[threadIdx.x] = flag;
}

// --- memory that kernels allocate ---

__global__ void used_after_free(int *out) {
    int *p = new int[4];
    p[1] = 9;
    out[1] = p[1];
    delete[] p;
    out[0] = p[1]; // AT used_after_free
}

__global__ void freed_twice(int *out) {
    void *p = malloc(64);
    *(int *)p = 1;
    free(p);
    out[0] = 1;
    free(p); // AT freed_twice
}

__global__ void beyond(int *out) {
    int *p = (int *)malloc(40);
    p[10] = out[0]; // AT beyond
    free(p);
}

__global__ void not_allocated(int *out) {
    free(out); // AT not_allocated
}

// --- matrix instructions ---

#define PRODUCT                                                                                    \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %0, %0, %0}, {%1, %1}, "   \
                 "{%1}, {%0, %0, %0, %0};" : "+f"(sum) : "r"(0x3c003c00))
#define ROWS(at)                                                                                   \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %0, %0, %0}, [%1];" : "=r"(x)      \
                 : "r"((unsigned)__cvta_generic_to_shared(at)))

// All lanes, 16 of them, or all but one that has exited.
__global__ void product(float *out, int gone) {
    float sum = 0;
    if ((int)threadIdx.x == gone) return;
    PRODUCT; // AT product
    out[threadIdx.x] = sum;
}

__global__ void product_apart(float *out) {
    float sum = 0;
    if (threadIdx.x < 8) {
        PRODUCT;
        sum += 1;
    } else {
        PRODUCT;
        sum += 2;
    }
    out[threadIdx.x] = sum;
}

// The row of lane 9 is misplaced by `skew` words.
__global__ void rows(float *out, int skew) {
    __shared__ __align__(16) unsigned s[256];
    unsigned x = 0;
    for (int i = threadIdx.x; i < 256; i += 32) s[i] = i;
    __syncwarp();
    ROWS(s + threadIdx.x * 4 + (threadIdx.x == 9 ? skew : 0)); // AT rows
    out[threadIdx.x] = x;
}

__global__ void rows_unordered(float *out) {
    __shared__ __align__(16) unsigned s[256];
    unsigned x = 0;
    for (int i = threadIdx.x; i < 256; i += 64) s[i] = i;
    ROWS(s + threadIdx.x * 4); // AT rows_unordered
    out[threadIdx.x] = x;
}

// --- clusters and bulk copies ---

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

// The state space of the own block does not include the cluster's other blocks.
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

// --- features that the CPU device does not have ---

__global__ void tensor_map(const void *map, int *out) {
    __shared__ __align__(128) char s[1024];
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(map), "r"(0), "r"(shared_address(s)) : "memory"); // AT tensor_map
    out[0] = s[0];
}

__global__ void tensor(const int *a, int *c) { // of numbers of 4 bits
    using namespace nvcuda::wmma;
    fragment<matrix_a, 8, 8, 32, experimental::precision::s4, row_major> x;
    fragment<matrix_b, 8, 8, 32, experimental::precision::s4, col_major> y;
    fragment<accumulator, 8, 8, 32, int> z;
    fill_fragment(z, 0);
    load_matrix_sync(x, a, 32); // AT tensor
    load_matrix_sync(y, a, 32);
    mma_sync(z, x, y, z);
    store_matrix_sync(c, z, 8, mem_row_major);
}

__global__ void texture(cudaTextureObject_t from, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(from, threadIdx.x); // AT texture
}

__global__ void surface(cudaSurfaceObject_t to) {
    surf1Dwrite(1.0f, to, threadIdx.x * 4); // AT surface
}

#ifdef WARP_GROUPS // for sm_90a, and with machine code
__global__ void group(float *c) {
    asm volatile("wgmma.fence.sync.aligned;"); // AT group
    c[threadIdx.x] = 0;
}
#else // more than machine code may have
__global__ void hoard(int *out) {
    int kept[150000];
    for (int k = 0; k < 150000; k++) kept[k] = out[k % 32];
    out[threadIdx.x] = kept[out[1]];
}
#endif

static __device__ __noinline__ int calls_without_end(int n) {
    volatile int kept[4];
    kept[n & 3] = n;
    return n < 0 ? 0 : calls_without_end(n + 1) + kept[n & 3]; // AT overflow
}
__global__ void overflow(int *out) { out[threadIdx.x] = calls_without_end(out[threadIdx.x]); }

static __device__ __noinline__ int calls(int n) {
    volatile int kept[16];
    kept[n & 15] = n;
    return n ? calls(n - 1) + kept[n & 15] : 0; // AT deep
}
__global__ void deep(int *out) { out[threadIdx.x] = calls(out[threadIdx.x] + 3000); }

// --- the program ---

static int *d; // 4096 bytes of 0

template <class... Parameters, class... Arguments>
static void in_pair(void (*kernel)(Parameters...), Arguments... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t pair = {dim3(2), dim3(64), 0, 0, &attribute, 1};
    cudaLaunchKernelEx(&pair, kernel, arguments...);
}

#define CASE(name, ...) {#name, [] { __VA_ARGS__; }}
static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    CASE(hello, hello<<<1, 64>>>(d)),
    CASE(divide, divide<<<1, 64>>>(d, 0)),
    CASE(host_reads, exit(*(volatile int *)d)),
    CASE(out_of_bounds, out_of_bounds<<<1, 32>>>(d)),
    CASE(misaligned, misaligned<<<1, 32>>>(d)),
    CASE(asserts, asserts<<<1, 32>>>(d)),
    CASE(traps, traps<<<1, 32>>>(d)),
    CASE(endless, endless<<<1, 64>>>(d)),
    CASE(endless_barrier, endless_barrier<<<3, 64>>>(d)),
    CASE(endless_syncwarp, endless_syncwarp<<<1, 64>>>(d)),
    CASE(endless_shuffle, endless_shuffle<<<1, 64>>>(d)),
    CASE(endless_pairs, endless_pairs<<<1, 128>>>(d)),
    CASE(endless_grid, void *arguments[] = {&d};
         cudaLaunchCooperativeKernel((void *)endless_grid, dim3(3), dim3(64), arguments)),
    CASE(deadlock, deadlock<<<1, 64>>>(d)),
    CASE(used_after_free, used_after_free<<<1, 1>>>(d)),
    CASE(freed_twice, freed_twice<<<1, 1>>>(d)),
    CASE(beyond, beyond<<<1, 1>>>(d)),
    CASE(not_allocated, not_allocated<<<1, 1>>>(d)),
    CASE(product, product<<<1, 32>>>((float *)d, 32)),
    CASE(product_short, product<<<1, 16>>>((float *)d, 32)),
    CASE(product_left, product<<<1, 32>>>((float *)d, 5)),
    CASE(product_apart, product_apart<<<1, 32>>>((float *)d)),
    CASE(rows_misaligned, rows<<<1, 32>>>((float *)d, 1)),
    CASE(rows_outside, rows<<<1, 32>>>((float *)d, 4096)),
    CASE(rows_unordered, rows_unordered<<<1, 64>>>((float *)d)),
    CASE(two_barriers, in_pair(two_barriers, d)),
    CASE(not_arrived, in_pair(not_arrived, d)),
    CASE(arrived_twice, in_pair(arrived_twice, d)),
    CASE(no_block, in_pair(no_block, d)),
    CASE(past_end, in_pair(past_end, d, 100000)),
    CASE(block_ended, in_pair(block_ended, d)),
    CASE(own_space, in_pair(own_space, d)),
    CASE(bulk_bytes, bulk<<<1, 32>>>((char *)d, 0, 0, 24, 0)),
    CASE(bulk_from, bulk<<<1, 32>>>((char *)d, 8, 0, 32, 0)),
    CASE(bulk_to, bulk<<<1, 32>>>((char *)d, 0, 4, 32, 0)),
    CASE(bulk_barrier, bulk<<<1, 32>>>((char *)d, 0, 0, 32, 4)),
    CASE(bulk_past_shared, bulk<<<1, 32>>>((char *)d, 0, 992, 512, 0)),
    CASE(bulk_past_global, bulk<<<1, 32>>>((char *)d, 1 << 30, 0, 512, 0)),
    CASE(tensor_map, tensor_map<<<1, 1>>>(d, d)),
    CASE(tensor, tensor<<<1, 32>>>(d, d)),
    CASE(texture, texture<<<1, 32>>>(0, (float *)d)),
    CASE(surface, surface<<<1, 32>>>(0)),
#ifdef WARP_GROUPS
    CASE(group, group<<<1, 128>>>((float *)d)),
#else
    CASE(hoard, hoard<<<1, 32>>>(d)),
#endif
    CASE(overflow, overflow<<<9, 1024>>>(d)),
    CASE(deep, deep<<<1, 32>>>(d)),
    CASE(deep_enough, cudaDeviceSetLimit(cudaLimitStackSize, 256 << 10); deep<<<1, 32>>>(d)),
    CASE(call, cudaTextureObject_t object; cudaCreateTextureObject(&object, NULL, NULL, NULL)),
    CASE(pool, cudaMemPool_t mine; cudaMemPoolProps of = {}; cudaMemPoolCreate(&mine, &of)),
    CASE(used, cudaMemPool_t all; uint64_t bytes; cudaDeviceGetDefaultMemPool(&all, 0);
         cudaMemPoolGetAttribute(all, cudaMemPoolAttrUsedMemCurrent, &bytes)),
};

static void end(const char *way) {
    if (!strcmp(way, "exit")) exit(0);
    if (!strcmp(way, "_exit")) _exit(0);
    if (!strcmp(way, "quick_exit")) quick_exit(0);
    if (!strcmp(way, "abort")) abort();
    if (!strcmp(way, "crash")) *(volatile int *)NULL = 1;
    if (!strcmp(way, "kill")) kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "hello";
    cudaMalloc((void **)&d, 4096);
    cudaMemset(d, 0, 4096);
    hello<<<1, 64>>>(d + 512);
    for (const auto &c : cases)
        if (!strcmp(name, c.name)) c.run();
    cudaError_t launched = cudaGetLastError(), waited = cudaDeviceSynchronize();
    if (argc > 2) cudaDeviceReset(), cudaMalloc((void **)&d, 4); // does not undo a refusal
    cudaError_t later = cudaMemset(d, 0, 4);
    printf("%s: %s %s %s\n", name, cudaGetErrorName(launched), cudaGetErrorName(waited),
           cudaGetErrorName(later));
    fflush(stdout);
    end(argc > 2 ? argv[2] : "");
    return 0;
}
