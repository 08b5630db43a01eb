// Hazards in clusters, asynchronous copies and kernels that start early, each with a right twin.
// Verdicts: see corpus.h.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "corpus.h"

namespace cg = cooperative_groups;

// The cluster, the thread's number, and the rank of the next block.
#define IN_CLUSTER \
    cg::cluster_group cluster = cg::this_cluster(); \
    unsigned t = threadIdx.x, next = (cluster.block_rank() + 1) % cluster.num_blocks()

// --- clusters ---

template <bool RIGHT> __global__ void first_sync(int *out) {
    __shared__ int s[BLOCK];
    IN_CLUSTER;
    if (RIGHT) cluster.sync();
    cluster.map_shared_rank(s, next)[t] = t;  // HAZARD first_sync: cluster
    cluster.sync();
    out[blockIdx.x * BLOCK + t] = s[t];
}

// A barrier that orders nothing still waits for the other block's threads, so that it has started.
template <bool RIGHT> __global__ void first_wait(int *out) {
    __shared__ int s[BLOCK];
    IN_CLUSTER;
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    if (RIGHT) asm volatile("barrier.cluster.wait;" ::: "memory");
    cluster.map_shared_rank(s, next)[t] = t;  // HAZARD first_wait: cluster
    if (!RIGHT) asm volatile("barrier.cluster.wait;" ::: "memory");
    cluster.sync();
    out[blockIdx.x * BLOCK + t] = s[t];
}

template <bool RIGHT> __global__ void last_sync(int *out) {
    __shared__ int s[BLOCK];
    IN_CLUSTER;
    s[t] = t;
    cluster.sync();
    out[blockIdx.x * BLOCK + t] = cluster.map_shared_rank(s, next)[t];  // HAZARD last_sync: cluster
    if (RIGHT) cluster.sync();
}

// The same, while the other block still runs.
template <bool RIGHT> __global__ void last_sync_of_one(int *out) {
    __shared__ int s[BLOCK];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned t = threadIdx.x, rank = cluster.block_rank();
    s[t] = t;
    cluster.sync();
    if (rank == 0) out[t] = cluster.map_shared_rank(s, 1)[t];  // HAZARD last_sync_of_one: cluster
    if (RIGHT) cluster.sync();
}

// Blocks 1 and 2 read, with threads of the same number; block 0 must wait for both before it writes.
template <bool RIGHT> __global__ void two_readers(int *out) {
    __shared__ int s[BLOCK];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned t = threadIdx.x, rank = cluster.block_rank();
    s[t] = t;
    cluster.sync();
    if (rank == 1 || rank == 2) {
        out[rank * BLOCK + t] = cluster.map_shared_rank(s, 0)[t];  // LABEL two_readers
        __threadfence();
        if (RIGHT || rank == 2) atomicAdd(&out[t], 1);
    } else if (rank == 0) {
        while (atomicAdd(&out[t], 0) < (RIGHT ? 2 : 1)) {
        }
        __threadfence();
        s[t] = 0;  // HAZARD two_readers: race with two_readers
    }
    cluster.sync();
}

template <bool RIGHT> __global__ void arrive_relaxed(int *out) {
    __shared__ int s[BLOCK];
    IN_CLUSTER;
    cluster.sync();
    cluster.map_shared_rank(s, next)[t] = t;  // LABEL arrive_relaxed
    if (RIGHT)
        asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    else
        asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    int v = s[t];  // HAZARD arrive_relaxed: race with arrive_relaxed
    cluster.sync();
    out[blockIdx.x * BLOCK + t] = v;
}

// A histogram in the first block's memory.
template <bool RIGHT> __global__ void histogram(const int *in, int *out) {
    __shared__ int bins[8];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned t = threadIdx.x;
    if (t < 8) bins[t] = 0;
    cluster.sync();
    int *bin = cluster.map_shared_rank(bins, 0) + in[blockIdx.x * BLOCK + t] % 8;
    if (RIGHT)
        atomicAdd(bin, 1);
    else
        ++*bin;  // HAZARD histogram: race
    cluster.sync();
    if (blockIdx.x == 0 && t < 8) out[t] = bins[t];
}

template <bool RIGHT> __global__ void some_threads(int *out) {
    cg::cluster_group cluster = cg::this_cluster();
    if (!RIGHT && threadIdx.x >= 32) return;
    cluster.sync();  // NOTE some_threads: divergent barrier
    out[blockIdx.x * BLOCK + threadIdx.x] = 1;
}

