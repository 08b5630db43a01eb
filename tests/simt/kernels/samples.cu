// In the manner of the CUDA samples: one algorithm a kernel, as it is taught.
#include "cases.h"

// ---- Element by element

__global__ void vectorAdd(const float *A, const float *B, float *C, int numElements) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < numElements) C[i] = A[i] + B[i];
}

static void vector_add(int scale) {
    for (int n : {1000, 50000 * scale}) {
        Array<float> a(n, real), b(n, element), c(n);
        std::vector<float> want(n);
        for (int i = 0; i < n; i++) want[i] = a.host[i] + b.host[i];
        for (int block : {64, 256}) RUN(vectorAdd<<<blocks_for(n, block), block>>>(a, b, c, n));
        compare(c, want);
    }
}

__device__ float cnd(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f,
                A5 = 1.330274429f, RSQRT2PI = 0.39894228040143267794f;
    float K = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float value =
        RSQRT2PI * expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) value = 1.0f - value;
    return value;
}

__global__ void BlackScholesGPU(float *__restrict__ call, float *__restrict__ put,
                                const float *__restrict__ price, const float *__restrict__ strike,
                                const float *__restrict__ years, float R, float V, int optN) {
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt >= optN) return;
    float S = price[opt], X = strike[opt], T = years[opt];
    float sqrtT = sqrtf(T);
    float d1 = (logf(S / X) + (R + 0.5f * V * V) * T) / (V * sqrtT), d2 = d1 - V * sqrtT;
    float c1 = cnd(d1), c2 = cnd(d2), discount = expf(-R * T);
    call[opt] = S * c1 - X * discount * c2;
    put[opt] = X * discount * (1.0f - c2) - S * (1.0f - c1);
}

static void black_scholes(int scale) {
    for (int n : {777, 20000 * scale}) {
        Array<float> s(n, [](int i) { return 17.5f + 12.5f * real(i); });
        Array<float> x(n, [](int i) { return 50.5f + 49.5f * real(i + 1); });
        Array<float> t(n, [](int i) { return 5.2f + 4.8f * real(i + 2); });
        Array<float> call(n), put(n);
        RUN(BlackScholesGPU<<<blocks_for(n, 128), 128>>>(call, put, s, x, t, 0.02f, 0.3f, n));
        std::vector<double> parity(n); // call - put = S - X e^-RT
        for (int i = 0; i < n; i++) parity[i] = s.host[i] - x.host[i] * exp(-0.02 * t.host[i]);
        call.fetch(), put.fetch();
        std::vector<float> got(n);
        for (int i = 0; i < n; i++) got[i] = call.host[i] - put.host[i];
        compare(got, parity, 1e-4);
    }
}

__global__ void mandelbrot0(unsigned char *dst, int imageW, int imageH, int crunch, float x0,
                            float y0, float step) {
    const int ix = blockDim.x * blockIdx.x + threadIdx.x,
              iy = blockDim.y * blockIdx.y + threadIdx.y;
    if (ix < imageW && iy < imageH) {
        const float cx = x0 + step * ix, cy = y0 + step * iy;
        float x = 0, y = 0, xx = 0, yy = 0;
        int i = crunch;
        while (--i && (xx + yy < 4.0f)) {
            y = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, x), y), cy);
            x = __fadd_rn(__fsub_rn(xx, yy), cx);
            yy = __fmul_rn(y, y);
            xx = __fmul_rn(x, x);
        }
        dst[imageW * iy + ix] = (unsigned char)i;
    }
}

