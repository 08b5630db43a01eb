// Kernels whose times can be computed by hand: each is launched with two lengths of its loop, and the
// difference is the time of the additional rounds. tests/simt/time/run has the expected times.
#include <stdio.h>
#include <stdlib.h>

// Rounds of the longer loop beyond those of the shorter one.
#define ROUNDS 64

template <int N> __global__ void add_chain(float *out, float x) {
    float sum = x;
#pragma unroll
    for (int i = 0; i < N; i++) sum = __fadd_rn(sum, x);
    out[threadIdx.x] = sum;
}

template <int N> __global__ void shared_chain(unsigned *out, unsigned apart) {
    __shared__ unsigned s[4096];
    unsigned at = threadIdx.x * apart * 4;
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = i * 4;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) at = *(volatile unsigned *)((char *)s + at); // AT conflicts
    out[threadIdx.x] = at;
}

template <int N> __global__ void barriers(unsigned *out) {
#pragma unroll
    for (int i = 0; i < N; i++) __syncthreads();
    out[threadIdx.x] = 1;
}

template <int N> __global__ void chase(unsigned long long *from) {
    unsigned long long at = (unsigned long long)from;
#pragma unroll
    for (int i = 0; i < N; i++) at = *(volatile unsigned long long *)at;
    from[1] = at;
}

// The same with a look at a word that never changes before each load.
template <int N> __global__ void looks(unsigned long long *from, volatile unsigned *stop) {
    unsigned long long at = (unsigned long long)from;
    if (blockIdx.x) return;
#pragma unroll 1
    for (int i = 0; i < N && !*stop; i++) at = *(unsigned long long *)at;
    if (at == 1) from[1] = at;
}

// Writes, every 8,192 bytes, the address of the next such word.
static void link(unsigned long long *d_from) {
    static unsigned long long h[1024][1024];
    for (int i = 0; i < 1024; i++) h[i][0] = (unsigned long long)(d_from + 1024 * (i + 1));
    cudaMemcpy(d_from, h, sizeof h, cudaMemcpyHostToDevice);
}

__global__ void one_address(float *sum) { atomicAdd(sum, 1.0f); }

__global__ void read_all(const float4 *in, float *never) {
    float4 v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (v.x + v.y + v.z + v.w == 1e30f) *never = 0;
}

__global__ void fences(unsigned *out) {
    out[threadIdx.x] = 1;
    __threadfence();
    out[threadIdx.x + 32] = 1;
}

// One of several blocks has all the work.
__global__ void uneven(float *out, unsigned which, float x) {
    if (blockIdx.x != which) return;
    float sum = x;
    for (unsigned i = 0; i < 1000; i++) sum = __fadd_rn(sum, x);
    out[threadIdx.x] = sum;
}

__global__ void __cluster_dims__(2) in_clusters(unsigned *out) { out[threadIdx.x] = 1; }

// Instructions whose latencies no microbenchmark measures.
__global__ void tensor_cores(float *out) {
    float d[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < 32; k++)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, {%4}, "
            "{%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(threadIdx.x));
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
__global__ void match_lanes(unsigned *out) {
    unsigned x = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 32; k++) x = __match_any_sync(0xffffffff, x / 2);
    out[threadIdx.x] = x;
}

__global__ void nothing() {}

// Each block takes items from a queue until there are no more; with TAKES false, it has its share.
template <bool TAKES> __global__ void items(float *out, unsigned *next, unsigned count, float x) {
    float sum = x;
    for (unsigned k = blockIdx.x;; k += gridDim.x) {
        unsigned item = TAKES ? atomicAdd(next, 1u) : k;
        if (item >= count) break;
        for (unsigned i = 0; i < 200; i++) sum = __fadd_rn(sum, x);
    }
    out[blockIdx.x] = sum;
}

// Each block waits for the one before it.
__global__ void one_by_one(volatile unsigned *done) {
    if (threadIdx.x) return;
    while (blockIdx.x && !done[blockIdx.x - 1]) {
    }
    done[blockIdx.x] = 1;
}

// One block of many reads as much as all others together.
__global__ void giant(const unsigned *in, unsigned *out, unsigned which) {
    unsigned sum = 0, count = blockIdx.x == which ? gridDim.x : 1;
    for (unsigned k = 0; k < count; k++) sum += in[(blockIdx.x + k) * 32 + threadIdx.x];
    if (sum == 1) out[threadIdx.x] = 1;
}

