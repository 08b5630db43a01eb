// Products on tensor cores: wmma in all its forms, mma with fragments loaded by ldmatrix, stmatrix
// and movmatrix; tiles with and without bank conflicts in shared memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>
#include <type_traits>

#include "cases.h"

using namespace nvcuda;

static int little(int i) { return whole(i, 15) - 7; }

template <typename T> static double number(T x) { return (double)(float)x; }
static double number(double x) { return x; }
static double number(int x) { return x; }

// a: m by k, b: k by n, c: m by n, each by rows or by columns with a stride.
template <typename E, typename S>
static std::vector<double>
product(const std::vector<E> &a, bool a_rows, int lda, const std::vector<E> &b, bool b_rows,
        int ldb, const std::vector<S> &c, bool c_rows, int ldc, int m, int n, int k) {
    std::vector<double> d(c.size());
    for (size_t i = 0; i < c.size(); i++) d[i] = number(c[i]);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int x = 0; x < k; x++)
                d[c_rows ? i * ldc + j : j * ldc + i] +=
                    number(a[a_rows ? i * lda + x : x * lda + i]) *
                    number(b[b_rows ? x * ldb + j : j * ldb + x]);
    return d;
}

template <typename S> static std::vector<double> numbers(Array<S> &array) {
    std::vector<double> all;
    for (S x : array.fetch()) all.push_back(number(x));
    return all;
}

// ---- wmma: every shape, type and layout, from global and from shared memory

template <typename T> struct Stored { typedef T type; };
template <> struct Stored<wmma::precision::tf32> { typedef float type; };

enum { ROOM = 32 * 40 };

template <typename T, typename S, int M, int N, int K, typename LA, typename LB, bool SHARED>
__global__ void wmma_product(const typename Stored<T>::type *a, const typename Stored<T>::type *b,
                             S *c, int lda, int ldb, int ldc, bool c_rows) {
    typedef typename Stored<T>::type E;
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> x;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> y;
    wmma::fragment<wmma::accumulator, M, N, K, S> z;
    if (SHARED) {
        __shared__ __align__(128) E sa[ROOM], sb[ROOM];
        __shared__ __align__(128) S sc[ROOM];
        for (int i = threadIdx.x; i < ROOM; i += 32) sa[i] = a[i], sb[i] = b[i], sc[i] = c[i];
        __syncwarp();
        wmma::load_matrix_sync(x, sa, lda);
        wmma::load_matrix_sync(y, sb, ldb);
        wmma::load_matrix_sync(z, sc, ldc, c_rows ? wmma::mem_row_major : wmma::mem_col_major);
        wmma::mma_sync(z, x, y, z);
        __syncwarp();
        wmma::store_matrix_sync(sc, z, ldc, c_rows ? wmma::mem_row_major : wmma::mem_col_major);
        __syncwarp();
        for (int i = threadIdx.x; i < ROOM; i += 32) c[i] = sc[i];
    } else {
        wmma::load_matrix_sync(x, a, lda);
        wmma::load_matrix_sync(y, b, ldb);
        wmma::load_matrix_sync(z, c, ldc, c_rows ? wmma::mem_row_major : wmma::mem_col_major);
        wmma::mma_sync(z, x, y, z);
        wmma::store_matrix_sync(c, z, ldc, c_rows ? wmma::mem_row_major : wmma::mem_col_major);
    }
}

// A stride is a multiple of 16 bytes; `more` elements of 16 bytes move rows to other banks.
template <typename T, typename S, int M, int N, int K, typename LA, typename LB, bool SHARED>
static void wmma_once(bool c_rows, int more) {
    typedef typename Stored<T>::type E;
    const bool a_rows = std::is_same<LA, wmma::row_major>::value;
    const bool b_rows = std::is_same<LB, wmma::row_major>::value;
    const int pad = 16 / (int)sizeof(E), pad_c = 16 / (int)sizeof(S);
    auto stride = [=](int n, int p) { return (n + p - 1) / p * p + more * p; };
    const int lda = stride(a_rows ? K : M, pad), ldb = stride(b_rows ? N : K, pad);
    const int ldc = stride(c_rows ? N : M, pad_c);
    auto value = [](int i) {
        return (E)(float)(std::is_unsigned<E>::value ? whole(i, 200) : little(i));
    };
    Array<E> a(ROOM, value), b(
                                 ROOM, [=](int i) { return value(i + 999); });
    Array<S> c(ROOM, [](int i) { return (S)(float)little(i + 5000); });
    std::vector<double> want =
        product(a.host, a_rows, lda, b.host, b_rows, ldb, c.host, c_rows, ldc, M, N, K);
    RUN(wmma_product<T, S, M, N, K, LA, LB, SHARED><<<1, 32>>>(a, b, c, lda, ldb, ldc, c_rows));
    compare(numbers(c), want);
}

