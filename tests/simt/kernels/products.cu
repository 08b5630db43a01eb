// Matrix products, products with vectors, dot products and transposes, in float, half and bytes.
#include <cuda_fp16.h>

#include "cases.h"

// C = A B; sums of small integers are exact in any order.
template <typename T>
static std::vector<T> product(const std::vector<T> &a, const std::vector<T> &b, int M, int N,
                              int K) {
    std::vector<T> c((size_t)M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++)
                c[(size_t)i * N + j] += a[(size_t)i * K + k] * b[(size_t)k * N + j];
    return c;
}

// ---- Matrix times matrix

template <const int BLOCKSIZE>
__global__ void sgemm_shared_mem_block(int M, int N, int K, float alpha, const float *A,
                                       const float *B, float beta, float *C) {
    const unsigned cRow = blockIdx.x, cCol = blockIdx.y;
    __shared__ float As[BLOCKSIZE * BLOCKSIZE], Bs[BLOCKSIZE * BLOCKSIZE];
    const unsigned threadCol = threadIdx.x % BLOCKSIZE, threadRow = threadIdx.x / BLOCKSIZE;
    A += cRow * BLOCKSIZE * K;
    B += cCol * BLOCKSIZE;
    C += cRow * BLOCKSIZE * N + cCol * BLOCKSIZE;
    float tmp = 0.0;
    for (int bkIdx = 0; bkIdx < K; bkIdx += BLOCKSIZE) {
        As[threadRow * BLOCKSIZE + threadCol] = A[threadRow * K + threadCol];
        Bs[threadRow * BLOCKSIZE + threadCol] = B[threadRow * N + threadCol];
        __syncthreads();
        A += BLOCKSIZE;
        B += BLOCKSIZE * N;
        for (int dotIdx = 0; dotIdx < BLOCKSIZE; ++dotIdx)
            tmp += As[threadRow * BLOCKSIZE + dotIdx] * Bs[dotIdx * BLOCKSIZE + threadCol];
        __syncthreads();
    }
    C[threadRow * N + threadCol] = alpha * tmp + beta * C[threadRow * N + threadCol];
}

// A tile of 4 x 4 results in registers, A transposed when it is stored to shared memory, float4
// throughout.
template <const int BM, const int BN, const int BK>
__global__ void sgemmVectorize(int M, int N, int K, float alpha, float *A, float *B, float beta,
                               float *C) {
    const int TM = 4, TN = 4;
    const unsigned cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
    __shared__ float As[BM * BK], Bs[BK * BN];
    A += cRow * BM * K;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;
    const unsigned innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
    const unsigned innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
    float threadResults[TM * TN] = {0.0}, regM[TM] = {0.0}, regN[TN] = {0.0};
    for (unsigned bkIdx = 0; bkIdx < K; bkIdx += BK) {
        float4 tmp = reinterpret_cast<float4 *>(&A[innerRowA * K + innerColA * 4])[0];
        As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
        As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
        As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
        As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
        reinterpret_cast<float4 *>(&Bs[innerRowB * BN + innerColB * 4])[0] =
            reinterpret_cast<float4 *>(&B[innerRowB * N + innerColB * 4])[0];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
            for (unsigned i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
            for (unsigned i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
            for (unsigned m = 0; m < TM; ++m)
                for (unsigned n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
        }
        __syncthreads();
    }
    for (unsigned m = 0; m < TM; m += 1) {
        float4 tmp = reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN])[0];
        tmp.x = alpha * threadResults[m * TN] + beta * tmp.x;
        tmp.y = alpha * threadResults[m * TN + 1] + beta * tmp.y;
        tmp.z = alpha * threadResults[m * TN + 2] + beta * tmp.z;
        tmp.w = alpha * threadResults[m * TN + 3] + beta * tmp.w;
        reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN])[0] = tmp;
    }
}

static void sgemm(int scale) {
    for (int size : {64, 128}) {
        int M = size * scale, N = size, K = 64;
        Array<float> a((size_t)M * K, element), b((size_t)K * N, element), c((size_t)M * N);
        std::vector<float> want = product(a.host, b.host, M, N, K);
        RUN(sgemm_shared_mem_block<32><<<dim3(M / 32, N / 32), 1024>>>(M, N, K, 1, a, b, 0, c));
        compare(c, want);
        RUN(sgemm_shared_mem_block<16><<<dim3(M / 16, N / 16), 256>>>(M, N, K, 1, a, b, 0, c));
        compare(c, want);
        RUN(sgemmVectorize<64, 64, 16><<<dim3(N / 64, M / 64), 256>>>(M, N, K, 1, a, b, 0, c));
        compare(c, want);
    }
}

