// Bulk copies and reductions, and stores that an mbarrier counts, in every form that ptxas generates,
// with words of all sizes. Prints a hash of each kernel's results, which must be the same for PTX and
// machine code.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

enum { WORDS = 64, COUNT = 1024, RESULTS = 512 };

static __device__ uint32_t address(const void *of) {
    return (uint32_t)__cvta_generic_to_shared(of);
}

// From a block's shared memory to global memory.
#define REDUCE(name, operation)                                                                    \
    __global__ void name(const uint32_t *in, uint32_t *out) {                                      \
        __shared__ __align__(128) uint32_t s[WORDS];                                               \
        s[threadIdx.x] = in[threadIdx.x + WORDS * blockIdx.x];                                     \
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                               \
        __syncthreads();                                                                           \
        if (threadIdx.x > 0) return;                                                               \
        asm volatile(operation " [%0], [%1], %2;" ::"l"(out), "r"(address(s)), "r"((int)sizeof s)  \
                     : "memory");                                                                  \
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");      \
    }
#define TO_GLOBAL "cp.reduce.async.bulk.global.shared::cta.bulk_group"
REDUCE(store, "cp.async.bulk.global.shared::cta.bulk_group")
REDUCE(add_u32, TO_GLOBAL ".add.u32")
REDUCE(min_u32, TO_GLOBAL ".min.u32")
REDUCE(max_u32, TO_GLOBAL ".max.u32")
REDUCE(min_s32, TO_GLOBAL ".min.s32")
REDUCE(max_s32, TO_GLOBAL ".max.s32")
REDUCE(inc_u32, TO_GLOBAL ".inc.u32")
REDUCE(dec_u32, TO_GLOBAL ".dec.u32")
REDUCE(and_b32, TO_GLOBAL ".and.b32")
REDUCE(or_b32, TO_GLOBAL ".or.b32")
REDUCE(xor_b32, TO_GLOBAL ".xor.b32")
REDUCE(add_u64, TO_GLOBAL ".add.u64")
REDUCE(min_s64, TO_GLOBAL ".min.s64")
REDUCE(max_u64, TO_GLOBAL ".max.u64")
REDUCE(add_f32, TO_GLOBAL ".add.f32")
REDUCE(add_f64, TO_GLOBAL ".add.f64")
REDUCE(add_f16, TO_GLOBAL ".add.noftz.f16")

struct Words {
    uint32_t v, w;
    uint64_t both;
};

// To the other block of the cluster: `to` and `barrier` are in that block, `from` is in this one.
#define EXCHANGE(name, bytes, statement)                                                           \
    __global__ void __cluster_dims__(2, 1, 1) name(const uint32_t *in, uint32_t *out) {            \
        __shared__ __align__(128) uint32_t s[WORDS * 4], from[WORDS * 4];                          \
        __shared__ __align__(8) uint64_t arrived;                                                  \
        const uint32_t t = threadIdx.x, expected = (bytes)*WORDS;                                  \
        uint32_t to, barrier, other, done = 0;                                                     \
        for (uint32_t k = t; k < WORDS * 4; k += WORDS) s[k] = in[k], from[k] = in[k + 9];         \
        if (t == 0) {                                                                              \
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&arrived)));            \
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");                     \
            asm volatile(                                                                          \
                "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(&arrived)),      \
                "r"(expected)                                                                      \
                : "memory");                                                                       \
        }                                                                                          \
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                               \
        asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");                \
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(other));                                       \
        other ^= 1;                                                                                \
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address(s)), "r"(other));      \
        asm("mapa.shared::cluster.u32 %0, %1, %2;"                                                 \
            : "=r"(barrier)                                                                        \
            : "r"(address(&arrived)), "r"(other));                                                 \
        Words words = {in[t + 8] * 7, in[t + 9] * 5, 0};                                           \
        words.both = (uint64_t)words.w << 32 | words.v;                                            \
        statement;                                                                                 \
        while (!done)                                                                              \
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0;"         \
                         " selp.u32 %0, 1, 0, p; }"                                                \
                         : "=r"(done)                                                              \
                         : "r"(address(&arrived))                                                  \
                         : "memory");                                                              \
        __syncthreads();                                                                           \
        for (uint32_t k = t; k < WORDS * 4; k += WORDS)                                            \
            atomicAdd(&out[k], s[k] * (1 + 2 * blockIdx.x));                                       \
        asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");                \
    }
#define COUNTED "mbarrier::complete_tx::bytes"
#define FAR     ".shared::cluster." COUNTED
#define EACH(name, opcode, bytes, constraint, value)                                               \
    EXCHANGE(name, bytes,                                                                          \
             asm volatile(opcode " [%0], %1, [%2];" ::"r"(to + (bytes)*t), constraint(value),      \
                          "r"(barrier)                                                             \
                          : "memory"))
