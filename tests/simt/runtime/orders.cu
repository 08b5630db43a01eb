// Kernels whose faults only show in an unusual order of blocks and warps, each with a right twin; and programs
// that must not notice that simt tries several orders. Arguments: CASE [number of launches].
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__device__ int lock, flag, places, told;

template <bool RIGHT> __device__ void add_locked(int *out) {
    while (atomicCAS(&lock, 0, 1)) {}
    if (RIGHT || blockIdx.x == 1) __threadfence();
    out[0] += 1;  // AT lock
    if (RIGHT || blockIdx.x == 0) __threadfence();
    atomicExch(&lock, 0);
}

// The first owner of the lock has nothing to acquire, and the last one's release is not acquired.
template <bool RIGHT> __global__ void locked(int *out) {
    if (threadIdx.x == 0) add_locked<RIGHT>(out);
}

// The reader runs before the flag is set.
template <bool RIGHT> __global__ void flagged(int *out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        const int set = atomicAdd(&flag, 0);
        if (RIGHT) __threadfence();
        if (set) out[1] = out[0];  // AT flag
    } else {
        out[0] = 5;  // AT value
        __threadfence();
        atomicExch(&flag, 1);
    }
}

// The same between the warps of a block: the last warp at a barrier continues first.
template <bool RIGHT> __global__ void flagged_warp(int *out) {
    __shared__ int set, value;
    if (threadIdx.x == 0) set = value = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        const int seen = atomicAdd(&set, 0);
        if (RIGHT) __threadfence_block();
        if (seen) out[0] = value;  // AT warps
    } else if (threadIdx.x == 0) {
        value = 3;
        __threadfence_block();
        atomicExch(&set, 1);
    }
}

// The last block reads the others' results; only if it is block 0 does it read too early.
template <bool RIGHT> __global__ void last(int *out) {
    if (threadIdx.x) return;
    out[blockIdx.x] = 1;
    if (RIGHT || blockIdx.x < gridDim.x - 1) __threadfence();
    const int place = atomicAdd(&places, 1);
    if (RIGHT || blockIdx.x > 0) __threadfence();
    if (place % (int)gridDim.x == (int)gridDim.x - 1)
        for (int i = 0; i < (int)gridDim.x; i++) out[8 + i] = out[i];  // AT last
}

// Blocks arrive in the usual order, or in reverse.
template <bool RIGHT> __global__ void asserts(int *out) {
    if (threadIdx.x) return;
    const int place = atomicAdd(out, 1), last = gridDim.x - 1 - blockIdx.x;
    assert(place == (int)blockIdx.x || (RIGHT && place == last));  // AT asserts
}

// Waits for a block with a lower number that starts later, since not all blocks are resident.
template <bool RIGHT> __global__ void chained(int *out) {
    extern __shared__ int room[];
    room[0] = 0;
    if (!RIGHT)
        while (atomicAdd(out, 0) < (int)blockIdx.x) {}
    atomicAdd(out, 1);
}

// In the usual order the word is unwritten; in reverse order the first block has written it.
__global__ void writes_in_reverse(int *out) {
    if (atomicAdd(&places, 1) == 0 && blockIdx.x == 1) out[0] = 1;
}
__global__ void reads(const int *in, int *out) { out[1] = in[0]; }  // AT unwritten

// Prints, allocates, changes global, managed and pinned memory.
__global__ void changes(int *managed, int *pinned) {
    const int before = atomicAdd(&managed[0], 1);
    int *const kept = (int *)malloc(100);
    kept[0] = before;
    atomicAdd(&pinned[0], kept[0]);
    atomicAdd(&told, 1);
    printf("block %d was number %d\n", blockIdx.x, before);
}

static void look_unchanged(void) {
    int *managed, *pinned, counted;
    cudaMallocManaged(&managed, 4);
    cudaMallocHost(&pinned, 4);
    *managed = *pinned = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    changes<<<3, 1>>>(managed, pinned);
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&counted, told, 4);
    printf("%d %d %d\n", *managed, *pinned, counted);
}

