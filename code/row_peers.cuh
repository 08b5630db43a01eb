// Generated from chapters/16-rows.md by tangle: edit that file, not this one.
// The rows of chapter 16 with a CUB that takes a bound of the segments' length (3.5): the lab, and
// after its table other ways to sum ragged rows.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native -I DIR -x cu row_peers.cuh -o peers && ./peers
#define main contest
#include "16_rows.cu"
#undef main

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/discard_iterator.h>

// What the peers need of ragged rows: offsets of 4 bytes; the row of each element; the column of
// each, 0; as many ones as the longest row has elements.
typedef struct {
    unsigned n, most;
    int *d_offsets, *d_keys, *d_columns;
    float *d_ones;
    void *matrix;
} Peer;

template <class T> static T *to_device(const T *h, size_t count) {
    T *d;
    CUDA(cudaMalloc(&d, count * sizeof *d + 1));
    CUDA(cudaMemcpy(d, h, count * sizeof *d, cudaMemcpyHostToDevice));
    return d;
}

static Peer *peer_of(Lengths kind, unsigned n) {
    static Peer known[LENGTHS];
    Peer *peer = &known[kind];
    if (peer->d_ones && peer->n == n) return peer;
    const Ragged *all = ragged(kind, n);
    int *offsets = (int *)calloc(all->rows + 1, sizeof *offsets);
    int *keys = (int *)calloc(n + 1, sizeof *keys);
    float *ones = (float *)malloc((n + 1) * sizeof *ones);
    for (void *d : {(void *)peer->d_offsets, (void *)peer->d_keys, (void *)peer->d_columns,
                    (void *)peer->d_ones})
        CUDA(cudaFree(d));
    *peer = {n, 0, NULL, NULL, NULL, NULL, NULL};
    for (unsigned row = 0; row < all->rows; row++) {
        const unsigned from = (unsigned)all->h_offsets[row], to = (unsigned)all->h_offsets[row + 1];
        offsets[row + 1] = (int)to, peer->most = std::max(peer->most, to - from);
        for (unsigned i = from; i < to; i++) keys[i] = (int)row;
    }
    for (unsigned i = 0; i < n; i++) ones[i] = 1;
    peer->d_offsets = to_device(offsets, all->rows + 1), peer->d_keys = to_device(keys, n);
    memset(keys, 0, n * sizeof *keys);
    peer->d_columns = to_device(keys, n), peer->d_ones = to_device(ones, peer->most);
    free(offsets), free(keys), free(ones);
    return peer;
}

template <Lengths KIND> static unsigned launch_cub_bounded(Run r) {
    const Ragged *all = ragged(KIND, r.n);
    const Peer *peer = peer_of(KIND, r.n);
    with_scratch([=](void *d_scratch, size_t &bytes) {
        return cub::detail::segmented_reduce::dispatch(
            d_scratch, bytes, r.d_in, r.d_partial, all->rows, all->d_offsets, all->d_offsets + 1,
            cuda::std::plus<>{}, 0.0f, peer->most, r.stream);
    }, r.n);
    return all->rows;
}

template <Lengths KIND> static unsigned launch_cub_by_key(Run r) {
    const Peer *peer = peer_of(KIND, r.n);
    with_scratch([=](void *d_scratch, size_t &bytes) {
        return cub::DeviceReduce::ReduceByKey(
            d_scratch, bytes, peer->d_keys, thrust::make_discard_iterator(), r.d_in,
            r.d_partial + 1, (unsigned *)r.d_partial, cuda::std::plus<>{}, (long long)r.n,
            r.stream);
    }, r.n);
    return ragged(KIND, r.n)->rows;
}

// Sums of the rows that are not empty, after their number.
template <Lengths KIND> static void check_by_key(const Stage *stage, Run r, unsigned) {
    const Ragged *all = ragged(KIND, r.n);
    const float *h = (float *)results_of(r, (all->rows + 1) * sizeof(float));
    unsigned sums = 0;
    for (unsigned row = 0; row < all->rows; row++) {
        const unsigned from = (unsigned)all->h_offsets[row], to = (unsigned)all->h_offsets[row + 1];
        if (from == to) continue;
        sums++;
        if (compared(r.n, all->rows, row) || to - from > 4096)
            check_one(stage, r, h[sums], row_answer(from, to, false).sum, 0);
    }
    check_one(stage, r, *(const unsigned *)h, sums, 0);
    free((void *)h);
}

