// Generated from chapters/16-rows.md by tangle: edit that file, not this one.
// Chapter 16: rows of every shape: the lab, and after its table sums beside CUB's and a ceiling,
// softmax and layer norm beside a copy, ragged rows.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native -x cu row_shapes.cuh -o shapes && ./shapes
#define main lab_main
#include "16_rows.cu"
#undef main

// Reads n4 vectors of 16 bytes, PER to a thread, and writes m results, a share in each block:
// what a sum of rows must do, and no more. Blocks of 256.
template <int PER>
__global__ void __launch_bounds__(256)
    read_and_write(const uint4 *in, size_t n4, unsigned *out, size_t m, unsigned never) {
    const size_t base = (size_t)blockIdx.x * (256 * PER) + threadIdx.x;
    unsigned x = 0;
    uint4 v[PER];
#pragma unroll
    for (int k = 0; k < PER; k++)
        v[k] = base + k * 256 < n4 ? __ldcs(in + base + k * 256) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < PER; k++) x ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    const size_t m4 = m / 4, to = m4 * (blockIdx.x + 1) / gridDim.x;
    for (size_t i = m4 * blockIdx.x / gridDim.x + threadIdx.x; i < to; i += 256)
        __stcs((uint4 *)out + i, make_uint4(x, x, x, x));
    if (blockIdx.x == 0 && threadIdx.x < m % 4) out[m4 * 4 + threadIdx.x] = x;
    if (x == never) *out = x;
}

// Reads and writes n4 vectors of 16 bytes, four to a thread. Blocks of 256.
__global__ void __launch_bounds__(256) copy_vectors(const uint4 *in, uint4 *out, size_t n4) {
    const size_t base = (size_t)blockIdx.x * 1024 + threadIdx.x;
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (base + k * 256 < n4) v[k] = __ldcs(in + base + k * 256);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (base + k * 256 < n4) __stcs(out + base + k * 256, v[k]);
}

// Of the launches that come; the first row, and where softmax and the norms write it, begins behind
// so many elements.
static struct { unsigned rows, cols, skip; } shape;

static unsigned launch_ceiling(size_t bytes, Run r) {
    const size_t n4 = (bytes + 15) / 16;
    const bool few = n4 < (size_t)r.sms * r.sm_threads * 4;
    const unsigned grid = (unsigned)((n4 + (few ? 255 : 1023)) / (few ? 256 : 1024));
    (few ? read_and_write<1> : read_and_write<4>)<<<grid, 256, 0, r.stream>>>(
        (const uint4 *)r.d_in, n4, (unsigned *)r.d_partial, shape.rows, 0x12345677);
    return 0;
}
static unsigned launch_sum_ceiling(Run r) {
    return launch_ceiling((size_t)r.n * sizeof(float), r);
}
static unsigned launch_ragged_ceiling(Run r) {
    return launch_ceiling((size_t)r.n * sizeof(float) + (shape.rows + 1) * sizeof(long long), r);
}
template <class T> static unsigned launch_copy(Run r) {
    const size_t n4 = (r.n * sizeof(T) + 15) / 16;
    copy_vectors<<<(unsigned)((n4 + 1023) / 1024), 256, 0, r.stream>>>(
        (const uint4 *)r.d_in, (uint4 *)r.d_partial, n4);
    return 0;
}