__global__ void hgemm_half2(int M, int N, int K, const half *A, const half *B, half *C) {
    __shared__ half As[32][34], Bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, col = blockIdx.x * 32;
    half2 acc[2] = {__float2half2_rn(0), __float2half2_rn(0)};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int i = 0; i < 2; i++) {
            As[ty + 16 * i][2 * tx] = A[(row + ty + 16 * i) * K + k0 + 2 * tx];
            As[ty + 16 * i][2 * tx + 1] = A[(row + ty + 16 * i) * K + k0 + 2 * tx + 1];
            *(half2 *)&Bs[ty + 16 * i][2 * tx] =
                *(const half2 *)&B[(k0 + ty + 16 * i) * N + col + 2 * tx];
        }
        __syncthreads();
        for (int k = 0; k < 32; k++) {
            half2 b = *(half2 *)&Bs[k][2 * tx];
            for (int i = 0; i < 2; i++)
                acc[i] = __hfma2(__half2half2(As[ty + 16 * i][k]), b, acc[i]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++) *(half2 *)&C[(row + ty + 16 * i) * N + col + 2 * tx] = acc[i];
}

// Many small products, each by a warp or less.
template <int SIZE>
__global__ void batched_small_gemm(const float *A, const float *B, float *C, int batch) {
    extern __shared__ float s[];
    int b = blockIdx.x * blockDim.y + threadIdx.y, t = threadIdx.x;
    float *as = s + threadIdx.y * 2 * SIZE * SIZE, *bs = as + SIZE * SIZE;
    if (b < batch) as[t] = A[b * SIZE * SIZE + t], bs[t] = B[b * SIZE * SIZE + t];
    __syncthreads();
    if (b >= batch) return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < SIZE; k++) sum += as[t / SIZE * SIZE + k] * bs[k * SIZE + t % SIZE];
    C[b * SIZE * SIZE + t] = sum;
}

static void other_gemms(int scale) {
    for (int size : {64, 96}) {
        int M = size * scale, N = size, K = 64;
        auto few = [](int i) { return (float)(whole(i, 5) - 2); };
        Array<float> fa((size_t)M * K, few), fb((size_t)K * N, few);
        auto fill = [=](int i) { return __float2half(few(i)); };
        Array<half> ha((size_t)M * K, fill), hb((size_t)K * N, fill), hc((size_t)M * N);
        RUN(hgemm_half2<<<dim3(N / 32, M / 32), dim3(16, 16)>>>(M, N, K, ha, hb, hc));
        hc.fetch();
        std::vector<float> got;
        for (half h : hc.host) got.push_back(__half2float(h));
        compare(got, product(fa.host, fb.host, M, N, K));
        int batch = 2 * size * scale + 1;
        Array<float> sa((size_t)batch * 16, element), sb((size_t)batch * 16, element),
            sc((size_t)batch * 16);
        std::vector<float> small((size_t)batch * 16);
        for (int i = 0; i < batch * 16; i++)
            for (int k = 0; k < 4; k++)
                small[i] += sa.host[i / 4 * 4 + k] * sb.host[i / 16 * 16 + k * 4 + i % 4];
        for (int together : {4, 10})
            RUN(batched_small_gemm<4>
                <<<blocks_for(batch, together), dim3(16, together), together * 128>>>(sa, sb, sc,
                                                                                      batch));
        compare(sc, small);
    }
}

// ---- Matrix times vector, dot products

__global__ void hgemv_warp(const half2 *A, const half2 *x, half *y, int M, int N2) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row >= M) return;
    float sum = 0;
    for (int j = lane; j < N2; j += 32) {
        float2 a = __half22float2(A[row * N2 + j]), b = __half22float2(x[j]);
        sum += a.x * b.x + a.y * b.y;
    }
#pragma unroll
    for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffff, sum, o);
    if (lane == 0) y[row] = __float2half(sum);
}

__forceinline__ __device__ void reduceInShared_native(half2 *const v) {
    if (threadIdx.x < 64) v[threadIdx.x] = v[threadIdx.x] + v[threadIdx.x + 64];
    __syncthreads();
    for (int i = 32; i > 0; i /= 2) {
        if (threadIdx.x < 32) {
            half2 t = v[threadIdx.x + i];
            __syncwarp();
            v[threadIdx.x] = v[threadIdx.x] + t;
            __syncwarp();
        }
    }
}

