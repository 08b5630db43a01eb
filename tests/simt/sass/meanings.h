// Shared by meanings.cu and forms.cu: random inputs for kernels, and a hash of each kernel's
// results.
#ifndef MEANINGS_H
#define MEANINGS_H

#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

enum { COUNT = 4096, BLOCK = 256, RESULTS = 8 * COUNT };

struct Input {
    const uint64_t *bits;
    const float *value;
    uint64_t *out;
};
typedef void Kernel(Input, uint32_t);

struct Entry {
    const char *name;
    Kernel *kernel;
};

static uint64_t bits[COUNT], out[RESULTS];
static float value[COUNT];

static Input random_input() {
    Input in;
    uint64_t state = 88172645463325252ull;
    for (int i = 0; i < COUNT; i++) { // Marsaglia's xorshift64; half of the words have few bits
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        bits[i] = i % 2 ? state : 1ull << (state >> 58);
        value[i] = (float)(int64_t)state * 0x1p-60f;
    }
    cudaMalloc((void **)&in.bits, sizeof bits);
    cudaMalloc((void **)&in.value, sizeof value);
    cudaMalloc((void **)&in.out, sizeof out);
    cudaMemcpy((void *)in.bits, bits, sizeof bits, cudaMemcpyHostToDevice);
    cudaMemcpy((void *)in.value, value, sizeof value, cudaMemcpyHostToDevice);
    return in;
}

// Runs each kernel with `shared` bytes of dynamic shared memory. Returns false if one failed.
template <int COUNT_OF> static bool run_all(const Entry (&entries)[COUNT_OF], int shared) {
    const Input in = random_input();
    for (const Entry &entry : entries) {
        cudaMemset(in.out, 0, sizeof out);
        entry.kernel<<<COUNT / BLOCK, BLOCK, shared>>>(in, 0x9c81f37du);
        if (cudaMemcpy(out, in.out, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess)
            return false;
        uint64_t hash = 0xcbf29ce484222325ull;
        for (uint64_t word : out) hash = (hash ^ word) * 0x100000001b3ull;
        printf("result %s %016llx\n", entry.name, (unsigned long long)hash);
    }
    return true;
}

#endif