static unsigned launch_sum(Run r) {
    CUDA(rows_sum(r.d_in + shape.skip, r.d_partial, shape.rows, shape.cols, shape.cols,
                  rows_workspace(r.stream), r.stream));
    return shape.rows;
}
// Whether that is by a block for each 64 KB; and the same by as many as otherwise.
static bool by_many_blocks() {
    RowsDevice d;
    CUDA(rows_device(&d));
    return rows_parts_of_sweep(d, shape.rows, shape.cols * sizeof(float)) > 0;
}
static unsigned launch_few_blocks(Run r) {
    RowsDevice d;
    CUDA(rows_device(&d));
    const RowsTask<float> task = {r.d_in, shape.cols, NULL, 0, shape.rows, shape.cols};
    CUDA((RowsReduce<RowsSum, float>::by_blocks(d, task, r.d_partial, rows_workspace(r.stream),
                                                r.stream, false)));
    return shape.rows;
}
template <class T> static unsigned launch_soft(Run r) {
    CUDA(rows_softmax((const T *)r.d_in + shape.skip, (T *)r.d_partial + shape.skip, shape.rows,
                      shape.cols, shape.cols, shape.cols, rows_workspace(r.stream), r.stream));
    return 0;
}
enum { WEIGHTS = 1 << 19 };  // weights, and behind them as many biases
static void *d_weights;
template <class T, bool WEIGHTED> static unsigned launch_layer_norm(Run r) {
    const T *weights = WEIGHTED ? (const T *)d_weights : NULL;
    CUDA(rows_layer_norm((const T *)r.d_in + shape.skip, (T *)r.d_partial + shape.skip, shape.rows,
                         shape.cols, shape.cols, shape.cols, weights,
                         WEIGHTED ? weights + WEIGHTS : NULL, 1e-5f, rows_workspace(r.stream),
                         r.stream));
    return 0;
}

static unsigned launch_cub_offsets(Run r) {
    with_scratch([=](void *d_scratch, size_t &bytes) {
        auto offsets = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0),
                                                       Multiples{shape.cols});
        return cub::DeviceSegmentedReduce::Sum(d_scratch, bytes, r.d_in + shape.skip, r.d_partial,
                                               (long long)shape.rows, offsets, offsets + 1,
                                               r.stream);
    });
    return shape.rows;
}
#if CUB_VERSION >= 300200
static unsigned launch_cub_fixed(Run r) {
    with_scratch([=](void *d_scratch, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Sum(d_scratch, bytes, r.d_in + shape.skip, r.d_partial,
                                               (long long)shape.rows, (int)shape.cols, r.stream);
    });
    return shape.rows;
}
#endif

// Elements as element() has them, again from the first in each slot.
template <class T> __global__ void fill_slots(T *in, size_t slot, size_t all) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < all; k += step) {
        unsigned i = (unsigned)(k % slot);
        i = (i ^ i >> 16) * 0x85ebca6bu;
        i = (i ^ i >> 13) * 0xc2b2ae35u;
        i ^= i >> 16;
        rows_narrow(i & 8 ? 1.0f + (i & 7) : -1.0f - (i & 7), in + k);
    }
}

// One input of n elements, or as many as the cache cannot hold; what lies behind is only read
// between two samples.
template <class T> static void fill_inputs(unsigned n) {
    bench.slot = (n * sizeof(T) / 256 + 1) * 256;
    const size_t cold = bench.pin_gbps > 0 ? 4 * (size_t)bench.device.l2CacheSize : 0;
    bench.slots = std::min<size_t>(cold / bench.slot + 1, 256);
    bench.bytes = std::max(bench.slots * bench.slot, cold);
    fill_slots<<<1024, 256, 0, bench.stream>>>((T *)bench.d_in, bench.slot / sizeof(T),
                                               bench.slots * bench.slot / sizeof(T));
    CUDA(cudaGetLastError());
}

enum { KEPT = 4096 };
typedef struct { double sum, squares, exponentials; } Totals;
static Totals *kept;  // of what stands before element k * KEPT

static Totals with_element(Totals t, unsigned i) {
    static double exponential[17];
    if (exponential[0] == 0)
        for (int x = -8; x <= 8; x++) exponential[x + 8] = exp((double)x);
    const int x = element(i);
    return {t.sum + x, t.squares + x * x, t.exponentials + exponential[x + 8]};
}
static void keep_totals(unsigned n) {
    Totals t = {0, 0, 0};
    kept = (Totals *)malloc((n / KEPT + 1) * sizeof *kept);
    for (unsigned i = 0; i < n; i++) {
        if (i % KEPT == 0) kept[i / KEPT] = t;
        t = with_element(t, i);
    }
    if (n % KEPT == 0) kept[n / KEPT] = t;
}
static Totals totals_before(unsigned i) {
    Totals t = kept[i / KEPT];
    for (unsigned k = i - i % KEPT; k < i; k++) t = with_element(t, k);
    return t;
}
static Totals totals_of(unsigned from, unsigned to) {
    const Totals a = totals_before(from), b = totals_before(to);
    return {b.sum - a.sum, b.squares - a.squares, b.exponentials - a.exponentials};
}

