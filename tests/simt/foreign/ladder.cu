// A ladder of reductions as other people write it: a templated kernel of each rung for int, float
// and double, a single-pass one that finishes in its last block, and a cooperative one.
#include <string.h>
#include <time.h>
#include <cooperative_groups.h>

#include "told.h"

namespace cg = cooperative_groups;

#define FULL 0xffffffffu

// Dynamic shared memory of any type: templates may not declare it with different types.
template <typename T> __device__ T *shared_array() {
    extern __shared__ __align__(16) unsigned char bytes[];
    return (T *)bytes;
}

template <typename T> __global__ void interleaved_modulo(const T *in, T *out, unsigned n) {
    T *s = shared_array<T>();
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        if (t % (2 * k) == 0) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

template <typename T> __global__ void interleaved_strided(const T *in, T *out, unsigned n) {
    T *s = shared_array<T>();
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

template <typename T> __global__ void sequential(const T *in, T *out, unsigned n) {
    T *s = shared_array<T>();
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

template <typename T, unsigned BLOCK>
__global__ void unrolled(const T *in, T *out, unsigned n) {
    T *s = shared_array<T>();
    unsigned t = threadIdx.x, i = blockIdx.x * BLOCK * 2 + t, step = BLOCK * 2 * gridDim.x;
    T sum = 0;
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
template <typename T, unsigned BLOCK>
__global__ void volatile_tail(const T *in, T *out, unsigned n) {
    volatile T *s = shared_array<T>();
    unsigned t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned k = BLOCK / 2; k > 32; k /= 2) {
        if (t < k) s[t] = s[t] + s[t + k];
        __syncthreads();
    }
    if (t < 32) {
        T sum = s[t];
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

template <typename T> __device__ T warp_sum(T sum) {
    for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(FULL, sum, k);
    return sum;
}

template <typename T> __device__ T block_sum(T sum) {
    __shared__ T partial[32];
    unsigned t = threadIdx.x;
    sum = warp_sum(sum);
    if (t % 32 == 0) partial[t / 32] = sum;
    __syncthreads();
    sum = t < blockDim.x / 32 ? partial[t] : (T)0;
    return t < 32 ? warp_sum(sum) : sum;
}

__device__ unsigned tickets;

// One launch: the block that draws the last ticket adds up what all have left.
template <typename T> __global__ void single_pass(const T *in, volatile T *partials, T *out,
                                                  unsigned n) {
    __shared__ bool last;
    T sum = 0;
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

// One cooperative launch: all blocks meet, then one finishes.
template <typename T> __global__ void cooperative(const T *in, T *partials, T *out, unsigned n) {
    auto grid = cg::this_grid();
    T sum = 0;
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
    grid.sync();
    if (blockIdx.x > 0) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partials[i];
    __syncthreads();
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}

template <typename T> __global__ void atomic_per_block(const T *in, T *out, unsigned n) {
    T sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

template <typename T> static void check(const char *type, unsigned n) {
    T *d_in = device_elements<T>(n), *d_out, *d_one;
    double want = 0;
    for (unsigned i = 0; i < n; i++) want += element(i);
    const unsigned block = 256, most = n / block + 16;
    T *host = (T *)malloc(most * sizeof(T));
    CUDA(cudaMalloc((void **)&d_out, most * sizeof(T)));
    CUDA(cudaMalloc((void **)&d_one, sizeof(T)));
    char name[80];

    auto finish = [&](const char *kernel, unsigned blocks) {
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpy(host, d_out, blocks * sizeof(T), cudaMemcpyDeviceToHost));
        double sum = 0;
        for (unsigned i = 0; i < blocks; i++) sum += (double)host[i];
        snprintf(name, sizeof name, "%s<%s>(%u)", kernel, type, n);
        tell_value(name, sum, want);
        CUDA(cudaMemset(d_out, 0xff, most * sizeof(T)));
    };
    auto finish_one = [&](const char *kernel) {
        T sum;
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpy(&sum, d_one, sizeof sum, cudaMemcpyDeviceToHost));
        snprintf(name, sizeof name, "%s<%s>(%u)", kernel, type, n);
        tell_value(name, sum, want);
        CUDA(cudaMemset(d_one, 0, sizeof sum));
    };
    unsigned blocks = (n + block - 1) / block, bytes = block * sizeof(T);
    interleaved_modulo<T><<<blocks, block, bytes>>>(d_in, d_out, n);
    finish("interleaved_modulo", blocks);
    interleaved_strided<T><<<blocks, block, bytes>>>(d_in, d_out, n);
    finish("interleaved_strided", blocks);
    sequential<T><<<blocks, block, bytes>>>(d_in, d_out, n);
    finish("sequential", blocks);
    unrolled<T, 64><<<7, 64, 64 * sizeof(T)>>>(d_in, d_out, n);
    finish("unrolled 64", 7);
    unrolled<T, 1024><<<2, 1024, 1024 * sizeof(T)>>>(d_in, d_out, n);
    finish("unrolled 1024", 2);
    volatile_tail<T, 256><<<blocks, 256, bytes>>>(d_in, d_out, n);
    finish("volatile_tail", blocks);
    CUDA(cudaMemset(d_one, 0, sizeof(T)));
    single_pass<T><<<9, block>>>(d_in, d_out, d_one, n);
    finish_one("single_pass");
    single_pass<T><<<1, 64>>>(d_in, d_out, d_one, n);
    finish_one("single_pass again");
    atomic_per_block<T><<<5, block>>>(d_in, d_one, n);
    finish_one("atomic_per_block");
    int per_sm = 0;
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, cooperative<T>, block, 0));
    void *arguments[] = {&d_in, &d_out, &d_one, &n};
    CUDA(cudaLaunchCooperativeKernel((void *)cooperative<T>, dim3(per_sm < 8 ? 1 : 8), dim3(block),
                                     arguments, 0, 0));
    finish_one("cooperative");
    cudaFree(d_in), cudaFree(d_out), cudaFree(d_one), free(host);
}

// Times each float kernel on n elements, 256 threads to a block: lines `time KERNEL milliseconds`.
static void time_kernels(unsigned n) {
    float *d_in = device_elements<float>(n), *d_out;
    const unsigned block = 256, blocks = (n + block - 1) / block;
    CUDA(cudaMalloc((void **)&d_out, (blocks + 1) * sizeof(float)));
    CUDA(cudaMemset(d_out, 0, (blocks + 1) * sizeof(float)));
    auto timed = [&](const char *name, auto launch) {
        timespec start, end;
        CUDA(cudaDeviceSynchronize());
        timespec_get(&start, TIME_UTC);
        launch();
        CUDA(cudaGetLastError());
        CUDA(cudaDeviceSynchronize());
        timespec_get(&end, TIME_UTC);
        printf("time %s %.3f\n", name, (double)(end.tv_sec - start.tv_sec) * 1e3 +
               (double)(end.tv_nsec - start.tv_nsec) / 1e6);
    };
    unsigned bytes = block * sizeof(float);
    timed("interleaved_modulo",
          [&] { interleaved_modulo<float><<<blocks, block, bytes>>>(d_in, d_out, n); });
    timed("interleaved_strided",
          [&] { interleaved_strided<float><<<blocks, block, bytes>>>(d_in, d_out, n); });
    timed("sequential", [&] { sequential<float><<<blocks, block, bytes>>>(d_in, d_out, n); });
    timed("volatile_tail",
          [&] { volatile_tail<float, 256><<<blocks, block, bytes>>>(d_in, d_out, n); });
    timed("unrolled", [&] { unrolled<float, 256><<<1024, block, bytes>>>(d_in, d_out, n); });
    timed("single_pass", [&] { single_pass<float><<<1024, block>>>(d_in, d_out, d_out + blocks, n); });
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "time")) return time_kernels((unsigned)atoi(argv[2])), 0;
    for (unsigned n : {1u, 33u, 1000u, 100003u}) {
        check<int>("int", n);
        check<float>("float", n);
        check<double>("double", n);
    }
    return wrong_count != 0;
}
