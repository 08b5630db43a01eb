// More kernels whose times were predicted before they were measured: see blind.cuh. Each is drawn at
// random from a seed: twenty from this one, and, after the faults that they showed had been fixed, forty
// with -DSEED=894281944 -DKERNELS=40.
//
//   nvcc -O3 -arch=sm_90 -lineinfo -cudart shared --no-compress mixed.cu -o mixed && ./mixed >
//   mixed.csv
#include "blind.cuh"

#ifndef SEED
#define SEED    20261126
#define KERNELS 20
#endif

enum { FOOTPRINT = 64 * MI };

// A number below `count`, the same for each kernel k and choice.
constexpr unsigned drawn(unsigned k, unsigned choice, unsigned count) {
    unsigned x = SEED + k * 64 + choice;
    for (int round = 0; round < 3; round++) x = (x ^ x >> 15) * 0x2c1b3c6du + 0x297a2d39u;
    return (x ^ x >> 16) % count;
}

// Loads of 4, 8 or 16 bytes: consecutive, strided, random, or the same for a warp.
template <unsigned K> struct Mix {
    enum {
        LOADS = 1 << drawn(K, 0, 4),
        WORDS = 1 << drawn(K, 1, 3),
        PLACE = drawn(K, 2, 4),
        APART = PLACE == 1 ? 2 + drawn(K, 3, 9) : 1,
        STEPS = 1 << drawn(K, 4, 6),
        KIND = drawn(K, 5, 6),
        TALK = drawn(K, 6, 6),
        TALKS = 1 + drawn(K, 7, 8),
        LEAVE = drawn(K, 8, 5),
        ROUNDS = 1 + drawn(K, 9, 6),
        THREADS = drawn(K, 10, 2) ? 64 << drawn(K, 11, 5) : 192 << drawn(K, 11, 3),
        BLOCKS = (1 << drawn(K, 12, 14)) + drawn(K, 13, 900),
        ROOM = drawn(K, 14, 3) ? 0 : 16384 << drawn(K, 15, 3),
        TABLE = 4096 << 2 * drawn(K, 16, 7), // bytes in which a load goes anywhere
        BINS = 1 << (4 + 2 * drawn(K, 17, 6)),
        WAYS = 1 << drawn(K, 18, 6),
    };
    // Bytes that a launch reads: the next launch reads other ones, which are not in L2.
    static size_t bytes() {
        size_t all = (size_t)LOADS * ROUNDS * BLOCKS * THREADS * APART;
        size_t reads = PLACE == 2 ? TABLE : PLACE == 3 ? all * WORDS / 8 : all * WORDS * 4;
        return std::min(reads, (size_t)FOOTPRINT);
    }
};

template <int WORDS> static __device__ unsigned load(const unsigned *at) {
    if (WORDS == 1) return *at;
    if (WORDS == 2) {
        uint2 v = *(const uint2 *)at;
        return v.x ^ v.y;
    }
    uint4 v = *(const uint4 *)at;
    return v.x ^ v.y ^ v.z ^ v.w;
}

template <int KIND> static __device__ unsigned step(unsigned x, unsigned k) {
    float f = __uint_as_float((x & 0x3fffff) | 0x3f800000);
    if (KIND == 0) return __float_as_uint(f * 1.25f + 0.5f);
    if (KIND == 1) return hash(x);
    if (KIND == 2) return __float_as_uint(exp2f(f));
    if (KIND == 3) return x / (k + 3) + x;
    if (KIND == 4) return (unsigned)__double2hiint(__hiloint2double(x & 0x3fffff, k) * 1.25 + 0.5);
    return x * 0x9e3779b1u + __popc(x ^ k);
}

template <unsigned K>
__global__ void __launch_bounds__(1024) mixed(const unsigned *in, unsigned *out) {
    typedef Mix<K> M;
    extern __shared__ unsigned room[];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, i = index(), all = gridDim.x * blockDim.x, x = i;
    s[t] = t;
    __syncthreads();
#pragma unroll 1
    for (unsigned round = 0; round < M::ROUNDS; round++) {
        unsigned v[M::LOADS];
#pragma unroll
        for (unsigned k = 0; k < M::LOADS; k++) {
            unsigned n = (round * M::LOADS + k) * all + i, at = n * M::APART;
            if (M::PLACE == 2) at = hash(n) % (M::TABLE / 4 / M::WORDS);
            if (M::PLACE == 3) at = n / 32;
            v[k] = load<M::WORDS>(in + at * M::WORDS % (FOOTPRINT / 4));
        }
#pragma unroll
        for (unsigned k = 0; k < M::LOADS; k++) x += v[k];
#pragma unroll 4
        for (unsigned k = 0; k < M::STEPS; k++) x = step<M::KIND>(x, i + k);
        if (M::TALK == 1)
            for (unsigned k = 0; k < M::TALKS; k++) x += __shfl_xor_sync(0xffffffffu, x, k + 1);
        for (unsigned k = 0; M::TALK == 2 && k < M::TALKS; k++) {
            s[t] = x;
            __syncthreads();
            x += s[(t + 37) % M::THREADS];
            __syncthreads();
        }
        for (unsigned k = 0; M::TALK == 3 && k < M::TALKS; k++)
            x += s[(t * M::WAYS + x % 2) % 1024];
        if (M::TALK == 4) {
            for (unsigned k = 0; k < M::TALKS; k++) atomicAdd(&s[(x >> k) % 1024], 1u);
            __syncthreads();
        }
    }
    if (M::LEAVE == 0) keep(out, x, x == 0x12345678u);
    if (M::LEAVE == 1) out[i] = x;
    if (M::LEAVE == 2) ((uint4 *)out)[i % (FOOTPRINT / 16)] = make_uint4(x, x, x, x);
    if (M::LEAVE == 3) {
        x = __reduce_add_sync(0xffffffffu, x);
        if (t % 32 == 0) s[t / 32] = x;
        __syncthreads();
        if (t == 0) out[blockIdx.x] = s[0] + s[M::THREADS / 32 - 1];
    }
    if (M::LEAVE == 4) atomicAdd(&out[x % M::BINS], 1u);
    if (M::ROOM && x == 0x12345678u) out[0] = room[t];
}

static Case cases[KERNELS];
static char names[KERNELS][16];

template <unsigned K> static void add() {
    typedef Mix<K> M;
    CUDA(cudaFuncSetAttribute(mixed<K>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    snprintf(names[K], sizeof names[K], "mixed_%u", K);
    cases[K] = {names[K], Mix<K>::bytes(), [] {
                    mixed<K><<<M::BLOCKS, M::THREADS, M::ROOM, run.stream>>>(IN(unsigned),
                                                                             OUT(unsigned));
                }};
    if constexpr (K + 1 < KERNELS) add<K + 1>();
}

int main() {
    add<0>();
    run_cases(cases, KERNELS);
    return 0;
}