static void check_element(const Stage *stage, Run r, unsigned i, double is, double should,
                          double error) {
    char what[64];
    snprintf(what, sizeof what, "RESULT %u, of rows of %u,", i, shape.cols);
    expect(stage, r.n, what, is, should, error);
}

// Part k of `parts` of the numbers up to `last`: the first is 0, the last is `last`.
static unsigned spread(unsigned last, unsigned k, unsigned parts) {
    return (unsigned)((size_t)last * k / (parts - 1));
}

template <class T> static double result(Run r, size_t i) {
    T x;
    CUDA(cudaMemcpy(&x, (const T *)r.d_partial + i, sizeof x, cudaMemcpyDeviceToHost));
    return (double)(float)x;
}

static void check_sums(const Stage *stage, Run r, unsigned) {
    for (unsigned k = 0; k < 40; k++) {
        const unsigned row = spread(shape.rows - 1, k, 40), from = shape.skip + row * shape.cols;
        check_element(stage, r, row, result<float>(r, row),
                      totals_of(from, from + shape.cols).sum, 0);
    }
}

template <Lengths KIND> static void check_ragged_sums(const Stage *stage, Run r, unsigned) {
    const long long *offsets = ragged(KIND, r.n)->h_offsets;
    for (unsigned k = 0; k < 40; k++) {
        const unsigned row = spread(shape.rows - 1, k, 40);
        check_element(stage, r, row, result<float>(r, row),
                      totals_of((unsigned)offsets[row], (unsigned)offsets[row + 1]).sum, 0);
    }
}

enum Output { COPY, SOFT_MAX, NORM_PLAIN, NORM_WEIGHTED };
template <class T, Output OUTPUT>
static void check_rows_out(const Stage *stage, Run r, unsigned) {
    const double error = sizeof(T) == 4 ? 2e-5 : 0.01;
    for (unsigned k = 0; k < 5 * 9; k++) {
        const unsigned from = shape.skip + spread(shape.rows - 1, k / 9, 5) * shape.cols;
        const unsigned at = spread(shape.cols - 1, k % 9, 9);
        const unsigned i = from + at - (OUTPUT == COPY ? shape.skip : 0);
        const Totals t = totals_of(from, from + shape.cols);
        const double mean = t.sum / shape.cols, x = element(i);
        double y = (x - mean) / sqrt(t.squares / shape.cols - mean * mean + 1e-5);
        if (OUTPUT == NORM_WEIGHTED) y = y * element(at) + element(at + WEIGHTS);
        if (OUTPUT == COPY) y = x;
        if (OUTPUT == SOFT_MAX) y = exp(x) / t.exponentials;
        check_element(stage, r, i, result<T>(r, i), y,
                      error * (OUTPUT == SOFT_MAX ? y : 1 + fabs(y)));
    }
}
static void check_nothing(const Stage *, Run, unsigned) {}

#define KERNEL(name, launch, check) { name, launch, "", 0, FLOAT, COLD, NULL, NULL, NULL, check }
static const Stage sums[] = { // the first one only where ours is another
    KERNEL("sum_few_blocks", launch_few_blocks, check_sums),
    KERNEL("sum_ceiling", launch_sum_ceiling, check_nothing),
    KERNEL("sum", launch_sum, check_sums),
#if CUB_VERSION >= 300200
    KERNEL("cub_sum", launch_cub_fixed, check_sums),
    KERNEL("cub_sum_offsets", launch_cub_offsets, check_sums),
#else
    KERNEL("cub_sum", launch_cub_offsets, check_sums),
#endif
};
#define RAGGED_SUMS(kind, KIND)                                                                    \
    {                                                                                              \
        KERNEL(kind "_ceiling", launch_ragged_ceiling, check_nothing),                             \
            KERNEL(kind, launch_ragged<KIND>, check_ragged_sums<KIND>),                            \
            KERNEL("cub_" kind, launch_cub_ragged<KIND>, check_ragged_sums<KIND>),                 \
    }
static const Stage ragged_sums[LENGTHS][3] = {
    RAGGED_SUMS("ragged_equal", EQUAL), RAGGED_SUMS("ragged_random", RANDOM),
    RAGGED_SUMS("ragged_power", POWER), RAGGED_SUMS("ragged_giant", GIANT)};
