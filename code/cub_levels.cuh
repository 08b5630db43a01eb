// Generated from chapters/11-speed-of-light.md by tangle: edit that file, not this one.
// The contest of chapter 11 with a CUB that has levels of determinism (3.5): the lab, and behind
// its table a sum at each level.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native -I DIR -x cu cub_levels.cuh -o levels && ./levels
#define main contest
#include "11_speed_of_light.cu"
#undef main

#include <cuda/execution>
#include <cuda/memory_resource>

// Scratch space that is kept between calls; whoever asks runs on one stream, one after the other.
struct KeptScratch {
    void *allocate_sync(size_t bytes, size_t) {
        static void *d_scratch;
        static size_t kept;
        if (bytes > kept) {
            CUDA(cudaFree(d_scratch));
            CUDA(cudaMalloc(&d_scratch, bytes));
            kept = bytes;
        }
        return d_scratch;
    }
    void *allocate(cuda::stream_ref, size_t bytes, size_t align) {
        return allocate_sync(bytes, align);
    }
    void deallocate_sync(void *, size_t, size_t) noexcept {}
    void deallocate(cuda::stream_ref, void *, size_t, size_t) noexcept {}
    friend bool operator==(KeptScratch, KeptScratch) { return true; }
    friend bool operator!=(KeptScratch, KeptScratch) { return false; }
};

// A sum whose bits are as sure as LEVEL says.
template <class Level, class T> static unsigned launch_level(Run r) {
    auto how = cuda::std::execution::env{
        cuda::stream_ref{r.stream}, cuda::execution::require(Level{}),
        cuda::std::execution::prop{cuda::mr::get_memory_resource, KeptScratch{}}};
    CUDA(cub::DeviceReduce::Sum((const T *)r.d_in, (T *)r.d_partial, r.n, how));
    return 1;
}

typedef cuda::execution::determinism::run_to_run_t RunToRun;
typedef cuda::execution::determinism::not_guaranteed_t NotGuaranteed;
typedef cuda::execution::determinism::gpu_to_gpu_t GpuToGpu;
#define LEVEL(name, Level, mode, note)                                                             \
    { name, launch_level<Level, float>, note, LIKE(FLOAT, mode, none) }
static const Stage further[] = {
    LEVEL("cub_run_to_run", RunToRun, COLD, "the default"),
    LEVEL("cub_not_guaranteed", NotGuaranteed, COLD, "atomics"),
    LEVEL("cub_gpu_to_gpu", GpuToGpu, COLD, "bins"),
    LEVEL("cub_run_to_run_calls", RunToRun, CALLS, "no graph"),
    LEVEL("cub_not_guaranteed_calls", NotGuaranteed, CALLS, "atomics, no graph"),
    LEVEL("cub_gpu_to_gpu_calls", GpuToGpu, CALLS, "bins, no graph"),
};

int main(int argc, char **argv) {
    const Stage *end = further + sizeof further / sizeof *further;
    contest(argc, argv);
    if (bench.only) return 0;
    check_stages(further, end, false);
    if (bench.pin_gbps == 0 || bench.n < 4) return 0;
    if (bench.csv && !(bench.rows = fopen(bench.csv, "a"))) fail(1, "cannot write", bench.csv);
    measure_stages(further, end, false);
    if (bench.rows && fclose(bench.rows)) fail(1, "cannot write", bench.csv);
    bench.rows = NULL;
    return 0;
}