// Half of a block waits for the cluster, the other half for the block: a deadlock.
template <bool RIGHT> __global__ void two_barriers(int *out) {
    cg::cluster_group cluster = cg::this_cluster();
    if (RIGHT || blockIdx.x > 0 || threadIdx.x < 64)
        cluster.sync();  // HAZARD two_barriers: divergent barrier
    else
        __syncthreads();  // HAZARD two_barriers: divergent barrier
    out[blockIdx.x * BLOCK + threadIdx.x] = 1;
}

// --- cp.async ---

// The later of two groups may still be in flight.
template <bool RIGHT> __global__ void copy_groups(const int *in, int *out) {
    __shared__ int s[2][BLOCK];
    unsigned t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(&s[k][t], &in[k * BLOCK + t], 4);  // LABEL copy_groups
        __pipeline_commit();
    }
    __pipeline_wait_prior(RIGHT ? 0 : 1);
    __syncthreads();
    out[t] = s[0][(t + 32) % BLOCK];
    out[BLOCK + t] = s[1][(t + 32) % BLOCK];  // HAZARD copy_groups: race with copy_groups
}

// A lane without an element of its own copies the last one again, as cooperative groups let tiles do.
template <bool RIGHT> __global__ void copy_repeated(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x, last = min(t, BLOCK - 29);
    // HAZARD-NEXT copy_repeated: race
    __pipeline_memcpy_async(&s[last], &in[RIGHT ? last : t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[(t + 32) % (BLOCK - 28)];
}

// Two warps copy the same elements.
template <bool RIGHT> __global__ void copy_by_two(const int *in, int *out) {
    __shared__ __align__(16) int s[BLOCK * 2];
    unsigned t = threadIdx.x, to = t % 64 * 4;
    // HAZARD-NEXT copy_by_two: race
    __pipeline_memcpy_async(&s[to], &in[RIGHT ? to : t * 4], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[(t + 32) % BLOCK];
}

// A store races with a copy even if both write the same value.
template <bool RIGHT> __global__ void copy_and_store(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x, to = t % 64;
    if (t < 64) __pipeline_memcpy_async(&s[to], &in[to], 4);  // LABEL copy_and_store
    __pipeline_commit();
    if (RIGHT) __pipeline_wait_prior(0);
    __syncthreads();
    if (t >= 64) s[to] = in[to];  // HAZARD copy_and_store: race with copy_and_store
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[(to + 32) % 64];
}

// --- copies in bulk ---

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void make(unsigned long long *barrier, int count) {
    const unsigned at = shared_address(barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count));  // LABEL bulk_made
}

__device__ void fence_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ void wait(unsigned long long *barrier, unsigned parity) {
    const unsigned at = shared_address(barrier);
#define TRY "{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra E; bra L; E: }"
    asm volatile(TRY ::"r"(at), "r"(parity) : "memory");  // HAZARD bulk_made: race with bulk_made
}

#define EXPECT(barrier, bytes)                                                                     \
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(                        \
                     shared_address(barrier)), "r"(bytes) : "memory")
#define LOAD(to, from, bytes, barrier)                                                             \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"               \
                 " [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes),        \
                 "r"(shared_address(barrier)) : "memory")
#define STORE(to, from, bytes)                                                                     \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),          \
                 "r"(shared_address(from)), "r"(bytes) : "memory")
#define COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT_READ() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")

enum { BYTES = BLOCK * 4 };

// If a block has waited for a copy before the barrier of the cluster, other blocks may overwrite the data
// after it, even if the block first reaches a barrier of its own.
template <bool RIGHT> __global__ void bulk_far_wait(const int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK];
    __shared__ unsigned long long arrived;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned t = threadIdx.x;
    if (t == 0) {
        make(&arrived, 1);
        fence_init();
        EXPECT(&arrived, BYTES);
        LOAD(s, in, BYTES, &arrived);  // LABEL bulk_far_wait
    }
    __syncthreads();
    if (RIGHT) wait(&arrived, 0);
    cluster.sync();
    if (!RIGHT) wait(&arrived, 0);
    if (cluster.block_rank() == 0) __syncthreads();
    int *there = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    there[t] = 7;  // HAZARD bulk_far_wait: race with bulk_far_wait
    cluster.sync();
    out[blockIdx.x * BLOCK + t] = s[t];
}

