// Kernels that fail or have a hazard, one of which the argument names. Each runs once with the
// same arguments, as the engine runs it: n elements of the labs' input, n fresh ones, and n.
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000, GRID = 4, BLOCK = 256 };

typedef const float *In;

__global__ void right(In in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}

__global__ void missing_barrier(In in, float *out, unsigned n) {
    __shared__ float s[BLOCK];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    if (i < n) out[i] = s[BLOCK - 1 - t];
}

__global__ void missing_in_loop(In in, float *out, unsigned n) {
    __shared__ float s[BLOCK];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    for (unsigned d = BLOCK / 2; d; d /= 2) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];
    }
    if (t == 1) out[blockIdx.x] = s[0];
}

__global__ void every_block(In in, float *out, unsigned n) {
    if (threadIdx.x == 0) out[0] += in[blockIdx.x];
}

__global__ void past_the_end(In in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = in[i];
}

__global__ void null_pointer(In in, float *out, unsigned n) {
    if (threadIdx.x == 3) *(float *)(size_t)(n - N) = in[0];
}

__global__ void misaligned(In in, float *out, unsigned n) {
    out[threadIdx.x] = *(const float *)((const char *)in + 2);
}

__global__ void unwritten(In in, float *out, unsigned n) {
    __shared__ float s[BLOCK];
    if (threadIdx.x < 32) s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void reads_output(In in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += in[i];
}

__global__ void divergent_barrier(In in, float *out, unsigned n) {
    if (threadIdx.x < 40) __syncthreads();
    else __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void deadlock(In in, float *out, unsigned n) {
    if (threadIdx.x == 0)
        while (*(volatile float *)out != 1) {}
}

__global__ void wrong_mask(In in, float *out, unsigned n) {
    unsigned t = threadIdx.x;
    if (t < 16) out[t] = __shfl_down_sync(0xffffffff, in[t], 1);
}

// The block that finds the flag set has not ordered its read after the write of the value. In the
// usual order this shows nowhere.
__device__ int flag;
__global__ void flag_without_fence(In in, float *out, unsigned n) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        out[0] = in[0];
        __threadfence();
        atomicExch(&flag, 1);
    } else if (atomicAdd(&flag, 0) == 0) {
        out[blockIdx.x] = out[0];
    }
}

__global__ void asserts(In in, float *out, unsigned n) { assert(in[threadIdx.x] < 8); }

__global__ void prints(In in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 300 == 5)
        printf("%u: %5.1f%% of %s, %llx, %20p, %p\n", i, in[i], "all", 0x123456789abcull + i, out, (void *)0);
}

__global__ void rounds_down(In in, float *out, unsigned n) { out[0] = __fadd_rd(in[0], in[1]); }

__global__ void recursion(In in, float *out, unsigned n);
__device__ __noinline__ unsigned digits(unsigned n) { return n < 10 ? 1 : 1 + digits(n / 10); }
__global__ void recursion(In in, float *out, unsigned n) { out[threadIdx.x] = digits(n + threadIdx.x); }

__global__ void allocates(In in, float *out, unsigned n) {
    float *own = (float *)malloc(4 * sizeof(float));
    own[threadIdx.x % 4] = in[threadIdx.x];
    out[threadIdx.x] = own[threadIdx.x % 4];
    free(own);
}

// The other order must not leave its tickets in memory.
__device__ unsigned ticket;
__global__ void order_matters(In in, float *out, unsigned n) {
    if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x] * (1 + atomicAdd(&ticket, 1));
}

typedef void Kernel(In in, float *out, unsigned n);
static const struct {
    const char *name;
    Kernel *kernel;
} cases[] = {
#define CASE(name) {#name, name}
    CASE(right), CASE(missing_barrier), CASE(missing_in_loop), CASE(every_block), CASE(past_the_end),
    CASE(null_pointer), CASE(misaligned), CASE(unwritten), CASE(reads_output), CASE(divergent_barrier),
    CASE(deadlock), CASE(wrong_mask), CASE(flag_without_fence), CASE(asserts), CASE(prints),
    CASE(rounds_down), CASE(recursion), CASE(allocates), CASE(order_matters),
};

// As the labs make their input.
static int element(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    i ^= i >> 16;
    return i & 8 ? 1 + (int)(i & 7) : -1 - (int)(i & 7);
}

int main(int argc, char **argv) {
    static float host[N];
    float *d_in, *d_out;
    for (unsigned i = 0; i < N; i++) host[i] = (float)element(i);
    cudaMalloc((void **)&d_in, sizeof host);
    cudaMalloc((void **)&d_out, sizeof host);
    cudaMemcpy(d_in, host, sizeof host, cudaMemcpyHostToDevice);
    for (const auto &c : cases) {
        if (argc < 2) puts(c.name);
        if (argc < 2 || strcmp(c.name, argv[1])) continue;
        c.kernel<<<GRID, BLOCK>>>(d_in, d_out, N);
        cudaDeviceSynchronize();
        if (c.kernel == order_matters) cudaMemcpy(host, d_out, sizeof *host, cudaMemcpyDeviceToHost);
    }
    return 0;
}