#define ROWS_OUT(T, type)                                                                          \
    {                                                                                              \
        KERNEL("copy" type, launch_copy<T>, (check_rows_out<T, COPY>)),                            \
            KERNEL("softmax" type, launch_soft<T>, (check_rows_out<T, SOFT_MAX>)),                 \
            KERNEL("layer_norm" type, (launch_layer_norm<T, false>),                               \
                   (check_rows_out<T, NORM_PLAIN>)),                                               \
            KERNEL("layer_norm_weights" type, (launch_layer_norm<T, true>),                        \
                   (check_rows_out<T, NORM_WEIGHTED>)),                                            \
    }
static const Stage float_rows[] = ROWS_OUT(float, "");
static const Stage bfloat_rows[] = ROWS_OUT(__nv_bfloat16, "_bf16");

static Timing time_shape(const Stage *stage, unsigned n) {
    float ms[3];
    for (int k = 0; k < 3; k++) {
        ms[k] = time_once(stage, n, 0, 1, NULL);
        if (ms[k] < 50) return measure(stage, n, 0);
    }
    std::sort(ms, ms + 3);
    return {1e3 * ms[1], 1e3 * ms[0], 1e3 * ms[2], 3};
}

// Checks and times kernels on n elements in rows of the shape at hand; a line of the table.
static void run_shape(const Stage *stages, size_t count, unsigned n, size_t out_bytes,
                      const char *elem) {
    printf("%11u %10u", n, shape.cols);
    for (const Stage *stage = stages; stage < stages + count; stage++) {
        const Run run = run_of(stage, n, 0, 0);
        CUDA(cudaMemsetAsync(run.d_partial, 0xFF, out_bytes, run.stream));
        stage->launch(run);
        CUDA(cudaGetLastError());
        CUDA(cudaStreamSynchronize(run.stream));
        stage->check(stage, run, 0);
        if (bench.pin_gbps == 0) continue;
        const Timing t = time_shape(stage, n);
        printf("  %s %.2f", stage->name, t.median);
        if (bench.rows)
            fprintf(bench.rows, "%s,%u,%u,%s,%.4f,%.4f,%.4f,%d\n", stage->name, n, shape.cols,
                    elem, t.median, t.p5, t.p95, t.samples);
    }
    printf("\n");
}

// Sums of so many floats: rows of 1, 2, 4 and so on, and of 3, 5, 9.
static void sweep_sums(unsigned total) {
    fill_inputs<float>(total);
    for (unsigned power = 1; power && power <= total; power *= 2)
        for (unsigned odd = 0; odd < (power > 1 && power < total ? 2 : 1); odd++) {
            shape.cols = power + odd, shape.rows = total / shape.cols;
            const unsigned left_out = by_many_blocks() ? 0 : 1;
            run_shape(sums + left_out, sizeof sums / sizeof *sums - left_out,
                      shape.rows * shape.cols, shape.rows * sizeof(float), "float");
        }
}

// The four kinds of ragged rows; cols: how long they are on average. An input has room for the
// offsets that the ceiling reads.
static void sweep_ragged(unsigned total) {
    fill_inputs<float>(2 * total);
    for (int kind = 0; kind < LENGTHS; kind++) {
        shape.rows = ragged((Lengths)kind, total)->rows, shape.cols = total / shape.rows;
        run_shape(ragged_sums[kind], 3, total, shape.rows * sizeof(float), "float");
    }
}

template <class T>
static void sweep_rows_out(const Stage *stages, unsigned total, const char *elem) {
    static const unsigned odd[] = {17, 33, 129, 1025, 8193, 50257, 65537, 131073, 262145};
    fill_inputs<T>(total);
    fill_slots<<<1024, 256, 0, bench.stream>>>((T *)d_weights, 2 * WEIGHTS, 2 * WEIGHTS);
    for (unsigned k = 0; k < 36; k++) {
        shape.cols = k < 27 ? 32u << k : odd[k - 27];
        if (shape.cols > total) continue;
        shape.rows = total / shape.cols;
        const unsigned n = shape.rows * shape.cols;
        run_shape(stages, shape.cols <= 262145 ? 4 : 3, n, n * sizeof(T), elem);
    }
}

