// Tests values of clusters, distributed shared memory, mbarriers, bulk copies and programmatic
// launches, and the results of the runtime's calls.
#include <stdint.h>

#include "../cases.h"
#include "../clusters.h"

// --- launches ---

static cudaError_t launch(void (*kernel)(int *), dim3 grid, dim3 block, dim3 cluster, int *out) {
    const Shape shape(grid, block, cluster);
    return cudaLaunchKernelEx(&shape.config, kernel, out);
}

#define SPECIAL(name) ({ unsigned v_; asm volatile("mov.u32 %0, %%" name ";" : "=r"(v_)); (int)v_; })

__global__ void registers(int *out) {
    unsigned explicitly;
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
                 : "=r"(explicitly));
    if (threadIdx.x) return;
    int *row = out + 16 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    row[0] = SPECIAL("clusterid.x"), row[1] = SPECIAL("clusterid.y");
    row[2] = SPECIAL("clusterid.z"), row[3] = SPECIAL("nclusterid.x");
    row[4] = SPECIAL("nclusterid.y"), row[5] = SPECIAL("nclusterid.z");
    row[6] = SPECIAL("cluster_ctaid.x"), row[7] = SPECIAL("cluster_ctaid.y");
    row[8] = SPECIAL("cluster_ctaid.z"), row[9] = SPECIAL("cluster_nctaid.x");
    row[10] = SPECIAL("cluster_nctaid.y"), row[11] = SPECIAL("cluster_nctaid.z");
    row[12] = SPECIAL("cluster_ctarank"), row[13] = SPECIAL("cluster_nctarank");
    row[14] = (int)explicitly;
}

static void special(dim3 grid, dim3 cluster) {
    const dim3 each = cluster.x ? cluster : dim3(1);
    Array<int> out((size_t)grid.x * grid.y * grid.z * 16);
    std::vector<unsigned> want;
    RUN(CUDA(launch(registers, grid, 32, cluster, out)));
    for (unsigned b = 0; b < grid.x * grid.y * grid.z; b++) {
        unsigned x = b % grid.x, y = b / grid.x % grid.y, z = b / grid.x / grid.y;
        unsigned in_x = x % each.x, in_y = y % each.y, in_z = z % each.z;
        want.insert(want.end(), {x / each.x, y / each.y, z / each.z, grid.x / each.x, grid.y / each.y,
                                 grid.z / each.z, in_x, in_y, in_z, each.x, each.y, each.z,
                                 in_x + each.x * (in_y + each.y * in_z), each.x * each.y * each.z,
                                 cluster.x != 0, 0});
    }
    compare(out, want);
}

static void special_registers(int) {
    special(dim3(8), dim3(4));
    special(dim3(6, 4, 2), dim3(3, 1, 2));
    special(dim3(4, 4), dim3(2, 4));
    special(dim3(3), dim3(1));
    special(dim3(3, 2), dim3(0, 0, 0));
}

// --- distributed shared memory ---

__global__ void __cluster_dims__(4, 2, 1) rotate(int *out) {
    __shared__ int s[64];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned t = threadIdx.x, rank = cluster.block_rank(), count = cluster.num_blocks();
    unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    s[t] = (int)(rank * 100 + t);
    cluster.sync();
    int *next = cluster.map_shared_rank(s, (rank + 1) % count);
    int v = next[t];
    unsigned at, there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(s)),
                 "r"((rank + 3) % count));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(there) : "r"(at));
    int w;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(w) : "r"(at + 4 * t));
    out[block * 256 + t] = v;
    out[block * 256 + 64 + t] = w;
    out[block * 256 + 128 + t] = (int)(there * 100 + cluster.query_shared_rank(next));
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&s[t % 4], 0), (int)rank);
    asm volatile("red.shared::cluster.add.u32 [%0], 1000;" ::"r"(at + 4 * (t % 4)) : "memory");
    cluster.sync();
    out[block * 256 + 192 + t] = s[t];
}

static void distributed(int) {
    Array<int> out(16 * 256);
    std::vector<int> want(16 * 256);
    RUN(rotate<<<dim3(8, 2), 64>>>(out));
    for (int b = 0; b < 16; b++) {
        int rank = b % 8 % 4 + 4 * (b / 8);
        for (int t = 0; t < 64; t++) {
            int *row = &want[b * 256 + t];
            row[0] = (rank + 1) % 8 * 100 + t;
            row[64] = (rank + 3) % 8 * 100 + t;
            row[128] = (rank + 3) % 8 * 100 + (rank + 1) % 8;
            row[192] = rank * 100 + t + (t < 4 ? 16000 + (rank == 0 ? 16 * 28 : 0) : 0);
        }
    }
    compare(out, want);
}

