// Matrix products, products with vectors, dot products and transposes, in float, double, half and
// bytes: from one thread an element to tiles in registers.
#include <cuda_fp16.h>

#include "cases.h"

// C = A B; sums of small whole numbers are exact in any order.
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

__global__ void sgemm_naive(int M, int N, int K, float alpha, const float *A, const float *B,
                            float beta, float *C) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x,
                   y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < M && y < N) {
        float tmp = 0.0;
        for (int i = 0; i < K; ++i) tmp += A[x * K + i] * B[i * N + y];
        C[x * N + y] = alpha * tmp + beta * C[x * N + y];
    }
}

template <const unsigned BLOCKSIZE>
__global__ void sgemm_global_mem_coalesce(int M, int N, int K, float alpha, const float *A,
                                          const float *B, float beta, float *C) {
    const int cRow = blockIdx.x * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
    const int cCol = blockIdx.y * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);
    if (cRow < M && cCol < N) {
        float tmp = 0.0;
        for (int i = 0; i < K; ++i) tmp += A[cRow * K + i] * B[i * N + cCol];
        C[cRow * N + cCol] = alpha * tmp + beta * C[cRow * N + cCol];
    }
}

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

template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm1DBlocktiling(int M, int N, int K, float alpha, const float *A, const float *B,
                                   float beta, float *C) {
    const unsigned cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
    __shared__ float As[BM * BK], Bs[BK * BN];
    A += cRow * BM * K;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;
    const unsigned innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK;
    const unsigned innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
    float threadResults[TM] = {0.0};
    for (unsigned bkIdx = 0; bkIdx < K; bkIdx += BK) {
        As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
        Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
            float tmpB = Bs[dotIdx * BN + threadCol];
            for (unsigned resIdx = 0; resIdx < TM; ++resIdx)
                threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
        }
        __syncthreads();
    }
    for (unsigned resIdx = 0; resIdx < TM; ++resIdx)
        C[(threadRow * TM + resIdx) * N + threadCol] =
            alpha * threadResults[resIdx] + beta * C[(threadRow * TM + resIdx) * N + threadCol];
}

// A tile of 4 x 4 results in registers, A transposed on its way into shared memory, float4
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
        Array<float> a((size_t)M * K, element), b((size_t)K * N, element);
        std::vector<float> want = product(a.host, b.host, M, N, K);
        for (int way = 0; way < 7; way++) {
            Array<float> c((size_t)M * N);
            if (way == 0)
                RUN(sgemm_naive<<<dim3(M / 16, N / 16), dim3(16, 16)>>>(M, N, K, 1, a, b, 0, c));
            if (way == 1)
                RUN(sgemm_naive<<<dim3(M / 32, N / 8), dim3(32, 8)>>>(M, N, K, 1, a, b, 0, c));
            if (way == 2)
                RUN(sgemm_global_mem_coalesce<32>
                    <<<dim3(M / 32, N / 32), 1024>>>(M, N, K, 1, a, b, 0, c));
            if (way == 3)
                RUN(sgemm_shared_mem_block<32>
                    <<<dim3(M / 32, N / 32), 1024>>>(M, N, K, 1, a, b, 0, c));
            if (way == 4)
                RUN(sgemm_shared_mem_block<16>
                    <<<dim3(M / 16, N / 16), 256>>>(M, N, K, 1, a, b, 0, c));
            if (way == 5)
                RUN(sgemm1DBlocktiling<64, 64, 8, 8>
                    <<<dim3(N / 64, M / 64), 512>>>(M, N, K, 1, a, b, 0, c));
            if (way == 6)
                RUN(sgemmVectorize<64, 64, 16>
                    <<<dim3(N / 64, M / 64), 256>>>(M, N, K, 1, a, b, 0, c));
            compare(c, want);
        }
    }
}

