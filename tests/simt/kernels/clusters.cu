// Features of devices with clusters, one per kernel, so that each is counted separately: accesses to
// another block's shared memory, the barrier of a cluster, bulk copies, stores that count at an
// mbarrier. Then a histogram and a transpose that use them together.
#include <cuda_pipeline.h>

#include "cases.h"
#include "clusters.h"

enum { BLOCK = 128 };

// --- distributed shared memory ---

enum { LOADS, STORES, ATOMICS, OWN };

// Each thread accesses another block's memory eight times, at a stride of words.
template <int WHAT> __global__ void far_generic(const int *in, int *out, int stride) {
    __shared__ int s[BLOCK * 4];
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, other = WHAT == OWN ? cluster.block_rank() : cluster.block_rank() ^ 1;
    for (int k = 0; k < 4; k++) s[t + k * BLOCK] = in[t];
    cluster.sync();
    int *there = cluster.map_shared_rank(s, other), sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int *at = &there[(t * stride + k * 32) % (BLOCK * 4)];
        if (WHAT == LOADS || WHAT == OWN) sum += *(volatile int *)at;
        if (WHAT == STORES) *(volatile int *)at = 7;
        if (WHAT == ATOMICS) atomicAdd(at, 1);
    }
    cluster.sync();
    out[blockIdx.x * BLOCK + t] = WHAT == LOADS || WHAT == OWN ? sum : s[t];
}

// The same in the state space of the cluster, 16 bytes at a time.
__global__ void far_vector(const int *in, int *out) {
    __shared__ __align__(16) int s[BLOCK * 4];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x;
    for (int k = 0; k < 4; k++) s[t + k * BLOCK] = in[t];
    cluster.sync();
    unsigned at;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(s + 4 * t)),
                 "r"(cluster.block_rank() ^ 1));
    int4 v;
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y),
                 "=r"(v.z), "=r"(v.w) : "r"(at));
    cluster.sync();
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.w), "r"(v.z),
                 "r"(v.y), "r"(v.x) : "memory");
    cluster.sync();
    out[blockIdx.x * BLOCK + t] = s[t];
}

__global__ void barriers_only(int *out, int count) {
    for (int k = 0; k < count; k++) cg::this_cluster().sync();
    out[blockIdx.x * BLOCK + threadIdx.x] = count;
}

// --- copies ---

__device__ void make_and_expect(unsigned long long *barrier, unsigned bytes) {
    const unsigned at = shared_address(barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(bytes)
                 : "memory");
}

// One thread copies, and only that thread waits.
__global__ void bulk_load(const int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK * 8];
    __shared__ unsigned long long arrived;
    const unsigned t = threadIdx.x;
    if (t == 0) {
        make_and_expect(&arrived, sizeof s);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];" ::"r"(shared_address(s)),
                     "l"(in + blockIdx.x * BLOCK * 8), "r"((int)sizeof s),
                     "r"(shared_address(&arrived)) : "memory");
        while (!TRY(&arrived, 0)) {
        }
    }
    __syncthreads();
    out[blockIdx.x * BLOCK + t] = s[t];
}

template <bool ADDS> __global__ void bulk_store(const int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK];
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * BLOCK + t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t > 0) return;
    if (ADDS)
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;"
                     ::"l"(out), "r"(shared_address(s)), "r"((int)sizeof s) : "memory");
    else
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                         out + blockIdx.x * BLOCK), "r"(shared_address(s)), "r"((int)sizeof s)
                     : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// To the next block: in bulk, or each thread 8 bytes.
template <bool BULK> __global__ void bulk_far(const int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK * 2], mine[BLOCK * 2];
    __shared__ unsigned long long arrived;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x, next = (cluster.block_rank() + 1) % cluster.num_blocks();
    unsigned there, barrier;
    if (t == 0) make_and_expect(&arrived, sizeof s);
    const int2 v = ((const int2 *)in)[blockIdx.x * BLOCK + t];
    ((int2 *)mine)[t] = v;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster.sync();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(s)),
                 "r"(next));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(
                     shared_address(&arrived)), "r"(next));
    if (!BULK)
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32"
                     " [%0], {%1, %2}, [%3];" ::"r"(there + 8 * t), "r"(v.x), "r"(v.y), "r"(barrier)
                     : "memory");
    else if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];" ::"r"(there), "r"(shared_address(mine)),
                     "r"((int)sizeof s), "r"(barrier) : "memory");
    cluster.sync(); // after this barrier all copies have been started
    if (t == 0)
        while (!TRY(&arrived, 0)) {
        }
    __syncthreads();
    out[blockIdx.x * BLOCK + t] = s[t] + s[t + BLOCK];
    cluster.sync();
}

template <int BYTES> __global__ void copy_async(const int *in, int *out) {
    __shared__ __align__(16) int s[BLOCK * 4];
    const unsigned t = threadIdx.x;
    for (int k = t; k < BLOCK * 16 / BYTES; k += BLOCK)
        __pipeline_memcpy_async((char *)s + k * BYTES, (const char *)in + k * BYTES, BYTES);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[blockIdx.x * BLOCK + t] = s[t] + s[t + 3 * BLOCK];
}

// --- together ---