template <typename T, typename S, int M, int N, int K> static void wmma_forms() {
    for (int k = 0; k < 2; k++) {
        wmma_once<T, S, M, N, K, wmma::row_major, wmma::col_major, false>(!k, k);
        wmma_once<T, S, M, N, K, wmma::col_major, wmma::row_major, false>(k, k);
        wmma_once<T, S, M, N, K, wmma::row_major, wmma::col_major, true>(!k, k);
        wmma_once<T, S, M, N, K, wmma::col_major, wmma::row_major, true>(k, k);
    }
}

template <typename T, typename S> static void wmma_shapes() {
    wmma_forms<T, S, 16, 16, 16>();
    wmma_forms<T, S, 32, 8, 16>();
    wmma_forms<T, S, 8, 32, 16>();
}

static void wmma_all(int) {
    wmma_shapes<half, float>();
    wmma_forms<half, half, 16, 16, 16>();
    wmma_forms<__nv_bfloat16, float, 16, 16, 16>();
    wmma_shapes<signed char, int>();
    wmma_forms<unsigned char, int, 16, 16, 16>();
    wmma_forms<wmma::precision::tf32, float, 16, 16, 8>();
    wmma_forms<double, double, 8, 8, 4>();
}

// ---- Products of large matrices

// As in the first examples of wmma: a warp for each tile, directly from global memory.
__global__ void wmma_gemm_simple(const half *a, const half *b, float *c, int M, int N, int K,
                                 float alpha, float beta) {
    int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int warpN = blockIdx.y * blockDim.y + threadIdx.y;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, z;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < K; i += 16) {
        int row = warpM * 16, column = warpN * 16;
        if (row < M && column < N) {
            wmma::load_matrix_sync(x, a + i + row * K, K);
            wmma::load_matrix_sync(y, b + i + column * K, K);
            wmma::mma_sync(sum, x, y, sum);
        }
    }
    int row = warpM * 16, column = warpN * 16;
    if (row < M && column < N) {
        wmma::load_matrix_sync(z, c + column + row * N, N, wmma::mem_row_major);
        for (int i = 0; i < z.num_elements; i++) z.x[i] = alpha * sum.x[i] + beta * z.x[i];
        wmma::store_matrix_sync(c + column + row * N, z, N, wmma::mem_row_major);
    }
}

