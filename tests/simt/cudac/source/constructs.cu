// What a learner may write in a kernel and what cudac compiles: each construct once. nvcc compiles it, too.
#include <assert.h>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <vector>
namespace cg = cooperative_groups;
#define TILE 16
#define MAX2(a, b) ((a) > (b) ? (a) : (b))
#define CHECK(x)                                                                                             \
    do {                                                                                                     \
        if ((x) != cudaSuccess)                                                                              \
            exit(1);                                                                                         \
    } while (0)
typedef unsigned int u32;
using real = float;
enum Op { SUM = 1, MAXIMUM, COUNT = 1 << 4 };
constexpr int WARPS = 8, LANES = 32;
const unsigned HALF_WARP = LANES / 2;
static const float SCALE = 0.5f;
__constant__ float weights[4] = {1, 2.5f, -3, 4e1};
__device__ int counter;
__device__ unsigned long long total = 5;
__constant__ int table[2][3] = {{1, 2, 3}, {4}};
struct Stats {
    float sum;
    int n;
    float low[2];
};
template <class T> struct Pair { T a, b; };
template <class T> __device__ T add(T a, T b) { return a + b; }
template <class T> __device__ T larger(T a, T b) { return a > b ? a : b; }
__device__ void swap_them(float &a, float &b) {
    float t = a;
    a = b;
    b = t;
}
__device__ Stats merge(const Stats &a, const Stats &b) {
    Stats r;
    r.sum = a.sum + b.sum;
    r.n = a.n + b.n;
    r.low[0] = fminf(a.low[0], b.low[0]);
    r.low[1] = 0;
    return r;
}
__device__ __forceinline__ float scale(float x, float by = SCALE, int times = 1) {
    for (int i = 0; i < times; ++i)
        x *= by;
    return x;
}
__host__ __device__ constexpr unsigned square(unsigned x) { return x * x; }
__device__ float4 operator+(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
template <int N, typename T = float> __device__ T sum_of(const T (&a)[N]) {
    T s = 0;
    for (int i = 0; i < N; i++)
        s += a[i];
    return s;
}
__global__ void many(float *a, const float *__restrict__ b, int n, double *d, unsigned char *bytes,
                     long long *ll, half *h, Stats *stats, float4 *v4, int op) {
    __shared__ float tile[TILE][TILE + 1];
    __shared__ Stats shared_stats;
    extern __shared__ double dyn[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = threadIdx.y;
    if (i >= n)
        return;
    tile[j][threadIdx.x] = b[i];
    __syncthreads();
    float x = tile[threadIdx.x][j], y = 0, z[3] = {1, 2};
    int k = 0, *p = &k;
    do {
        y += x;
        k++;
        if (k == 3)
            continue;
        if (k > 5)
            break;
    } while (k < 10);
    while (k-- > 0)
        y -= 1.0;
    switch (op) {
    case SUM:
        y += 1;
        break;
    case MAXIMUM: {
        y = fmaxf(x, y);
        break;
    }
    case COUNT:
    default:
        y = -y;
    }
    *p += 3, p[0] <<= 2;
    k ^= 5;
    k %= 7;
    k = k > 3 ? k : -k;
    bytes[i] += 3;
    bytes[i]++;
    ++bytes[i];
    bytes[i] = (unsigned char)(bytes[i] | 0x80);
    ll[i] = (long long)i << 33 | (ll[i] >> 2);
    ll[i] -= -1ll;
    d[i] =
        sqrt(d[i]) + (double)x * 1e-3 + fabs(y) + dyn[0] + fmax(d[i], 1.0) + max(i, k) + min(3u, 4u) + abs(k);
    h[i] = __float2half(__half2float(h[i]) * 2);
    swap_them(x, y);
    swap_them(z[0], a[i]);
    Stats s = {x, 1, {y, z[2]}}, t = stats[i];
    s = merge(s, t);
    stats[i] = s;
    shared_stats = s;
    stats[i].low[1] += 2;
    (&stats[i])->n = (int)sizeof(Stats) + sizeof x;
    Pair<float> pr = {1, 2};
    Pair<int> pi;
    pi.a = pi.b = add(3, 4);
    pr.b = add<float>(1, 2.5) + larger(pr.a, 2.0f);
    float4 v = v4[i] + v4[i + 1];
    v.x += scale(v.y) + scale(v.z, 2) + scale(v.w, 3, 2);
    v4[i] = v;
    float acc[4];
    for (int q = 0; q < 4; q++)
        acc[q] = b[i + q] * weights[q] + table[q % 2][q % 3];
    a[i] = sum_of<4>(acc) + square(4) + HALF_WARP + pi.a + pr.b;
    bool flag = i & 1, other = !flag && (x < y || y != z[1]);
    if (flag != other)
        atomicAdd(&counter, 1);
    else
        atomicAdd(&total, 1ull);
    unsigned mask = __ballot_sync(0xffffffff, flag);
    int lane = threadIdx.x & 31;
    for (int off = 16; off; off >>= 1)
        x += __shfl_down_sync(~0u, x, off), y = __shfl_xor_sync(mask, y, off, 16);
    if (__any_sync(mask, x > 1) && lane == 0)
        a[i] = 5;
    assert(i < n);
    auto w = x + 1;
    auto &r = a[i];
    const auto c2 = w * 2;
    r = c2;
    u32 bits = __float_as_uint(x);
    real back = __uint_as_float(bits ^ 0x80000000u);
    a[i] = back + FLT_MAX + INT_MAX + INFINITY + -INFINITY;
    if (isnan(a[i]))
        a[i] = 0;
    cg::thread_block block = cg::this_thread_block();
    block.sync();
    {
        int k = 2;
        a[i] += k;
    }
    for (;;) {
        if (k++ > 3)
            break;
    }
    static_assert(WARPS * LANES == 256, "threads");
    float(*rows)[4] = (float(*)[4])a;
    rows[1][2] = 3;
    a[i] = reinterpret_cast<const int *>(b)[i] + static_cast<float>(k) + float(k) + unsigned(i);
    const float *end = b + n;
    long diff = end - b;
    a[i] += diff;
    if (end > b && b)
        a[i] = *end;
    volatile float *vs = a;
    vs[i] += vs[i + 1];
    char ch = 'a' + 1;
    ch += '\n';
    signed char sc = -1;
    short sh = sc * ch;
    unsigned short us = sh;
    a[i] = sh + us;
}
template <int B, bool F> __global__ void __launch_bounds__(B) tk(float *o) {
    __shared__ float s[B];
    if constexpr (F)
        s[threadIdx.x] = 1;
    else
        s[threadIdx.x] = 2;
    __syncthreads();
    o[threadIdx.x] = s[B - 1 - threadIdx.x];
}
__global__ void gridsync(int *a) {
    cg::grid_group g = cg::this_grid();
    a[0] = 1;
    g.sync();
    cg::this_grid().sync();
}
int main() {
    std::vector<int> v;
    for (auto x : v)
        printf("%d", x);
    tk<128, true><<<1, 128>>>(0);
    tk<64, (3 < 2)><<<1, 64>>>(nullptr);
    auto f = [&](int a) { return a; };
    return 0;
}