__global__ void scalarProductKernel_native(half2 const *const a, half2 const *const b,
                                           float *const results, size_t const size) {
    const int stride = gridDim.x * blockDim.x;
    __shared__ half2 shArray[128];
    half2 value(0.f, 0.f);
    shArray[threadIdx.x] = value;
    for (int i = threadIdx.x + blockDim.x * blockIdx.x; i < size; i += stride)
        value = a[i] * b[i] + value;
    shArray[threadIdx.x] = value;
    __syncthreads();
    reduceInShared_native(shArray);
    if (threadIdx.x == 0) {
        half2 result = shArray[0];
        results[blockIdx.x] = (float)(result.y + result.x);
    }
}

static void vectors(int scale) {
    for (int N : {64, 208}) {
        int M = 70 * scale, n = 40 * N * scale, blocks = 12 * scale;
        auto few = [](int i) { return (float)(whole(i, 5) - 2); };
        auto fill = [=](int i) { return __float2half(few(i)); };
        Array<half> ha((size_t)M * N, fill), hx(N, fill), hy(M);
        Array<float> fa((size_t)M * N, few), fx(N, few), parts(blocks);
        RUN(hgemv_warp<<<blocks_for(M, 4), 128>>>((half2 *)ha.device, (half2 *)hx.device, hy, M,
                                                  N / 2));
        hy.fetch();
        std::vector<float> got;
        for (half h : hy.host) got.push_back(__half2float(h));
        compare(got, product(fa.host, fx.host, M, 1, N));
        Array<half> u(n, fill), v(n, [=](int i) { return fill(i + 77); });
        float want = 0, sum = 0;
        for (int i = 0; i < n; i++) want += few(i) * few(i + 77);
        RUN(scalarProductKernel_native<<<blocks, 128>>>((half2 *)u.device, (half2 *)v.device, parts,
                                                        n / 2));
        for (float part : parts.fetch()) sum += part;
        compare(std::vector<float>{sum}, std::vector<float>{want});
    }
}

// ---- Transposes and permutations

__global__ void transpose_half(const half *in, half *out, int rows, int cols) {
    __shared__ half tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += blockDim.y)
        if (x < cols && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += blockDim.y)
        if (x < rows && y + k < cols) out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void transpose_bytes_swizzled(const unsigned char *in, unsigned char *out, int n) {
    __shared__ unsigned char tile[64][64];
    int bx = blockIdx.x * 64, by = blockIdx.y * 64;
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
        int y = i / 64, x = i % 64;
        tile[y][x ^ (y / 4 * 4 & 63)] = in[(by + y) * n + bx + x];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
        int y = i / 64, x = i % 64;
        out[(bx + y) * n + by + x] = tile[x][y ^ (x / 4 * 4 & 63)];
    }
}

static void transposes(int scale) {
    for (int cols : {64, 100}) {
        int rows = 72 * scale;
        size_t all = (size_t)rows * cols;
        auto flipped = [=](int i) { return i % rows * cols + i / rows; };
        Array<half> h(all, [](int i) { return __float2half((float)element(i)); }), ho(all);
        std::vector<float> want(all), got;
        for (size_t i = 0; i < all; i++) want[i] = (float)element(flipped((int)i));
        for (int lines : {8, 32})
            RUN(transpose_half<<<dim3(blocks_for(cols, 32), blocks_for(rows, 32)),
                                 dim3(32, lines)>>>(h, ho, rows, cols));
        ho.fetch();
        for (half v : ho.host) got.push_back(__half2float(v));
        compare(got, want);
        int n = cols == 64 ? 64 : 128 * scale;
        Array<unsigned char> bytes((size_t)n * n,
                                   [](int i) { return (unsigned char)whole(i, 256); }),
            turned((size_t)n * n);
        std::vector<int> bytes_want;
        for (int i = 0; i < n * n; i++)
            bytes_want.push_back(bytes.host[(size_t)(i % n) * n + i / n]);
        RUN(transpose_bytes_swizzled<<<dim3(n / 64, n / 64), 256>>>(bytes, turned, n));
        compare(turned, bytes_want);
    }
}

static const Case cases[] = {
    {"sgemm", sgemm},
    {"other_gemms", other_gemms},
    {"vectors", vectors},
    {"transposes", transposes},
};
CASES(cases)
