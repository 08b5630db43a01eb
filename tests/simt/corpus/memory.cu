// Accesses that are out of bounds, misaligned, too late or too early, each with a right twin.
// Verdicts: see corpus.h.
#include "corpus.h"

#define N 1000  // ints in an allocation: 4000 bytes, less than the 4096 that are set aside

__global__ void read_at(const int *in, int *out, int shift) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BLOCK) {
        out[i] = in[(int)i + shift];  // HAZARD global_read_end: out of bounds
    }
}

__global__ void read_before(const int *in, int *out, int shift) {
    out[threadIdx.x] = in[(int)threadIdx.x + shift];  // HAZARD global_read_start: out of bounds
}

__global__ void write_at(int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = (int)i;  // HAZARD global_write_end: out of bounds
    }
}

__global__ void add_at(int *counter, int at) {
    atomicAdd(counter + at, 1);  // HAZARD global_atomic_end: out of bounds
}

// Only the last byte of the last warp is out of bounds.
__global__ void read_whole_warps(const int *in, int *out) {
    unsigned t = threadIdx.x;
    out[t] = in[t];  // HAZARD global_read_last_byte: out of bounds
}

__global__ void write_whole_warps(int *out) {
    out[threadIdx.x] = 7;  // HAZARD global_write_last_byte: out of bounds
}

// Consecutive addresses, all misaligned, in an allocation that was accessed before.
__global__ void skewed_warp(const int *in, int *out, int skew) {
    unsigned t = threadIdx.x;
    int v = in[t];
    out[t] = v + *(const int *)((const char *)(in + t) + skew);  // HAZARD misaligned_warp: misaligned
}

// Before the start of an allocation that was accessed before.
__global__ void read_beside(const int *in, int *out, int shift) {
    unsigned t = threadIdx.x;
    int v = in[t];
    out[t] = v + in[(int)t + shift];  // HAZARD global_read_in_front: out of bounds
}

__global__ void read_null(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x];  // HAZARD null_pointer: out of bounds
}

// A macro: of an asm statement over several lines, compilers name the first or another one.
#define COPY_ASYNC(to, from, bytes) \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory")

// 16 bytes for each thread, as many of them from `in` as there are of its n ints, zeros for the rest.
// Threads past the end copy zero bytes, from a null pointer.
__global__ void copy_tail(const int *in, int *out, unsigned n, bool always) {
    __shared__ __align__(16) int s[BLOCK * 4];
    unsigned first = threadIdx.x * 4, left = first < n ? n - first : 0;
    unsigned bytes = always || left > 4 ? 16 : left * 4, to;
    to = (unsigned)__cvta_generic_to_shared(s + first);
    const int *from = left || always ? in + first : NULL;
    COPY_ASYNC(to, from, bytes);  // HAZARD copied_tail: out of bounds
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[threadIdx.x] = s[first] + s[first + 3];
}

__global__ void read_host(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x];  // HAZARD host_pointer: out of bounds
}

__global__ void read_freed(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x];  // HAZARD use_after_free: use after free
}

__global__ void vector_load(const int *in, int *out) {
    int4 v = *(const int4 *)(in + 4 * threadIdx.x);  // HAZARD misaligned_global: misaligned
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

__global__ void vector_shared(const int *in, int *out, int shift) {
    __shared__ __align__(16) int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 16) {
        int2 v = *(int2 *)(s + 2 * t + shift);  // HAZARD misaligned_shared: misaligned
        out[t] = v.x - v.y;
    }
}

__global__ void shared_at(const int *in, int *out, int shift) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[(int)t + shift];  // HAZARD shared_read_end: out of bounds
}

__global__ void shared_write(const int *in, int *out, int shift) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    s[(int)t + shift] = in[t];  // HAZARD shared_write_end: out of bounds
    __syncthreads();
    if (t > 0) out[t] = s[t];
}

__global__ void shared_before(const int *in, int *out, int shift) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[(int)t - shift];  // HAZARD shared_read_start: out of bounds
}

extern __shared__ int dynamic[];
__global__ void dynamic_shared(const int *in, int *out) {
    unsigned t = threadIdx.x;
    dynamic[t] = in[t];  // HAZARD dynamic_shared_small: out of bounds
    __syncthreads();
    out[t] = dynamic[t / 2];
}

__global__ void local_at(const int *in, int *out, int shift) {
    int own[8];
    unsigned t = threadIdx.x;
    for (int i = 0; i < 8; i++) own[(i + in[t]) % 8] = in[i] + in[t];
    out[t] = own[in[t] % 8 + shift];  // HAZARD local_end: out of bounds
}