static void mandelbrot(int scale) {
    for (int w : {40, 120 * scale}) {
        int h = 50;
        Array<unsigned char> image((size_t)w * h);
        for (dim3 block : {dim3(16, 16), dim3(32, 4)})
            RUN(mandelbrot0<<<dim3(blocks_for(w, block.x), blocks_for(h, block.y)), block>>>(
                image, w, h, 200, -2.0f, -1.25f, 0.03125f));
        std::vector<int> want;
        for (int k = 0; k < w * h; k++) {
            volatile float cx = -2.0f + 0.03125f * (float)(k % w),
                           cy = -1.25f + 0.03125f * (float)(k / w);
            volatile float x = 0, y = 0, xx = 0, yy = 0, m;
            int i = 200;
            while (--i && (xx + yy < 4.0f)) {
                m = 2.0f * x, m = m * y, y = m + cy;
                m = xx - yy, x = m + cx;
                yy = y * y, xx = x * x;
            }
            want.push_back(i);
        }
        compare(image, want);
    }
}

// ---- Matrices

template <int BLOCK_SIZE>
__global__ void MatrixMulCUDA(float *C, float *A, float *B, int wA, int wB) {
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int aBegin = wA * BLOCK_SIZE * by, aEnd = aBegin + wA - 1, aStep = BLOCK_SIZE;
    int bBegin = BLOCK_SIZE * bx, bStep = BLOCK_SIZE * wB;
    float Csub = 0;
    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k) Csub += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}

static void matrix_mul(int scale) {
    for (int size : {64, 96}) {
        int h = size * scale;
        Array<float> a((size_t)h * size, element), b((size_t)size * size, element),
            c((size_t)h * size);
        RUN(MatrixMulCUDA<16><<<dim3(size / 16, h / 16), dim3(16, 16)>>>(c, a, b, size, size));
        RUN(MatrixMulCUDA<32><<<dim3(size / 32, h / 32), dim3(32, 32)>>>(c, a, b, size, size));
        std::vector<float> want((size_t)h * size);
        for (int i = 0; i < h; i++)
            for (int k = 0; k < size; k++)
                for (int j = 0; j < size; j++)
                    want[i * size + j] += a.host[i * size + k] * b.host[k * size + j];
        compare(c, want);
    }
}

#define TILE_DIM   32
#define BLOCK_ROWS 8

__global__ void transposeNaive(float *odata, const float *idata, int width, int height) {
    int xIndex = blockIdx.x * TILE_DIM + threadIdx.x, yIndex = blockIdx.y * TILE_DIM + threadIdx.y;
    int index_in = xIndex + width * yIndex, index_out = yIndex + height * xIndex;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        odata[index_out + i] = idata[index_in + i * width];
}

__global__ void transposeCoalesced(float *odata, const float *idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM];
    int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        tile[threadIdx.y + i][threadIdx.x] = idata[x + (y + i) * width];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x, y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        odata[x + (y + i) * height] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        tile[threadIdx.y + i][threadIdx.x] = idata[x + (y + i) * width];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x, y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        odata[x + (y + i) * height] = tile[threadIdx.x][threadIdx.y + i];
}

static void transpose(int scale) {
    for (int w : {64, 160}) {
        int h = 96 * scale;
        Array<float> in((size_t)w * h, real), out((size_t)w * h);
        std::vector<float> want((size_t)w * h);
        for (int i = 0; i < w * h; i++) want[(size_t)(i % w) * h + i / w] = in.host[i];
        dim3 grid(w / TILE_DIM, h / TILE_DIM), block(TILE_DIM, BLOCK_ROWS);
        RUN(transposeNaive<<<grid, block>>>(out, in, w, h));
        compare(out, want);
        RUN(transposeCoalesced<<<grid, block>>>(out, in, w, h));
        compare(out, want);
        RUN(transposeNoBankConflicts<<<grid, block>>>(out, in, w, h));
        compare(out, want);
    }
}

// ---- Sums and scans