// Blocks of a cluster wait for each other's words.
__global__ void chain(int *out) {
    __shared__ int token;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), count = cluster.num_blocks();
    if (threadIdx.x == 0) token = 0;
    cluster.sync();
    if (threadIdx.x == 0) {
        if (rank > 0)
            while (atomicAdd(&token, 0) == 0) {
            }
        int got = atomicAdd(&token, 0);
        out[blockIdx.x] = got;
        __threadfence();
        if (rank + 1 < count)
            atomicExch(cluster.map_shared_rank(&token, rank + 1), got + (int)rank + 1);
    }
    cluster.sync();
}

static void waiting(int) {
    Array<int> out(8);
    RUN(CUDA(launch(chain, 8, 32, dim3(8), out)));
    compare(out, std::vector<int>{0, 1, 3, 6, 10, 15, 21, 28});
}

// --- mbarriers and bulk copies ---

// Whether a phase is complete. try_wait may wait: on an H200 it returned true although only a later
// complete_tx completes the phase, since ptxas moves that before the use of the result. test_wait does not wait.
#define ASK(barrier, parity)                                                                       \
    ({ unsigned done_;                                                                             \
       asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"            \
                    " selp.u32 %0, 1, 0, p; }" : "=r"(done_) : "r"(shared_address(barrier)),       \
                    "r"(parity) : "memory"); done_; })

__global__ void counts(int *out) {
    __shared__ uint64_t barrier;
    const unsigned at = shared_address(&barrier);
    uint64_t state;
    unsigned count;
    if (threadIdx.x) return;
    asm volatile("mbarrier.init.shared.b64 [%0], 5;" ::"r"(at));
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    out[0] = (int)count;
    out[1] = (int)ASK(&barrier, 0);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    out[2] = (int)ASK(&barrier, 0);
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    out[3] = (int)count;
    out[4] = (int)ASK(&barrier, 0);
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    out[5] = (int)count; // from here on four arrivals are expected
    out[6] = (int)ASK(&barrier, 1);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 3;" ::"r"(at) : "memory");
    out[7] = (int)ASK(&barrier, 1);
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 4;" ::"r"(at) : "memory");
    out[8] = (int)ASK(&barrier, 0);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(at) : "memory");
    out[9] = (int)ASK(&barrier, 0);
    asm volatile("mbarrier.arrive_drop.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 3;" ::"r"(at) : "memory");
    out[10] = (int)ASK(&barrier, 1);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(at) : "memory");
    out[11] = (int)ASK(&barrier, 1);
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
}

static void mbarriers(int) {
    Array<int> out(12);
    RUN(counts<<<1, 32>>>(out));
    compare(out, std::vector<int>{5, 0, 0, 1, 1, 4, 0, 1, 0, 1, 0, 1});
}

enum { TILE = 512 };

// Bulk copies load a tile, store it, and add it to the destination.
__global__ void bulk(const int *in, int *out, int *sum) {
    __shared__ __align__(128) int s[TILE];
    __shared__ uint64_t arrived;
    const unsigned t = threadIdx.x, at = shared_address(&arrived), to = shared_address(s);
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(TILE * 4)
                     : "memory");
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in), "r"(TILE * 4));
        for (int k = 0; k < 2; k++) // two copies count at one mbarrier
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                         " [%0], [%1], %2, [%3];" ::"r"(to + k * TILE * 2),
                         "l"(in + blockIdx.x * TILE + k * TILE / 2), "r"(TILE * 2), "r"(at)
                         : "memory");
    }
    __syncthreads();
    while (!TRY(&arrived, 0)) {
    }
    for (unsigned i = t; i < TILE; i += blockDim.x) s[i] += 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     out + blockIdx.x * TILE), "r"(to), "r"(TILE * 4) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(
                     sum), "r"(to), "r"(TILE * 4) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], %2;" ::"l"(
                     sum + TILE), "r"(to), "r"(TILE * 4) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

static void bulk_copies(int) {
    enum { BLOCKS = 5, ALL = BLOCKS * TILE };
    Array<int> in(ALL, element), out(ALL + 2 * TILE);
    std::vector<int> want(ALL + 2 * TILE);
    RUN(bulk<<<BLOCKS, 128>>>(in, out, out + ALL));
    for (int i = 0; i < ALL; i++) {
        int v = want[i] = element(i) + 1, *sum = &want[ALL + i % TILE];
        sum[0] += v;
        sum[TILE] = v > sum[TILE] ? v : sum[TILE];
    }
    compare(out, want);
}