// The thread that copies needs no fence after its own mbarrier.init; another thread's needs one.
template <bool RIGHT> __global__ void bulk_init_other(const int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK];
    __shared__ unsigned long long arrived;
    unsigned t = threadIdx.x;
    if (t == (RIGHT ? 0 : 1)) {
        make(&arrived, 1);
        EXPECT(&arrived, BYTES);
    }
    __syncthreads();
    if (t == 0) LOAD(s, in, BYTES, &arrived);  // HAZARD bulk_init_other: copy with bulk_made
    __syncthreads();
    wait(&arrived, 0);
    out[t] = s[t];
}

__device__ unsigned of_rank(unsigned address, unsigned rank) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

#define STORE_ASYNC(to, value, barrier)                                                            \
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"  \
                 ::"r"(to), "r"(value), "r"(barrier) : "memory")

// Each thread sends two numbers to the next block; those of odd threads count at a separate
// mbarrier.
template <bool RIGHT> __global__ void store_async(int *out) {
    __shared__ int s[2][BLOCK];
    __shared__ unsigned long long arrived[2];
    IN_CLUSTER;
    int sum = 0;
    if (t < 2) make(&arrived[t], 1);
    if (t < 2) fence_init();
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        if (t < 2) EXPECT(&arrived[t], BYTES / 2);
        cluster.sync();
        const unsigned to = of_rank(shared_address(&s[k][t]), next);
        STORE_ASYNC(to, t, of_rank(shared_address(&arrived[t % 2]), next));  // LABEL store_async
        wait(&arrived[0], k);
        if (RIGHT || k == 0) wait(&arrived[1], k);
        sum += s[k][(t + 32) % BLOCK];  // HAZARD store_async: race with store_async
        cluster.sync();
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

// The receiving block has started if it has arrived at the cluster's barrier and the sender has waited there.
template <bool RIGHT> __global__ void store_async_early(int *out) {
    __shared__ int s[BLOCK];
    __shared__ unsigned long long arrived;
    unsigned t = threadIdx.x, rank = cg::this_cluster().block_rank();
    if (t == 0) make(&arrived, 1);
    if (t == 0) fence_init();
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    if (t == 0) EXPECT(&arrived, BYTES);
    if (RIGHT) asm volatile("barrier.cluster.wait;" ::: "memory");
    const unsigned to = of_rank(shared_address(&s[t]), 0);
    if (rank == 1) STORE_ASYNC(to, t, of_rank(shared_address(&arrived), 0));  // HAZARD store_async_early: cluster
    if (!RIGHT) asm volatile("barrier.cluster.wait;" ::: "memory");
    if (rank > 0) return;
    if (t == 0) wait(&arrived, 0);
    __syncthreads();
    out[t] = s[(t + 32) % BLOCK];
}

// One warp sends twice; the other warp waits only for the first store.
template <bool RIGHT> __global__ void store_async_again(int *out) {
    __shared__ int s[2][32];
    __shared__ unsigned long long arrived;
    IN_CLUSTER;
    int sum = 0;
    if (t < 64) s[t / 32][t % 32] = 0;
    if (t == 0) make(&arrived, 1);
    if (t == 0) fence_init();
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        if (t == 0) EXPECT(&arrived, BYTES / 4);
        cluster.sync();
        const unsigned to = of_rank(shared_address(&s[k][t % 32]), next);
        if (t < 32) STORE_ASYNC(to, t, of_rank(shared_address(&arrived), next));  // LABEL store_async_again
        if (RIGHT || k == 0) wait(&arrived, k);
        sum += s[k][t % 32];  // HAZARD store_async_again: race with store_async_again
        cluster.sync();
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

// A copy reads or writes global memory, and a thread of another warp accesses its first word, its last
// word, or the word after it.
template <int PLACE> __global__ void bulk_source(int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK * 2];
    __shared__ unsigned long long arrived;
    unsigned t = threadIdx.x;
    if (t == 0) {
        make(&arrived, 1);
        fence_init();
        EXPECT(&arrived, BYTES - 16);
        LOAD(s, in, BYTES - 16, &arrived);  // LABEL bulk_source
    }
    // HAZARD-NEXT bulk_source_last: race with bulk_source
    if (t == 64) in[PLACE] = 7;  // HAZARD bulk_source: race with bulk_source
    if (t == 0) {
        wait(&arrived, 0);
        in[5] = 0; // the thread that made the copy may overwrite its source
    }
    __syncthreads();
    out[t] = s[t % 64];
}

template <int PLACE> __global__ void bulk_target(int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    fence_proxy();
    __syncthreads();
    if (t == 0) {
        STORE(out, s, BYTES - 16);  // LABEL bulk_target
        COMMIT();
        WAIT_READ();
    }
    // HAZARD-NEXT bulk_target_last: race with bulk_target
    if (t == 64) in[0] = out[PLACE];  // HAZARD bulk_target: race with bulk_target
}

template <bool FENCE, bool WAITS, bool ENDS> __device__ void bulk_out(const int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];  // LABEL bulk_proxy
    if (FENCE) fence_proxy();
    __syncthreads();
    if (t == 0) {
        // HAZARD-NEXT bulk_proxy: copy with bulk_proxy
        // HAZARD-NEXT bulk_end: copy
        STORE(out, s, BYTES);  // LABEL bulk_overwrite
        COMMIT();
        if (WAITS) WAIT_READ();
    }
    __syncthreads();
    if (!ENDS) return;
    s[t] = 0;  // HAZARD bulk_overwrite: race with bulk_overwrite
    if (t == 0) WAIT_READ();
}

