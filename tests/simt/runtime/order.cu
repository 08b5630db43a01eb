// Tests the ordering that --check must recognise or must not assume: one warp passes a value to another
// through a flag. usage: order CASE; every case is right unless its name starts with "wrong".
#include <cstdio>
#include <cstring>
#include <cuda/barrier>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

enum Way { FENCES, NO_FENCES, ACQUIRE_RELEASE, RELAXED };

template <Way WAY> __device__ void raise_flag(int *flag) {
    unsigned at = (unsigned)__cvta_generic_to_shared(flag);
    if (WAY == FENCES) __threadfence_block();
    if (WAY == FENCES || WAY == NO_FENCES) atomicExch(flag, 1);
    if (WAY == ACQUIRE_RELEASE)
        asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
    if (WAY == RELAXED) asm volatile("st.relaxed.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
}

template <Way WAY> __device__ void await_flag(int *flag) {
    unsigned at = (unsigned)__cvta_generic_to_shared(flag);
    int seen = 0;
    while (!seen) {
        if (WAY == FENCES || WAY == NO_FENCES) seen = atomicAdd(flag, 0);
        if (WAY == ACQUIRE_RELEASE)
            asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
        if (WAY == RELAXED)
            asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
    }
    if (WAY == FENCES) __threadfence_block();
}

template <Way WAY> __global__ void hand_over(int *out) {
    __shared__ int flags[2];  // the one at address 0 is not used
    __shared__ volatile int value;
    if (threadIdx.x == 0) flags[0] = flags[1] = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        value = 42;
        raise_flag<WAY>(&flags[1]);
    }
    if (threadIdx.x == 0) {
        await_flag<WAY>(&flags[1]);
        out[0] = value;
    }
}

// A structure with padding between its members is copied as a whole.
struct Padded {
    int key;
    double value;
};
__global__ void make_padded(Padded *out) {
    out[threadIdx.x].key = (int)threadIdx.x;
    out[threadIdx.x].value = threadIdx.x;
}
__global__ void copy_padded(const Padded *in, Padded *out) {
    out[threadIdx.x] = in[31 - threadIdx.x];
}

// Loads of four words each, the last of which is unwritten.
__global__ void sum_tail(const float4 *in, int *out) {
    float4 v = in[threadIdx.x];
    out[threadIdx.x] = (int)(v.x + v.y + v.z + v.w);
}

// cuda::barrier: arriving releases, waiting acquires.
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void meet_at_object(int *out) {
    __shared__ __align__(8) char place[sizeof(Barrier)];
    __shared__ volatile int s[64];
    Barrier *barrier = (Barrier *)place;
    unsigned t = threadIdx.x;
    if (t == 0) init(barrier, 64);
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        s[t] = (int)t + round;
        barrier->arrive_and_wait();
        out[t] = s[63 - t];
        barrier->arrive_and_wait();
    }
}

template <bool RIGHT> __global__ void copy_ahead(const int *in, int *out) {
    __shared__ int s[64];
    unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (RIGHT) __syncthreads();
    out[t] = s[63 - t];
}

// The halves of a warp split and synchronise at one __syncwarp(); the readers read after it or, in the
// wrong case, before it.
template <bool RIGHT> __global__ void halves_meet(int *out) {
    __shared__ volatile int s[16];
    unsigned t = threadIdx.x;
    if (t < 16) {
        s[t] = (int)t;
        __syncwarp();
    } else {
        if (RIGHT) __syncwarp();
        out[t] = s[t - 16];
        if (!RIGHT) __syncwarp();
    }
}

static int *d_out, *d_zeros;
static Padded *d_in, *d_copy; // unwritten

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    {"fences", [] { hand_over<FENCES><<<1, 64>>>(d_out); }},
    {"wrong_no_fences", [] { hand_over<NO_FENCES><<<1, 64>>>(d_out); }},
    {"acquire_release", [] { hand_over<ACQUIRE_RELEASE><<<1, 64>>>(d_out); }},
    {"wrong_relaxed", [] { hand_over<RELAXED><<<1, 64>>>(d_out); }},
    {"padding",
     [] { make_padded<<<1, 32>>>(d_in), copy_padded<<<1, 32>>>(d_in, d_copy); }},
    {"wrong_tail",
     [] { cudaMemset(d_in, 0, 32 * sizeof *d_in - 4), sum_tail<<<1, 32>>>((float4 *)d_in, d_out); }},
    {"halves", [] { halves_meet<true><<<1, 32>>>(d_out); }},
    {"wrong_halves", [] { halves_meet<false><<<1, 32>>>(d_out); }},
    {"barrier_object", [] { meet_at_object<<<1, 64>>>(d_out); }},
    {"wrong_unwritten_copy", [] { copy_ahead<true><<<1, 64>>>((int *)d_in, d_out); }},
    {"async_copy", [] { copy_ahead<true><<<1, 64>>>(d_zeros, d_out); }},
    {"wrong_async_copy", [] { copy_ahead<false><<<1, 64>>>(d_zeros, d_out); }},
};

int main(int argc, char **argv) {
    const char *name = argc == 2 ? argv[1] : "";
    cudaMalloc(&d_out, 64 * sizeof *d_out);
    cudaMalloc(&d_zeros, 64 * sizeof *d_zeros);
    cudaMemset(d_zeros, 0, 64 * sizeof *d_zeros);
    cudaMalloc(&d_in, 32 * sizeof *d_in);
    cudaMalloc(&d_copy, 32 * sizeof *d_copy);
    for (const auto &c : cases)
        if (!strcmp(name, c.name)) c.run();
    printf("ran %s: %s\n", name, cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