// One block copies to all, every block copies to the next one, and stores count at an mbarrier.
__global__ void __cluster_dims__(4, 1, 1) spread(const int *in, int *out) {
    __shared__ __align__(128) int s[256], copy[256], words[8];
    __shared__ int total;
    __shared__ uint64_t arrived;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x, rank = cluster.block_rank(), at = shared_address(&arrived);
    unsigned there, barrier, word, number;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at),
                     "r"(1024 + 1024 + 32 + 4) : "memory");
        total = 40;
    }
    cluster.sync();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(copy)),
                 "r"((rank + 1) % 4));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(at),
                 "r"((rank + 1) % 4));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(word) : "r"(shared_address(words)),
                 "r"((rank + 1) % 4));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(number) : "r"(shared_address(&total)),
                 "r"((rank + 1) % 4));
    if (t == 0 && rank == 1)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(s)),
                     "l"(in), "r"(1024), "r"(at), "h"((short)15) : "memory");
    __shared__ __align__(128) int mine[256];
    mine[t] = (int)(rank * 1000 + t);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];" ::"r"(there), "r"(shared_address(mine)), "r"(1024),
                     "r"(barrier) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
                     " [%0], %1, [%2];" ::"r"(number), "r"(rank), "r"(barrier) : "memory");
    }
    if (t < 2) // the first lane after the second one
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64"
                     " [%0], {%1, %2}, [%3];" ::"r"(word + 16 - 16 * t),
                     "l"((long long)rank << 32 | 7), "l"(9ll + t), "r"(barrier) : "memory");
    while (!TRY(&arrived, 0)) {
    }
    out[rank * 1024 + t] = s[t];
    out[rank * 1024 + 256 + t] = copy[t];
    if (t < 8) out[rank * 1024 + 512 + t] = words[t];
    if (t == 8) out[rank * 1024 + 512 + t] = total;
    cluster.sync();
}

static void copies_to_others(int) {
    Array<int> in(256, element), out(4 * 1024);
    std::vector<int> want(4 * 1024);
    RUN(spread<<<4, 256>>>(in, out));
    for (int rank = 0; rank < 4; rank++) {
        int before = (rank + 3) % 4, *row = &want[rank * 1024];
        for (int t = 0; t < 256; t++) row[t] = element(t), row[256 + t] = before * 1000 + t;
        for (int t = 0; t < 2; t++) { // the second lane, then the first one
            int *of_lane = row + 512 + 4 * t;
            of_lane[0] = 7, of_lane[1] = before, of_lane[2] = 10 - t, of_lane[3] = 0;
        }
        row[520] = 40 + before;
    }
    compare(out, want);
}

// --- programmatic launches ---

__global__ void produce(int *out, int value) {
    asm volatile("griddepcontrol.launch_dependents;");
    out[blockIdx.x * blockDim.x + threadIdx.x] = value + (int)threadIdx.x;
}

__global__ void consume(const int *in, int *out) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2;
}

static void consume_behind(const int *in, int *out, cudaStream_t stream) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {dim3(8), dim3(128), 0, stream, &attribute, 1};
    CUDA(cudaLaunchKernelEx(&config, consume, in, out));
}

template <bool IN_GRAPH> static void programmatic(int) {
    Array<int> out(3072);
    std::vector<int> want(3072);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamCreate(&stream));
    if (IN_GRAPH) CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    produce<<<8, 128, 0, stream>>>(out, 5);
    consume_behind(out, out + 1024, stream);
    consume_behind(out + 1024, out + 2048, stream);
    if (IN_GRAPH) {
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiate(&exec, graph, 0));
        for (int k = 0; k < 3; k++) CUDA(cudaGraphLaunch(exec, stream));
    }
    CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i < 3072; i++) want[i] = (5 + i % 128) << i / 1024;
    compare(out, want);
    CUDA(cudaStreamDestroy(stream));
}

// --- results of calls ---

static void tell_error(const char *name, cudaError_t got, cudaError_t want) {
    char why[120];
    cudaGetLastError();
    snprintf(why, sizeof why, "%s, not %s", cudaGetErrorName(got), cudaGetErrorName(want));
    tell(name, got == want, why);
}