#include <cusparse.h>
#include <dlfcn.h>

static void *cusparse(const char *name) {
    static void *library = dlopen("libcusparse.so.12", RTLD_NOW);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) fail(1, "cannot load libcusparse.so.12: set LD_LIBRARY_PATH", name);
    return function;
}
#define SPARSE(function, ...)                                                                      \
    do {                                                                                           \
        if (((decltype(&function))cusparse(#function))(__VA_ARGS__) != CUSPARSE_STATUS_SUCCESS)    \
            fail(1, "cuSPARSE refuses", #function);                                                \
    } while (0)

typedef struct {
    cusparseHandle_t handle;
    cusparseSpMatDescr_t rows;
    cusparseDnVecDescr_t ones, sums;
    void *d_buffer;
} Product;
static const float one = 1, zero = 0;

// A product of these rows and ones, ready to run.
static Product *product_of(Lengths kind, Run r) {
    Peer *peer = peer_of(kind, r.n);
    if (peer->matrix) return (Product *)peer->matrix;
    Product *p = (Product *)calloc(1, sizeof *p);
    const unsigned rows = ragged(kind, r.n)->rows;
    size_t bytes;
    SPARSE(cusparseCreate, &p->handle);
    SPARSE(cusparseSetStream, p->handle, r.stream);
    SPARSE(cusparseCreateCsr, &p->rows, rows, peer->most, r.n, peer->d_offsets, peer->d_columns,
           (void *)r.d_in, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
           CUDA_R_32F);
    SPARSE(cusparseCreateDnVec, &p->ones, peer->most, peer->d_ones, CUDA_R_32F);
    SPARSE(cusparseCreateDnVec, &p->sums, rows, r.d_partial, CUDA_R_32F);
#define PRODUCT(p)                                                                                 \
    p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->rows, p->ones, &zero, p->sums,           \
        CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1
    SPARSE(cusparseSpMV_bufferSize, PRODUCT(p), &bytes);
    CUDA(cudaMalloc(&p->d_buffer, bytes + 1));
    SPARSE(cusparseSpMV_preprocess, PRODUCT(p), p->d_buffer);
    return (Product *)(peer->matrix = p);
}

template <Lengths KIND> static unsigned launch_cusparse(Run r) {
    if (bench.pin_gbps == 0) return 0;
    Product *p = product_of(KIND, r);
    SPARSE(cusparseSpMatSetValues, p->rows, (void *)r.d_in);
    SPARSE(cusparseSpMV, PRODUCT(p), p->d_buffer);
    return ragged(KIND, r.n)->rows;
}
template <Lengths KIND> static void check_cusparse(const Stage *stage, Run r, unsigned rows) {
    if (rows) check_ragged<KIND>(stage, r, rows);
}

#define IN_A_STREAM(name, launch, check)                                                           \
    { name, launch, "no graph", 0, FLOAT, CALLS, NULL, no_sizes, NULL, check }
#define BOTH_MODES(name, launch, check, note)                                                      \
    {name, launch, note, 0, FLOAT, COLD, NULL, no_sizes, NULL, check},                             \
        IN_A_STREAM(name "_calls", launch, check)
#define PEERS(kind, KIND)                                                                          \
    IN_A_STREAM("rows_ragged_" kind "_calls", launch_ragged<KIND>, check_ragged<KIND>),            \
        BOTH_MODES("cub_offsets_" kind, launch_cub_ragged<KIND>, check_ragged<KIND>, "offsets"),   \
        BOTH_MODES("cub_bounded_" kind, launch_cub_bounded<KIND>, check_ragged<KIND>,              \
                   "max_segment_size given"),                                                      \
        BOTH_MODES("cub_by_key_" kind, launch_cub_by_key<KIND>, check_by_key<KIND>,                \
                   "ReduceByKey"),                                                                 \
        BOTH_MODES("cusparse_" kind, launch_cusparse<KIND>, check_cusparse<KIND>, "CSR x ones")
static const Stage further[] = {
    IN_A_STREAM("rows_sum_1024_calls", (launch_matrix<RowsSum, float, 1024>),
                (check_matrix<SUM, 1024>)),
    IN_A_STREAM("cub_rows_sum_1024_calls", launch_cub_matrix<1024>, (check_matrix<SUM, 1024>)),
    PEERS("equal", EQUAL),
    PEERS("random", RANDOM),
    PEERS("power", POWER),
    PEERS("giant", GIANT),
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
