// Kernels of many kinds for `tests/simt/bench`: what --check costs beside counting. Prints
// `time KERNEL MILLISECONDS` for each, the best of some launches. Arguments: elements, a power of 2;
// one kernel.
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CUDA(call)                                                             \
    do {                                                                       \
        cudaError_t error_ = (call);                                           \
        if (error_ != cudaSuccess) {                                           \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

// Where everything is: all arrays hold n elements of what they are used for.
typedef struct {
    float *a, *b, *c;
    unsigned *index, *bins;
    unsigned n;
} Room;

__global__ void copy_float(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    r.c[i] = r.a[i] + r.b[i];
}

__global__ void copy_float4(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < r.n / 4) ((float4 *)r.c)[i] = ((const float4 *)r.a)[i];
}

__global__ void copy_half(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    ((__half *)r.c)[i] = __hadd(((const __half *)r.a)[i], ((const __half *)r.b)[i]);
}

__global__ void copy_bytes(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    ((uint8_t *)r.c)[i] = (uint8_t)(((const uint8_t *)r.a)[i] + 1);
}

__global__ void scale_in_place(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    r.c[i] = r.c[i] * 1.5f + r.a[i];
}

__global__ void stencil(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i + 1 < r.n) r.c[i] = 0.5f * r.a[i] + 0.25f * (r.a[i - 1] + r.a[i + 1]);
}

__global__ void gather(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    r.c[i] = r.a[r.index[i]];
}

__global__ void scatter(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    r.c[r.index[i]] = r.a[i];
}

__global__ void strided(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, rows = 64, columns = r.n / rows;
    r.c[i] = r.a[i % rows * columns + i / rows];
}

__global__ void transpose(Room r) {
    __shared__ float tile[32][33];
    unsigned columns = 1024, x = blockIdx.x % 32 * 32, y = blockIdx.x / 32 * 32;
    for (unsigned k = threadIdx.y; k < 32; k += 8)
        tile[k][threadIdx.x] = r.a[(y + k) * columns + x + threadIdx.x];
    __syncthreads();
    for (unsigned k = threadIdx.y; k < 32; k += 8)
        r.c[(y + k) * columns + x + threadIdx.x] = tile[threadIdx.x][k];
}

__global__ void matrix_product(Room r) {
    __shared__ float as[32][32], bs[32][32];
    const unsigned size = 256, x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.x / 8 * 32 + y, column = blockIdx.x % 8 * 32 + x;
    float sum = 0;
    for (unsigned k = 0; k < size; k += 32) {
        as[y][x] = r.a[row * size + k + x];
        bs[y][x] = r.b[(k + y) * size + column];
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < 32; i++) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    r.c[row * size + column] = sum;
}

__global__ void histogram_shared(Room r) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned k = 0; k < 8; k++)
        atomicAdd(&bins[r.index[(blockIdx.x * 8 + k) * 256 + threadIdx.x] % 256], 1);
    __syncthreads();
    atomicAdd(&r.bins[threadIdx.x], bins[threadIdx.x]);
}

__global__ void histogram_global(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&r.bins[r.index[i] % 4096], 1);
}

__global__ void scatter_add(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&r.c[r.index[i]], 1.0f);
}

__global__ void softmax_rows(Room r) {
    __shared__ float of_warp[8];
    const float *row = r.a + blockIdx.x * 1024;
    float x[4], most = -1e30f, sum = 0;
    for (int k = 0; k < 4; k++) most = fmaxf(most, x[k] = row[threadIdx.x + 256 * k]);
    for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = most;
    __syncthreads();
    for (int k = 0; k < 8; k++) most = fmaxf(most, of_warp[k]);
    for (int k = 0; k < 4; k++) sum += x[k] = __expf(x[k] - most);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++) sum += of_warp[k];
    for (int k = 0; k < 4; k++) r.c[blockIdx.x * 1024 + threadIdx.x + 256 * k] = x[k] / sum;
}