// What differs between orders. The host reads one of the two elements.
__global__ void compares(int *out, int *other) {
    const int seen = atomicCAS(&out[1], 0, blockIdx.x + 1);  // AT compared
    if (!seen) atomicExch(&other[0], blockIdx.x + 1);         // AT exchanged
}
__global__ void overwrites(int *out) { out[1] = 1; }
__global__ void adds(const float *in, float *sum, unsigned *count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicAdd(count, 1) < 4000) atomicAdd(sum, in[i]);  // AT added
}
__global__ void adds_by_cas(const double *in, unsigned long long *sum) {
    unsigned long long seen, old = atomicAdd(sum, 0);
    do {
        seen = old;
        old = atomicCAS(sum, seen, __double_as_longlong(__longlong_as_double(seen) + in[blockIdx.x]));  // AT swapped
    } while (old != seen);
}
__global__ void compacts(const float *in, float *out, unsigned *count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] > 0) out[atomicAdd(count, 1)] = in[i];  // AT compacted
}
__global__ void races(int *out) {
    if (atomicAdd(&out[0], 1) < 9) out[1] = blockIdx.x;  // AT raced
}

static void read(const void *from, size_t bytes) {
    static char to[4096];
    cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}

static void compare(const char *name) {
    static float in[1000];
    static double doubles[40];
    float *floats, *sum;
    int *out, *managed;
    for (int i = 0; i < 1000; i++) in[i] = i % 3 ? 1 / (i + 1.f) : -1 / (i + 1.f);
    for (int i = 0; i < 40; i++) doubles[i] = 1 / (i + 3.);
    cudaMalloc(&out, 64);
    cudaMalloc(&floats, sizeof in);
    cudaMalloc(&sum, sizeof in);
    cudaMallocManaged(&managed, 64);
    cudaMemset(out, 0, 64);
    cudaMemset(sum, 0, sizeof in);
    cudaMemcpy(floats, in, sizeof in, cudaMemcpyHostToDevice);
    memset(managed, 0, 64);
    if (!strcmp(name, "races")) races<<<4, 1>>>(out);
    if (!strcmp(name, "rounds")) adds<<<8, 125>>>(floats, sum, (unsigned *)out);
    if (!strcmp(name, "moves")) compacts<<<8, 125>>>(floats, sum, (unsigned *)out);
    if (!strcmp(name, "swaps")) {
        cudaMemcpy(floats, doubles, sizeof doubles, cudaMemcpyHostToDevice);
        adds_by_cas<<<40, 1>>>((double *)floats, (unsigned long long *)sum);
    }
    if (strstr("differs copied managed scratch overwritten filled", name)) compares<<<4, 1>>>(out, managed);
    if (!strcmp(name, "overwritten")) overwrites<<<1, 1>>>(out);
    if (!strcmp(name, "filled")) cudaMemset(out, 0, 8);
    if (!strcmp(name, "filled")) compares<<<1, 1>>>(out, managed);
    if (!strcmp(name, "copied")) cudaMemcpy(sum, out, 8, cudaMemcpyDeviceToDevice);
    cudaDeviceSynchronize();
    if (!strcmp(name, "managed")) in[0] = managed[0];
    if (!strcmp(name, "scratch")) in[0] = managed[1];
    if (strstr("differs overwritten filled races", name)) read(out + 1, 4);
    if (strstr("copied rounds swaps", name)) read(sum, 8);
    if (!strcmp(name, "moves")) read(sum, sizeof in);
}

template <bool RIGHT> static void run(const char *name, int *out) {
    if (!strcmp(name, "lock")) locked<RIGHT><<<2, 32>>>(out);
    if (!strcmp(name, "flag")) flagged<RIGHT><<<2, 32>>>(out);
    if (!strcmp(name, "warps")) flagged_warp<RIGHT><<<1, 64>>>(out);
    if (!strcmp(name, "last")) last<RIGHT><<<7, 32>>>(out);
    if (!strcmp(name, "asserts")) asserts<RIGHT><<<9, 32>>>(out);
    if (!strcmp(name, "chained")) chained<RIGHT><<<2000, 1, 48 << 10>>>(out);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    int *out, launches = argc > 2 ? atoi(argv[2]) : 1;
    const bool right = strncmp(name, "right_", 6) == 0;
    cudaMalloc(&out, 64);
    if (!strcmp(name, "unchanged")) look_unchanged();
    if (!strcmp(name, "unwritten")) {
        writes_in_reverse<<<2, 1>>>(out);
        reads<<<1, 1>>>(out, out);
    }
    if (argc > 2 && !strcmp(name, "compare")) compare(argv[2]);
    for (int i = 0; i < launches; i++) {
        cudaMemset(out, 0, strcmp(name, "unwritten") ? 64 : 0);
        if (right)
            run<true>(name + 6, out);
        else
            run<false>(name, out);
    }
    printf("ran: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