// A block of four warps for 64 by 64; tiles of 64 by 32 in shared memory, with PAD elements after each row.
template <int PAD>
__global__ void wmma_gemm_tiles(const half *a, const half *b, float *c, int N, int K) {
    __shared__ __align__(128) half sa[64][32 + PAD], sb[64][32 + PAD];
    const int warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    for (int j = 0; j < 4; j++) wmma::fill_fragment(sum[j], 0.0f);
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int i = threadIdx.x; i < 64 * 4; i += 128) {
            *(int4 *)&sa[i / 4][i % 4 * 8] = *(const int4 *)&a[(row + i / 4) * K + k0 + i % 4 * 8];
            *(int4 *)&sb[i / 4][i % 4 * 8] =
                *(const int4 *)&b[(column + i / 4) * K + k0 + i % 4 * 8];
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
            wmma::load_matrix_sync(x, &sa[warp * 16][k], 32 + PAD);
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
                wmma::load_matrix_sync(y, &sb[j * 16][k], 32 + PAD);
                wmma::mma_sync(sum[j], x, y, sum[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(&c[(row + warp * 16) * N + column + j * 16], sum[j], N,
                                wmma::mem_row_major);
}

static __device__ unsigned shared(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }

// The same with mma; b is stored by rows, and ldmatrix transposes it. SWIZZLE: the 16-byte vectors of a
// row are permuted by the row's number.
template <bool SWIZZLE>
__global__ void mma_gemm_ldmatrix(const half *a, const half *b, float *c, int N, int K) {
    __shared__ __align__(128) half sa[64][32], sb[32][64];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[8][4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int i = threadIdx.x; i < 64 * 4; i += 128) {
            int r = i / 4, piece = SWIZZLE ? i % 4 ^ (r / 2 & 3) : i % 4;
            *(int4 *)&sa[r][piece * 8] = *(const int4 *)&a[(row + r) * K + k0 + i % 4 * 8];
            r = i / 8, piece = SWIZZLE ? i % 8 ^ (r & 7) : i % 8;
            *(int4 *)&sb[r][piece * 8] = *(const int4 *)&b[(k0 + r) * N + column + i % 8 * 8];
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 16) {
            unsigned x[4], y[2];
            int r = warp * 16 + lane % 16, piece = k / 8 + lane / 16;
            if (SWIZZLE) piece ^= r / 2 & 3;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                         : "r"(shared(&sa[r][piece * 8])));
            for (int j = 0; j < 8; j++) {
                r = k + lane % 16, piece = SWIZZLE ? j ^ (r & 7) : j;
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                             : "=r"(y[0]), "=r"(y[1])
                             : "r"(shared(&sb[r][piece * 8])));
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                             "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++)
            c[(row + warp * 16 + lane / 4 + i / 2 * 8) * N + column + j * 8 + lane % 4 * 2 +
              i % 2] = sum[j][i];
}

static void gemms(int scale) {
    const int M = 128 * scale, N = 64, K = 96;
    auto value = [](int i) { return __float2half((float)little(i)); };
    Array<half> a((size_t)M * K, value), b((size_t)N * K, value);
    Array<float> c((size_t)M * N, little), d((size_t)M * N);
    std::vector<float> zero(d.host);
    std::vector<double> want = product(a.host, true, K, b.host, false, K, c.host, true, N, M, N, K);
    RUN(wmma_gemm_simple<<<dim3(M / 64, N / 64), dim3(128, 4)>>>(a, b, c, M, N, K, 1, 1));
    compare(numbers(c), want);
    want = product(a.host, true, K, b.host, false, K, zero, true, N, M, N, K);
    RUN(wmma_gemm_tiles<0><<<dim3(N / 64, M / 64), 128>>>(a, b, d, N, K));
    compare(numbers(d), want);
    RUN(wmma_gemm_tiles<8><<<dim3(N / 64, M / 64), 128>>>(a, b, d, N, K));
    compare(numbers(d), want);
    want = product(a.host, true, K, b.host, true, N, zero, true, N, M, N, K);
    RUN(mma_gemm_ldmatrix<false><<<dim3(N / 64, M / 64), 128>>>(a, b, d, N, K));
    compare(numbers(d), want);
    RUN(mma_gemm_ldmatrix<true><<<dim3(N / 64, M / 64), 128>>>(a, b, d, N, K));
    compare(numbers(d), want);
}

// ---- Matrices of 8 by 8 between shared memory and registers

// Loads the first matrices of four whose rows are `stride` bytes apart.
#define MATRIX_LOAD(name, form, COUNT, OUT)                                                        \
    __global__ void name(const uint4 *in, unsigned *out, int stride) {                             \
        __shared__ __align__(128) char s[32 * 160];                                                \
        const int lane = threadIdx.x;                                                              \
        unsigned x[4] = {};                                                                        \
        *(uint4 *)(s + lane * stride) = in[lane];                                                  \
        __syncwarp();                                                                              \
        asm volatile("ldmatrix.sync.aligned.m8n8." form OUT                                        \
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])                              \
                     : "r"(shared(s + lane * stride)));                                            \
        for (int r = 0; r < COUNT; r++) out[r * 32 + lane] = x[r];                                 \
    }
MATRIX_LOAD(ldmatrix_x1, "x1.shared.b16", 1, " {%0}, [%4];")
MATRIX_LOAD(ldmatrix_x2, "x2.shared.b16", 2, " {%0, %1}, [%4];")
MATRIX_LOAD(ldmatrix_x4, "x4.shared.b16", 4, " {%0, %1, %2, %3}, [%4];")
MATRIX_LOAD(ldmatrix_x1_trans, "x1.trans.shared.b16", 1, " {%0}, [%4];")
MATRIX_LOAD(ldmatrix_x2_trans, "x2.trans.shared.b16", 2, " {%0, %1}, [%4];")
MATRIX_LOAD(ldmatrix_x4_trans, "x4.trans.shared.b16", 4, " {%0, %1, %2, %3}, [%4];")