__global__ void shared_unwritten(const int *in, int *out, unsigned n) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x;
    if (t < n) s[t] = in[t];
    __syncthreads();
    out[t] = s[BLOCK - 1 - t];  // HAZARD uninitialized_shared: uninitialized
}

// A word with one unwritten byte is unwritten, although its other bytes were written one by one.
__global__ void parts_unwritten(const int *in, int *out, int bytes) {
    __shared__ __align__(4) volatile unsigned char s[BLOCK * 4];
    int t = threadIdx.x;
    for (int k = 0; k < bytes; k++) s[4 * t + k] = (unsigned char)(in[t] >> 8 * k);
    __syncthreads();
    out[t] = ((volatile int *)s)[BLOCK - 1 - t];  // HAZARD uninitialized_parts: uninitialized
}

// Many loads of written words, by whole warps and others, and then of one unwritten word.
__global__ void read_often(const int *in, int *out, unsigned words, unsigned last) {
    unsigned t = threadIdx.x, sum = 0;
    for (unsigned k = 0; k < 1000; k++) {
        const unsigned i = (k * BLOCK + t) % (words - BLOCK), j = (k + 7 * t) % (words - BLOCK);
        const unsigned at = t == 0 && k == 999 ? last : k % 2 ? i : j;
        sum += in[at];  // HAZARD uninitialized_last: uninitialized
    }
    out[t] = sum;
}

__global__ void sum_tail(const int *in, int *out) {
    unsigned t = threadIdx.x;
    out[t] = in[t] + in[t + BLOCK];  // HAZARD uninitialized_tail: uninitialized
}

__global__ void sum_copy(const int *in, int *out) {
    unsigned t = threadIdx.x;
    out[t] = in[t] * 3;  // HAZARD uninitialized_copy: uninitialized
}

__global__ void read_bytes(const char *in, int *out) {
    unsigned t = threadIdx.x;
    out[t] = in[t];  // HAZARD uninitialized_first_bytes: uninitialized
}

// A thread reads before the barrier what is written after it.
__global__ void written_late(const int *in, int *out, bool right) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x;
    if (right) s[t] = in[t];
    __syncthreads();
    int v = s[BLOCK - 1 - t];  // HAZARD uninitialized_before_barrier: uninitialized
    __syncthreads();
    s[t] = in[t];
    __syncthreads();
    out[t] = v + s[BLOCK - 1 - t];
}

// The second half of one lane's pair is not written.
__global__ void read_pairs(const int2 *in, int *out) {
    int2 v = in[threadIdx.x];  // HAZARD uninitialized_half: uninitialized
    out[threadIdx.x] = v.x + v.y;
}

__global__ void read_whole(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }

// Memory that ld.global.nc reads must not change while the kernel runs: whole warps, and some lanes.
template <bool RIGHT> __global__ void read_only_written(const int *in, int *out) {
    const unsigned t = threadIdx.x;
    out[t] = in[t];  // LABEL read_only_written
    __syncthreads();
    const int *neighbour = &out[(t + 32) % BLOCK];
    // HAZARD-NEXT read_only_written: read only with read_only_written
    out[BLOCK + t] = RIGHT ? *neighbour : __ldg(neighbour);
}

// As __ldg(), which a compiler may replace by the value that the thread has stored.
#define LOAD_READ_ONLY(value, at) asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(value) : "l"(at))

template <bool RIGHT> __global__ void read_only_own(const int *in, int *out) {
    const unsigned t = threadIdx.x;
    int own;
    if (t % 3) return;
    out[t] = in[t];  // LABEL read_only_own
    asm volatile("" ::: "memory");
    if (RIGHT) own = out[t];
    else LOAD_READ_ONLY(own, out + t);  // HAZARD read_only_own: read only with read_only_own
    out[BLOCK + t] = own;
}

// The compiler may move the read over the barrier.
template <bool RIGHT> __global__ void read_only_then_written(int *data) {
    const unsigned t = threadIdx.x;
    const int *neighbour = &data[(t + 32) % BLOCK];
    const int value = RIGHT ? *neighbour : __ldg(neighbour);  // LABEL read_only_then_written
    __syncthreads();
    data[t] = value;  // HAZARD read_only_then_written: read only with read_only_then_written
}