__global__ void scalarProdGPU(float *d_C, const float *d_A, const float *d_B, int vectorN,
                              int elementN) {
    const int ACCUM_N = 1024;
    __shared__ float accumResult[ACCUM_N];
    for (int vec = blockIdx.x; vec < vectorN; vec += gridDim.x) {
        int vectorBase = elementN * vec, vectorEnd = vectorBase + elementN;
        for (int iAccum = threadIdx.x; iAccum < ACCUM_N; iAccum += blockDim.x) {
            float sum = 0;
            for (int pos = vectorBase + iAccum; pos < vectorEnd; pos += ACCUM_N)
                sum += d_A[pos] * d_B[pos];
            accumResult[iAccum] = sum;
        }
        for (int stride = ACCUM_N / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (int iAccum = threadIdx.x; iAccum < stride; iAccum += blockDim.x)
                accumResult[iAccum] += accumResult[stride + iAccum];
        }
        __syncthreads();
        if (threadIdx.x == 0) d_C[vec] = accumResult[0];
    }
}

static void scalar_prod(int scale) {
    for (int n : {500, 4096}) {
        int vectors = 12 * scale;
        Array<float> a((size_t)vectors * n, element), b((size_t)vectors * n, element), c(vectors);
        std::vector<double> want(vectors);
        for (int i = 0; i < vectors * n; i++) want[i / n] += a.host[i] * b.host[i];
        RUN(scalarProdGPU<<<8 * scale, 256>>>(c, a, b, vectors, n));
        compare(c, want);
        RUN(scalarProdGPU<<<3 * scale, 128>>>(c, a, b, vectors, n));
        compare(c, want);
    }
}

__global__ void scan_naive(int *g_odata, const int *g_idata, int n) {
    extern __shared__ int temp[];
    int thid = threadIdx.x, pout = 0, pin = 1;
    g_idata += blockIdx.x * n, g_odata += blockIdx.x * n;
    temp[pout * n + thid] = thid > 0 ? g_idata[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    g_odata[thid] = temp[pout * n + thid];
}

__global__ void scan_workefficient(int *g_odata, const int *g_idata, int n) {
    extern __shared__ int temp[];
    int thid = threadIdx.x, offset = 1;
    g_idata += blockIdx.x * n, g_odata += blockIdx.x * n;
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
}

#define CONFLICT_FREE_OFFSET(index) ((index) >> 5)

__global__ void scan_best(int *g_odata, const int *g_idata, int n) {
    extern __shared__ int temp[];
    int thid = threadIdx.x, ai = thid, bi = thid + n / 2;
    g_idata += blockIdx.x * n, g_odata += blockIdx.x * n;
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[ai];
    temp[bi + bankOffsetB] = g_idata[bi];
    int offset = 1;
    for (int d = n / 2; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int i = offset * (2 * thid + 1) - 1, j = offset * (2 * thid + 2) - 1;
            i += CONFLICT_FREE_OFFSET(i), j += CONFLICT_FREE_OFFSET(j);
            temp[j] += temp[i];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (thid < d) {
            int i = offset * (2 * thid + 1) - 1, j = offset * (2 * thid + 2) - 1;
            i += CONFLICT_FREE_OFFSET(i), j += CONFLICT_FREE_OFFSET(j);
            int t = temp[i];
            temp[i] = temp[j];
            temp[j] += t;
        }
    }
    __syncthreads();
    g_odata[ai] = temp[ai + bankOffsetA];
    g_odata[bi] = temp[bi + bankOffsetB];
}

static void scan(int scale) {
    for (int n : {64, 512}) {
        int blocks = 6 * scale;
        Array<int> in((size_t)n * blocks, element), out((size_t)n * blocks);
        std::vector<int> want((size_t)n * blocks);
        for (int i = 0; i < n * blocks; i++) want[i] = i % n ? want[i - 1] + in.host[i - 1] : 0;
        RUN(scan_naive<<<blocks, n, 2 * n * sizeof(int)>>>(out, in, n));
        compare(out, want);
        RUN(scan_workefficient<<<blocks, n / 2, n * sizeof(int)>>>(out, in, n));
        compare(out, want);
        RUN(scan_best<<<blocks, n / 2, (n + n / 32) * sizeof(int)>>>(out, in, n));
        compare(out, want);
    }
}

__global__ void shfl_scan_test(int *data, int width, int *partial_sums) {
    extern __shared__ int sums[];
    int id = blockIdx.x * blockDim.x + threadIdx.x, lane_id = id % warpSize,
        warp_id = threadIdx.x / warpSize;
    int value = data[id];
#pragma unroll
    for (int i = 1; i <= width; i *= 2) {
        int n = __shfl_up_sync(0xffffffff, value, i, width);
        if (lane_id >= i) value += n;
    }
    if (threadIdx.x % warpSize == warpSize - 1) sums[warp_id] = value;
    __syncthreads();
    if (warp_id == 0 && lane_id < blockDim.x / warpSize) {
        int warp_sum = sums[lane_id], mask = (1 << (blockDim.x / warpSize)) - 1;
        for (int i = 1; i <= blockDim.x / warpSize; i *= 2) {
            int n = __shfl_up_sync(mask, warp_sum, i, blockDim.x / warpSize);
            if (lane_id >= i) warp_sum += n;
        }
        sums[lane_id] = warp_sum;
    }
    __syncthreads();
    if (warp_id > 0) value += sums[warp_id - 1];
    data[id] = value;
    if (partial_sums != NULL && threadIdx.x == blockDim.x - 1) partial_sums[blockIdx.x] = value;
}

__global__ void uniform_add(int *data, int *partial_sums, int len) {
    __shared__ int buf;
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id > len) return;
    if (threadIdx.x == 0) buf = partial_sums[blockIdx.x];
    __syncthreads();
    data[id] += buf;
}