__global__ void sort_shared(Room r) {
    __shared__ unsigned s[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = r.index[base + t];
    s[t + 256] = r.index[base + t + 256];
    for (unsigned size = 2; size <= 512; size *= 2) {
        for (unsigned d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            unsigned low = t / d * 2 * d + t % d, high = low + d;
            bool up = !(low & size), swap = (s[low] > s[high]) == up;
            if (swap) {
                unsigned keep = s[low];
                s[low] = s[high];
                s[high] = keep;
            }
        }
    }
    __syncthreads();
    ((unsigned *)r.c)[base + t] = s[t];
    ((unsigned *)r.c)[base + t + 256] = s[t + 256];
}

__global__ void scan_shared(Room r) {
    __shared__ float s[2][256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
    s[0][t] = r.a[i];
    for (unsigned d = 1; d < 256; d *= 2, from ^= 1) {
        __syncthreads();
        s[from ^ 1][t] = s[from][t] + (t >= d ? s[from][t - d] : 0.0f);
    }
    r.c[i] = s[from][t];
}

__global__ void bytes_shared(Room r) {
    __shared__ uint8_t s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (unsigned k = 0; k < 8; k++) {
        s[t] = (uint8_t)(r.index[i] + k);
        __syncthreads();
        r.c[i] += s[255 - t];
        __syncthreads();
    }
}

__global__ void last_block(Room r) {
    __shared__ bool last;
    r.c[blockIdx.x * 256 + threadIdx.x] = r.a[blockIdx.x * 256 + threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&r.bins[r.n - 1], gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += r.c[b * 256 + threadIdx.x];
    r.b[threadIdx.x] = sum;
}

__global__ void race_shared(Room r) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = r.a[i];
    for (unsigned k = 0; k < 16; k++) s[t] = s[t] + s[(t + 32) % 256];
    r.c[i] = s[t];
}

__global__ void race_global(Room r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    r.c[i] = r.c[(i + 256) % r.n] + r.a[i];
}

static double now_ms(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

typedef struct {
    const char *name;
    void (*kernel)(Room);
    unsigned per_block; // elements that a block takes
    unsigned x, y;      // threads
} Row;

#define ROW(kernel, ...) {#kernel, kernel, __VA_ARGS__}
static const Row rows[] = {
    ROW(copy_float, 256, 256, 1),      ROW(copy_float4, 1024, 256, 1),
    ROW(copy_half, 256, 256, 1),       ROW(copy_bytes, 256, 256, 1),
    ROW(scale_in_place, 256, 256, 1),  ROW(stencil, 256, 256, 1),
    ROW(gather, 256, 256, 1),          ROW(scatter, 256, 256, 1),
    ROW(strided, 256, 256, 1),         ROW(transpose, 1024, 32, 8),
    ROW(matrix_product, 0, 32, 32),    ROW(histogram_shared, 2048, 256, 1),
    ROW(histogram_global, 256, 256, 1), ROW(scatter_add, 256, 256, 1),
    ROW(softmax_rows, 1024, 256, 1),   ROW(sort_shared, 512, 256, 1),
    ROW(scan_shared, 256, 256, 1),     ROW(bytes_shared, 256, 256, 1),
    ROW(last_block, 256, 256, 1),      ROW(race_shared, 256, 256, 1),
    ROW(race_global, 256, 256, 1),
};

int main(int argc, char **argv) {
    enum { LAUNCHES = 3 };
    Room r = {.n = argc > 1 ? (unsigned)atoi(argv[1]) : 1u << 20};
    unsigned *h_index = (unsigned *)malloc(r.n * sizeof *h_index);
    for (unsigned i = 0; i < r.n; i++) h_index[i] = i * 2654435761u % r.n;
    void **all[] = {(void **)&r.a, (void **)&r.b, (void **)&r.c, (void **)&r.index,
                    (void **)&r.bins};
    for (void **array : all) {
        CUDA(cudaMalloc(array, r.n * sizeof(float)));
        CUDA(cudaMemset(*array, 0, r.n * sizeof(float)));
    }
    CUDA(cudaMemcpy(r.index, h_index, r.n * sizeof *h_index, cudaMemcpyHostToDevice));
    for (const Row &row : rows) {
        if (argc > 2 && strcmp(row.name, argv[2]) != 0) continue;
        double best = 1e30;
        unsigned blocks = row.per_block ? r.n / row.per_block : 64;
        for (int k = 0; k < LAUNCHES; k++) {
            double start = now_ms();
            row.kernel<<<blocks, dim3(row.x, row.y)>>>(r);
            CUDA(cudaDeviceSynchronize());
            best = fmin(best, now_ms() - start);
        }
        printf("time %s %.3f\n", row.name, best);
    }
    return 0;
}
