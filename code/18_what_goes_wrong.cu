// Generated from chapters/18-what-goes-wrong.md by tangle: edit that file, not this one.
// Chapter 18: bugs of first reductions, and their fixes. Copy only what has _fixed in its name.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native 18_what_goes_wrong.cu -o lab && ./lab
// A partial sum per block of 256 threads.
__global__ void block_sums(const float *in, float *out, unsigned n) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();  // all elements are in s[]
    for (unsigned d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// A partial sum per block of 256 threads.
__global__ void block_sums_fixed(const float *in, float *out, unsigned n) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();  // all elements are in s[]
    for (unsigned d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Adds all elements to *out, which is 0, four per thread.
__global__ void sum_quads(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 q = ((const float4 *)in)[i];
    atomicAdd(out, q.x + q.y + q.z + q.w);
}

// Adds all elements to *out, which is 0, four per thread.
__global__ void sum_quads_fixed(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n % 4) atomicAdd(out, in[n - 1 - i]);
    if (i >= n / 4) return;
    float4 q = ((const float4 *)in)[i];
    atomicAdd(out, q.x + q.y + q.z + q.w);
}

// Adds all elements to *out, which is 0.
__global__ void sum_atomic(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, in[i]);
}

// A partial sum per block of 256 threads; n is a multiple of 256.
__global__ void block_sums_open(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();  // all elements are in s[]
    for (unsigned d = 128; d > 0; d /= 2)
        if (t < d) s[t] += s[t + d];
    if (t == 0) out[blockIdx.x] = s[0];
}