static void shuffle_scan(int scale) {
    for (int blocks : {8, 64}) {
        int n = 256 * blocks * scale;
        Array<int> data(n, element), sums(n / 256);
        std::vector<int> want(n);
        for (int i = 0, sum = 0; i < n; i++) want[i] = sum += data.host[i];
        RUN(shfl_scan_test<<<n / 256, 256, 8 * sizeof(int)>>>(data, 32, sums));
        sums.fetch();
        for (size_t i = 1; i < sums.host.size(); i++) sums.host[i] += sums.host[i - 1];
        sums.to_device();
        RUN(uniform_add<<<n / 256 - 1, 256>>>(data + 256, sums, n - 256));
        compare(data, want);
    }
}

// ---- Histograms

#define HISTOGRAM256_BIN_COUNT 256
#define WARP_COUNT             6

__global__ void histogram256Kernel(unsigned *d_PartialHistograms, const unsigned *d_Data,
                                   unsigned dataCount) {
    __shared__ unsigned s_Hist[WARP_COUNT * HISTOGRAM256_BIN_COUNT];
    unsigned *s_WarpHist = s_Hist + (threadIdx.x >> 5) * HISTOGRAM256_BIN_COUNT;
#pragma unroll
    for (unsigned i = 0; i < HISTOGRAM256_BIN_COUNT / 32; i++)
        s_Hist[threadIdx.x + i * WARP_COUNT * 32] = 0;
    __syncthreads();
    for (unsigned pos = blockIdx.x * blockDim.x + threadIdx.x; pos < dataCount;
         pos += blockDim.x * gridDim.x) {
        unsigned data = d_Data[pos];
        atomicAdd(s_WarpHist + ((data >> 0) & 0xFFU), 1);
        atomicAdd(s_WarpHist + ((data >> 8) & 0xFFU), 1);
        atomicAdd(s_WarpHist + ((data >> 16) & 0xFFU), 1);
        atomicAdd(s_WarpHist + ((data >> 24) & 0xFFU), 1);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < HISTOGRAM256_BIN_COUNT; bin += WARP_COUNT * 32) {
        unsigned sum = 0;
        for (unsigned i = 0; i < WARP_COUNT; i++) sum += s_Hist[bin + i * HISTOGRAM256_BIN_COUNT];
        d_PartialHistograms[blockIdx.x * HISTOGRAM256_BIN_COUNT + bin] = sum;
    }
}

