// Hazards whose reports are compared word by word: told CASE, or told advice CASE. `AT NAME` marks their lines.
#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <string.h>

__global__ void neighbour(float *out, const float *in) {
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];              // AT store
    out[threadIdx.x] = s[(threadIdx.x + 32) % 64]; // AT load
}

template <class Value, int Times>
__global__ void a_kernel_with_a_name_of_some_length(Value *out, const Value *in) {
    for (int k = 0; k < Times; k++) out[threadIdx.x] = in[(int)threadIdx.x - 1]; // AT front
}

__global__ void counter(float *out) {
    __shared__ int n;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    n = n + 1; // AT count
    __syncthreads();
    out[threadIdx.x] = (float)n;
}

// One barrier is missing, between two arrays' stores and loads.
__global__ void tiles(float *out, const float *in) {
    __shared__ float s[64], t[64];
    s[threadIdx.x] = in[threadIdx.x];           // AT first_store
    t[threadIdx.x] = in[63 - threadIdx.x];      // AT second_store
    float sum = s[(threadIdx.x + 32) % 64];     // AT first_load
    sum += t[(threadIdx.x + 32) % 64];          // AT second_load
    out[threadIdx.x] = sum;
}

// The barrier at the end of the loop is missing.
__global__ void rounds(float *out, const float *in, int count) {
    __shared__ float s[64];
    for (int k = 0; k < count; k++) {
        s[threadIdx.x] = in[threadIdx.x] + k; // AT round_store
        __syncthreads();
        out[threadIdx.x] += s[(threadIdx.x + 32) % 64]; // AT round_load
    }
}

__global__ void least(int *out, const int *in) {
    int mine = in[threadIdx.x] - (int)threadIdx.x;
    if (mine < *out) // AT compared
        *out = mine; // AT least_store
}

__global__ void claim(int *out) {
    if (*out == 0) // AT free
        *out = 1;  // AT taken
}

template <bool WRITER, bool READER> __global__ void last(float *out, unsigned *ticket) {
    out[1 + blockIdx.x] = 2; // AT part
    if (WRITER) __threadfence();
    bool is_last = atomicAdd(ticket, 1) == gridDim.x - 1; // AT ticket
    if (READER) __threadfence();
    if (is_last)
        for (int k = 0; k < gridDim.x; k++) out[0] += out[1 + k]; // AT parts
}

__global__ void divergent_tail(int *out, const int *in) {
    if (threadIdx.x < 20) {
        int sum = in[threadIdx.x];
        sum += __shfl_down_sync(__activemask(), sum, 16); // AT tail
        out[threadIdx.x] = sum;
    }
}

__global__ void collective(int *out, const int *in) {
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ Reduce::TempStorage space;
    if (threadIdx.x < 40) out[threadIdx.x] = Reduce(space).Sum(in[threadIdx.x]); // AT collective
}

__global__ void far_out(float *out, const float *in, int row) {
    out[threadIdx.x] = in[row * 65536]; // AT far
}

static bool advised(const char *name, float *out, float *in) {
    int *words = (int *)out, *others = (int *)in;
    cudaMemset(out, 0, 256);
    if (!strcmp(name, "tiles")) tiles<<<1, 64>>>(out, in);
    if (!strcmp(name, "rounds")) rounds<<<1, 64>>>(out, in, 5);
    if (!strcmp(name, "least")) least<<<1, 64>>>(words, others);
    if (!strcmp(name, "claim")) claim<<<2, 32>>>(words);
    if (!strcmp(name, "no_release")) last<false, true><<<2, 1>>>(out, (unsigned *)out + 9);
    if (!strcmp(name, "no_acquire")) last<true, false><<<2, 1>>>(out, (unsigned *)out + 9);
    if (!strcmp(name, "divergent_tail")) divergent_tail<<<1, 32>>>(words, others);
    if (!strcmp(name, "collective")) collective<<<1, 64>>>(words, others);
    if (!strcmp(name, "far_out")) far_out<<<1, 1>>>(out, in, 40000);
    return cudaDeviceSynchronize() == cudaSuccess;
}

int main(int argc, char **argv) {
    float *out, *in;
    cudaMalloc(&out, 256);
    cudaMalloc(&in, 256);
    cudaMemset(in, 0, 256);
    if (argc > 2) return !advised(argv[2], out, in);
    if (argc > 1 && !strcmp(argv[1], "front"))
        a_kernel_with_a_name_of_some_length<float, 1><<<1, 64>>>(out, in);
    else if (argc > 1)
        counter<<<1, 64>>>(out);
    else
        neighbour<<<1, 64>>>(out, in);
    return cudaDeviceSynchronize() != cudaSuccess;
}