// A partial sum per block of 256 threads; n is a multiple of 256.
__global__ void block_sums_open_fixed(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();  // all elements are in s[]
    for (unsigned d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// The sum over a block of 256 threads, for each of them.
static __device__ float block_sum(float x) {
    __shared__ float s[8];
    for (unsigned d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;
    __syncthreads();  // the sums of the warps are in s[]
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

__global__ void block_moments(const float *in, float *out) {
    float x = in[blockIdx.x * blockDim.x + threadIdx.x];
    float sum = block_sum(x), squares = block_sum(x * x);
    if (threadIdx.x == 0) out[2 * blockIdx.x] = sum, out[2 * blockIdx.x + 1] = squares;
}

// The sum over a block of 256 threads, for each of them.
static __device__ float block_sum_fixed(float x) {
    __shared__ float s[8];
    for (unsigned d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, d);
    __syncthreads();  // the sums of an earlier call have been read
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;
    __syncthreads();  // the sums of the warps are in s[]
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

__global__ void block_moments_fixed(const float *in, float *out) {
    float x = in[blockIdx.x * blockDim.x + threadIdx.x];
    float sum = block_sum_fixed(x), squares = block_sum_fixed(x * x);
    if (threadIdx.x == 0) out[2 * blockIdx.x] = sum, out[2 * blockIdx.x + 1] = squares;
}

// The largest element of each block of 256 threads.
__global__ void block_maxima(const float *in, float *out, unsigned n) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) s[t] = in[i];
    __syncthreads();  // all elements are in s[]
    for (unsigned d = 128; d > 0; d /= 2) {
        if (t < d && s[t + d] > s[t]) s[t] = s[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// The largest element of each block of 256 threads.
__global__ void block_maxima_fixed(const float *in, float *out, unsigned n) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : -INFINITY;
    __syncthreads();  // all elements are in s[]
    for (unsigned d = 128; d > 0; d /= 2) {
        if (t < d && s[t + d] > s[t]) s[t] = s[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// The place of the largest element of each block; shared memory: 8 bytes per thread.
__global__ void block_places(const float *in, float *out) {
    extern __shared__ float value[];
    float *place = value + gridDim.x;
    unsigned t = threadIdx.x;
    value[t] = in[blockIdx.x * blockDim.x + t], place[t] = t;
    __syncthreads();  // all elements and their places are there
    for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d && value[t + d] > value[t]) value[t] = value[t + d], place[t] = place[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = place[0];
}

// The place of the largest element of each block; shared memory: 8 bytes per thread.
__global__ void block_places_fixed(const float *in, float *out) {
    extern __shared__ float value[];
    float *place = value + blockDim.x;
    unsigned t = threadIdx.x;
    value[t] = in[blockIdx.x * blockDim.x + t], place[t] = t;
    __syncthreads();  // all elements and their places are there
    for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d && value[t + d] > value[t]) value[t] = value[t + d], place[t] = place[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = place[0];
}

// A partial sum per block of 256 threads.
__global__ void block_sums_if(const float *in, float *out, unsigned n) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();  // all elements are in s[]
    if (i >= n) return;
    for (unsigned d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// A partial sum per block of 256 threads.
__global__ void block_sums_if_fixed(const float *in, float *out, unsigned n) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();  // all elements are in s[]
    for (unsigned d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();  // this level is complete
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// The sum of each warp's elements, from prefix sums.
__global__ void warp_totals(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned mask = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    float sum = in[i];
    for (unsigned d = 1; d < 32; d *= 2) {
        float left = __shfl_up_sync(mask, sum, d);
        if (lane >= d) sum += left;
    }
    float total = __shfl_sync(mask, sum, 31);
    if (lane == 0) out[i / 32] = total;
}

// The sum of each warp's elements, from prefix sums.
__global__ void warp_totals_fixed(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned mask = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    float sum = in[i];
    for (unsigned d = 1; d < 32; d *= 2) {
        float left = __shfl_up_sync(mask, sum, d);
        if (lane >= d) sum += left;
    }
    float total = __shfl_sync(mask, sum, 31 - __clz(mask));
    if (lane == 0) out[i / 32] = total;
}

// The sum of each warp without the element of the lane's neighbour.
__global__ void sums_without_neighbour(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float sum = s[t] = in[i];
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    out[i] = sum - s[t ^ 1];
}

// The sum of each warp without the element of the lane's neighbour.
__global__ void sums_without_neighbour_fixed(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float sum = s[t] = in[i];
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    __syncwarp();  // the warp's elements are in s[]
    out[i] = sum - s[t ^ 1];
}

// The sum. *tickets is 0; the block with the last ticket adds the partial sums.
__global__ void sum_ticket(const float *in, float *out, float *partial, unsigned *tickets) {
    __shared__ bool last;
    float sum = block_sum_fixed(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread knows whether its block is the last one
    if (!last) return;
    sum = block_sum_fixed(threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) *out = sum;
}

// The sum. *tickets is 0; the block with the last ticket adds the partial sums.
__global__ void sum_ticket_fixed(const float *in, float *out, float *partial, unsigned *tickets) {
    __shared__ bool last;
    float sum = block_sum_fixed(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // the partial sum is visible before the ticket is taken
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread knows whether its block is the last one
    if (!last) return;
    __threadfence();  // no partial sum is read before the ticket was taken
    sum = block_sum_fixed(threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) *out = sum;
}

// The largest element. *out is 0; no element is negative.
__global__ void maximum(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > *out) atomicExch(out, in[i]);
}

// The largest element. *out is 0; no element is negative.
__global__ void maximum_fixed(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax((int *)out, __float_as_int(in[i]));
}

// The number of events, from the counts of n detectors, by one thread.
__global__ void count_events(const float *in, float *out, unsigned n) {
    float count = 0;
    for (unsigned i = 0; i < n; i++) count += in[i];
    *out = count;
}

// The number of events, from the counts of n detectors, by one thread.
__global__ void count_events_fixed(const float *in, float *out, unsigned n) {
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++) count += (unsigned)in[i];
    *out = count;
}

// The variance of n elements, by one thread.
__global__ void variance(const float *in, float *out, unsigned n) {
    float sum = 0, squares = 0;
    for (unsigned i = 0; i < n; i++) {
        float x = in[i];
        sum += x, squares += x * x;
    }
    float mean = sum / n;
    *out = squares / n - mean * mean;
}

// The variance of n elements, by one thread.
__global__ void variance_fixed(const float *in, float *out, unsigned n) {
    float sum = 0, squares = 0;
    for (unsigned i = 0; i < n; i++) {
        float x = in[i] - in[0];
        sum += x, squares += x * x;
    }
    float mean = sum / n;
    *out = squares / n - mean * mean;
}

// The sum of `samples` elements of a long series, one in every `step`. in[] has one value for each
// 2^20 elements of the series. *out is 0.
__global__ void sum_samples(const float *in, float *out, int samples, int step) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= samples) return;
    int i = k * step;
    atomicAdd(out, in[i >> 20]);
}

// The sum of `samples` elements of a long series, one in every `step`. in[] has one value for each
// 2^20 elements of the series. *out is 0.
__global__ void sum_samples_fixed(const float *in, float *out, int samples, int step) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= samples) return;
    long long i = (long long)k * step;
    atomicAdd(out, in[i >> 20]);
}

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CUDA(call) cuda_check((call), #call)
static void cuda_check(cudaError_t error, const char *call);

// One run. Memory is fresh: only the input and the work space are written.
typedef struct {
    const float *d_in;      // n elements
    float *d_out, *pinned;  // room for the results, on the device and in pinned memory
    unsigned *d_work;       // 1024 words, all 0
    float *answer;          // where a launch that copies its results itself puts them
    unsigned n;
} Run;

static void launch_sum_atomic(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    sum_atomic<<<1, r.n>>>(r.d_in, r.d_out, r.n);  // n = 2,000
    cudaDeviceSynchronize();
}

static void launch_sum_atomic_fixed(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    sum_atomic<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);  // n = 2,000
    CUDA(cudaGetLastError());
    cudaDeviceSynchronize();
}

// The sums of rows of 20 elements. A block per row, a thread per element.
__global__ void row_sums(const float *in, float *out) {
    float sum = in[blockIdx.x * 20 + threadIdx.x];
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

static void launch_row_sums(Run r) {
    row_sums<<<r.n / 20, 20>>>(r.d_in, r.d_out);
}

// The sums of rows of 20 elements. A block per row, a thread per element.
__global__ void row_sums_fixed(const float *in, float *out) {
    float sum = threadIdx.x < 20 ? in[blockIdx.x * 20 + threadIdx.x] : 0.0f;
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

static void launch_row_sums_fixed(Run r) {
    row_sums_fixed<<<r.n / 20, 32>>>(r.d_in, r.d_out);
}

static void launch_onto_old(Run r) {
    sum_atomic<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}

static void launch_onto_old_fixed(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    sum_atomic<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}

// Divides each element by the sum of all. *total is 0.
__global__ void shares(const float *in, float *out, float *total) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, in[i]);
    __syncthreads();  // the total is complete
    out[i] = in[i] / *total;
}

static void launch_shares(Run r) {
    shares<<<r.n / 256, 256>>>(r.d_in, r.d_out, (float *)r.d_work);
}

// Divides each element by the sum of all. *total is complete.
__global__ void shares_fixed(const float *in, float *out, const float *total) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] / *total;
}

static void launch_shares_fixed(Run r) {
    sum_atomic<<<r.n / 256, 256>>>(r.d_in, (float *)r.d_work, r.n);
    shares_fixed<<<r.n / 256, 256>>>(r.d_in, r.d_out, (float *)r.d_work);
}

// The share of each block in the sum of all. *total and *arrived are 0.
__global__ void block_shares(const float *in, float *out, float *total, unsigned *arrived) {
    float sum = block_sum_fixed(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x > 0) return;
    atomicAdd(total, sum);
    __threadfence();  // the sum is added before this block arrives
    atomicAdd(arrived, 1);
    while (*(volatile unsigned *)arrived < gridDim.x) {}
    __threadfence();  // the total is read after all blocks have arrived
    out[blockIdx.x] = sum / *(volatile float *)total;
}

// The share of each block in the sum of all. *total is complete.
__global__ void block_shares_fixed(const float *in, float *out, const float *total) {
    float sum = block_sum_fixed(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum / *total;
}

static void launch_block_shares_fixed(Run r) {
    float *total = (float *)r.d_work;
    sum_atomic<<<r.n / 256, 256>>>(r.d_in, total, r.n);
    block_shares_fixed<<<r.n / 256, 256>>>(r.d_in, r.d_out, total);
}

// The sum, by one thread.
__global__ void sum_slowly(const float *in, float *out, unsigned n) {
    float sum = 0;
    for (unsigned i = 0; i < n; i++) sum += in[i];
    *out = sum;
}

static void copy_then_use(Run r) {
    sum_slowly<<<1, 1>>>(r.d_in, r.d_out, r.n);
    cudaMemcpyAsync(r.pinned, r.d_out, sizeof(float), cudaMemcpyDeviceToHost);
    r.answer[0] = r.pinned[0];
}

static void copy_then_use_fixed(Run r) {
    sum_slowly<<<1, 1>>>(r.d_in, r.d_out, r.n);
    cudaMemcpyAsync(r.pinned, r.d_out, sizeof(float), cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    r.answer[0] = r.pinned[0];
}

static void copy_beside(Run r) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sum_slowly<<<1, 1, 0, stream>>>(r.d_in, r.d_out, r.n);
    cudaMemcpy(r.answer, r.d_out, sizeof(float), cudaMemcpyDeviceToHost);
    cudaStreamDestroy(stream);
}

static void copy_beside_fixed(Run r) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sum_slowly<<<1, 1, 0, stream>>>(r.d_in, r.d_out, r.n);
    cudaMemcpyAsync(r.answer, r.d_out, sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}

// The sum of n elements and a first value, by one thread.
template <class T> __global__ void sum_from(T sum, const float *in, float *out, unsigned n) {
    for (unsigned i = 0; i < n; i++) sum += in[i];
    *out = sum;
}

static void launch_sum_from(Run r) {
    sum_from<<<1, 1>>>(0, r.d_in, r.d_out, r.n);
}

static void launch_sum_from_fixed(Run r) {
    sum_from<<<1, 1>>>(0.0f, r.d_in, r.d_out, r.n);
}

// ---- The launches, the right answers and the table ----

static void launch_block_sums(Run r) {
    block_sums<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_block_sums_fixed(Run r) {
    block_sums_fixed<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_sum_quads(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    sum_quads<<<r.n / 1024 + 1, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_sum_quads_fixed(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    sum_quads_fixed<<<r.n / 1024 + 1, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_open(Run r) { block_sums_open<<<r.n / 256, 256>>>(r.d_in, r.d_out); }
static void launch_open_fixed(Run r) { block_sums_open_fixed<<<r.n / 256, 256>>>(r.d_in, r.d_out); }
static void launch_moments(Run r) { block_moments<<<r.n / 256, 256>>>(r.d_in, r.d_out); }
static void launch_moments_fixed(Run r) {
    block_moments_fixed<<<r.n / 256, 256>>>(r.d_in, r.d_out);
}
static void launch_maxima(Run r) {
    block_maxima<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_maxima_fixed(Run r) {
    block_maxima_fixed<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_places(Run r) { block_places<<<r.n / 128, 128, 1024>>>(r.d_in, r.d_out); }
static void launch_places_fixed(Run r) {
    block_places_fixed<<<r.n / 128, 128, 1024>>>(r.d_in, r.d_out);
}
static void launch_if(Run r) { block_sums_if<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n); }
static void launch_if_fixed(Run r) {
    block_sums_if_fixed<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_totals(Run r) { warp_totals<<<(r.n + 127) / 128, 128>>>(r.d_in, r.d_out, r.n); }
static void launch_totals_fixed(Run r) {
    warp_totals_fixed<<<(r.n + 127) / 128, 128>>>(r.d_in, r.d_out, r.n);
}
static void launch_without(Run r) { sums_without_neighbour<<<r.n / 256, 256>>>(r.d_in, r.d_out); }
static void launch_without_fixed(Run r) {
    sums_without_neighbour_fixed<<<r.n / 256, 256>>>(r.d_in, r.d_out);
}
static void launch_ticket(Run r) {
    sum_ticket<<<r.n / 256, 256>>>(r.d_in, r.d_out, (float *)r.d_work + 1, r.d_work);
}
static void launch_ticket_fixed(Run r) {
    sum_ticket_fixed<<<r.n / 256, 256>>>(r.d_in, r.d_out, (float *)r.d_work + 1, r.d_work);
}
static void launch_maximum(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    maximum<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_maximum_fixed(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    maximum_fixed<<<(r.n + 255) / 256, 256>>>(r.d_in, r.d_out, r.n);
}
static void launch_block_shares(Run r) {
    block_shares<<<r.n / 256, 256>>>(r.d_in, r.d_out, (float *)r.d_work, r.d_work + 1);
}
static void launch_events(Run r) { count_events<<<1, 1>>>(r.d_in, r.d_out, r.n); }
static void launch_events_fixed(Run r) { count_events_fixed<<<1, 1>>>(r.d_in, r.d_out, r.n); }
static void launch_variance(Run r) { variance<<<1, 1>>>(r.d_in, r.d_out, r.n); }
static void launch_variance_fixed(Run r) { variance_fixed<<<1, 1>>>(r.d_in, r.d_out, r.n); }
static void launch_samples(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    sum_samples<<<12, 256>>>(r.d_in, r.d_out, 3000, 1000000);
}
static void launch_samples_fixed(Run r) {
    cudaMemset(r.d_out, 0, sizeof(float));
    sum_samples_fixed<<<12, 256>>>(r.d_in, r.d_out, 3000, 1000000);
}

// Element i: a whole number from 1 to 8, from a hash of i.
static float element(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    return 1 + (float)((i ^ i >> 13) & 7);
}
static float spread(unsigned i) { return (float)(i * 37 % 8191); }  // different in a block
static float negative(unsigned i) { return -element(i); }
static float events(unsigned i) { return 99991 + 0 * (float)i; }
static float half(unsigned i) { return 0.5f + 0 * (float)i; }
static float around_10000(unsigned i) { return (float)(10000 + i % 2); }

// The sum of elements [first, end) that there are, in double, so that it is exact.
static double sum(const float *in, unsigned n, unsigned first, unsigned end) {
    double total = 0;
    for (unsigned i = first; i < end && i < n; i++) total += in[i];
    return total;
}
static unsigned largest(const float *in, unsigned n, unsigned first, unsigned end) {
    unsigned at = first;
    for (unsigned i = first; i < end && i < n; i++)
        if (in[i] > in[at]) at = i;
    return at;
}

static double input_total;  // of all elements of the current run

// What result k must be.
static float total_of(const float *, unsigned, unsigned) { return (float)input_total; }
static float block_sum_of(const float *in, unsigned n, unsigned k) {
    return (float)sum(in, n, 256 * k, 256 * k + 256);
}
static float row_sum_of(const float *in, unsigned n, unsigned k) {
    return (float)sum(in, n, 20 * k, 20 * k + 20);
}
static float warp_sum_of(const float *in, unsigned n, unsigned k) {
    return (float)sum(in, n, 32 * k, 32 * k + 32);
}
static float moment_of(const float *in, unsigned n, unsigned k) {
    double squares = 0;
    for (unsigned i = k / 2 * 256; i < k / 2 * 256 + 256; i++) squares += in[i] * in[i];
    return k % 2 ? (float)squares : block_sum_of(in, n, k / 2);
}
static float block_maximum_of(const float *in, unsigned n, unsigned k) {
    return in[largest(in, n, 256 * k, 256 * k + 256)];
}
static float place_of(const float *in, unsigned n, unsigned k) {
    return (float)(largest(in, n, 128 * k, 128 * k + 128) - 128 * k);
}
static float without_of(const float *in, unsigned n, unsigned k) {
    return warp_sum_of(in, n, k / 32) - in[k ^ 1];
}
static float share_of(const float *in, unsigned, unsigned k) {
    return in[k] / (float)input_total;
}
static float block_share_of(const float *in, unsigned n, unsigned k) {
    return block_sum_of(in, n, k) / (float)input_total;
}
static float maximum_of(const float *in, unsigned n, unsigned) { return in[largest(in, n, 0, n)]; }
static float variance_of(const float *, unsigned, unsigned) { return 0.25f; }
static float samples_of(const float *in, unsigned, unsigned) {
    double total = 0;
    for (long long k = 0; k < 3000; k++) total += in[k * 1000000 >> 20];
    return (float)total;
}

enum { OWN_COPY = 1, CAN_HANG = 2, PLAIN = 4, SHARED = 8 };

// An exhibit and its fixed version: n elements, and the results that they must leave.
typedef struct {
    const char *name;
    void (*wrong)(Run r), (*fixed)(Run r);
    float (*should)(const float *in, unsigned n, unsigned k);
    unsigned n, results;
    float (*input)(unsigned i);
    // OWN_COPY: it copies its results itself. CAN_HANG: only for the CPU device. PLAIN: allocate
    // its input without the fill. SHARED: fill shared memory with NaN, too.
    unsigned flags;
    const char *note;
} Exhibit;

static const Exhibit exhibits[] = {
    {"no-guard", launch_block_sums, launch_block_sums_fixed, block_sum_of, 1000, 4, element, 0,
     "threads past the end read"},
    {"lost-tail", launch_sum_quads, launch_sum_quads_fixed, total_of, 1030, 1, element, 0,
     "the last elements are left out"},
    {"launch-unseen", launch_sum_atomic, launch_sum_atomic_fixed, total_of, 2000, 1, element, 0,
     "a launch fails, and nothing checks it"},
    {"no-barrier", launch_open, launch_open_fixed, block_sum_of, 16384, 64, element, 0,
     "levels of a tree without a barrier"},
    {"array-reused", launch_moments, launch_moments_fixed, moment_of, 16384, 128, element, 0,
     "no barrier between two uses of an array"},
    {"tail-unset", launch_maxima, launch_maxima_fixed, block_maximum_of, 1000, 4, negative, SHARED,
     "shared memory that no thread has written"},
    {"two-arrays", launch_places, launch_places_fixed, place_of, 8192, 64, spread, 0,
     "two arrays overlap in shared memory"},
    {"barrier-in-branch", launch_if, launch_if_fixed, block_sum_of, 1000, 4, element, 0,
     "a barrier that not all threads reach"},
    {"partial-warp", launch_row_sums, launch_row_sums_fixed, row_sum_of, 2000, 100, element, 0,
     "a full mask for part of a warp"},
    {"outside-mask", launch_totals, launch_totals_fixed, warp_sum_of, 1000, 32, element, 0,
     "a shuffle reads a lane outside its mask"},
    {"shuffle-no-fence", launch_without, launch_without_fixed, without_of, 16384, 16384, element, 0,
     "a shuffle instead of __syncwarp()"},
    {"never-zeroed", launch_onto_old, launch_onto_old_fixed, total_of, 4000, 1, element, 0,
     "a sum that does not begin at zero"},
    {"early-total", launch_shares, launch_shares_fixed, share_of, 65536, 65536, element, 0,
     "a block barrier for the whole grid"},
    {"ticket-no-fence", launch_ticket, launch_ticket_fixed, total_of, 51200, 1, element, 0,
     "a ticket without fences"},
    {"compare-exchange", launch_maximum, launch_maximum_fixed, maximum_of, 100000, 1, spread, 0,
     "a comparison and an exchange, in two steps"},
    {"own-barrier", launch_block_shares, launch_block_shares_fixed, block_share_of, 524288, 2048,
     element, CAN_HANG, "blocks wait for blocks that cannot start"},
    {"nonblocking-copy", copy_beside, copy_beside_fixed, total_of, 4096, 1, element, OWN_COPY,
     "a copy in another stream does not wait"},
    {"host-too-early", copy_then_use, copy_then_use_fixed, total_of, 4096, 1, element, OWN_COPY,
     "the host reads before the copy has ended"},
    {"float-counter", launch_events, launch_events_fixed, total_of, 1000, 1, events, 0,
     "a float counts beyond 16,777,216"},
    {"int-start", launch_sum_from, launch_sum_from_fixed, total_of, 1000, 1, half, 0,
     "an int as the first value"},
    {"cancellation", launch_variance, launch_variance_fixed, variance_of, 1024, 1, around_10000, 0,
     "the difference of two large numbers"},
    {"index-overflow", launch_samples, launch_samples_fixed, samples_of, 2862, 1, element, PLAIN,
     "an index past 2,147,483,647"},
};
enum { EXHIBITS = sizeof exhibits / sizeof *exhibits };

// ---- One run, the processes, and the main program: appendix C explains them. ----

static void cuda_check(cudaError_t error, const char *call) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "lab: %s: %s\n", call, cudaGetErrorString(error));
    _exit(1);
}

// Allocates memory. If the driver returns memory that was just freed, it is full of NaN, up to the
// end of its last 512 bytes.
static float *fresh(size_t bytes) {
    enum { OWNERS = 4 };
    void *d_memory[OWNERS];
    size_t padded = (bytes + 511) / 512 * 512;
    for (int k = 0; k < OWNERS; k++) {
        CUDA(cudaMalloc(&d_memory[k], padded));
        CUDA(cudaMemset(d_memory[k], 0xFF, padded));
    }
    for (int k = OWNERS; k-- > 0;) CUDA(cudaFree(d_memory[k]));
    CUDA(cudaMalloc(&d_memory[0], bytes));
    return (float *)d_memory[0];
}

// Fills the shared memory of the device with NaN.
__global__ void poison_shared(unsigned *d_sink) {
    __shared__ unsigned s[12 * 1024];
    for (unsigned i = threadIdx.x; i < 12 * 1024; i += blockDim.x) s[i] = 0xffffffffu;
    if (d_sink) *d_sink = s[threadIdx.x];  // so that the compiler keeps the stores
}

// One run of an exhibit: whether every result is right.
static bool run_once(const Exhibit *e, bool fixed) {
    size_t in_bytes = e->n * sizeof(float), out_bytes = e->results * sizeof(float);
    float *in = (float *)malloc(in_bytes), *d_in;
    if (e->flags & PLAIN) CUDA(cudaMalloc(&d_in, in_bytes));
    else d_in = fresh(in_bytes);
    Run r = {d_in, fresh(out_bytes), NULL, NULL, (float *)malloc(out_bytes), e->n};
    for (unsigned i = 0; i < e->n; i++) in[i] = e->input(i);
    input_total = sum(in, e->n, 0, e->n);
    memset(r.answer, 0xFF, out_bytes);
    CUDA(cudaMalloc(&r.d_work, 4096));
    CUDA(cudaMemset(r.d_work, 0, 4096));
    CUDA(cudaMallocHost(&r.pinned, out_bytes));
    memset(r.pinned, 0xFF, out_bytes);
    CUDA(cudaMemcpy(d_in, in, in_bytes, cudaMemcpyHostToDevice));
    if (e->flags & SHARED) poison_shared<<<4 * 132, 256>>>(NULL);
    CUDA(cudaDeviceSynchronize());
    (fixed ? e->fixed : e->wrong)(r);
    CUDA(cudaDeviceSynchronize());
    if (!(e->flags & OWN_COPY))
        CUDA(cudaMemcpy(r.answer, r.d_out, out_bytes, cudaMemcpyDeviceToHost));
    bool right = true;
    for (unsigned k = 0; k < e->results; k++) right &= r.answer[k] == e->should(in, e->n, k);
    CUDA(cudaFree(d_in));
    CUDA(cudaFree(r.d_out));
    CUDA(cudaFree(r.d_work));
    CUDA(cudaFreeHost(r.pinned));
    free(in), free(r.answer);
    return right;
}

enum { RUNS = 100, PARTS = 4, AT_ONCE = 8 };

// What a process writes on its standard output for each of its runs.
static void report(const char *what) {
    printf("run %s\n", what);
    fflush(stdout);
}

// lab --run NAME FIRST END SECONDS: runs in this process. SIGALRM ends it at the limit of a run.
static int run_here(const char *name, unsigned first, unsigned end, unsigned seconds) {
    for (const Exhibit *e = exhibits; e < exhibits + EXHIBITS; e++) {
        size_t length = strlen(e->name);
        bool fixed = !strncmp(name, e->name, length) && !strcmp(name + length, "-fixed");
        if (!fixed && strcmp(name, e->name)) continue;
        for (unsigned k = first; k < end; k++) {
            alarm(seconds);
            report(run_once(e, fixed) ? "right" : "wrong");
        }
        return 0;
    }
    fprintf(stderr, "lab: no exhibit %s (--list names them)\n", name);
    return 2;
}

// Starts this program as another process, and returns its standard output.
static FILE *start(pid_t *process, const char *option, const char *name, const char *first,
                   const char *end) {
    int ends[2];
    if (pipe(ends) || (*process = fork()) < 0) perror("lab"), _exit(1);
    if (*process == 0) {
        dup2(ends[1], 1), close(ends[0]), close(ends[1]);
        if (name) (void)!freopen("/dev/null", "w", stderr);  // a run that stops is counted
        execl("/proc/self/exe", "lab", option, name, first, end, "10", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

typedef struct { unsigned right, wrong, stopped; } Count;

// Counts a part of the runs of an exhibit. A process that ends early has been stopped in its next
// run, and another one goes on; but if that run reached the time limit, the rest count as stopped.
static void count_part(const char *name, Count *count) {
    const unsigned runs = RUNS / PARTS;
    bool late = false;
    for (unsigned done = 0; done < runs && !late;) {
        pid_t process;
        char line[80], first[16], end[16];
        int status = 0;
        snprintf(first, sizeof first, "%u", done), snprintf(end, sizeof end, "%u", runs);
        FILE *output = start(&process, "--run", name, first, end);
        while (fgets(line, sizeof line, output)) {
            unsigned right = !strcmp(line, "run right\n"), wrong = !strcmp(line, "run wrong\n");
            count->right += right, count->wrong += wrong, done += right + wrong;
        }
        fclose(output);
        waitpid(process, &status, 0);
        late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        if (done < runs) done++;
    }
    count->stopped = runs - count->right - count->wrong;
}

// lab --device: what the CSV begins with. The CPU device has a memory bus of 0 bits.
static int describe_device(void) {
    int count = 0, driver = 0, bits = 0;
    cudaDeviceProp d;
    char date[32];
    time_t now = time(NULL);
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return 3;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return 3;
    CUDA(cudaGetDeviceProperties(&d, 0));
    CUDA(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# device: %s\n# compute_capability: %d.%d\n# memory_bits: %d\n# driver: %d\n"
           "# toolkit: %d\n# date: %s\n", d.name, d.major, d.minor, bits, driver, CUDART_VERSION,
           date);
    fflush(stdout);
    return 0;
}

static int explain(void) {
    printf("usage: lab [-k EXHIBIT] [--csv FILE] [--list]\n"
           "  -k EXHIBIT   run only this one\n"
           "  --csv FILE   write the counts to FILE too\n"
           "  --list       name the exhibits and stop\n"
           "  --run EXHIBIT[-fixed] FIRST END [SECONDS]\n"
           "               only runs FIRST to END - 1, in this process, each with a time limit\n");
    return 0;
}

static int list_exhibits(void) {
    for (const Exhibit *e = exhibits; e < exhibits + EXHIBITS; e++)
        printf("%-18s %s\n", e->name, e->note);
    return 0;
}

// Counts the chosen exhibits and their fixed versions. Each part of the runs is a process, and
// several run at a time.
static void count_all(const char *only, bool gpu, Count (*counts)[2][PARTS]) {
    unsigned running = 0;
    for (unsigned k = 0; k < EXHIBITS * 2 * PARTS; k++) {
        const Exhibit *e = &exhibits[k / PARTS / 2];
        unsigned fixed = k / PARTS % 2;
        char name[64];
        if ((only && strcmp(only, e->name)) || (gpu && !fixed && e->flags & CAN_HANG)) continue;
        snprintf(name, sizeof name, "%s%s", e->name, fixed ? "-fixed" : "");
        if (running == AT_ONCE) wait(NULL), running--;
        pid_t process = fork();
        if (process == 0) count_part(name, &counts[e - exhibits][fixed][k % PARTS]), _exit(0);
        running += process > 0;
    }
    while (running-- > 0) wait(NULL);
}

static Count sum_parts(const Count *parts) {
    Count all = {0, 0, 0};
    for (const Count *part = parts; part < parts + PARTS; part++)
        all.right += part->right, all.wrong += part->wrong, all.stopped += part->stopped;
    return all;
}

static void print_row(FILE *out, const char *form, const char *name, Count wrong, Count fixed) {
    fprintf(out, form, name, wrong.right, wrong.wrong, wrong.stopped, fixed.right, fixed.wrong,
            fixed.stopped);
}

// Asks a process for the lines that describe the device. False: there is none.
static bool read_facts(char *facts, size_t size) {
    pid_t process;
    FILE *answer = start(&process, "--device", NULL, NULL, NULL);
    facts[fread(facts, 1, size - 1, answer)] = 0;
    fclose(answer), waitpid(process, NULL, 0);
    return strstr(facts, "# date: ") != NULL;
}

// Prints the counts, and writes them to a file unless it is NULL. Returns whether every fixed
// version is right.
static bool print_counts(const char *only, FILE *rows, const Count (*counts)[2][PARTS]) {
    bool good = true;
    printf("of %d runs         %6s %6s %8s   %6s %6s %8s\n", RUNS, "right", "wrong", "stopped",
           "fixed:", "wrong", "stopped");
    for (unsigned k = 0; k < EXHIBITS; k++) {
        if (only && strcmp(only, exhibits[k].name)) continue;
        Count wrong = sum_parts(counts[k][0]), fixed = sum_parts(counts[k][1]);
        print_row(stdout, "%-18s %6u %6u %8u   %6u %6u %8u\n", exhibits[k].name, wrong, fixed);
        if (rows) print_row(rows, "%s,%u,%u,%u,%u,%u,%u\n", exhibits[k].name, wrong, fixed);
        good &= fixed.right == RUNS;
    }
    puts(good ? "every fixed version is right" : "WRONG: a fixed version is not always right");
    return good;
}

static int count_and_print(const char *only, const char *csv) {
    size_t bytes = EXHIBITS * sizeof(Count[2][PARTS]);
    char facts[1024];
    FILE *rows = NULL;
    if (!read_facts(facts, sizeof facts)) {
        fprintf(stderr, "lab: no GPU here: build it with -cudart shared and try build/simt LAB\n");
        return 3;
    }
    if (csv && !(rows = fopen(csv, "w"))) return perror(csv), 1;
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return perror("lab"), 1;
    Count(*counts)[2][PARTS] = (Count(*)[2][PARTS])shared;
    count_all(only, !strstr(facts, "# memory_bits: 0\n"), counts);
    if (rows)
        fprintf(rows, "%sexhibit,right,wrong,stopped,fixed_right,fixed_wrong,fixed_stopped\n",
                facts);
    bool good = print_counts(only, rows, counts);
    if (rows && fclose(rows)) return perror(csv), 1;
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    const char *only = NULL, *csv = NULL;
    if (argc >= 5 && argc <= 6 && !strcmp(argv[1], "--run"))
        return run_here(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]),
                        argc == 6 ? (unsigned)atoi(argv[5]) : 0);
    if (argc == 2 && !strcmp(argv[1], "--device")) return describe_device();
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool known = false;
        for (unsigned k = 0; k < EXHIBITS; k++) known |= !strcmp(value, exhibits[k].name);
        if (!strcmp(argv[i], "-h")) return explain();
        if (!strcmp(argv[i], "--list")) return list_exhibits();
        if (!strcmp(argv[i], "-k") && known) only = value;
        else if (!strcmp(argv[i], "--csv") && *value) csv = value;
        else return fprintf(stderr, "lab: cannot use %s %s (-h explains)\n", argv[i], value), 2;
    }
    return count_and_print(only, csv);
}