__global__ void mergeHistogram256Kernel(unsigned *d_Histogram, const unsigned *d_PartialHistograms,
                                        unsigned histogramCount) {
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < histogramCount; i += 256)
        sum += d_PartialHistograms[blockIdx.x + i * HISTOGRAM256_BIN_COUNT];
    __shared__ unsigned data[256];
    data[threadIdx.x] = sum;
    for (unsigned stride = 256 / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride) data[threadIdx.x] += data[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) d_Histogram[blockIdx.x] = data[0];
}

static void histogram256(int scale) {
    for (int n : {4000, 20000 * scale}) {
        int blocks = 20 * scale;
        Array<unsigned> data(n, [](int i) { return (unsigned)i * 2654435761u; });
        Array<unsigned> partial((size_t)blocks * 256), bins(256);
        std::vector<int> want(256);
        for (unsigned word : data.host)
            for (int k = 0; k < 4; k++) want[word >> 8 * k & 255]++;
        RUN(histogram256Kernel<<<blocks, WARP_COUNT * 32>>>(partial, data, n));
        RUN(mergeHistogram256Kernel<<<256, 256>>>(bins, partial, blocks));
        compare(bins, want);
    }
}

// ---- Sorting networks

__device__ void Comparator(unsigned &keyA, unsigned &keyB, unsigned dir) {
    unsigned t;
    if ((keyA > keyB) == dir) t = keyA, keyA = keyB, keyB = t;
}

template <unsigned LENGTH>
__global__ void bitonicSortShared(unsigned *d_Dst, const unsigned *d_Src, unsigned dir) {
    __shared__ unsigned s_key[LENGTH];
    d_Src += blockIdx.x * LENGTH + threadIdx.x, d_Dst += blockIdx.x * LENGTH + threadIdx.x;
    s_key[threadIdx.x] = d_Src[0];
    s_key[threadIdx.x + LENGTH / 2] = d_Src[LENGTH / 2];
    for (unsigned size = 2; size < LENGTH; size <<= 1) {
        unsigned ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_key[pos + stride], ddd);
        }
    }
    for (unsigned stride = LENGTH / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos], s_key[pos + stride], dir);
    }
    __syncthreads();
    d_Dst[0] = s_key[threadIdx.x];
    d_Dst[LENGTH / 2] = s_key[threadIdx.x + LENGTH / 2];
}

template <unsigned LENGTH>
__global__ void oddEvenMergeSortShared(unsigned *d_Dst, const unsigned *d_Src, unsigned dir) {
    __shared__ unsigned s_key[LENGTH];
    d_Src += blockIdx.x * LENGTH + threadIdx.x, d_Dst += blockIdx.x * LENGTH + threadIdx.x;
    s_key[threadIdx.x] = d_Src[0];
    s_key[threadIdx.x + LENGTH / 2] = d_Src[LENGTH / 2];
    for (unsigned size = 2; size <= LENGTH; size <<= 1) {
        unsigned stride = size / 2, offset = threadIdx.x & (stride - 1);
        __syncthreads();
        unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos], s_key[pos + stride], dir);
        stride >>= 1;
        for (; stride > 0; stride >>= 1) {
            __syncthreads();
            pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            if (offset >= stride) Comparator(s_key[pos - stride], s_key[pos], dir);
        }
    }
    __syncthreads();
    d_Dst[0] = s_key[threadIdx.x];
    d_Dst[LENGTH / 2] = s_key[threadIdx.x + LENGTH / 2];
}

