// One algorithm per kernel, as in the CUDA samples: vector addition, transposes, a scan, a stencil,
// random walks, dynamic programming.
#include <algorithm>

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

// ---- Transposes

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

static void scan(int scale) {
    for (int n : {64, 512}) {
        int blocks = 6 * scale;
        Array<int> in((size_t)n * blocks, element), out((size_t)n * blocks);
        std::vector<int> want((size_t)n * blocks);
        for (int i = 0; i < n * blocks; i++) want[i] = i % n ? want[i - 1] + in.host[i - 1] : 0;
        RUN(scan_workefficient<<<blocks, n / 2, n * sizeof(int)>>>(out, in, n));
        compare(out, want);
    }
}

// ---- Filters and transforms

__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj, float softening) {
    float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + softening;
    float invDist = rsqrtf(distSqr), s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s, ai.y += r.y * s, ai.z += r.z * s;
    return ai;
}

// ---- Grids

template <int TX, int TY> __global__ void jacobi_shared(const float *in, float *out, int w, int h) {
    __shared__ float tile[TY + 2][TX + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    if (x < w && y < h) {
        tile[ty][tx] = in[y * w + x];
        if (threadIdx.x == 0 && x > 0) tile[ty][0] = in[y * w + x - 1];
        if (threadIdx.x == TX - 1 && x < w - 1) tile[ty][TX + 1] = in[y * w + x + 1];
        if (threadIdx.y == 0 && y > 0) tile[0][tx] = in[(y - 1) * w + x];
        if (threadIdx.y == TY - 1 && y < h - 1) tile[TY + 1][tx] = in[(y + 1) * w + x];
    }
    __syncthreads();
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        out[y * w + x] =
            0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

// Random walkers, each until it leaves the interval; a linear congruential generator.
__global__ void random_walks(unsigned seed, int *steps, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = seed + i * 747796405u;
    int at = 0, count = 0;
    while (at > -width && at < width && count < 500) {
        state = state * 1664525u + 1013904223u;
        at += (state >> 28) < 8 ? -1 : 1;
        count++;
    }
    steps[i] = count;
}

// The shortest path down a grid of costs: several rows per launch, with a halo that shrinks row by row.
__global__ void dynproc_kernel(int iteration, const int *gpuWall, const int *gpuSrc,
                               int *gpuResults, int cols, int startStep) {
    const int BLOCK_SIZE = 128;
    __shared__ int prev[BLOCK_SIZE], result[BLOCK_SIZE];
    int bx = blockIdx.x, tx = threadIdx.x;
    int small_block_cols = BLOCK_SIZE - iteration * 2;
    int blkX = small_block_cols * bx - iteration, blkXmax = blkX + BLOCK_SIZE - 1, xidx = blkX + tx;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - cols + 1) : BLOCK_SIZE - 1;
    int W = tx - 1, E = tx + 1;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;
    bool isValid = tx >= validXmin && tx <= validXmax;
    if (xidx >= 0 && xidx < cols) prev[tx] = gpuSrc[xidx];
    __syncthreads();
    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= BLOCK_SIZE - i - 2 && isValid) {
            computed = true;
            int shortest = min(min(prev[W], prev[tx]), prev[E]);
            int index = cols * (startStep + i) + xidx;
            result[tx] = shortest + gpuWall[index];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed) gpuResults[xidx] = result[tx];
}

static void grids(int scale) {
    for (int w : {64, 100}) {
        int h = 40 * scale, n = w * h;
        Array<float> in(n, element), out(n);
        std::vector<float> want(n);
        for (int i = 0; i < n; i++)
            if (i % w && i % w < w - 1 && i / w && i / w < h - 1)
                want[i] =
                    0.25f * (in.host[i - 1] + in.host[i + 1] + in.host[i - w] + in.host[i + w]);
        RUN(jacobi_shared<32, 8>
            <<<dim3(blocks_for(w, 32), blocks_for(h, 8)), dim3(32, 8)>>>(in, out, w, h));
        compare(out, want);
        RUN(jacobi_shared<16, 16>
            <<<dim3(blocks_for(w, 16), blocks_for(h, 16)), dim3(16, 16)>>>(in, out, w, h));
        compare(out, want);
    }
}

static void walks(int scale) {
    int n = 1000 * scale;
    Array<int> steps(n);
    std::vector<int> want(n);
    for (int i = 0; i < n; i++) {
        unsigned state = 12345 + i * 747796405u;
        for (int at = 0; at > -6 && at < 6 && want[i] < 500; want[i]++) {
            state = state * 1664525u + 1013904223u;
            at += (state >> 28) < 8 ? -1 : 1;
        }
    }
    for (int block : {64, 256})
        RUN(random_walks<<<blocks_for(n, block), block>>>(12345, steps, n, 6));
    compare(steps, want);
}

static void shortest_way(int scale) {
    for (int cols : {100, 700 * scale}) {
        int rows = 9;
        Array<int> wall((size_t)rows * cols, [](int i) { return whole(i, 10); }),
            a(cols, [](int i) { return whole(i + 9, 10); }), b(cols);
        std::vector<int> want = a.host;
        for (int r = 0; r < rows; r++) {
            std::vector<int> from = want;
            for (int x = 0; x < cols; x++)
                want[x] =
                    wall.host[(size_t)r * cols + x] +
                    std::min({from[x], from[std::max(x - 1, 0)], from[std::min(x + 1, cols - 1)]});
        }
        int *from = a, *to = b;
        for (int step = 0; step < rows; step += 3, std::swap(from, to))
            RUN(dynproc_kernel<<<blocks_for(cols, 128 - 6), 128>>>(3, wall, from, to, cols, step));
        compare(b, want);
    }
}

static const Case cases[] = {
    {"vector_add", vector_add}, {"transpose", transpose}, {"scan", scan},
    {"grids", grids},           {"walks", walks},         {"shortest_way", shortest_way},
};
CASES(cases)