EACH(store_4, "st.async.weak" FAR ".u32", 4, "r", words.v)
EACH(store_8, "st.async.weak" FAR ".b64", 8, "l", words.both)
EXCHANGE(store_16, 16,
         asm volatile("st.async.weak" FAR
                      ".v4.b32 [%0], {%1, %2, %1, %2}, [%3];" ::"r"(to + 16 * t),
                      "r"(words.v), "r"(words.w), "r"(barrier)
                      : "memory"))
EACH(far_add, "red.async.relaxed.cluster" FAR ".add.u32", 4, "r", words.v)
EACH(far_min, "red.async.relaxed.cluster" FAR ".min.s32", 4, "r", words.v)
EACH(far_xor, "red.async.relaxed.cluster" FAR ".xor.b32", 4, "r", words.v)
EACH(far_add_64, "red.async.relaxed.cluster" FAR ".add.u64", 8, "l", words.both)
#define ONCE(name, opcode, first)                                                                  \
    EXCHANGE(name, 4,                                                                              \
             if (t == 0) asm volatile(opcode " [%0], [%1], %2, [%3];" ::"r"(to), first,            \
                                      "r"(4 * WORDS), "r"(barrier)                                 \
                                      : "memory"))
ONCE(copy_far, "cp.async.bulk.shared::cluster.shared::cta." COUNTED, "r"(address(from)))
ONCE(reduce_far, "cp.reduce.async.bulk.shared::cluster.shared::cta." COUNTED ".add.u32",
     "r"(address(from)))
ONCE(fetch, "cp.async.bulk.shared::cluster.global." COUNTED, "l"(in + 16))
EXCHANGE(fetch_for_all, 4,
         if (t == 0 && blockIdx.x == 1) asm volatile("cp.async.bulk.shared::cluster.global." COUNTED
                                                     ".multicast::cluster"
                                                     " [%0], [%1], %2, [%3], %4;" ::"r"(address(s)),
                                                     "l"(in + 32), "r"(4 * WORDS),
                                                     "r"(address(&arrived)), "h"((short)3)
                                                     : "memory"))

typedef void Kernel(const uint32_t *, uint32_t *);
enum Kind { INTEGERS, SINGLES, HALVES, DOUBLES };

static uint32_t input(Kind kind, uint32_t i) {
    switch (kind) {
    case SINGLES:
        return 0x3f800000u + (i * 2654435761u >> 12 << 4);
    case HALVES:
        return 0x3c003c00u + (i & 63);
    case DOUBLES:
        return i & 1 ? 0x3ff00000u + (i << 9) : i * 2654435761u;
    default:
        return i * 2654435761u >> i % 9;
    }
}

#define ROW(name, blocks, kind)                                                                    \
    { #name, name, blocks, kind }
static const struct {
    const char *name;
    Kernel *kernel;
    int blocks;
    Kind kind;
} kernels[] = {
    ROW(store, 1, INTEGERS),        ROW(add_u32, 4, INTEGERS),    ROW(min_u32, 4, INTEGERS),
    ROW(max_u32, 4, INTEGERS),      ROW(min_s32, 4, INTEGERS),    ROW(max_s32, 4, INTEGERS),
    ROW(inc_u32, 1, INTEGERS),      ROW(dec_u32, 1, INTEGERS),    ROW(and_b32, 2, INTEGERS),
    ROW(or_b32, 2, INTEGERS),       ROW(xor_b32, 3, INTEGERS),    ROW(add_u64, 4, INTEGERS),
    ROW(min_s64, 4, INTEGERS),      ROW(max_u64, 4, INTEGERS),    ROW(add_f32, 1, SINGLES),
    ROW(add_f64, 1, DOUBLES),       ROW(add_f16, 1, HALVES),      ROW(store_4, 2, INTEGERS),
    ROW(store_8, 2, INTEGERS),      ROW(store_16, 2, INTEGERS),   ROW(far_add, 2, INTEGERS),
    ROW(far_min, 2, INTEGERS),      ROW(far_xor, 2, INTEGERS),    ROW(far_add_64, 2, INTEGERS),
    ROW(copy_far, 2, INTEGERS),     ROW(reduce_far, 2, INTEGERS), ROW(fetch, 2, INTEGERS),
    ROW(fetch_for_all, 2, INTEGERS)};

static uint32_t in[COUNT], out[RESULTS];

int main() {
    uint32_t *d_in, *d_out;
    cudaMalloc((void **)&d_in, sizeof in);
    cudaMalloc((void **)&d_out, sizeof out);
    for (const auto &entry : kernels) {
        for (uint32_t i = 0; i < COUNT; i++) in[i] = input(entry.kind, i);
        cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
        cudaMemcpy(d_out, in + RESULTS, sizeof out, cudaMemcpyHostToDevice);
        entry.kernel<<<entry.blocks, WORDS>>>(d_in, d_out);
        if (cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
        uint64_t hash = 0xcbf29ce484222325ull;
        for (uint32_t word : out) hash = (hash ^ word) * 0x100000001b3ull;
        printf("result %s %016llx\n", entry.name, (unsigned long long)hash);
    }
    return 0;
}