// In place: each element is read before it is written, in a second launch too.
__global__ void in_place(const int *__restrict__ in, int *__restrict__ out) {
    for (unsigned k = threadIdx.x; k < 4 * BLOCK; k += BLOCK) out[k] = in[k] + 1;
}

// Two arrays of shared memory are adjacent: an index past the end of the first is in the second.
template <bool RIGHT> __global__ void past_shared_array(const int *in, int *out) {
    __shared__ int first[32], second[32];
    unsigned t = threadIdx.x;
    first[t] = in[t];
    second[t] = in[t + 32];
    __syncthreads();
    first[(t + 1) % (RIGHT ? 32 : 64)] = in[t];  // HAZARD past_shared_array: out of bounds
    __syncthreads();
    out[t] = first[t] + second[t];
}

template <bool RIGHT> __device__ void store_before(int *dynamic, unsigned t, int value) {
    dynamic[(int)t - (RIGHT ? 0 : 1)] = value;  // HAZARD before_dynamic_array: out of bounds
}

template <bool RIGHT> __global__ void before_dynamic_array(const int *in, int *out) {
    __shared__ int fixed[32];
    extern __shared__ int dynamic[];
    unsigned t = threadIdx.x;
    fixed[t] = in[t];
    dynamic[t] = in[t + 32];
    __syncthreads();
    store_before<RIGHT>(dynamic, t, in[t]);
    __syncthreads();
    out[t] = fixed[t] + dynamic[t];
}

static int *fresh(size_t bytes) {
    int *d = NULL;
    cudaMalloc((void **)&d, bytes);
    return d;
}

static int *written(size_t bytes) {
    int *d = fresh(bytes);
    cudaMemset(d, 0, bytes);
    return d;
}

static void use_after_free(int *d_out, bool right) {
    int *d = written(1 << 20);
    if (!right) cudaFree(d);
    read_freed<<<1, BLOCK>>>(d, d_out);
}

static void uninitialized_last(int *d_out, bool right) {
    enum { WORDS = 4096 };
    int *d_in = fresh(WORDS * 4);
    cudaMemset(d_in, 1, (WORDS - 1) * 4);
    if (right) cudaMemset(d_in + WORDS - 1, 1, 4);
    read_often<<<1, BLOCK>>>(d_in, d_out, WORDS, WORDS - 1);
}

static void uninitialized_tail(int *d_out, bool right) {
    int host[2 * BLOCK] = {0}, *d = fresh(sizeof host);
    cudaMemcpy(d, host, sizeof host - (right ? 0 : sizeof *host), cudaMemcpyHostToDevice);
    sum_tail<<<1, BLOCK>>>(d, d_out);
}

// Right: written by host code, in memory that the host and the device share.
static void written_by_host(int *d_out, bool managed) {
    int *both = NULL, *d_both = NULL;
    if (managed) {
        cudaMallocManaged((void **)&both, BLOCK * sizeof *both);
        d_both = both;
    } else {
        cudaHostAlloc((void **)&both, BLOCK * sizeof *both, cudaHostAllocMapped);
        cudaHostGetDevicePointer((void **)&d_both, both, 0);
    }
    for (int i = 0; i < BLOCK; i++) both[i] = i;
    read_whole<<<1, BLOCK>>>(d_both, d_out);
    cudaDeviceSynchronize();
}

static void written_by_copies(int *d_in, int *d_out) {
    int host[BLOCK] = {0}, *d = fresh(sizeof host);
    cudaMemcpy2D(d, 16, host, 8, 8, BLOCK / 4, cudaMemcpyHostToDevice);
    cudaMemcpy2DAsync(d + 2, 16, d_in, 8, 8, BLOCK / 4, cudaMemcpyDeviceToDevice, 0);
    read_whole<<<1, BLOCK>>>(d, d_out);
    cudaMemcpyAsync(fresh(sizeof host), d, sizeof host, cudaMemcpyDeviceToDevice, 0);
}

// Copies of unwritten memory are unwritten too.
static void uninitialized_copy(int *d_out) {
    int *from = fresh(BLOCK * 4), *to = fresh(BLOCK * 4);
    cudaMemcpy(to, from, BLOCK * 4, cudaMemcpyDeviceToDevice);
    sum_copy<<<1, BLOCK>>>(to, d_out);
}

// The first word is written in part.
static void uninitialized_first_bytes(int *d_out, bool right) {
    char *d = (char *)fresh(2 * BLOCK);
    int from = right ? 0 : 2;
    cudaMemset(d + from, 1, 2 * BLOCK - from);
    read_bytes<<<1, BLOCK>>>(d, d_out);
}