static __device__ unsigned anywhere(unsigned i) {
    i = (i ^ i >> 16) * 0x7feb352du;
    i = (i ^ i >> 15) * 0x846ca68bu;
    return i ^ i >> 16;
}
// Each lane loads from a random address in `words` words.
__global__ void gathers(const unsigned *in, unsigned words, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll
    for (unsigned k = 0; k < 4; k++) sum += in[anywhere(i * 4 + k) % words];
    if (sum == 1) out[i] = 1;
}
// Each thread reads a word of one line, and TIMES 2 one of a line that was read long before.
template <int TIMES> __global__ void lines(const unsigned *in, unsigned count, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = in[i * 32];
    if (TIMES == 2) sum += in[(i + count / 2) % count * 32];
    if (sum == 1) out[i] = 1;
}
// Each lane adds to a random one of `words` words.
__global__ void bins(unsigned *out, unsigned words) {
    atomicAdd(&out[anywhere(blockIdx.x * blockDim.x + threadIdx.x) % words], 1u);
}

int main() {
    unsigned *out, *zeros;
    float4 *in;
    const size_t bytes = 64 << 20;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, 4 << 20);
    cudaMalloc(&zeros, 32768);
    cudaMemset(zeros, 0, 32768);
    cudaMemset(in, 0, bytes);
    cudaMemset(out, 0, 1 << 20);
    nothing<<<1, 32>>>();
    nothing<<<13200, 32>>>();
    nothing<<<39600, 32>>>();
    add_chain<ROUNDS><<<1, 32>>>((float *)out, 1);
    add_chain<2 * ROUNDS><<<1, 32>>>((float *)out, 1);
    shared_chain<ROUNDS><<<1, 32>>>(out, 1);
    shared_chain<2 * ROUNDS><<<1, 32>>>(out, 1);
    shared_chain<2 * ROUNDS><<<1, 32>>>(out, 32);
    barriers<ROUNDS><<<1, 256>>>(out);
    barriers<2 * ROUNDS><<<1, 256>>>(out);
    link((unsigned long long *)in);
    chase<ROUNDS><<<1, 1>>>((unsigned long long *)in);
    chase<2 * ROUNDS><<<1, 1>>>((unsigned long long *)in);
    looks<ROUNDS><<<2, 1>>>((unsigned long long *)in, zeros);
    looks<2 * ROUNDS><<<2, 1>>>((unsigned long long *)in, zeros);
    read_all<<<bytes / 16 / 256, 256>>>(in, (float *)out);
    one_address<<<132, 32>>>((float *)out);
    fences<<<1, 32>>>(out);
    barriers<ROUNDS><<<264, 1024>>>(out);
    barriers<2 * ROUNDS><<<264, 1024>>>(out);
    uneven<<<9, 32>>>((float *)out, 3, 1);
    uneven<<<9, 32>>>((float *)out, 8, 1);
    items<true><<<132, 1>>>((float *)out, zeros, 1320, 1);
    items<false><<<132, 1>>>((float *)out, NULL, 1320, 1);
    one_by_one<<<5000, 32>>>(zeros + 1);
    giant<<<5000, 32>>>((unsigned *)in, out, 500);
    gathers<<<1056, 256>>>((unsigned *)in, bytes / 4, out);
    gathers<<<264, 256>>>((unsigned *)in, 1 << 18, out);
    lines<1><<<bytes / 128 / 256, 256>>>((unsigned *)in, bytes / 128, out);
    lines<2><<<bytes / 128 / 256, 256>>>((unsigned *)in, bytes / 128, out);
    bins<<<1056, 256>>>(out, 1 << 18);
    bins<<<1056, 256>>>(out, 1 << 12);
    bins<<<1056, 256>>>(out, 1 << 6);
    tensor_cores<<<1, 32>>>((float *)out);
    match_lanes<<<1, 32>>>(out);
    cudaMemsetAsync(out, 0, 4);
    nothing<<<1, 32>>>();
    cudaMemsetAsync(out, 0, 1 << 20);
    nothing<<<1, 32>>>();
    in_clusters<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    return cudaGetLastError() != cudaSuccess;
}
