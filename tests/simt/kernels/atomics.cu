// Atomic operations on shared memory, one kernel each. Hardware has instructions for some of them; the
// others are loops of a load and a compare-and-swap. Each warp has its own words, so that no other warp
// interferes: each count depends only on the lanes that share a word and on the values that they
// store.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cases.h"

typedef unsigned long long u64;
enum { WARP = 32, PLACES = 16 * WARP, MOST_WARPS = 8 };

// An operation: its element type, the initial value in memory, and the operation of a lane, on the host
// too. `v` is the lane's number, or the same for all.
#define OPERATION(name, type, before, device, host)                                                \
    struct name {                                                                                  \
        typedef type T;                                                                            \
        static __host__ __device__ T start() { return before; }                                    \
        static __device__ void run(T *at, int v) { device; }                                       \
        static void run_on_host(T &x, int v) { host; }                                             \
    };

OPERATION(AddInt, int, 0, atomicAdd(at, v), x += v)
OPERATION(MaxInt, int, 3, atomicMax(at, v * 5 % 32), x = x > v * 5 % 32 ? x : v * 5 % 32)
OPERATION(AddFloat, float, 0, atomicAdd(at, (float)v), x += (float)v)
OPERATION(AddFloats, float, 0, atomicAdd(at, v % 4 ? 0.0f : 1.0f), x += v % 4 ? 0.0f : 1.0f)
OPERATION(AddDouble, double, 0, atomicAdd(at, (double)v), x += (double)v)
OPERATION(AddLong, u64, 0, atomicAdd(at, (u64)v), x += (u64)v)
OPERATION(MinLong, u64, 40, atomicMin(at, (u64)(v * 5 % 32)),
          x = x < (u64)(v * 5 % 32) ? x : (u64)(v * 5 % 32))
OPERATION(AndLong, u64, ~0ull, atomicAnd(at, ~(1ull << v)), x &= ~(1ull << v))
OPERATION(AddHalf, __half, __float2half(0), atomicAdd(at, __int2half_rn(v)),
          x = __float2half(__half2float(x) + (float)v))
OPERATION(AddHalves, __half2, __half2(__float2half(0), __float2half(1)),
          atomicAdd(at, __half2(__int2half_rn(v), __float2half(1))),
          x = __half2(__float2half(__low2float(x) + (float)v), __float2half(__high2float(x) + 1)))
OPERATION(AddBrains, __nv_bfloat162, __nv_bfloat162(__float2bfloat16(0), __float2bfloat16(1)),
          atomicAdd(at, __nv_bfloat162(__float2bfloat16((float)(v & 3)), __float2bfloat16(1))),
          x = __nv_bfloat162(__float2bfloat16(__low2float(x) + (float)(v & 3)),
                             __float2bfloat16(__high2float(x) + 1)))

// Lanes share a word with those whose number is the same modulo `words`; these lie `step` apart.
// `same`: every lane has this number, unless it is negative; `odd`: every other lane is idle.
template <class Op>
__global__ void shared_atomic(typename Op::T *out, int words, int step, int same, bool odd) {
    __shared__ typename Op::T place_of[MOST_WARPS][PLACES];
    const int t = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    typename Op::T *place = place_of[warp];
    out += warp * PLACES;
    for (int k = t; k < PLACES; k += WARP) place[k] = Op::start();
    __syncwarp();
    if (!odd || t % 2) Op::run(&place[t % words * step], same < 0 ? t : same);
    __syncwarp();
    for (int k = t; k < PLACES; k += WARP) out[k] = place[k];
}

template <class Op> static void try_all() {
    typedef typename Op::T T;
    const struct {
        int words, step, same, odd, warps;
    } shapes[] = {{1, 1, -1, 0, 1},  {32, 1, -1, 0, 1}, {7, 1, -1, 0, 1},
                  {4, 16, -1, 1, 1}, {8, 8, 3, 0, 1},   {5, 3, 1, 1, 1},
                  {16, 2, -1, 0, 1}, {32, 1, -1, 0, 8}, {7, 1, -1, 0, 8}};
    for (const auto &s : shapes) {
        Array<T> out(PLACES * s.warps);
        RUN(shared_atomic<Op><<<1, WARP * s.warps>>>(out, s.words, s.step, s.same, s.odd != 0));
        std::vector<T> want(PLACES * s.warps, Op::start());
        for (int i = 0; i < WARP * s.warps; i++) {
            const int t = i % WARP;
            T *place = &want[i / WARP * PLACES];
            if (!s.odd || t % 2)
                Op::run_on_host(place[t % s.words * s.step], s.same < 0 ? t : s.same);
        }
        tell(current_case, !memcmp(out.fetch().data(), want.data(), sizeof(T) * want.size()),
             "other words");
    }
}

// All lanes add the same value to one word: nvcc sees that, and lets one lane add for all.
__global__ void count_all(u64 *out, u64 each) {
    __shared__ u64 place[WARP];
    place[threadIdx.x] = 0;
    __syncwarp();
    atomicAdd(&place[0], 1ull);
    atomicAdd(&place[each], each * gridDim.x + blockIdx.x);
    if (threadIdx.x % 3) atomicAdd(&place[8], 2ull);
    __syncwarp();
    out[threadIdx.x] = place[threadIdx.x];
}

static void uniform(int) {
    Array<u64> out(WARP);
    std::vector<int> want(WARP);
    RUN(count_all<<<1, WARP>>>(out, 5));
    want[0] = 32, want[5] = 160, want[8] = 42;
    compare(out, want);
}

static void integers(int) { try_all<AddInt>(), try_all<MaxInt>(); }
static void floats(int) { try_all<AddFloat>(), try_all<AddFloats>(), try_all<AddDouble>(); }
static void longs(int) {
    try_all<AddLong>(), try_all<MinLong>(), try_all<AndLong>();
}
static void halves(int) { try_all<AddHalf>(), try_all<AddHalves>(), try_all<AddBrains>(); }

static const Case cases[] = {
    {"integers", integers}, {"floats", floats}, {"longs", longs}, {"halves", halves},
    {"uniform", uniform},
};
CASES(cases)