// The same words are read again and again, so that the checker caches that they are written.
__global__ void read_again(const int *in, int *out) {
    int sum = 0;
    for (unsigned k = 0; k < 200; k++)
        // HAZARD-NEXT uninitialized_again: uninitialized
        // HAZARD-NEXT uninitialized_between: uninitialized
        sum += in[(threadIdx.x * 2 + k * 7) % N];
    out[threadIdx.x] = sum;
}

// The cached state must be dropped when unwritten memory is copied over these words.
static void uninitialized_again(int *d_out, bool right) {
    int *d = written(N * 4), *from = right ? written(N * 4) : fresh(N * 4);
    for (int k = 0; k < 3; k++) read_again<<<1, BLOCK>>>(d, d_out);
    cudaMemcpy(d, from, N * 4, cudaMemcpyDeviceToDevice);
    read_again<<<1, BLOCK>>>(d, d_out);
}

// One word in the middle was not written.
static void uninitialized_between(int *d_out, bool right) {
    int *d = fresh(N * 4), without = right ? N : 701;
    cudaMemset(d, 1, without * 4);
    if (!right) cudaMemset(d + without + 1, 1, (N - without - 1) * 4);
    read_again<<<1, BLOCK>>>(d, d_out);
}

static void uninitialized_half(int *d_out, bool right) {
    int *d = fresh(BLOCK * 8), without = 2 * 37 + 1;
    cudaMemset(d, 1, without * 4);
    cudaMemset(d + without + !right, 1, (BLOCK * 2 - without - !right) * 4);
    read_pairs<<<1, BLOCK>>>((const int2 *)d, d_out);
}

