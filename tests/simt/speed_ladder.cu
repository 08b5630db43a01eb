// A ladder of reductions in a common style, and a tiled matrix product, for `tests/simt/bench`:
// prints `time KERNEL milliseconds`. Argument: the number of elements.
#include <time.h>

#include "kernels/cases.h"

#define FULL 0xffffffffu

__global__ void interleaved_modulo(const float *in, float *out, unsigned n) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        if (t % (2 * k) == 0) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void interleaved_strided(const float *in, float *out, unsigned n) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        unsigned at = 2 * k * t;
        if (at < blockDim.x) s[at] += s[at + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void sequential(const float *in, float *out, unsigned n) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

template <unsigned BLOCK>
__global__ void unrolled(const float *in, float *out, unsigned n) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * BLOCK * 2 + t, step = BLOCK * 2 * gridDim.x;
    float sum = 0;
    while (i < n) {
        sum += in[i];
        if (i + BLOCK < n) sum += in[i + BLOCK];
        i += step;
    }
    s[t] = sum;
    __syncthreads();
    if (BLOCK >= 1024 && t < 512) s[t] = sum = sum + s[t + 512];
    __syncthreads();
    if (BLOCK >= 512 && t < 256) s[t] = sum = sum + s[t + 256];
    __syncthreads();
    if (BLOCK >= 256 && t < 128) s[t] = sum = sum + s[t + 128];
    __syncthreads();
    if (BLOCK >= 128 && t < 64) s[t] = sum = sum + s[t + 64];
    __syncthreads();
    if (t < 32) {
        if (BLOCK >= 64) sum += s[t + 32];
        for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(FULL, sum, k);
    }
    if (t == 0) out[blockIdx.x] = sum;
}

// The last warp with volatile pointers and __syncwarp between the steps.
template <unsigned BLOCK>
__global__ void volatile_tail(const float *in, float *out, unsigned n) {
    extern __shared__ volatile float s_volatile[];
    volatile float *s = s_volatile;
    unsigned t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned k = BLOCK / 2; k > 32; k /= 2) {
        if (t < k) s[t] = s[t] + s[t + k];
        __syncthreads();
    }
    if (t < 32) {
        float sum = s[t];
#pragma unroll
        for (unsigned k = 32; k > 0; k /= 2) {
            sum += s[t + k];
            __syncwarp();
            s[t] = sum;
            __syncwarp();
        }
        if (t == 0) out[blockIdx.x] = sum;
    }
}

__device__ float warp_sum(float sum) {
    for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(FULL, sum, k);
    return sum;
}

__device__ float block_sum(float sum) {
    __shared__ float partial[32];
    unsigned t = threadIdx.x;
    sum = warp_sum(sum);
    if (t % 32 == 0) partial[t / 32] = sum;
    __syncthreads();
    sum = t < blockDim.x / 32 ? partial[t] : 0.0f;
    return t < 32 ? warp_sum(sum) : sum;
}

__device__ unsigned tickets;

// One launch: the block that draws the last ticket adds up the partial sums of all blocks.
__global__ void single_pass(const float *in, volatile float *partials, float *out,
                                                  unsigned n) {
    __shared__ bool last;
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&tickets, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partials[i];
    __syncthreads();
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        *out = sum;
        tickets = 0;
    }
}

#define N 128
#define TILE 16

__global__ void matmul_tiled(const float *a, const float *b, float *c) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (unsigned k = 0; k < N; k += TILE) {
        as[y][x] = a[row * N + k + x];
        bs[y][x] = b[(k + y) * N + column];
        __syncthreads();
        for (unsigned i = 0; i < TILE; i++) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[row * N + column] = sum;
}

template <typename F> static void timed(const char *name, F launch) {
    CUDA(cudaDeviceSynchronize());
    auto start = std::chrono::steady_clock::now();
    launch();
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    printf("time %s %.3f\n", name, wall.count());
}

#define TIME(name, ...) timed(#name, [&] { name __VA_ARGS__; })

int main(int argc, char **argv) {
    const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000, block = 256;
    const unsigned blocks = (n + block - 1) / block, bytes = block * sizeof(float);
    Array<float> in(n, element), out(blocks + 1025), a(N * N, element), b(N * N, element), c(N * N);
    TIME(interleaved_modulo, <<<blocks, block, bytes>>>(in, out, n));
    TIME(interleaved_strided, <<<blocks, block, bytes>>>(in, out, n));
    TIME(sequential, <<<blocks, block, bytes>>>(in, out, n));
    TIME(volatile_tail, <256><<<blocks, block, bytes>>>(in, out, n));
    TIME(unrolled, <256><<<1024, block, bytes>>>(in, out, n));
    TIME(single_pass, <<<1024, block>>>(in, out, out + blocks + 1024, n));
    for (int k = 0; k < 5; k++) // the first launch includes lowering
        TIME(matmul_tiled, <<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c));
    return 0;
}
