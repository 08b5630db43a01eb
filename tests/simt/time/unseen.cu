// Forty programs whose times were predicted before they were measured, drawn from a seed that had
// not been looked at: see blind.cuh. Ten are like those of mixed.cu. In the others blocks take work from a queue,
// elect a last block, wait for all blocks or look back, or add to few words; twelve call CUB or Thrust.
//
//   nvcc -O3 -arch=sm_90 -lineinfo -cudart shared --no-compress unseen.cu -o unseen && ./unseen >
//   unseen.csv
#ifndef SEED
#define SEED    1373596964
#define KERNELS 10
#endif
#define main mixed_main
#include "mixed.cu"
#undef main
#include <cub/cub.cuh>
#include <thrust/extrema.h>

enum { QUEUES = 4, LASTS = 3, BARRIERS = 3, LOOKS = 3, ADDS = 5, CALLS = 12 };
enum { PROGRAMS = KERNELS + QUEUES + LASTS + BARRIERS + LOOKS + ADDS + CALLS };

constexpr unsigned threads_of(unsigned k) { return 64u << drawn(k, 1, 5); }
// A counter that is 0 at the start of each program, and other words.
#define WORDS_AT(type) ((type *)(run.out + 256 * MI))

static void clear_counter() { CUDA(cudaMemsetAsync(WORDS_AT(unsigned), 0, 4, run.stream)); }

// --- queues ---

template <unsigned K> struct Queue {
    enum {
        PER_WARP = drawn(K, 0, 2),
        THREADS = threads_of(K),
        BLOCKS = 132 * (1 + drawn(K, 2, 6)),
        ITEMS = 500 + drawn(K, 3, 12000),
        ROUNDS = 1 << drawn(K, 4, 5),
        STEPS = 1 << drawn(K, 5, 6),
        KIND = drawn(K, 6, 6),
        UNEVEN = drawn(K, 7, 3), // items: equal, of several lengths, or few very long ones
    };
};

template <unsigned K> static __device__ unsigned work(const unsigned *in, unsigned item, unsigned t) {
    typedef Queue<K> Q;
    unsigned rounds = Q::ROUNDS, x = t, width = Q::PER_WARP ? 32 : Q::THREADS;
    if (Q::UNEVEN == 1) rounds = 1 + hash(item) % (2 * Q::ROUNDS);
    if (Q::UNEVEN == 2 && hash(item) % 64 == 0) rounds *= 16;
#pragma unroll 1
    for (unsigned k = 0; k < rounds; k++) {
        x += in[(item * Q::ROUNDS + k) * width % (FOOTPRINT / 4 - width) + t];
#pragma unroll 4
        for (unsigned s = 0; s < Q::STEPS; s++) x = step<Q::KIND>(x, k + s);
    }
    return x;
}

template <unsigned K>
__global__ void __launch_bounds__(1024)
    queue(const unsigned *in, unsigned *out, unsigned *counter) {
    typedef Queue<K> Q;
    __shared__ unsigned next;
    unsigned x = 0, lane = threadIdx.x % 32;
    for (;;) {
        unsigned item;
        if (Q::PER_WARP) {
            if (lane == 0) item = atomicAdd(counter, 1u);
            item = __shfl_sync(0xffffffffu, item, 0);
        } else {
            __syncthreads();
            if (threadIdx.x == 0) next = atomicAdd(counter, 1u);
            __syncthreads();
            item = next;
        }
        if (item >= Q::ITEMS) break;
        x += work<K>(in, item, Q::PER_WARP ? lane : threadIdx.x);
    }
    keep(out, x, x == 0x12345678u);
}

// --- last blocks ---

template <unsigned K> struct Last {
    enum { THREADS = threads_of(K), LOADS = 1 << drawn(K, 2, 6), BLOCKS = 1 + (1 << drawn(K, 3, 13)) };
};

static __device__ unsigned block_sum(unsigned x, unsigned *s) {
    x = __reduce_add_sync(0xffffffffu, x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++) x += s[w];
    return x;
}