// CUDA C++ programming guide, "Distributed Shared Memory": bins are spread over the blocks.
__global__ void histogram(const int *in, int *bins, int bins_per_block, int n) {
    extern __shared__ int s[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int k = threadIdx.x; k < bins_per_block; k += blockDim.x) s[k] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int bin = in[i];
        atomicAdd(cluster.map_shared_rank(s, bin / bins_per_block) + bin % bins_per_block, 1);
    }
    cluster.sync();
    int *here = bins + cluster.block_rank() * bins_per_block;
    for (int k = threadIdx.x; k < bins_per_block; k += blockDim.x) atomicAdd(&here[k], s[k]);
}

template <class... Arguments, class... Given>
static void in_clusters(void (*kernel)(Arguments...), int grid, int size, size_t shared_bytes,
                        const Given &...given) {
    const Shape shape(grid, BLOCK, size, shared_bytes);
    CUDA(cudaLaunchKernelEx(&shape.config, kernel, (Arguments)given...));
}

static void distributed(int scale) {
    const int blocks = 8 * scale;
    Array<int> in(BLOCK, [](int i) { return i; }), out((size_t)blocks * BLOCK);
    for (int stride : {1, 2, 8}) {
        std::vector<int> loaded(blocks * BLOCK), stored(blocks * BLOCK), added(blocks * BLOCK);
        for (int b = 0; b < blocks; b++) {
            std::vector<int> hits(BLOCK * 4);
            for (int t = 0; t < BLOCK; t++)
                for (int k = 0; k < 8; k++) {
                    const int at = (t * stride + k * 32) % (BLOCK * 4);
                    loaded[b * BLOCK + t] += at % BLOCK;
                    hits[at]++;
                }
            for (int t = 0; t < BLOCK; t++)
                stored[b * BLOCK + t] = hits[t] ? 7 : t, added[b * BLOCK + t] = t + hits[t];
        }
        RUN(in_clusters(far_generic<LOADS>, blocks, 2, 0, in, out, stride));
        compare(out, loaded);
        RUN(in_clusters(far_generic<STORES>, blocks, 4, 0, in, out, stride));
        compare(out, stored);
        RUN(in_clusters(far_generic<ATOMICS>, blocks, 8, 0, in, out, stride));
        compare(out, added);
        RUN(in_clusters(far_generic<OWN>, blocks, 2, 0, in, out, stride));
        compare(out, loaded);
    }
    std::vector<int> turned(blocks * BLOCK), count(blocks * BLOCK, 3);
    for (int i = 0; i < blocks * BLOCK; i++) turned[i] = (i ^ 3) % BLOCK;
    RUN(in_clusters(far_vector, blocks, 2, 0, in, out));
    compare(out, turned);
    RUN(in_clusters(barriers_only, blocks, 4, 0, out, 3));
    compare(out, count);
}

static void copies(int scale) {
    const int blocks = 8 * scale;
    Array<int> in((size_t)blocks * BLOCK * 8, [](int i) { return whole(i, 1000); });
    Array<int> out((size_t)blocks * BLOCK), sum(BLOCK);
    std::vector<int> first(blocks * BLOCK), same(blocks * BLOCK), sums(BLOCK), next(blocks * BLOCK),
        tiles(blocks * BLOCK);
    for (int i = 0; i < blocks * BLOCK; i++) {
        const int b = i / BLOCK, t = i % BLOCK, from = (b / 4 * 4 + (b + 3) % 4) * BLOCK * 2;
        first[i] = in.host[b * BLOCK * 8 + t];
        same[i] = in.host[i];
        sums[t] += in.host[i];
        next[i] = in.host[from + t] + in.host[from + t + BLOCK];
        tiles[i] = in.host[t] + in.host[t + 3 * BLOCK];
    }
    RUN(bulk_load<<<blocks, BLOCK>>>(in, out));
    compare(out, first);
    RUN(bulk_store<false><<<blocks, BLOCK>>>(in, out));
    compare(out, same);
    RUN(bulk_store<true><<<blocks, BLOCK>>>(in, sum));
    compare(sum, sums);
    RUN(in_clusters(bulk_far<true>, blocks, 4, 0, in, out));
    compare(out, next);
    RUN(in_clusters(bulk_far<false>, blocks, 4, 0, in, out));
    compare(out, next);
    RUN(copy_async<4><<<blocks, BLOCK>>>(in, out));
    compare(out, tiles);
    RUN(copy_async<8><<<blocks, BLOCK>>>(in, out));
    compare(out, tiles);
    RUN(copy_async<16><<<blocks, BLOCK>>>(in, out));
    compare(out, tiles);
}

static void histograms(int scale) {
    const int n = 5000 * scale, bins = 512;
    Array<int> in(n, [](int i) { return whole(i, 512); });
    std::vector<int> want(bins);
    for (int v : in.host) want[v]++;
    for (int size : {2, 4, 8}) {
        Array<int> out(bins);
        RUN(in_clusters(histogram, 8, size, bins / size * 4, in, out, bins / size, n));
        compare(out, want);
    }
}

static const Case cases[] = {
    {"distributed", distributed}, {"copies", copies}, {"histograms", histograms},
};
CASES(cases)