#define MATRIX_STORE(name, form, FROM)                                                             \
    __global__ void name(const unsigned *in, uint4 *out, int stride) {                             \
        __shared__ __align__(128) char s[32 * 160];                                                \
        const int lane = threadIdx.x;                                                              \
        *(uint4 *)(s + lane * stride) = uint4{};                                                   \
        __syncwarp();                                                                              \
        asm volatile("stmatrix.sync.aligned.m8n8." form " [%0]," FROM                              \
                     :                                                                             \
                     : "r"(shared(s + lane * stride)), "r"(in[lane]), "r"(in[32 + lane]),          \
                       "r"(in[64 + lane]), "r"(in[96 + lane])                                      \
                     : "memory");                                                                  \
        __syncwarp();                                                                              \
        out[lane] = *(uint4 *)(s + lane * stride);                                                 \
    }
MATRIX_STORE(stmatrix_x1, "x1.shared.b16", " {%1};")
MATRIX_STORE(stmatrix_x2, "x2.shared.b16", " {%1, %2};")
MATRIX_STORE(stmatrix_x4, "x4.shared.b16", " {%1, %2, %3, %4};")
MATRIX_STORE(stmatrix_x4_trans, "x4.trans.shared.b16", " {%1, %2, %3, %4};")

__global__ void movmatrix(const unsigned *in, unsigned *out) {
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
                 : "=r"(out[threadIdx.x])
                 : "r"(in[threadIdx.x]));
}

// The words, out of rows of 8 halves with four words each, that each lane gets, by matrix.
static std::vector<unsigned> held(const std::vector<unsigned> &rows, int count, bool turned) {
    const unsigned short *half_of = (const unsigned short *)rows.data();
    std::vector<unsigned> words;
    for (int r = 0; r < count; r++)
        for (int lane = 0; lane < 32; lane++) {
            int g = lane / 4, t = lane % 4 * 2;
            const unsigned short *at = half_of + r * 64;
            words.push_back(turned ? at[t * 8 + g] | (unsigned)at[t * 8 + 8 + g] << 16
                                   : at[g * 8 + t] | (unsigned)at[g * 8 + t + 1] << 16);
        }
    return words;
}

static void rows_of_16_bytes(int) {
    Array<unsigned> in(128, [](int i) { return (unsigned)i * 2654435761u; }), out(128);
    struct {
        void (*kernel)(const uint4 *, unsigned *, int);
        int count;
        bool turned;
    } loads[] = {{ldmatrix_x1, 1, false},      {ldmatrix_x2, 2, false},
                 {ldmatrix_x4, 4, false},      {ldmatrix_x1_trans, 1, true},
                 {ldmatrix_x2_trans, 2, true}, {ldmatrix_x4_trans, 4, true}};
    for (auto &load : loads)
        for (int stride : {16, 32, 48, 128}) {
            RUN(load.kernel<<<1, 32>>>((const uint4 *)in.device, out, stride));
            compare(out, held(in.host, load.count, load.turned));
        }
    struct {
        void (*kernel)(const unsigned *, uint4 *, int);
        int count;
        bool turned;
    } stores[] = {{stmatrix_x1, 1, false},
                  {stmatrix_x2, 2, false},
                  {stmatrix_x4, 4, false},
                  {stmatrix_x4_trans, 4, true}};
    for (auto &store : stores)
        for (int stride : {16, 48, 128}) {
            RUN(store.kernel<<<1, 32>>>(in, (uint4 *)out.device, stride));
            out.fetch();
            compare(held(out.host, store.count, store.turned),
                    std::vector<unsigned>(in.host.begin(), in.host.begin() + 32 * store.count));
        }
    RUN(movmatrix<<<1, 32>>>(in, out));
    out.fetch();
    compare(std::vector<unsigned>(out.host.begin(), out.host.begin() + 32), held(in.host, 1, true));
}

static const Case cases[] = {
    {"wmma", wmma_all},
    {"gemms", gemms},
    {"rows_of_16_bytes", rows_of_16_bytes},
};
CASES(cases)