static unsigned long long drawn;  // xorshift64*
static double draw(void) {
    drawn ^= drawn >> 12, drawn ^= drawn << 25, drawn ^= drawn >> 27;
    return (double)(drawn * 2685821657736338717ull >> 11) / 9007199254740992.0;
}
static unsigned draw_between(unsigned least, unsigned most) {
    return (unsigned)(least * pow((double)most / least, draw()) + 0.5);
}
// At most 4 Mi rows of a total of some 1 Ki up to the largest; returns their elements.
static unsigned draw_shape(unsigned largest) {
    const unsigned total = draw_between(1 << 10, largest);
    shape.cols = draw_between(1, total < 1u << 20 ? total : 1u << 20);
    shape.rows = std::min(total / shape.cols, 1u << 22), shape.skip = (unsigned)(4 * draw());
    return shape.rows * shape.cols;
}

// Ragged rows whose lengths are equal, even, by a power law, one giant's, or mostly 0, on average
// shape.cols; offsets of 8 or of 4 bytes.
static struct {
    long long *h_offsets;
    void *d_offsets;
    bool wide;
} drawn_rows;
static void draw_lengths(unsigned kind, unsigned n) {
    const unsigned rows = shape.rows;
    double *before = (double *)malloc((rows + 1) * sizeof *before);
    long long *offsets = (long long *)malloc((rows + 1) * sizeof *offsets);
    before[0] = 0;
    for (unsigned r = 0; r < rows; r++) {
        const double x = draw();
        const double lengths[] = {1, x, pow(x + 1e-5, -0.8), r == rows / 3 ? 3.0 * rows : x,
                                  x < 0.1 ? 1.0 : 0.0};
        before[r + 1] = before[r] + lengths[kind] + (r + 1 == rows ? 1e-9 : 0);
    }
    for (unsigned r = 0; r <= rows; r++) offsets[r] = (long long)(before[r] / before[rows] * n);
    free(before);
    free(drawn_rows.h_offsets);
    CUDA(cudaFree(drawn_rows.d_offsets));
    drawn_rows.h_offsets = offsets, drawn_rows.wide = draw() < 0.5;
    CUDA(cudaMalloc(&drawn_rows.d_offsets, (rows + 1) * sizeof *offsets));
    int *narrow = (int *)malloc((rows + 1) * sizeof *narrow);
    for (unsigned r = 0; r <= rows; r++) narrow[r] = (int)offsets[r];
    CUDA(cudaMemcpy(drawn_rows.d_offsets, drawn_rows.wide ? (void *)offsets : (void *)narrow,
                    (rows + 1) * (drawn_rows.wide ? 8 : 4), cudaMemcpyHostToDevice));
    free(narrow);
}
template <class O> static unsigned ragged_sum_by(Run r, const O *d_offsets, bool ours) {
    const float *d_in = r.d_in + shape.skip;
    if (ours)
        CUDA(rows_sum_ragged(d_in, d_offsets, r.d_partial, shape.rows, r.n,
                             rows_workspace(r.stream), r.stream));
    else
        with_scratch([=](void *d_scratch, size_t &bytes) {
            return cub::DeviceSegmentedReduce::Sum(d_scratch, bytes, d_in, r.d_partial, shape.rows,
                                                   d_offsets, d_offsets + 1, r.stream);
        });
    return shape.rows;
}
template <bool OURS> static unsigned launch_drawn_ragged(Run r) {
    return drawn_rows.wide ? ragged_sum_by(r, (const long long *)drawn_rows.d_offsets, OURS)
                           : ragged_sum_by(r, (const int *)drawn_rows.d_offsets, OURS);
}
static void check_drawn_ragged(const Stage *stage, Run r, unsigned) {
    for (unsigned k = 0; k < 40; k++) {
        const unsigned row = spread(shape.rows - 1, k, 40);
        const long long *from = drawn_rows.h_offsets + row;
        check_element(stage, r, row, result<float>(r, row),
                      totals_of(shape.skip + (unsigned)from[0], shape.skip + (unsigned)from[1]).sum,
                      0);
    }
}