template <unsigned LENGTH> static void sort_blocks(int blocks) {
    Array<unsigned> in((size_t)LENGTH * blocks, [](int i) { return (unsigned)whole(i, 5000); });
    Array<unsigned> out((size_t)LENGTH * blocks);
    std::vector<unsigned> want = in.host;
    for (int b = 0; b < blocks; b++)
        for (unsigned i = 1; i < LENGTH; i++)
            for (unsigned *k = &want[b * LENGTH + i]; k > &want[b * LENGTH] && k[-1] > *k; k--) {
                unsigned t = *k;
                *k = k[-1], k[-1] = t;
            }
    RUN(bitonicSortShared<LENGTH><<<blocks, LENGTH / 2>>>(out, in, 1));
    compare(out, want);
    RUN(oddEvenMergeSortShared<LENGTH><<<blocks, LENGTH / 2>>>(out, in, 1));
    compare(out, want);
}

static void sorting_networks(int scale) {
    sort_blocks<64>(8 * scale);
    sort_blocks<512>(4 * scale);
}

// ---- Filters and transforms

#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];
#define ROWS_X     16
#define ROWS_Y     4
#define ROWS_STEPS 4
#define HALO       1

__global__ void convolutionRowsKernel(float *d_Dst, const float *d_Src, int imageW, int pitch) {
    __shared__ float s_Data[ROWS_Y][(ROWS_STEPS + 2 * HALO) * ROWS_X];
    const int baseX = (blockIdx.x * ROWS_STEPS - HALO) * ROWS_X + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_Y + threadIdx.y;
    d_Src += baseY * pitch + baseX, d_Dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = HALO; i < HALO + ROWS_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_X] = d_Src[i * ROWS_X];
#pragma unroll
    for (int i = 0; i < HALO; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_X] =
            (baseX >= -i * ROWS_X) ? d_Src[i * ROWS_X] : 0;
#pragma unroll
    for (int i = HALO + ROWS_STEPS; i < HALO + ROWS_STEPS + HALO; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_X] =
            (imageW - baseX > i * ROWS_X) ? d_Src[i * ROWS_X] : 0;
    __syncthreads();
#pragma unroll
    for (int i = HALO; i < HALO + ROWS_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_X + j];
        d_Dst[i * ROWS_X] = sum;
    }
}

#define COLUMNS_X     16
#define COLUMNS_Y     8
#define COLUMNS_STEPS 4

__global__ void convolutionColumnsKernel(float *d_Dst, const float *d_Src, int imageH, int pitch) {
    __shared__ float s_Data[COLUMNS_X][(COLUMNS_STEPS + 2 * HALO) * COLUMNS_Y + 1];
    const int baseX = blockIdx.x * COLUMNS_X + threadIdx.x;
    const int baseY = (blockIdx.y * COLUMNS_STEPS - HALO) * COLUMNS_Y + threadIdx.y;
    d_Src += baseY * pitch + baseX, d_Dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = HALO; i < HALO + COLUMNS_STEPS; i++)
        s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_Y] = d_Src[i * COLUMNS_Y * pitch];
#pragma unroll
    for (int i = 0; i < HALO; i++)
        s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_Y] =
            (baseY >= -i * COLUMNS_Y) ? d_Src[i * COLUMNS_Y * pitch] : 0;
#pragma unroll
    for (int i = HALO + COLUMNS_STEPS; i < HALO + COLUMNS_STEPS + HALO; i++)
        s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_Y] =
            (imageH - baseY > i * COLUMNS_Y) ? d_Src[i * COLUMNS_Y * pitch] : 0;
    __syncthreads();
#pragma unroll
    for (int i = HALO; i < HALO + COLUMNS_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum +=
                c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_Y + j];
        d_Dst[i * COLUMNS_Y * pitch] = sum;
    }
}