static const Case cases[] = {
    RUN("global_read_end", read_at<<<1, BLOCK>>>(written(N * 4), d_out, N - BLOCK + 1)),
    RUN("global_read_end_right", read_at<<<1, BLOCK>>>(written(N * 4), d_out, N - BLOCK)),
    RUN("global_read_start", read_before<<<1, BLOCK>>>(written(N * 4), d_out, -1)),
    RUN("global_read_start_right", read_before<<<1, BLOCK>>>(written(N * 4), d_out, 0)),
    RUN("global_write_end", write_at<<<8, BLOCK>>>(fresh(N * 4), N + 1)),
    RUN("global_write_end_right", write_at<<<8, BLOCK>>>(fresh(N * 4), N)),
    RUN("global_atomic_end", add_at<<<1, BLOCK>>>(written(4), 1)),
    RUN("global_atomic_end_right", add_at<<<1, BLOCK>>>(written(4), 0)),
    RUN("global_read_last_byte", read_whole_warps<<<1, BLOCK>>>(written(BLOCK * 4 - 1), d_out)),
    RUN("global_read_last_byte_right", read_whole_warps<<<1, BLOCK>>>(written(BLOCK * 4), d_out)),
    RUN("global_write_last_byte", write_whole_warps<<<1, BLOCK>>>(fresh(BLOCK * 4 - 1))),
    RUN("global_write_last_byte_right", write_whole_warps<<<1, BLOCK>>>(fresh(BLOCK * 4))),
    RUN("misaligned_warp", skewed_warp<<<1, BLOCK>>>(d_in, d_out, 2)),
    RUN("misaligned_warp_right", skewed_warp<<<1, BLOCK>>>(d_in, d_out, 4)),
    RUN("global_read_in_front", read_beside<<<1, BLOCK>>>(written(BLOCK * 4), d_out, -1)),
    RUN("global_read_in_front_right", read_beside<<<1, BLOCK>>>(written(BLOCK * 4 + 4) + 1, d_out, -1)),
    RUN("null_pointer", read_null<<<1, BLOCK>>>(NULL, d_out)),
    RUN("copied_tail", copy_tail<<<1, BLOCK>>>(written(BLOCK * 12 - 4), d_out, BLOCK * 3 - 1, true)),
    RUN("copied_tail_right", copy_tail<<<1, BLOCK>>>(written(BLOCK * 12 - 4), d_out, BLOCK * 3 - 1, false)),
    RUN("host_pointer", static int on_host[BLOCK]; read_host<<<1, BLOCK>>>(on_host, d_out)),
    RUN("use_after_free", use_after_free(d_out, false)),
    RUN("use_after_free_right", use_after_free(d_out, true)),
    RUN("misaligned_global", vector_load<<<1, BLOCK / 4>>>(d_in + 1, d_out)),
    RUN("misaligned_global_right", vector_load<<<1, BLOCK / 4>>>(d_in + 4, d_out)),
    RUN("misaligned_shared", vector_shared<<<1, BLOCK>>>(d_in, d_out, 1)),
    RUN("misaligned_shared_right", vector_shared<<<1, BLOCK>>>(d_in, d_out, 2)),
    RUN("shared_read_end", shared_at<<<1, BLOCK>>>(d_in, d_out, 1)),
    RUN("shared_read_end_right", shared_at<<<1, BLOCK>>>(d_in, d_out, 0)),
    RUN("shared_read_start", shared_before<<<1, BLOCK>>>(d_in, d_out, 1)),
    RUN("shared_read_start_right", shared_before<<<1, BLOCK>>>(d_in, d_out, 0)),
    RUN("shared_write_end", shared_write<<<1, BLOCK>>>(d_in, d_out, 1)),
    RUN("shared_write_end_right", shared_write<<<1, BLOCK>>>(d_in, d_out, 0)),
    RUN("dynamic_shared_small", dynamic_shared<<<1, BLOCK, BLOCK * 4 - 4>>>(d_in, d_out)),
    RUN("dynamic_shared_small_right", dynamic_shared<<<1, BLOCK, BLOCK * 4>>>(d_in, d_out)),
    RUN("local_end", local_at<<<1, BLOCK>>>(d_in, d_out, 1)),
    RUN("local_end_right", local_at<<<1, BLOCK>>>(d_in, d_out, 0)),
    RUN("uninitialized_shared", shared_unwritten<<<1, BLOCK>>>(d_in, d_out, BLOCK - 1)),
    RUN("uninitialized_shared_right", shared_unwritten<<<1, BLOCK>>>(d_in, d_out, BLOCK)),
    RUN("uninitialized_parts", parts_unwritten<<<1, BLOCK>>>(d_in, d_out, 3)),
    RUN("uninitialized_parts_right", parts_unwritten<<<1, BLOCK>>>(d_in, d_out, 4)),
    RUN("uninitialized_last", uninitialized_last(d_out, false)),
    RUN("uninitialized_last_right", uninitialized_last(d_out, true)),
    RUN("uninitialized_tail", uninitialized_tail(d_out, false)),
    RUN("uninitialized_tail_right", uninitialized_tail(d_out, true)),
    RUN("uninitialized_first_bytes", uninitialized_first_bytes(d_out, false)),
    RUN("uninitialized_first_bytes_right", uninitialized_first_bytes(d_out, true)),
    RUN("uninitialized_before_barrier", written_late<<<1, BLOCK>>>(d_in, d_out, false)),
    RUN("uninitialized_before_barrier_right", written_late<<<1, BLOCK>>>(d_in, d_out, true)),
    RUN("uninitialized_again", uninitialized_again(d_out, false)),
    RUN("uninitialized_again_right", uninitialized_again(d_out, true)),
    RUN("uninitialized_between", uninitialized_between(d_out, false)),
    RUN("uninitialized_between_right", uninitialized_between(d_out, true)),
    RUN("uninitialized_half", uninitialized_half(d_out, false)),
    RUN("uninitialized_half_right", uninitialized_half(d_out, true)),
    RUN("uninitialized_copy", uninitialized_copy(d_out)),
    RUN("written_by_copies_right", written_by_copies(d_in, d_out)),
    RUN("written_by_host_managed_right", written_by_host(d_out, true)),
    RUN("written_by_host_mapped_right", written_by_host(d_out, false)),
    TWINS(1, 32, past_shared_array),
    RUN("before_dynamic_array", before_dynamic_array<false><<<1, 32, 128>>>(d_in, d_out)),
    RUN("before_dynamic_array_right", before_dynamic_array<true><<<1, 32, 128>>>(d_in, d_out)),
    TWINS(1, BLOCK, read_only_written), TWINS(1, BLOCK, read_only_own),
    RUN("read_only_then_written", read_only_then_written<false><<<1, BLOCK>>>(d_in)),
    RUN("read_only_then_written_right", read_only_then_written<true><<<1, BLOCK>>>(d_in)),
    RUN("in_place_right", in_place<<<1, BLOCK>>>(d_out, d_out); in_place<<<1, BLOCK>>>(d_out, d_out)),
};

CORPUS_MAIN(cases)
