// Every operator, conversion and statement, with data that the compiler does not know. The program prints what
// each lane computes: compiled by cudac, its kernels give the same numbers as compiled by nvcc.
#include <stdio.h>
#include <cuda_fp16.h>
#include <math.h>
#include <limits.h>
#define N 64
__constant__ int table[2][3] = {{1, 2, 3}, {4}};
__constant__ float w4[4] = {1, 2.5f, -3, 4e1};
__device__ unsigned long long total = 5;
__device__ int counter;
__device__ float gf[3] = {1, 2};
struct Stats {
    float sum;
    int n;
    float low[2];
    short s;
    char c;
    double d;
};
template <class T> struct Pair { T a, b; };
template <class T> __device__ T larger(T a, T b) { return a > b ? a : b; }
__device__ void swap_them(float &a, float &b) {
    float t = a;
    a = b;
    b = t;
}
__device__ Stats merge(const Stats &a, Stats b) {
    Stats r = a;
    r.sum += b.sum;
    r.n -= b.n;
    r.low[1] = b.low[0];
    r.s++;
    r.c *= 3;
    r.d /= b.d;
    return r;
}
__device__ float scale(float x, float by = 0.5f, int times = 1) {
    for (int i = 0; i < times; ++i) x *= by;
    return x;
}
template <int M, typename T = float> __device__ T sum_of(const T (&a)[M]) {
    T s = 0;
    for (int i = 0; i < M; i++) s += a[i];
    return s;
}
__device__ int early(int x) {
    if (x < 3) return -1;
    for (int i = 0; i < 10; i++) {
        if (i == x) return i * 100;
    }
    return 7;
}
__device__ int sw(int x) {
    int r = 0;
    switch (x % 7) {
    case 0: r += 1;
    case 1: r += 2; break;
    case 3:
    case 4: {
        r = 10;
        break;
    }
    case 5: return 77;
    default: r = -1;
    case 6: r += 50;
    }
    return r;
}
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__global__ void ints(long long *out, const int *in) {
    int t = threadIdx.x;
    int x = in[t], y = in[t + 1], z = in[t + 2] | 1;
    unsigned u = x, v = y;
    long long l = (long long)x * y;
    unsigned long long ul = l;
    long long *o = out + t * 64;
    int k = 0;
#define OUT(e) o[k++] = (long long)(e)
    OUT(x + y);
    OUT(x - y * z);
    OUT(x / z);
    OUT(x % z);
    OUT(u / (v | 1));
    OUT(u % (v | 1));
    OUT(x >> 3);
    OUT(u >> 3);
    OUT(x << (y & 15));
    OUT(l >> 5);
    OUT(ul >> 5);
    OUT(l / z);
    OUT(ul / 7);
    OUT(x & y | z ^ ~x);
    OUT(x < y);
    OUT(u < v);
    OUT(x == y || z > 0 && !(x > 3));
    OUT(-x);
    OUT(-u);
    OUT(!x);
    OUT((unsigned char)x);
    OUT((signed char)y);
    OUT((short)x);
    OUT((unsigned short)y);
    OUT((bool)x);
    OUT(u + l);
    OUT(x + u);
    OUT((l - (unsigned long)u) / 3);
    unsigned char c = x;
    c += y;
    c++;
    c <<= 1;
    OUT(c);
    signed char sc = x;
    sc = sc * 3;
    OUT(sc);
    short s = x;
    s -= y;
    OUT(s--);
    OUT(s);
    OUT(++s);
    unsigned short us = s;
    OUT(us * us);
    OUT(early(x & 15));
    OUT(sw(x & 255));
    OUT(larger(x, y));
    OUT(larger<long long>(x, l));
    OUT(min(x, y));
    OUT(max(u, v));
    OUT(min(x, 5u));
    OUT(abs(x));
    OUT(__popc(u));
    OUT(__clz(x));
    OUT(__ffs(x));
    OUT(__brev(u));
    OUT(__umulhi(u, v));
    OUT(__mulhi(x, y));
    OUT(__popcll(ul));
    OUT(table[x & 1][(y & 0x7fffffff) % 3]);
    OUT(x ? y : z);
    OUT(x > 0 ? u : y);
    OUT((x, y));
    OUT(sizeof(Stats) + sizeof x + sizeof(int[3]));
    OUT('a' + 1);
    OUT(INT_MIN);
    OUT(1u << 31);
    OUT(__funnelshift_l(u, v, 5));
    OUT(__byte_perm(u, v, 0x5140));
    OUT(x *= 2);
    OUT(y ^= x);
}
__global__ void more(long long *out, const int *in) {
    int t = threadIdx.x;
    long long *o = out + t * 64;
    int k = 0;
    int x = in[t], y = in[t + 1];
    int a[5] = {1, 2, x};
    a[3] += a[2]--;
    a[t & 3] *= 2;
    for (int i = 0; i < 5; i++) OUT(a[i]);
    int m[2][3] = {{1, 2, 3}, {x}}, (*row)[3] = m;
    row[1][2] = 9;
    OUT(row[1][0] + m[1][2] + *(*(m + 1) + 1));
    OUT(row + 1 - m);
    int *p = &m[0][1];
    OUT(*p++);
    OUT(*p);
    OUT(p[1]);
    OUT(p - &m[0][0]);
    *--p = 5;
    OUT(m[0][1]);
    OUT(*(p + 1));
    OUT(p == m[0] + 1);
    OUT(p < &m[1][0]);
    int i = 0, n = 0;
    while (i < 20) {
        if (i++ % 3 == 0) continue;
        if (i > 15) break;
        n += i;
    }
    OUT(n);
    OUT(i);
    do { n -= 3; } while (n > 10);
    OUT(n);
    for (;;) {
        if (n++ > 15) break;
    }
    OUT(n);
    for (int q = 0, r = 10; q < r; q++, r--) n += q * r;
    OUT(n);
    int cnt = 0;
    for (unsigned d = 32; d; d >>= 1) {
        if (d == 4) continue;
        cnt += d;
    }
    OUT(cnt);
    Pair<int> pr = {x, y}, pq = pr;
    pq.a++;
    pr.b = pq.a;
    OUT(pr.a);
    OUT(pr.b);
    Pair<int> *pp = &pr;
    pp->a = 3;
    (*pp).b += 4;
    OUT(pr.a + pr.b);
    Pair<Pair<int>> nest = {{1, 2}, {3}};
    nest.b.b = 8;
    OUT(nest.a.b + nest.b.a + nest.b.b);
    short arr[4] = {};
    arr[1] = x;
    arr[1]++;
    arr[2] -= 70000;
    OUT(arr[0]);
    OUT(arr[1]);
    OUT(arr[2]);
    bool b = x & 2, b2 = y > 3;
    b ^= b2;
    b |= x > 100;
    OUT(b);
    OUT(b + b2);
    OUT(b && b2 || !b);
    const int K = 3;
    enum { A = K * 2, B };
    OUT(A + B);
    constexpr unsigned C = A > 3 ? 7 : 9;
    int cc[C];
    cc[6] = x;
    OUT(cc[6] + sizeof cc);
    int *np = nullptr;
    OUT(np == 0);
    OUT(!np);
    if (np) OUT(1);
    else OUT(2);
    int e = x > 0 ? x > 10 ? 2 : 1 : 0;
    OUT(e);
    int &ref = a[1];
    ref += 5;
    OUT(a[1]);
    auto au = x * 1.5;
    OUT(au * 2);
    {
        int x = 4;
        OUT(x);
    }
    OUT(x);
}
__global__ void floats(double *out, const float *in, float4 *v4, __half *h) {
    int t = threadIdx.x;
    double *o = out + t * 64;
    int k = 0;
    float x = in[t], y = in[t + 1], z[3] = {x};
    double d = x;
#undef OUT
#define OUT(e) o[k++] = (double)(e)
    OUT(x + y);
    OUT(x - y * 2);
    OUT(x / y);
    OUT(x * 1e-3);
    OUT(d * y);
    OUT(1 / 3 + x);
    OUT((int)x);
    OUT((unsigned)fabsf(x));
    OUT((long long)(d * 1e6));
    OUT((unsigned char)(int)x);
    OUT(x < y);
    OUT(x != y && x >= y);
    OUT(!x);
    OUT(-x);
    OUT(x > 0 ? x : 0);
    OUT(sqrtf(fabsf(x)));
    OUT(rsqrtf(fabsf(x)));
    OUT(sqrt(fabs(d)));
    OUT(fmaxf(x, y));
    OUT(fminf(x, 0));
    OUT(fmax(d, 1.0));
    OUT(fmaf(x, y, d));
    OUT(max(x, y));
    OUT(min(d, 2.0));
    swap_them(x, y);
    OUT(x);
    OUT(y);
    swap_them(z[0], x);
    OUT(z[0] + z[1] + z[2]);
    Stats s = {x, 1, {y, 3}, 4, 5, 2.5}, q = {y};
    q.d = 2;
    q.low[0] = 7;
    s = merge(s, q);
    OUT(s.sum);
    OUT(s.n);
    OUT(s.low[0]);
    OUT(s.low[1]);
    OUT(s.s);
    OUT(s.c);
    OUT(s.d);
    s = {};
    OUT(s.sum + s.low[1]);
    float4 v = v4[t] + v4[t + 1];
    v.x += scale(v.y) + scale(v.z, 2) + scale(v.w, 3, 2);
    v4[t] = v;
    OUT((int)v.x);
    float4 vv = ((float4 *)in)[t];
    OUT(vv.x + vv.w);
    *(float2 *)&z[0] = make_float2(1, 2);
    OUT(z[1]);
    h[t] = __float2half(__half2float(h[t]) * 2);
    OUT(__half2float(h[t]));
    OUT((float)h[t]);
    float acc[4];
    for (int i = 0; i < 4; i++) acc[i] = in[t + i] * w4[i] + gf[i % 3];
    OUT(sum_of<4>(acc));
    OUT(__int_as_float(__float_as_int(x) ^ 0x80000000));
    OUT(INFINITY > x);
    OUT(isnan(x));
    int ii = x;
    ii += 2.7f;
    OUT(ii);
    ii *= 1.5;
    OUT(ii);
    unsigned u = 5;
    u -= x > 0;
    OUT(u);
    x++;
    ++x;
    OUT(x--);
    OUT(x);
    x /= 2;
    x -= 1;
    OUT(x);
    OUT(u / 2 * 1.0f);
    OUT(0.1f + 0.2f == 0.3f);
    OUT((float)0.1 + (double)0.1f);
    double2 d2{1, 2};
    d2.y += d2.x;
    OUT(d2.y);
}
__global__ void blocks(int *out, const int *in) {
    __shared__ int tile[8][9];
    __shared__ Stats st;
    extern __shared__ int dyn[];
    __shared__ bool flag;
    __shared__ unsigned char bytes[64];
    int t = threadIdx.x, r = t / 8, c = t % 8;
    tile[r][c] = in[t];
    dyn[t] = t * 3;
    bytes[t] = (unsigned char)(in[t] * 7);
    if (t == 0) st.n = 5, st.d = 1.5, flag = in[0] > 0;
    __syncthreads();
    int v = tile[c][r] + dyn[63 - t] + st.n + (int)st.d + flag + bytes[63 - t];
    volatile int *vs = dyn;
    __syncthreads();
    vs[t] += 1;
    dyn[t] += vs[t];
    v += __shfl_down_sync(0xffffffff, v, 3);
    v += __shfl_xor_sync(~0u, v, 1, 8);
    v += __shfl_sync(0xffffffff, v, t + 1);
    v += __shfl_up_sync(0xffffffffu, v, 2u);
    double dv = __shfl_down_sync(0xffffffff, v * 0.5, 1);
    long long lv = __shfl_xor_sync(0xffffffff, (long long)v << 20, 2);
    v += (int)dv + (int)(lv >> 20);
    unsigned bal = __ballot_sync(0xffffffff, v & 1);
    v += __popc(bal) + __any_sync(~0u, v > 100) + __all_sync(~0u, v) + __reduce_add_sync(~0u, v) +
         __reduce_max_sync(~0u, (unsigned)v & 255) + __match_any_sync(~0u, t & 3) % 1000;
    v += __syncthreads_count(v & 1) + __syncthreads_or(v & 2) + __syncthreads_and(1);
    atomicAdd(&counter, v);
    atomicAdd(&total, 1ull);
    atomicMax(&tile[0][0], v);
    atomicAdd(&gf[2], 1.0f);
    __syncthreads();
    __threadfence();
    int old = atomicCAS(&dyn[t], 5, 6) + atomicExch(&dyn[t], 7) + atomicSub(&dyn[t], 2) + atomicAnd(&dyn[t], 3) +
              atomicOr(&dyn[t], 8) + atomicXor(&dyn[t], 1) + (int)atomicInc((unsigned *)&dyn[t], 4u) +
              atomicMin(&dyn[t], -4);
    if (t % 2) {
        v += old;
        __syncwarp(0xaaaaaaaa);
    } else v -= old;
    out[t] = v + tile[0][0] + dyn[t] + __ldg(in + t) + __ldcg(&in[t]);
}
template <typename T, unsigned B> __global__ void generic(T *out, const T *in) {
    __shared__ T s[B];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
#pragma unroll
    for (unsigned d = B / 2; d > 0; d /= 2) {
        if (t < d) s[t] = larger(s[t], s[t + d]);
        __syncthreads();
    }
    if (t == 0) *out = s[0];
}
int main() {
    static int in[256];
    static float f[256];
    unsigned r = 1;
    for (int i = 0; i < 256; i++) {
        r = r * 1664525 + 1013904223;
        in[i] = (int)r >> (i % 29);
        f[i] = (int)r / 1e7f / (1 + i % 5);
    }
    int *di;
    float *df;
    long long *dl;
    double *dd;
    float4 *d4;
    __half *dh;
    int *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&df, sizeof f);
    cudaMalloc(&dl, N * 64 * 8);
    cudaMalloc(&dd, N * 64 * 8);
    cudaMalloc(&d4, 4096);
    cudaMalloc(&dh, 1024);
    cudaMalloc(&dout, 4096);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(df, f, sizeof f, cudaMemcpyHostToDevice);
    cudaMemcpy(d4, f, 1024, cudaMemcpyHostToDevice);
    cudaMemset(dh, 0x3c, 1024);
    static long long l[N * 64];
    static double d[N * 64];
    static int o[N];
    cudaMemset(dl, 0, sizeof l);
    cudaMemset(dd, 0, sizeof d);
    ints<<<1, 32>>>(dl, di);
    cudaMemcpy(l, dl, sizeof l, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++)
        for (int k = 0; k < 64; k++) printf("ints %d %d %lld\n", t, k, l[t * 64 + k]);
    more<<<1, 32>>>(dl, di);
    cudaMemcpy(l, dl, sizeof l, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++)
        for (int k = 0; k < 64; k++) printf("more %d %d %lld\n", t, k, l[t * 64 + k]);
    floats<<<1, 32>>>(dd, df, d4, dh);
    cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++)
        for (int k = 0; k < 64; k++) printf("floats %d %d %.17g\n", t, k, d[t * 64 + k]);
    blocks<<<1, 64, 256>>>(dout, di);
    cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 64; t++) printf("blocks %d %d\n", t, o[t]);
    generic<int, 64><<<1, 64>>>(dout, di);
    cudaMemcpy(o, dout, 4, cudaMemcpyDeviceToHost);
    printf("generic %d\n", o[0]);
    generic<float, 128><<<1, 128>>>((float *)dout, df);
    cudaMemcpy(o, dout, 4, cudaMemcpyDeviceToHost);
    printf("generic %d\n", o[0]);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