static const Stage drawn_sums[] = {
    KERNEL("drawn_sum_ceiling", launch_sum_ceiling, check_nothing),
    KERNEL("drawn_sum", launch_sum, check_sums),
#if CUB_VERSION >= 300200
    KERNEL("cub_drawn_sum", launch_cub_fixed, check_sums),
#else
    KERNEL("cub_drawn_sum", launch_cub_offsets, check_sums),
#endif
};
static const Stage drawn_ragged[] = {
    KERNEL("drawn_ragged_ceiling", launch_ragged_ceiling, check_nothing),
    KERNEL("drawn_ragged", launch_drawn_ragged<true>, check_drawn_ragged),
    KERNEL("cub_drawn_ragged", launch_drawn_ragged<false>, check_drawn_ragged)};
#define DRAWN_ROWS_OUT(T, type)                                                                    \
    {                                                                                              \
        KERNEL("drawn_copy" type, launch_copy<T>, (check_rows_out<T, COPY>)),                      \
            KERNEL("drawn_softmax" type, launch_soft<T>, (check_rows_out<T, SOFT_MAX>)),           \
            KERNEL("drawn_layer_norm" type, (launch_layer_norm<T, false>),                         \
                   (check_rows_out<T, NORM_PLAIN>)),                                               \
    }
static const Stage drawn_float_rows[] = DRAWN_ROWS_OUT(float, "");
static const Stage drawn_bfloat_rows[] = DRAWN_ROWS_OUT(__nv_bfloat16, "_bf16");

// What a shape would take at the time per element of its neighbours: of half and twice the rows the
// slower one, of half and twice the columns too, and of these two the faster. A cliff takes longer.
static void time_neighbours(const Stage *stage, const char *elem) {
    const unsigned rows = shape.rows, cols = shape.cols, n = rows * cols;
    if (bench.pin_gbps == 0 || rows < 2 || cols < 2) return;
    Timing least = {0, 0, 0, 0};
    for (unsigned pair = 0; pair < 2; pair++) {
        Timing slower = {0, 0, 0, 0};
        for (unsigned twice = 0; twice < 2; twice++) {
            unsigned *changed = pair ? &shape.cols : &shape.rows;
            *changed = twice ? *changed * 2 : *changed / 2;
            const unsigned m = shape.rows * shape.cols;
            Timing t = time_shape(stage, m);
            t.median *= (double)n / m, t.p5 *= (double)n / m, t.p95 *= (double)n / m;
            if (t.median > slower.median) slower = t;
            shape.rows = rows, shape.cols = cols;
        }
        if (!pair || slower.median < least.median) least = slower;
    }
    printf("%22s  %s_neighbours %.2f\n", "", stage->name, least.median);
    if (bench.rows)
        fprintf(bench.rows, "%s_neighbours,%u,%u,%s,%.4f,%.4f,%.4f,%d\n", stage->name, n, cols,
                elem, least.median, least.p5, least.p95, least.samples);
}

template <class T>
static void sweep_drawn_rows_out(const Stage *stages, unsigned largest, unsigned shapes,
                                 const char *elem) {
    for (unsigned k = 0; k < shapes; k++) {
        const unsigned n = draw_shape(largest);
        fill_inputs<T>(2 * n + 4);
        run_shape(stages, 3, n, (n + shape.skip) * sizeof(T), elem);
        for (unsigned at = 1; at < 3; at++) time_neighbours(stages + at, elem);
    }
}
static void sweep_drawn(unsigned largest, unsigned long long seed) {
    const unsigned shapes = bench.pin_gbps > 0 ? 60 : 5;
    printf("shapes drawn at random, seed %llu\n", seed);
    drawn = seed * 0x9e3779b97f4a7c15ull | 1;
    for (unsigned k = 0; k < 2 * shapes; k++) {
        const unsigned n = draw_shape(largest);
        fill_inputs<float>(2 * n + shape.rows * 2 + 8);
        if (k % 2) draw_lengths(k / 2 % 5, n);
        run_shape(k % 2 ? drawn_ragged : drawn_sums, 3, n, shape.rows * sizeof(float), "float");
        if (k % 2 == 0) time_neighbours(drawn_sums + 1, "float");
    }
    sweep_drawn_rows_out<float>(drawn_float_rows, largest, shapes / 2, "float");
    sweep_drawn_rows_out<__nv_bfloat16>(drawn_bfloat_rows, largest, shapes / 2, "bfloat16");
    shape.skip = 0;
}