static void errors(int) {
    Array<int> out(32 * 16);
    const cudaError_t bad = cudaErrorInvalidClusterSize;
    tell_error("a grid that is not a multiple", launch(registers, 6, 32, 4, out), bad);
    tell_error("16 blocks", launch(registers, 16, 32, 16, out), bad);
    tell_error("a side of 0", launch(registers, 4, 32, dim3(2, 0, 1), out), bad);
    tell_error("another cluster than the kernel's", launch(rotate, 8, 64, 8, out), bad);
    tell_error("the kernel's, and a grid that is not a multiple", launch(rotate, 8, 64, dim3(0, 0, 0), out), bad);
    CUDA(cudaFuncSetAttribute(registers, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    tell_error("16 blocks, allowed", launch(registers, 16, 32, 16, out), cudaSuccess);
    tell_error("32 blocks", launch(registers, 32, 32, 32, out), bad);
    CUDA(cudaFuncSetAttribute(registers, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
    CUDA(cudaDeviceSynchronize());
}

static void queries(int) {
    int value = -1;
    cudaFuncAttributes known;
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0));
    tell_value("cudaDevAttrClusterLaunch", value, 1);
    CUDA(cudaFuncGetAttributes(&known, (const void *)rotate));
    tell_value("required width", known.requiredClusterWidth, 4);
    tell_value("required height", known.requiredClusterHeight, 2);
    tell_value("required depth", known.requiredClusterDepth, 1);
    tell_value("must be set", known.clusterDimMustBeSet, 1);
}

// --- how many clusters fit ---

__global__ void filling(int *out) {
    extern __shared__ int s[];
    if (out) out[0] = s[threadIdx.x];
}

// Recorded on an H200, for one, two and four blocks per multiprocessor.
static void check_fit(unsigned threads, size_t shared, int layers, const char *what) {
    static const int fit[][4] = {{1, 132, 264, 528}, {2, 66, 132, 264}, {3, 39, 79, 163},
                                 {4, 30, 62, 124},   {5, 22, 47, 94},   {6, 17, 39, 79},
                                 {7, 15, 32, 69},    {8, 15, 30, 62},   {16, 7, 14, 28}};
    char name[80];
    CUDA(cudaFuncSetAttribute(filling, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    CUDA(cudaFuncSetAttribute(filling, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (const int *row : fit) {
        int value = -1;
        const Shape shape((unsigned)row[0] * 9, threads, (unsigned)row[0], shared);
        cudaError_t error = cudaOccupancyMaxActiveClusters(&value, filling, &shape.config);
        snprintf(name, sizeof name, "clusters of %d that fit, %s", row[0], what);
        tell_value(name, error ? -(int)error : value, row[layers < 4 ? layers : 3]);
    }
}

template <class Kernel>
static void tell_largest(const char *name, Kernel kernel, dim3 grid, unsigned threads,
                         dim3 cluster, cudaError_t error, int want) {
    const Shape shape(grid, threads, cluster);
    int value = -1;
    char why[120];
    cudaError_t got = cudaOccupancyMaxPotentialClusterSize(&value, kernel, &shape.config);
    cudaGetLastError();
    snprintf(why, sizeof why, "%s, %d", cudaGetErrorName(got), value);
    tell(name, got == error && (got != cudaSuccess || value == want), why);
}

static void largest(int) {
    const cudaError_t bad = cudaErrorInvalidClusterSize;
    tell_largest("the largest", chain, 64, 1024, 8, cudaSuccess, 8);
    tell_largest("the largest, a grid that is not a multiple", chain, 63, 1024, 8, bad, 0);
    CUDA(cudaFuncSetAttribute(chain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    tell_largest("the largest, not portable", chain, 64, 1024, 8, cudaSuccess, 16);
    CUDA(cudaFuncSetAttribute(chain, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
    tell_largest("the kernel's", rotate, dim3(64, 2), 64, dim3(4, 2), cudaSuccess, 8);
    tell_largest("the kernel's, 1024 threads", rotate, dim3(64, 2), 1024, dim3(4, 2), cudaSuccess, 8);
    tell_largest("the kernel's, no attribute", rotate, dim3(64, 2), 64, 0, cudaSuccess, 8);
    tell_largest("the kernel's, another cluster", rotate, dim3(64, 2), 64, 8, bad, 8);
    tell_largest("the kernel's, a grid that is not a multiple", rotate, 64, 64, dim3(4, 2), bad, 8);
    tell_largest("the kernel's, such a grid, no attribute", rotate, 64, 64, 0, bad, 8);
}

static void fits(int) {
    check_fit(1024, 0, 2, "two blocks a multiprocessor");
    check_fit(1024, 120 << 10, 1, "one block a multiprocessor");
    check_fit(256, 50 << 10, 4, "four blocks a multiprocessor");
}

static const Case cases[] = {
    {"special_registers", special_registers}, {"distributed", distributed}, {"waiting", waiting},
    {"mbarriers", mbarriers}, {"bulk_copies", bulk_copies}, {"copies_to_others", copies_to_others},
    {"programmatic", programmatic<false>}, {"in_a_graph", programmatic<true>}, {"errors", errors},
    {"queries", queries}, {"fits", fits}, {"largest", largest},
};
CASES(cases)