static void convolution_separable(int scale) {
    float taps[KERNEL_LENGTH];
    for (int i = 0; i < KERNEL_LENGTH; i++) taps[i] = (float)element(i + 3);
    CUDA(cudaMemcpyToSymbol(c_Kernel, taps, sizeof taps));
    for (int w : {64, 192}) {
        int h = 64 * scale;
        Array<float> in((size_t)w * h, element), out((size_t)w * h);
        std::vector<float> rows((size_t)w * h), columns((size_t)w * h);
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; k++) {
                    if (x + k >= 0 && x + k < w)
                        rows[y * w + x] += in.host[y * w + x + k] * taps[KERNEL_RADIUS - k];
                    if (y + k >= 0 && y + k < h)
                        columns[y * w + x] += in.host[(y + k) * w + x] * taps[KERNEL_RADIUS - k];
                }
        RUN(convolutionRowsKernel<<<dim3(w / (ROWS_STEPS * ROWS_X), h / ROWS_Y),
                                    dim3(ROWS_X, ROWS_Y)>>>(out, in, w, w));
        compare(out, rows);
        RUN(convolutionColumnsKernel<<<dim3(w / COLUMNS_X, h / (COLUMNS_STEPS * COLUMNS_Y)),
                                       dim3(COLUMNS_X, COLUMNS_Y)>>>(out, in, h, w));
        compare(out, columns);
    }
}

__global__ void fwtBatch1Kernel(float *d_Output, const float *d_Input, int log2N) {
    const int N = 1 << log2N, base = blockIdx.x << log2N;
    extern __shared__ float s_data[];
    const float *d_Src = d_Input + base;
    float *d_Dst = d_Output + base;
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = d_Src[pos];
    const int pos = threadIdx.x;
    for (int stride = N >> 2; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo, i1 = i0 + stride,
            i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        float D0 = s_data[i0], D1 = s_data[i1], D2 = s_data[i2], D3 = s_data[i3], T;
        T = D0, D0 = D0 + D2, D2 = T - D2;
        T = D1, D1 = D1 + D3, D3 = T - D3;
        T = D0, s_data[i0] = D0 + D1, s_data[i1] = T - D1;
        T = D2, s_data[i2] = D2 + D3, s_data[i3] = T - D3;
    }
    if (log2N & 1) {
        __syncthreads();
        for (int p = threadIdx.x; p < N / 2; p += blockDim.x) {
            int i0 = p << 1, i1 = i0 + 1;
            float D0 = s_data[i0], D1 = s_data[i1];
            s_data[i0] = D0 + D1, s_data[i1] = D0 - D1;
        }
    }
    __syncthreads();
    for (int p = threadIdx.x; p < N; p += blockDim.x) d_Dst[p] = s_data[p];
}

static void walsh(int scale) {
    for (int log2n : {7, 10}) {
        int n = 1 << log2n, batch = 5 * scale;
        Array<float> in((size_t)n * batch, element), out((size_t)n * batch);
        std::vector<float> want = in.host;
        for (int b = 0; b < batch; b++)
            for (int half = 1; half < n; half *= 2)
                for (int i = 0; i < n; i++)
                    if (!(i & half)) {
                        float *p = &want[(size_t)b * n + i], a = p[0], c = p[half];
                        p[0] = a + c, p[half] = a - c;
                    }
        RUN(fwtBatch1Kernel<<<batch, n / 4, n * sizeof(float)>>>(out, in, log2n));
        compare(out, want);
    }
}

__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj, float softening) {
    float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + softening;
    float invDist = rsqrtf(distSqr), s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s, ai.y += r.y * s, ai.z += r.z * s;
    return ai;
}