__global__ void bulk_store_right(const int *in, int *out) { bulk_out<true, true, true>(in, out); }
__global__ void bulk_proxy(const int *in, int *out) { bulk_out<false, true, true>(in, out); }
__global__ void bulk_overwrite(const int *in, int *out) { bulk_out<true, false, true>(in, out); }
__global__ void bulk_end(const int *in, int *out) { bulk_out<true, false, false>(in, out); }

// The mbarrier must be initialised before any thread waits at it.
template <bool RIGHT> __global__ void bulk_made(const int *in, int *out) {
    __shared__ __align__(128) int s[BLOCK];
    __shared__ unsigned long long arrived;
    unsigned t = threadIdx.x;
    if (t == 0) {
        make(&arrived, 1);
        fence_init();
        EXPECT(&arrived, BYTES);
        LOAD(s, in, BYTES, &arrived);
    }
    if (RIGHT) __syncthreads();
    wait(&arrived, 0);
    out[t] = s[t];
}

// --- mbarriers across the cluster ---

// Threads of all blocks arrive at the first block's mbarrier after writing to that block's memory.
template <bool RIGHT> __global__ void remote_arrive(int *out) {
    __shared__ int s[4 * BLOCK];
    __shared__ unsigned long long full;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned t = threadIdx.x, rank = cluster.block_rank(), count = cluster.num_blocks();
    if (t == 0 && rank == 0) make(&full, BLOCK * count);
    cluster.sync();
    cluster.map_shared_rank(s, 0)[rank * BLOCK + t] = t;  // LABEL remote_arrive
    unsigned at;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(at) : "r"(shared_address(&full)));
    if (RIGHT)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at)
                     : "memory");
    else
        asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(at)
                     : "memory");
    if (rank == 0) {
        asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p,"
                     " [%0], 0; @p bra E; bra L; E: }" ::"r"(shared_address(&full))
                     : "memory");
        for (unsigned b = 0; b < count; b++)
            // HAZARD-NEXT remote_arrive: race with remote_arrive
            out[b * BLOCK + t] = s[b * BLOCK + (t + 32) % BLOCK];
    }
    cluster.sync();
}

// --- kernels that start early ---

__global__ void writes(int *out) {
    asm volatile("griddepcontrol.launch_dependents;");
    out[threadIdx.x] = 1;  // LABEL early
}

template <bool RIGHT> __global__ void reads_early(int *out) {
    if (RIGHT) asm volatile("griddepcontrol.wait;" ::: "memory");
    out[BLOCK + threadIdx.x] = out[threadIdx.x];  // HAZARD reads_early: early with early
}

// One thread waits for the whole block.
template <bool RIGHT> __global__ void waits_for_all(int *out) {
    if (threadIdx.x == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
    if (RIGHT) __syncthreads();
    out[BLOCK + threadIdx.x] = out[threadIdx.x];  // HAZARD waits_for_all: early with early
}

static void in_cluster(const void *kernel, void **arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {4, 1, 1};
    cudaLaunchConfig_t config = {dim3(4), dim3(BLOCK), 0, 0, &attribute, 1};
    cudaLaunchKernelExC(&config, kernel, arguments);
}

static void in_cluster(void (*kernel)(const int *, int *), const int *in, int *out) {
    void *arguments[] = {&in, &out};
    in_cluster((const void *)kernel, arguments);
}

static void in_cluster(void (*kernel)(int *), const int *, int *out) {
    void *arguments[] = {&out};
    in_cluster((const void *)kernel, arguments);
}

template <class Kernel> static void behind(Kernel kernel, int *out) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {dim3(1), dim3(BLOCK), 0, 0, &attribute, 1};
    writes<<<1, BLOCK>>>(out);
    cudaLaunchKernelEx(&config, kernel, out);
}