// Two dimensions of blocks within a thread: 8 x 8 results.
__global__ void dgemm_register_tile(int M, int N, int K, const double *A, const double *B,
                                    double *C) {
    __shared__ double As[16][33], Bs[16][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, col = blockIdx.x * 32,
        t = ty * 8 + tx;
    double c[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = t; i < 512; i += 64) {
            As[i % 16][i / 16] = A[(row + i / 16) * K + k0 + i % 16];
            Bs[i / 32][i % 32] = B[(k0 + i / 32) * N + col + i % 32];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            double a[4], b[4];
            for (int i = 0; i < 4; i++) a[i] = As[k][ty + 8 * i], b[i] = Bs[k][tx + 8 * i];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) c[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) C[(row + ty + 8 * i) * N + col + tx + 8 * j] = c[i][j];
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

__global__ void gemm_dp4a(int M, int N, int K4, const int *A, const int *B, int *C) {
    __shared__ int As[16][17], Bs[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x, sum = 0;
    for (int k = 0; k < K4; k += 16) {
        As[threadIdx.y][threadIdx.x] = A[row * K4 + k + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(blockIdx.x * 16 + threadIdx.y) * K4 + k + threadIdx.x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) sum = __dp4a(As[threadIdx.y][i], Bs[threadIdx.x][i], sum);
        __syncthreads();
    }
    C[row * N + col] = sum;
}

// Many small products, a warp or less for each.
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
        Array<double> a((size_t)M * K, element), b((size_t)K * N, element), c((size_t)M * N);
        RUN(dgemm_register_tile<<<dim3(N / 32, M / 32), dim3(8, 8)>>>(M, N, K, a, b, c));
        compare(c, product(a.host, b.host, M, N, K));
        auto few = [](int i) { return (float)(whole(i, 5) - 2); };
        Array<float> fa((size_t)M * K, few), fb((size_t)K * N, few);
        auto fill = [=](int i) { return __float2half(few(i)); };
        Array<half> ha((size_t)M * K, fill), hb((size_t)K * N, fill), hc((size_t)M * N);
        RUN(hgemm_half2<<<dim3(N / 32, M / 32), dim3(16, 16)>>>(M, N, K, ha, hb, hc));
        hc.fetch();
        std::vector<float> got;
        for (half h : hc.host) got.push_back(__half2float(h));
        compare(got, product(fa.host, fb.host, M, N, K));
        Array<int> ia((size_t)M * K / 4, [](int i) { return (int)((unsigned)i * 2654435761u); });
        Array<int> ib((size_t)N * K / 4,
                      [](int i) { return (int)((unsigned)i * 2246822519u + 99); });
        Array<int> ic((size_t)M * N);
        std::vector<int> bytes((size_t)M * N);
        for (int i = 0; i < M * N; i++)
            for (int k = 0; k < K; k++)
                bytes[i] += ((signed char *)&ia.host[i / N * K / 4])[k] *
                            ((signed char *)&ib.host[i % N * K / 4])[k];
        RUN(gemm_dp4a<<<dim3(N / 16, M / 16), dim3(16, 16)>>>(M, N, K / 4, ia, ib, ic));
        compare(ic, bytes);
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

__global__ void gemv_thread_per_row(const float *A, const float *x, float *y, int M, int N) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    float sum = 0;
    for (int j = 0; j < N; j++) sum += A[row * N + j] * x[j];
    y[row] = sum;
}

__global__ void gemv_warp_per_row(const float *__restrict__ A, const float *__restrict__ x,
                                  float *__restrict__ y, int M, int N) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    float sum = 0;
    const float4 *a4 = (const float4 *)(A + row * N), *x4 = (const float4 *)x;
    for (int j = threadIdx.x; j < N / 4; j += 32) {
        float4 a = a4[j], b = x4[j];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (threadIdx.x == 0) y[row] = sum;
}

__global__ void gemv_transposed(const float *A, const float *x, float *y, int M, int N) {
    extern __shared__ float part[];
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (col < N)
        for (int i = threadIdx.y; i < M; i += blockDim.y) sum += A[i * N + col] * x[i];
    part[threadIdx.y * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.y / 2; s > 0; s /= 2) {
        if (threadIdx.y < s)
            part[threadIdx.y * blockDim.x + threadIdx.x] +=
                part[(threadIdx.y + s) * blockDim.x + threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0 && col < N) y[col] = part[threadIdx.x];
}

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

__global__ void dot_shared_atomic(const float *x, const float *y, float *out, int n) {
    __shared__ float cache[256];
    float temp = 0;
    for (int tid = threadIdx.x + blockIdx.x * blockDim.x; tid < n; tid += blockDim.x * gridDim.x)
        temp += x[tid] * y[tid];
    cache[threadIdx.x] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0) atomicAdd(out, cache[0]);
}

static void vectors(int scale) {
    for (int N : {64, 208}) {
        int M = 70 * scale;
        Array<float> a((size_t)M * N, element), x(N, element), y(M), left(M, element), z(N);
        std::vector<float> want = product(a.host, x.host, M, 1, N),
                           transposed = product(left.host, a.host, 1, N, M);
        RUN(gemv_thread_per_row<<<blocks_for(M, 64), 64>>>(a, x, y, M, N));
        compare(y, want);
        RUN(gemv_warp_per_row<<<blocks_for(M, 4), dim3(32, 4)>>>(a, x, y, M, N));
        compare(y, want);
        for (dim3 block : {dim3(32, 8), dim3(16, 16)})
            RUN(gemv_transposed<<<blocks_for(N, block.x), block, 1024>>>(a, left, z, M, N));
        compare(z, transposed);
        auto few = [](int i) { return (float)(whole(i, 5) - 2); };
        auto fill = [=](int i) { return __float2half(few(i)); };
        Array<half> ha((size_t)M * N, fill), hx(N, fill), hy(M);
        Array<float> fa((size_t)M * N, few), fx(N, few);
        RUN(hgemv_warp<<<blocks_for(M, 4), 128>>>((half2 *)ha.device, (half2 *)hx.device, hy, M,
                                                  N / 2));
        hy.fetch();
        std::vector<float> got;
        for (half h : hy.host) got.push_back(__half2float(h));
        compare(got, product(fa.host, fx.host, M, 1, N));
        int n = 40 * N * scale, blocks = 12 * scale;
        Array<half> u(
            n, [=](int i) { return fill(i); }),
            v(n, [=](int i) { return fill(i + 77); });
        Array<float> parts(blocks), total(1), p(n, element),
            q(n, [](int i) { return (float)element(i + 1); });
        float half_sum = 0, sum = 0;
        for (int i = 0; i < n; i++) half_sum += few(i) * few(i + 77), sum += p.host[i] * q.host[i];
        RUN(scalarProductKernel_native<<<blocks, 128>>>((half2 *)u.device, (half2 *)v.device, parts,
                                                        n / 2));
        parts.fetch();
        float all = 0;
        for (float part : parts.host) all += part;
        compare(std::vector<float>{all}, std::vector<float>{half_sum});
        RUN(dot_shared_atomic<<<blocks, 256>>>(p, q, total, n));
        compare(total, std::vector<float>{sum});
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

__global__ void permute_0213(const float *in, float *out, int A, int B, int C, int D) {
    int a = blockIdx.z, b = blockIdx.y, c = blockIdx.x;
    for (int d = threadIdx.x; d < D; d += blockDim.x)
        out[((a * C + c) * B + b) * D + d] = in[((a * B + b) * C + c) * D + d];
}

__global__ void transpose_float4(const float4 *in, float *out, int rows, int cols4) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols4 && y < rows) {
        float4 v = in[y * cols4 + x];
        out[(4 * x + 0) * rows + y] = v.x;
        out[(4 * x + 1) * rows + y] = v.y;
        out[(4 * x + 2) * rows + y] = v.z;
        out[(4 * x + 3) * rows + y] = v.w;
    }
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
        Array<float> f(all, element), fo(all);
        RUN(transpose_float4<<<dim3(blocks_for(cols / 4, 16), blocks_for(rows, 8)), dim3(16, 8)>>>(
            (float4 *)f.device, fo, rows, cols / 4));
        compare(fo, want);
        int D = cols / 4, C = 4, B = 6, A = rows / 6;
        for (size_t i = 0; i < all; i++) {
            int d = (int)i % D, c = (int)i / D % C, b = (int)i / D / C % B, a = (int)i / D / C / B;
            want[((a * C + c) * B + b) * D + d] = f.host[i];
        }
        RUN(permute_0213<<<dim3(C, B, A), 32>>>(f, fo, A, B, C, D));
        compare(fo, want);
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
    {"sgemm", sgemm}, {"other_gemms", other_gemms}, {"vectors", vectors},
    {"transposes", transposes},
};
CASES(cases)