__global__ void integrateBodies(float4 *__restrict__ acceleration,
                                const float4 *__restrict__ position, int numTiles) {
    extern __shared__ float4 sharedPos[];
    float4 bodyPos = position[blockIdx.x * blockDim.x + threadIdx.x];
    float3 acc = {0, 0, 0};
    for (int tile = 0; tile < numTiles; tile++) {
        sharedPos[threadIdx.x] = position[tile * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 128
        for (unsigned counter = 0; counter < blockDim.x; counter++)
            acc = bodyBodyInteraction(acc, bodyPos, sharedPos[counter], 0.1f);
        __syncthreads();
    }
    acceleration[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(acc.x, acc.y, acc.z, 0);
}

static void nbody(int scale) {
    for (int block : {64, 128}) {
        int n = 512 * (scale > 4 ? 4 : scale);
        Array<float4> at(n, [](int i) {
            return make_float4(real(3 * i), real(3 * i + 1), real(3 * i + 2), 1.5f);
        });
        Array<float4> out(n);
        RUN(integrateBodies<<<n / block, block, block * sizeof(float4)>>>(out, at, n / block));
        std::vector<double> want(n);
        std::vector<float> got(n);
        out.fetch();
        for (int i = 0; i < n; i++) {
            got[i] = out.host[i].x;
            for (float4 b : at.host) {
                double x = b.x - at.host[i].x, y = b.y - at.host[i].y, z = b.z - at.host[i].z;
                want[i] += x * b.w * pow(x * x + y * y + z * z + 0.1f, -1.5);
            }
        }
        compare(got, want, 1e-3);
    }
}

__global__ void DCT8x8(float *Dst, const float *Src, int Stride) {
    __shared__ float block[8][9], half[8][9], basis[8][9];
    const int tx = threadIdx.x, ty = threadIdx.y;
    basis[ty][tx] = (ty ? 0.5f : 0.35355339f) * cospif((2 * tx + 1) * ty / 16.0f);
    block[ty][tx] = Src[(blockIdx.y * 8 + ty) * Stride + blockIdx.x * 8 + tx];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += basis[ty][i] * block[i][tx];
    half[ty][tx] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += half[ty][i] * basis[tx][i];
    Dst[(blockIdx.y * 8 + ty) * Stride + blockIdx.x * 8 + tx] = sum;
}

static void dct(int scale) {
    for (int w : {64, 72}) {
        int h = 64 * scale;
        Array<float> in((size_t)w * h, real), out((size_t)w * h);
        RUN(DCT8x8<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(out, in, w));
        std::vector<double> want;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                double sum = 0;
                for (int i = 0; i < 64; i++)
                    sum += in.host[(y / 8 * 8 + i / 8) * w + x / 8 * 8 + i % 8] *
                           cos(M_PI * (2 * (i / 8) + 1) * (y % 8) / 16) *
                           cos(M_PI * (2 * (i % 8) + 1) * (x % 8) / 16);
                want.push_back(sum * (y % 8 ? 0.5 : sqrt(0.125)) * (x % 8 ? 0.5 : sqrt(0.125)));
            }
        compare(out, want, 1e-4);
    }
}

__global__ void VoteAnyKernel(unsigned *input, unsigned *result, int size) {
    int tx = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = 0xffffffff;
    result[tx] = __any_sync(mask, input[tx]);
}

__global__ void VoteAllKernel(unsigned *input, unsigned *result, int size) {
    int tx = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = 0xffffffff;
    result[tx] = __all_sync(mask, input[tx]);
}

static void vote(int scale) {
    int n = 1024 * scale;
    Array<unsigned> in(n, [](int i) {
        return i / 32 % 3 == 0 ? 0u : i / 32 % 3 == 1 ? 1u : (unsigned)(i & 1);
    });
    Array<unsigned> out(n);
    std::vector<int> any, all;
    for (int i = 0; i < n; i++) any.push_back(i / 32 % 3 != 0), all.push_back(i / 32 % 3 == 1);
    RUN(VoteAnyKernel<<<n / 256, 256>>>(in, out, n));
    compare(out, any);
    RUN(VoteAllKernel<<<n / 256, 256>>>(in, out, n));
    compare(out, all);
}

static const Case cases[] = {
    {"vector_add", vector_add}, {"black_scholes", black_scholes}, {"mandelbrot", mandelbrot},
    {"matrix_mul", matrix_mul}, {"transpose", transpose}, {"scalar_prod", scalar_prod},
    {"scan", scan}, {"shuffle_scan", shuffle_scan}, {"histogram256", histogram256},
    {"sorting_networks", sorting_networks}, {"convolution_separable", convolution_separable},
    {"walsh", walsh}, {"nbody", nbody}, {"dct", dct}, {"vote", vote},
};
CASES(cases)