// One block writes a byte, both arrive at the barrier, and the writer then reads the whole word. The
// other block sees a flag that orders nothing, and reads the byte before it waits.
__device__ unsigned gone_on[2];  // by cluster

template <bool RIGHT> __global__ void byte_before_wait(int *out) {
    __shared__ unsigned s[BLOCK];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x, rank = cluster.block_rank();
    s[t] = t;
    cluster.sync();
    unsigned *there = cluster.map_shared_rank(s, 0);
    volatile unsigned *went_on = &gone_on[blockIdx.x / cluster.num_blocks()];
    if (rank == 1 && t == 0) ((unsigned char *)there)[1] = 7;  // LABEL byte_before_wait
    cluster.barrier_arrive();
    if (rank == 1) {
        cluster.barrier_wait();
        if (t == 0) {
            out[1] = there[0];
            *went_on = 1;
        }
    } else {
        while (rank == 0 && *went_on == 0) {}
        if (RIGHT) cluster.barrier_wait();
        // HAZARD-NEXT byte_before_wait: race with byte_before_wait
        if (rank == 0 && t == 0) out[0] = ((volatile unsigned char *)s)[1];
        if (!RIGHT) cluster.barrier_wait();
    }
    cluster.sync();
}

// A launch without clusters: every block is a cluster of its own, with its own barrier.
__global__ void cluster_of_one(const int *in, int *out) {
    __shared__ int s[BLOCK];
    s[threadIdx.x] = in[threadIdx.x];
    cg::this_cluster().sync();
    if (blockIdx.x == 0) out[threadIdx.x] = s[BLOCK - 1 - threadIdx.x];
}

#define CLUSTER(kernel) \
    RUN(#kernel, in_cluster(kernel<false>, d_in, d_out)), \
        RUN(#kernel "_right", in_cluster(kernel<true>, d_in, d_out))

static const Case cases[] = {
    CLUSTER(first_sync), CLUSTER(first_wait), CLUSTER(last_sync), CLUSTER(last_sync_of_one),
    CLUSTER(two_readers), CLUSTER(arrive_relaxed), CLUSTER(byte_before_wait), CLUSTER(histogram),
    CLUSTER(some_threads), CLUSTER(two_barriers), CLUSTER(remote_arrive), CLUSTER(store_async),
    CLUSTER(store_async_early),
    CLUSTER(bulk_far_wait), CLUSTER(store_async_again), TWINS(1, BLOCK, copy_groups),
    TWINS(1, BLOCK, copy_repeated), TWINS(1, BLOCK, copy_by_two), TWINS(1, BLOCK, copy_and_store),
    TWINS(1, BLOCK, bulk_init_other), ONE(1, BLOCK, "bulk_source", bulk_source<0>),
    ONE(1, BLOCK, "bulk_source_last", bulk_source<BLOCK - 5>),
    ONE(1, BLOCK, "bulk_source_right", bulk_source<BLOCK - 4>),
    ONE(1, BLOCK, "bulk_target", bulk_target<0>),
    ONE(1, BLOCK, "bulk_target_last", bulk_target<BLOCK - 5>),
    ONE(1, BLOCK, "bulk_target_right", bulk_target<BLOCK - 4>),
    ONE(1, BLOCK, "bulk_store_right", bulk_store_right), ONE(1, BLOCK, "bulk_proxy", bulk_proxy),
    ONE(1, BLOCK, "bulk_overwrite", bulk_overwrite), ONE(1, BLOCK, "bulk_end", bulk_end),
    TWINS(1, BLOCK, bulk_made), ONE(400, BLOCK, "cluster_of_one_right", cluster_of_one),
    RUN("reads_early", behind(reads_early<false>, d_out)),
    RUN("reads_early_right", behind(reads_early<true>, d_out)),
    RUN("waits_for_all", behind(waits_for_all<false>, d_out)),
    RUN("waits_for_all_right", behind(waits_for_all<true>, d_out)),
};

CORPUS_MAIN(cases)