template <unsigned K>
__global__ void __launch_bounds__(1024)
    last_of(const unsigned *in, unsigned *out, unsigned *counter) {
    typedef Last<K> L;
    __shared__ unsigned s[32];
    __shared__ bool last;
    unsigned x = 0, all = gridDim.x * blockDim.x;
#pragma unroll
    for (unsigned k = 0; k < L::LOADS; k++) x += in[(index() + k * all) % (FOOTPRINT / 4)];
    x = block_sum(x, s);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = x;
        __threadfence();
        last = atomicAdd(counter, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    x = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
        x += ((volatile unsigned *)out)[i];
    x = block_sum(x, s);
    if (threadIdx.x == 0) out[gridDim.x] = x;
}

// --- blocks that wait for all others, or for those before them ---

template <unsigned K> struct Barrier {
    enum {
        THREADS = threads_of(K),
        BLOCKS = THREADS > 512 ? 132 : 132 << drawn(K, 2, 2), // all are resident
        ROUNDS = 1 + drawn(K, 3, 8),
        LOADS = 1 << drawn(K, 4, 6),
    };
};

template <unsigned K>
__global__ void __launch_bounds__(1024)
    all_wait(const unsigned *in, unsigned *out, unsigned *counter) {
    typedef Barrier<K> B;
    unsigned x = 0, all = gridDim.x * blockDim.x;
    for (unsigned round = 0; round < B::ROUNDS; round++) {
#pragma unroll 4
        for (unsigned k = 0; k < B::LOADS; k++)
            x += in[(index() + (round * B::LOADS + k) * all) % (FOOTPRINT / 4)];
        out[index()] = x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(counter, 1u);
            while (*(volatile unsigned *)counter < (round + 1) * gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
        x += ((volatile unsigned *)out)[(index() + 1237) % all];
    }
    out[index()] = x;
}

template <unsigned K> struct Look {
    enum {
        CHAIN = drawn(K, 0, 2), // each block waits for the sum of all before it
        THREADS = threads_of(K),
        BLOCKS = 1 + (1 << drawn(K, 2, 14)),
        LOADS = 1 << drawn(K, 3, 5),
    };
};

__global__ void clear_words(Wide *words, unsigned n) {
    if (index() < n) words[index()] = 0;
}

// The upper half of a block's word: 1, its own sum is in the lower half; 2, that of all up to it.
static __device__ unsigned sum_before(volatile Wide *words, unsigned block) {
    unsigned sum = 0, lane = threadIdx.x;
    for (int first = (int)block - 1; first >= 0; first -= 32) {
        int at = first - (int)lane;
        Wide word = (Wide)2 << 32;
        do {
            if (at >= 0) word = words[at];
        } while (__any_sync(0xffffffffu, word >> 32 == 0));
        unsigned whole = __ballot_sync(0xffffffffu, word >> 32 == 2);
        unsigned nearest = whole ? __ffs(whole) - 1 : 31;
        sum += __reduce_add_sync(0xffffffffu, lane <= nearest ? (unsigned)word : 0);
        if (whole) break;
    }
    return sum;
}

template <unsigned K>
__global__ void __launch_bounds__(1024) look_back(const unsigned *in, unsigned *out, Wide *words) {
    typedef Look<K> L;
    __shared__ unsigned s[32], before;
    unsigned x = 0, b = blockIdx.x, own[L::LOADS];
#pragma unroll
    for (unsigned k = 0; k < L::LOADS; k++)
        x += own[k] = in[((b * L::LOADS + k) * blockDim.x + threadIdx.x) % (FOOTPRINT / 4)];
    x = block_sum(x, s);
    if (threadIdx.x == 0 && !L::CHAIN && b > 0) *(volatile Wide *)&words[b] = (Wide)1 << 32 | x;
    if (threadIdx.x < 32) {
        unsigned sum = 0;
        if (L::CHAIN && b > 0) {
            Wide word;
            do word = *(volatile Wide *)&words[b - 1];
            while (word >> 32 == 0);
            sum = (unsigned)word;
        } else {
            sum = sum_before(words, b);
        }
        if (threadIdx.x == 0) *(volatile Wide *)&words[b] = (Wide)2 << 32 | (sum + x);
        before = sum;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < L::LOADS; k++)
        out[((b * L::LOADS + k) * blockDim.x + threadIdx.x) % (FOOTPRINT / 4)] = own[k] + before;
}

// --- additions to few words ---

template <unsigned K> struct Adds {
    enum {
        PLACE = drawn(K, 0, 3), // any words, consecutive ones, or one lane of each warp
        THREADS = threads_of(K),
        BLOCKS = 1 + drawn(K, 2, 2000),
        SUMS = 8 << drawn(K, 3, 12), // words
        TIMES = 1 << drawn(K, 4, 5),
        FLOAT = drawn(K, 5, 2),
        RETURNS = drawn(K, 6, 2),
    };
};

template <unsigned K> __global__ void __launch_bounds__(1024) adds(unsigned *sums, unsigned *out) {
    typedef Adds<K> A;
    unsigned x = 0;
    for (unsigned k = 0; k < A::TIMES; k++) {
        unsigned n = index() + k * 7919, at = A::PLACE == 1 ? n % A::SUMS : hash(n) % A::SUMS;
        if (A::PLACE == 2 && threadIdx.x % 32) continue;
        if (A::FLOAT) {
            float was = atomicAdd((float *)sums + at, 1.0f);
            if (A::RETURNS) x += __float_as_uint(was);
        } else {
            unsigned was = atomicAdd(sums + at, 1u);
            if (A::RETURNS) x += was;
        }
    }
    keep(out, x, A::RETURNS && x == 0x12345678u);
}

// --- CUB and Thrust ---

constexpr unsigned size_of(unsigned k) { return (1u << (14 + drawn(k, 0, 11))) + drawn(k, 1, 1000); }
constexpr unsigned row_of(unsigned k) { return 8 + drawn(k, 2, 5000); }

struct Square {
    __device__ double operator()(float x) const { return (double)x * x; }
};
struct Even {
    __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Times {
    unsigned row;
    __host__ __device__ unsigned operator()(unsigned i) const { return i * row; }
};
struct Over {
    __host__ __device__ unsigned operator()(unsigned i) const { return i / 8; }
};

// The launches of thrust::minmax_element or min_element on n floats, whose host waits for them.
static void extrema(void *temp, size_t bytes, unsigned n, bool both) {
    namespace of = thrust::cuda_cub::__extrema;
    typedef thrust::counting_iterator<int> Count;
    typedef thrust::less<float> Less;
    auto all = thrust::make_zip_iterator(thrust::make_tuple(IN(float), Count(0)));
    if (both) {
        typedef of::arg_minmax_f<float, int, Less> Op;
        auto in = thrust::make_transform_iterator(all, typename Op::duplicate_tuple());
        CUDA(of::doit_step<Op::two_pairs_type>(temp, bytes, in, (int)n, Op(Less()),
                                               OUT(Op::two_pairs_type), run.stream));
    } else {
        typedef of::arg_min_f<float, int, Less> Op;
        typedef thrust::tuple<float, int> Pair;
        CUDA(of::doit_step<Pair>(temp, bytes, all, (int)n, Op(Less()), OUT(Pair), run.stream));
    }
}

template <unsigned K, unsigned CALL> static void call() {
    const unsigned n = size_of(K), rows = n / row_of(K) + 1;
    char *temp = run.out + 128 * MI;
    size_t bytes = 96 * MI;
    cudaStream_t s = run.stream;
    auto begins = thrust::make_transform_iterator(thrust::counting_iterator<unsigned>(0),
                                                  Times{row_of(K)});
    auto keys = thrust::make_transform_iterator(thrust::counting_iterator<unsigned>(0), Over());
    int *count = OUT(int) + 24 * MI;
    if (CALL == 0) CUDA(cub::DeviceReduce::Sum(temp, bytes, IN(float), OUT(float), n, s));
    if (CALL == 1)
        CUDA(cub::DeviceReduce::ArgMin(temp, bytes, IN(int), OUT(int), (long long *)count, n, s));
    if (CALL == 2 || CALL == 3) extrema(temp, bytes, n, CALL == 2);
    if (CALL == 4)
        CUDA(cub::DeviceReduce::TransformReduce(temp, bytes, IN(float), OUT(double), n,
                                                cuda::std::plus<>(), Square(), 0.0, s));
    if (CALL == 5) CUDA(cub::DeviceScan::InclusiveSum(temp, bytes, IN(int), OUT(int), n, s));
    if (CALL == 6) CUDA(cub::DeviceScan::ExclusiveSum(temp, bytes, IN(float), OUT(float), n, s));
    if (CALL == 7)
        CUDA(cub::DeviceHistogram::HistogramEven(temp, bytes, IN(Byte), count, 257, 0, 256, (int)n, s));
    if (CALL == 8)
        CUDA(cub::DeviceHistogram::HistogramEven(temp, bytes, IN(int), count, 65, 0, 1 << 30, (int)n, s));
    if (CALL == 9)
        CUDA(cub::DeviceSegmentedReduce::Sum(temp, bytes, IN(float), OUT(float), (int)rows, begins,
                                             begins + 1, s));
    if (CALL == 10)
        CUDA(cub::DeviceSelect::If(temp, bytes, IN(int), OUT(int), count, n, Even(), s));
    if (CALL == 11)
        CUDA(cub::DeviceReduce::ReduceByKey(temp, bytes, keys, OUT(unsigned) + 25 * MI, IN(int),
                                            OUT(int), count, cuda::std::plus<>(), n, s));
}

// --- all programs ---

static Case drawn_cases[PROGRAMS];
static char labels[PROGRAMS][16];
static unsigned added;

static void program(const char *kind, unsigned number, size_t bytes, void (*launch)()) {
    snprintf(labels[added], sizeof labels[added], "%s_%u", kind, number);
    drawn_cases[added] = {labels[added], std::min(std::max(bytes, (size_t)4096), (size_t)FOOTPRINT), launch};
    added++;
}

template <unsigned N> static void add_queues() {
    constexpr unsigned K = 64 + N;
    typedef Queue<K> Q;
    program("queue", N, (size_t)Q::ITEMS * Q::ROUNDS * (Q::PER_WARP ? 128 : 4 * Q::THREADS), [] {
        clear_counter();
        queue<K> GO(Q::BLOCKS, Q::THREADS)(IN(unsigned), OUT(unsigned), WORDS_AT(unsigned));
    });
    if constexpr (N + 1 < QUEUES) add_queues<N + 1>();
}
template <unsigned N> static void add_lasts() {
    constexpr unsigned K = 80 + N;
    typedef Last<K> L;
    program("last", N, (size_t)4 * L::LOADS * L::BLOCKS * L::THREADS, [] {
        clear_counter();
        last_of<K> GO(L::BLOCKS, L::THREADS)(IN(unsigned), OUT(unsigned), WORDS_AT(unsigned));
    });
    if constexpr (N + 1 < LASTS) add_lasts<N + 1>();
}
template <unsigned N> static void add_barriers() {
    constexpr unsigned K = 96 + N;
    typedef Barrier<K> B;
    program("barrier", N, (size_t)4 * B::LOADS * B::ROUNDS * B::BLOCKS * B::THREADS, [] {
        clear_counter();
        all_wait<K> GO(B::BLOCKS, B::THREADS)(IN(unsigned), OUT(unsigned), WORDS_AT(unsigned));
    });
    if constexpr (N + 1 < BARRIERS) add_barriers<N + 1>();
}
template <unsigned N> static void add_looks() {
    constexpr unsigned K = 112 + N;
    typedef Look<K> L;
    program("look", N, (size_t)4 * L::LOADS * L::BLOCKS * L::THREADS, [] {
        clear_words GO(L::BLOCKS / 256 + 1, 256)(WORDS_AT(Wide), L::BLOCKS);
        look_back<K> GO(L::BLOCKS, L::THREADS)(IN(unsigned), OUT(unsigned), WORDS_AT(Wide));
    });
    if constexpr (N + 1 < LOOKS) add_looks<N + 1>();
}
template <unsigned N> static void add_adds() {
    constexpr unsigned K = 128 + N;
    typedef Adds<K> A;
    program("adds", N, 0, [] {
        adds<K> GO(A::BLOCKS, A::THREADS)(WORDS_AT(unsigned), OUT(unsigned));
    });
    if constexpr (N + 1 < ADDS) add_adds<N + 1>();
}
template <unsigned N> static void add_calls() {
    constexpr unsigned K = 144 + N;
    program("call", N, (size_t)size_of(K) * (N == 7 ? 1 : 4) + 64 * 1024, call<K, N>);
    if constexpr (N + 1 < CALLS) add_calls<N + 1>();
}

int main() {
    add<0>();
    for (unsigned k = 0; k < KERNELS; k++) program("mixed", k, cases[k].bytes, cases[k].launch);
    add_queues<0>();
    add_lasts<0>();
    add_barriers<0>();
    add_looks<0>();
    add_adds<0>();
    add_calls<0>();
    run_cases(drawn_cases, added);
    return 0;
}