static void sweep(unsigned largest, unsigned long long seed) {
    static const unsigned totals[] = {1 << 12, 1 << 16, 1 << 20, 1 << 24,
                                      1 << 26, 1 << 28, 1 << 30};
    for (unsigned total : totals)
        if (total <= largest) sweep_sums(total);
    for (unsigned total : totals)
        if (total >= 1 << 16 && total <= 1 << 26 && total <= largest / 2) sweep_ragged(total);
    if (largest < 1u << 17) sweep_ragged(largest / 2);
    for (unsigned total : {largest < 1u << 25 ? largest : 1u << 25, 1u << 27}) {
        if (total > largest) continue;
        sweep_rows_out<float>(float_rows, total, "float");
        sweep_rows_out<__nv_bfloat16>(bfloat_rows, total, "bfloat16");
    }
    sweep_drawn(largest / 8 < 1u << 26 ? largest / 8 : 1u << 26, seed);
}

static unsigned long long shapes_seed;

static void read_shapes_options(int argc, char **argv) {
    bench.n = 1u << 30, bench.seconds = 0.006, shapes_seed = 1;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *end;
        const double n = strtod(value, &end);
        if (!strcmp(argv[i], "-h")) {
            printf("usage: shapes [-n LARGEST] [--seed N] [--csv FILE]\n"
                   "  -n LARGEST  of how many elements at most, 65536 to 1073741824\n"
                   "  --seed N    draw other shapes at random: 1 to 999999; 1 unless given\n"
                   "  --csv FILE  write the times to FILE, once every kernel has been right\n");
            exit(0);
        }
        if (!strcmp(argv[i], "-n") && *value && !*end && n >= 1 << 16 && n <= 1u << 30)
            bench.n = (unsigned)n;
        else if (!strcmp(argv[i], "--seed") && *value && !*end && n >= 1 && n < 1e6)
            shapes_seed = (unsigned long long)n;
        else if (!strcmp(argv[i], "--csv") && *value) bench.csv = value;
        else fail(2, "cannot use (-h explains)", argv[i]);
    }
}

static void open_shapes_csv(void) {
    const cudaDeviceProp *d = &bench.device;
    char date[32];
    time_t now = time(NULL);
    int driver = 0;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    CUDA(cudaDriverGetVersion(&driver));
    if (!(bench.rows = fopen(bench.csv, "w"))) fail(1, "cannot write", bench.csv);
    fprintf(bench.rows, "# device: %s\n# compute_capability: %d.%d\n# sm_count: %d\n"
            "# l2_bytes: %d\n# pin_gbps: %.1f\n# driver: %d\n# toolkit: %d\n# cub: %d.%d.%d\n"
            "# date: %s\nkernel,n,cols,elem,median_us,p5_us,p95_us,samples\n", d->name, d->major,
            d->minor, d->multiProcessorCount, d->l2CacheSize, bench.pin_gbps, driver,
            CUDART_VERSION, CUB_VERSION / 100000, CUB_VERSION / 100 % 1000, CUB_VERSION % 100,
            date);
}

// As large a total as there is room for: the input, four caches, and results as large.
static void fit_to_device(void) {
    size_t free = 0, all = 0;
    if (cudaMemGetInfo(&free, &all) != cudaSuccess) return;  // open_device() says why
    while (bench.n > 1u << 16 && (size_t)bench.n * 9 + (1u << 30) > free) bench.n /= 2;
}

int main(int argc, char **argv) {
    read_shapes_options(argc, argv);
    fit_to_device();
    open_device();
    CUDA(cudaMalloc(&d_weights, 2 * WEIGHTS * sizeof(float)));
    keep_totals(bench.n);
    if (bench.pin_gbps > 0 && bench.csv) open_shapes_csv(), atexit(drop_rows);
    printf("%s, up to %u elements%s\n", bench.device.name, bench.n,
           bench.pin_gbps > 0 ? ", microseconds" : "; no GPU: not measured");
    sweep(bench.n, shapes_seed);
    printf("every result right\n");
    if (bench.rows && fclose(bench.rows)) fail(1, "cannot write", bench.csv);
    bench.rows = NULL;
    return 0;
}
