// Tests reduce_rows.cuh: every function against the host, at awkward shapes, strides and
// alignments; ragged rows, NaN, ties, zeros; errors; the workspace; two streams; a graph. Other
// tests that need the same kernels, which take long to compile, are part of this program:
//     every many       lengths that have special kernels if there are more rows than the device
//                      has threads: for simt --sms 1
//     every ends       rows at any address: ends.cuh
//     every few, long  the same for a few lengths, or for the long ones
#include <math.h>

#include "common.cuh"
#include "ends.cuh"

enum { MOST = 400000, PAD = 64, ROOM = 1200000 };

static void *d_workspace[2], *d_data, *d_out;
static cudaStream_t stream[2];

// Copies a kernel's input to the device. A copy from pageable memory may return before it is done,
// and these streams do not wait for the copy's stream.
static cudaError_t to_device(void *to, const void *from, size_t bytes) {
    const cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}
static cudaError_t to_data(const void *from, size_t bytes) {
    return to_device(d_data, from, bytes);
}

static void expect(bool right, const char *what, size_t rows, size_t cols, size_t at) {
    if (right) return;
    if (wrong++ < 20) printf("WRONG: %s, %zu rows of %zu, at %zu\n", what, rows, cols, at);
}

static bool near(double is, double should, double error) {
    return is == should || (is != is && should != should) ||
           fabs(is - should) <= error * (1 + fabs(should));
}

// The expected result of a row, computed by the host.
typedef struct {
    double sum, least, most, mean, variance, log_sum;
    size_t place;
} Answer;

static Answer answer_of(const float *x, size_t n) {
    Answer a = {0, INFINITY, -INFINITY, NAN, NAN, -INFINITY, UINT_MAX};
    double squares = 0, powers = 0;
    for (size_t i = 0; i < n; i++) {
        a.sum += x[i];
        if (x[i] < a.least) a.least = x[i];
        if (x[i] > a.most) a.most = x[i], a.place = i;
    }
    if (n == 0) return a;
    a.mean = a.sum / (double)n;
    for (size_t i = 0; i < n; i++) squares += (x[i] - a.mean) * (x[i] - a.mean);
    for (size_t i = 0; i < n; i++) powers += exp(x[i] - a.most);
    a.variance = squares / (double)n, a.log_sum = a.most + log(powers);
    return a;
}

template <class Out> static Out *results(size_t rows) {
    static void *host;
    if (!host) host = malloc(ROOM * 8);
    stop_on(cudaStreamSynchronize(stream[0]), "run");
    stop_on(cudaMemcpy(host, d_out, rows * sizeof(Out), cudaMemcpyDeviceToHost), "results");
    stop_on(cudaMemsetAsync(d_out, 0xFF, ROOM * 8, stream[0]), "poison");
    stop_on(cudaStreamSynchronize(stream[0]), "poison"); // the next call may be in any stream
    return (Out *)host;
}

static float *host_rows; // the elements as floats

template <class T> static void fill(size_t n) {
    T *data = (T *)malloc(n * sizeof(T));
    for (size_t i = 0; i < n; i++) {
        host_rows[i] = (float)((int)(next_random() % 17) - 8);
        to_element(host_rows[i], &data[i]);
    }
    stop_on(to_data(data, n * sizeof(T)), "copy");
    free(data);
}

// The first element and the length of each row, of a matrix or of ragged rows.
typedef struct {
    size_t rows, cols, stride, shift;
    const long long *offsets;
} Shape;
static const float *row_of(const Shape &s, size_t r, size_t *n) {
    *n = s.offsets ? (size_t)(s.offsets[r + 1] - s.offsets[r]) : s.cols;
    return host_rows + s.shift + (s.offsets ? (size_t)s.offsets[r] : r * s.stride);
}

template <class Out, class Right>
static void compare(const Shape &s, const char *what, Right right) {
    const Out *is = results<Out>(s.rows);
    for (size_t r = 0; r < s.rows; r++) {
        size_t n;
        const float *row = row_of(s, r, &n);
        expect(right(is[r], answer_of(row, n)), what, s.rows, n, r);
    }
}

#define CHECK(S, CALL, name, Out, RIGHT)                                                           \
    stop_on(CALL(name, (Out *)d_out), #name);                                                      \
    compare<Out>(S, #name, [](Out is, Answer a) { return RIGHT; })
#define CHECK_SUM(S, CALL) CHECK(S, CALL, rows_sum, float, is == a.sum)
#define CHECK_MIN(S, CALL) CHECK(S, CALL, rows_min, float, is == a.least)
#define CHECK_MAX(S, CALL) CHECK(S, CALL, rows_max, float, is == a.most)
#define CHECK_PLACE(S, CALL)                                                                       \
    CHECK(S, CALL, rows_argmax, RowsPlace, is.value == a.most && is.index == (unsigned)a.place)
#define CHECK_MOMENTS(S, CALL)                                                                     \
    CHECK(S, CALL, rows_mean_variance, RowsMeanVariance,                                           \
          near(is.mean, a.mean, 1e-5) && near(is.variance, a.variance, 1e-5))
#define CHECK_LOG(S, CALL) CHECK(S, CALL, rows_log_sum_exp, float, near(is, a.log_sum, 1e-5))

#define MATRIX(name, out) name(in, out, rows, cols, s.stride, d_workspace[0], stream[0])
template <class T>
static const T *matrix(size_t rows, size_t cols, size_t pad, size_t shift, Shape *s) {
    *s = {rows, cols, cols + pad, shift, NULL};
    fill<T>(rows * s->stride + shift);
    return (const T *)d_data + shift;
}

static void test_matrix(size_t rows, size_t cols, size_t pad, size_t shift) {
    Shape s;
    {
        const float *in = matrix<float>(rows, cols, pad, shift, &s);
        CHECK_SUM(s, MATRIX);
        CHECK_MIN(s, MATRIX);
        CHECK_PLACE(s, MATRIX);
        CHECK_MOMENTS(s, MATRIX);
        CHECK_LOG(s, MATRIX);
    }
    {
        const __half *in = matrix<__half>(rows, cols, pad, shift, &s);
        CHECK_SUM(s, MATRIX);
        CHECK_PLACE(s, MATRIX);
    }
    {
        const __nv_bfloat16 *in = matrix<__nv_bfloat16>(rows, cols, pad, shift, &s);
        CHECK_MAX(s, MATRIX);
        CHECK_MOMENTS(s, MATRIX);
    }
}

template <class T, class O>
static void test_ragged(const long long *offsets, size_t rows, size_t shift, size_t elements) {
    const Shape s = {rows, 0, 0, shift, offsets};
    const size_t n = (size_t)offsets[rows];
    fill<T>(n + shift);
    O *d_offsets, *as = (O *)malloc((rows + 1) * sizeof(O));
    for (size_t r = 0; r <= rows; r++) as[r] = (O)offsets[r];
    stop_on(cudaMalloc(&d_offsets, (rows + 1) * sizeof(O)), "offsets");
    stop_on(to_device(d_offsets, as, (rows + 1) * sizeof(O)), "offsets");
    const T *in = (const T *)d_data + shift;
#define RAGGED(name, out)                                                                          \
    name##_ragged(in, d_offsets, out, rows, elements, d_workspace[0], stream[0])
    CHECK_SUM(s, RAGGED);
    CHECK_MIN(s, RAGGED);
    CHECK_PLACE(s, RAGGED);
    CHECK_MOMENTS(s, RAGGED);
    CHECK_LOG(s, RAGGED);
    free(as);
    stop_on(cudaFree(d_offsets), "offsets");
}

// A NaN or a huge number must affect only its own row: every third row of 7 has one of each.
static void test_neighbours(size_t elements) {
    enum { ROWS = 3000, COLS = 7 };
    float *x = (float *)malloc(ROWS * COLS * sizeof(float));
    int *offsets = (int *)malloc((ROWS + 1) * sizeof(int)), *d_offsets;
    for (int i = 0; i < ROWS * COLS; i++) {
        const int row = i / COLS;
        x[i] = i % COLS != 4 || row % 3 == 0 ? 1 : row % 3 == 1 ? NAN : 1e30f;
    }
    for (int r = 0; r <= ROWS; r++) offsets[r] = r * COLS;
    stop_on(cudaMalloc(&d_offsets, (ROWS + 1) * sizeof(int)), "offsets");
    stop_on(to_device(d_offsets, offsets, (ROWS + 1) * sizeof(int)), "offsets");
    stop_on(to_data(x, ROWS * COLS * sizeof(float)), "copy");
    stop_on(rows_sum_ragged((const float *)d_data, d_offsets, (float *)d_out, ROWS, elements,
                            d_workspace[0], stream[0]),
            "neighbours");
    const float *is = results<float>(ROWS);
    for (int r = 0; r < ROWS; r++)
        expect(r % 3 == 0   ? is[r] == COLS
               : r % 3 == 1 ? is[r] != is[r]
                            : is[r] == 1e30f,
               "rows keep their NaN to themselves", ROWS, COLS, (size_t)r);
    stop_on(cudaFree(d_offsets), "offsets");
    free(offsets);
    free(x);
}

// Lengths: empty, equal, random, a power law, a giant among small ones, a thousand empty ones.
static size_t make_offsets(int kind, size_t most, long long *offsets) {
    size_t rows = 0;
    offsets[0] = kind % 2 ? 3 : 0;
    while ((size_t)offsets[rows] < most && rows < most + 1000) {
        const unsigned x = next_random();
        long long length = 0;
        if (kind == 1) length = 37;
        if (kind == 2) length = x % 130;
        if (kind == 3) length = (long long)(3 / (0.001 + (x % 1000) / 1000.0));
        if (kind == 4) length = rows == 100 ? (long long)most * 3 / 4 : x % 9;
        if (kind == 5) length = rows % 2000 < 1000 ? 0 : x % 5;
        if (kind == 6) length = (long long)most;
        if (offsets[rows] + length > (long long)most) length = (long long)most - offsets[rows];
        offsets[rows + 1] = offsets[rows] + length;
        rows++;
    }
    return rows;
}

template <class T> static void test_maps(size_t rows, size_t cols, size_t pad, size_t shift) {
    const size_t stride = cols + pad;
    const double error = sizeof(T) == 4 ? 2e-5 : 1e-2;
    fill<T>(rows * stride + shift);
    const T *in = (const T *)d_data + shift;
    T *out = (T *)d_out + shift;
    for (int kind = 0; kind < 4; kind++) {
        const T *w = (const T *)d_data + shift; // with arbitrary values
        cudaError_t e =
            kind == 0 ? rows_softmax(in, out, rows, cols, stride, stride, d_workspace[0], stream[0])
            : kind == 1 ? rows_layer_norm(in, out, rows, cols, stride, stride, (const T *)NULL,
                                          (const T *)NULL, 1e-5f, d_workspace[0], stream[0])
            : kind == 2 ? rows_layer_norm(in, out, rows, cols, stride, stride, w, w, 1e-5f,
                                          d_workspace[0], stream[0])
                        : rows_rms_norm(in, out, rows, cols, stride, stride, w, 1e-5f,
                                        d_workspace[0], stream[0]);
        stop_on(e, "map");
        const T *is = results<T>(rows * stride + shift) + shift;
        for (size_t r = 0; r < rows; r++) {
            const float *x = host_rows + shift + r * stride, *wx = host_rows + shift;
            const Answer a = answer_of(x, cols);
            double squares = a.variance + a.mean * a.mean;
            for (size_t c = 0; c < cols; c++) {
                double y = (x[c] - a.mean) / sqrt(a.variance + 1e-5);
                if (kind == 0) y = exp(x[c] - a.log_sum);
                if (kind == 2) y = y * wx[c] + wx[c];
                if (kind == 3) y = x[c] / sqrt(squares + 1e-5) * wx[c];
                expect(fabs(of_element(is[r * stride + c]) - y) <= error * fabs(y) + error * 0.5,
                       kind == 0   ? "softmax"
                       : kind == 3 ? "rms norm"
                                   : "layer norm",
                       rows, cols, r * cols + c);
            }
        }
    }
}

// One row in which all elements but one are equal.
static void expect_special(float all, size_t cols, size_t at, float one, float sum, float least,
                           float most, unsigned place) {
    float *x = (float *)malloc(cols * sizeof(float)), got;
    for (size_t i = 0; i < cols; i++) x[i] = i == at ? one : all;
    stop_on(to_data(x, cols * sizeof(float)), "copy");
    const float *in = (const float *)d_data;
    auto same = [](float a, float b) {
        return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
    };
#define SPECIAL(name, should)                                                                      \
    stop_on(name(in, (float *)d_out, 1, cols, cols, d_workspace[0], stream[0]), #name);            \
    got = results<float>(1)[0];                                                                    \
    expect(same(got, should), #name " of special elements", 1, cols, at)
    SPECIAL(rows_sum, sum);
    SPECIAL(rows_min, least);
    SPECIAL(rows_max, most);
    stop_on(rows_argmax(in, (RowsPlace *)d_out, 1, cols, cols, d_workspace[0], stream[0]),
            "argmax");
    expect(results<RowsPlace>(1)[0].index == place, "argmax of special elements", 1, cols, at);
    free(x);
}

static void test_specials() {
    for (size_t cols : {1, 3, 33, 100, 1000, 5000, 70001})
        for (size_t at : {(size_t)0, cols / 2, cols - 1}) {
            expect_special(1, cols, at, NAN, NAN, NAN, NAN, (unsigned)at);
            expect_special(-0.0f, cols, at, -0.0f, -0.0f, -0.0f, -0.0f, 0);
            expect_special(0.0f, cols, at, -0.0f, cols == 1 ? -0.0f : 0.0f, -0.0f,
                           cols == 1 ? -0.0f : 0.0f, 0);
            expect_special(-INFINITY, cols, at, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 0);
        }
}

// Rows of one repeated number of the largest magnitude: masking with the lowest float makes such
// rows.
static void test_large() {
    const float *in = (const float *)d_data;
    for (size_t cols : {1, 4, 33, 100, 1000, 5000, 70001, 150001})
        for (float all : {1e18f, -1e20f, 3.4e38f, -3.4e38f}) {
            float *x = (float *)malloc(cols * sizeof(float));
            for (size_t i = 0; i < cols; i++) x[i] = all;
            stop_on(to_data(x, cols * sizeof(float)), "copy");
            stop_on(
                rows_softmax(in, (float *)d_out, 1, cols, cols, cols, d_workspace[0], stream[0]),
                "softmax");
            const float share = results<float>(cols)[cols / 2];
            expect(fabs(share * (double)cols - 1) < 1e-4, "softmax of a large number", 1, cols, 0);
            stop_on(rows_log_sum_exp(in, (float *)d_out, 1, cols, cols, d_workspace[0], stream[0]),
                    "log");
            expect(results<float>(1)[0] == all, "log-sum-exp of a large number", 1, cols, 0);
            free(x);
            if (fabsf(all) > 1e30f) continue; // their sums are infinite
            stop_on(rows_mean_variance(in, (RowsMeanVariance *)d_out, 1, cols, cols, d_workspace[0],
                                       stream[0]),
                    "variance");
            const RowsMeanVariance is = results<RowsMeanVariance>(1)[0];
            expect(near(is.mean, all, 1e-5) && is.variance < 1e-9 * all * (double)all,
                   "variance of a large number", 1, cols, 0);
        }
}

static void test_errors() {
    const float *in = (const float *)d_data;
    float *out = (float *)d_out;
    const cudaError_t bad = cudaErrorInvalidValue;
    void *w = d_workspace[0];
    expect(rows_sum((const float *)NULL, out, 1, 1, 1, w, 0) == bad, "no input is refused", 1, 1,
           0);
    expect(rows_sum(in, (float *)NULL, 1, 1, 1, w, 0) == bad, "no output is refused", 1, 1, 0);
    expect(rows_sum(in, out, 1, 1, 1, NULL, 0) == bad, "no workspace is refused", 1, 1, 0);
    expect(rows_sum((const float *)((const char *)in + 2), out, 1, 1, 1, w, 0) == bad,
           "odd input is refused", 1, 1, 0);
    expect(rows_sum(in, out, 1, (size_t)1 << 32, 1, w, 0) == bad, "longer rows are refused", 1, 1,
           0);
    expect(rows_sum(in, out, 0, 5, 5, w, 0) == cudaSuccess, "no rows are fine", 0, 5, 0);
    expect(rows_sum_ragged(in, (const int *)NULL, out, 1, 1, w, 0) == bad, "no offsets", 1, 1, 0);
    expect(cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess,
           "a refused call leaves no error", 0, 0, 0);
}

// Two streams at once, then a graph of calls; several blocks to a row.
static void test_streams() {
    float *sums = (float *)d_out;
    const float *in = (const float *)d_data;
    fill<float>(MOST);
    const Shape s[2] = {{2, MOST / 2, MOST / 2, 0, NULL}, {5, 70001, 70001, 0, NULL}};
    for (int repeat = 0; repeat < 10; repeat++)
        for (int k = 0; k < 2; k++)
            stop_on(rows_sum(in, sums + 8 * k, s[k].rows, s[k].cols, s[k].stride, d_workspace[k],
                             stream[k]),
                    "two streams");
    stop_on(cudaStreamSynchronize(stream[1]), "two streams");
    const float *is = results<float>(16);
    for (int k = 0; k < 2; k++)
        for (size_t r = 0; r < s[k].rows; r++) {
            size_t n;
            const float *row = row_of(s[k], r, &n);
            expect(is[8 * k + r] == answer_of(row, n).sum, "two streams", s[k].rows, n, r);
        }
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    stop_on(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal), "capture");
    for (int k = 0; k < 6; k++)
        stop_on(rows_sum(in, sums, s[k % 2].rows, s[k % 2].cols, s[k % 2].stride, d_workspace[0],
                         stream[0]),
                "captured");
    stop_on(rows_softmax(in, (float *)d_out + 64, 1, (size_t)MOST, (size_t)MOST, (size_t)MOST,
                         d_workspace[0], stream[0]),
            "captured softmax");
    stop_on(cudaStreamEndCapture(stream[0], &graph), "capture");
    stop_on(cudaGraphInstantiate(&replay, graph, 0), "graph");
    for (int repeat = 0; repeat < 3; repeat++)
        stop_on(cudaGraphLaunch(replay, stream[0]), "replay");
    compare<float>(s[1], "a graph of calls", [](float got, Answer a) { return got == a.sum; });
}

static void test_workspace() {
    unsigned char *bytes = (unsigned char *)malloc(ROWS_WORKSPACE_BYTES);
    for (int k = 0; k < 2; k++) {
        size_t used = 0;
        stop_on(cudaMemcpy(bytes, d_workspace[k], ROWS_WORKSPACE_BYTES, cudaMemcpyDeviceToHost),
                "w");
        for (size_t i = 0; i < ROWS_WORKSPACE_BYTES; i++) used += bytes[i] != 0;
        expect(used == 0, "the workspace is zero again", used, 0, 0);
    }
    free(bytes);
}

// Rows of the lengths that have special kernels if there are many rows.
static void test_many(void) {
    static const size_t shapes[][2] = {{2100, 9},  {2060, 17}, {2050, 31}, {1030, 65},
                                       {520, 129}, {70, 257},  {66, 390},  {65, 511}};
    for (auto &shape : shapes)
        for (size_t shift : {0, 1})
            for (size_t pad : {0, 2}) test_matrix(shape[0], shape[1], pad, shift);
    test_matrix(16, 70001, 2, 1); // by blocks that take tickets
    test_matrix(22, 50001, 0, 0);
    static const size_t maps[][2] = {{2100, 2}, {700, 4}, {4200, 4},  {4200, 8}, {1100, 32},
                                     {40, 71},  {40, 99}, {500, 104}, {200, 200}, {3, 288},
                                     {3, 289},  {32, 160}, {32, 161}, {33, 67}};
    for (auto &shape : maps)
        for (size_t shift : {0, 1}) {
            test_maps<float>(shape[0], shape[1], 0, shift);
            test_maps<__nv_bfloat16>(shape[0], shape[1], 0, shift);
        }
}

// More bytes than the cache holds, on a device that says its cache is small and that it holds few
// threads: every kernel of rows_sum that marks what it reads runs, and softmax's.
static void test_beyond() {
    RowsDevice d;
    stop_on(rows_device(&d), "device");
    d.cache_bytes = 512, d.threads = 32;
    float *out = (float *)d_out;
    for (size_t cols : {4, 8, 16, 32, 64, 128, 256, 512, 257, 600, 1001, 2002, 4004, 8008, 50001}) {
        Shape s;
        const size_t rows = cols < 1000 ? 40 : 5, shift = cols % 4;
        const float *in = matrix<float>(rows, cols, 0, shift, &s);
        const RowsTask<float> task = {in, cols, NULL, 0, rows, cols};
        typedef RowsReduce<RowsSum, float> Sum;
        stop_on(shift == 0 && cols <= 512 ? Sum::by_lanes(d, true, task, out, stream[0])
                                          : Sum::by_blocks(d, task, out, d_workspace[0], stream[0]),
                "beyond the cache");
        compare<float>(s, "sum beyond the cache", [](float is, Answer a) { return is == a.sum; });
    }
    for (size_t cols : {8200, 12001, 16384}) { // the same bits as from the usual kernel
        Shape s;
        const size_t rows = 3, n = rows * cols;
        const float *in = matrix<float>(rows, cols, 0, 0, &s);
        float *usual = (float *)malloc(n * sizeof(float));
        stop_on(rows_softmax(in, out, rows, cols, cols, cols, d_workspace[0], stream[0]), "usual");
        memcpy(usual, results<float>(n), n * sizeof(float));
        const RowsTask<float> task = {in, cols, out, cols, rows, cols};
        const RowsMaps<RowsSoftmax, float> call = {
            task, RowsSoftmax::Parameters(), false, cols % 4 == 0, d_workspace[0], stream[0], d};
        cudaError_t error = cudaErrorUnknown;
        expect(call.by_team(cols / 4, false, &error), "a block has the row", rows, cols, 0);
        stop_on(error, "beyond the cache");
        expect(memcmp(usual, results<float>(n), n * sizeof(float)) == 0, "softmax beyond the cache",
               rows, cols, 0);
        free(usual);
    }
}

static int ended(bool right) {
    if (right) puts("all right");
    if (!right) printf("%d wrong\n", wrong);
    return !right;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    const bool few = strcmp(what, "few") == 0, only_long = strcmp(what, "long") == 0;
    if (few || only_long || strcmp(what, "ends") == 0)
        return ended(ends::test_lengths(few, only_long));
    host_rows = (float *)malloc(ROOM * sizeof(float));
    stop_on(cudaMalloc(&d_data, ROOM * sizeof(float)), "no device");
    stop_on(cudaMalloc(&d_out, ROOM * 8), "memory");
    for (int k = 0; k < 2; k++) {
        stop_on(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking), "stream");
        stop_on(cudaMalloc(&d_workspace[k], ROWS_WORKSPACE_BYTES), "workspace");
        stop_on(cudaMemsetAsync(d_workspace[k], 0, ROWS_WORKSPACE_BYTES, stream[k]), "workspace");
    }
    if (strcmp(what, "many") == 0) {
        test_many();
        return ended(wrong == 0);
    }
    static const size_t shapes[][2] = {{1, 0},    {5, 1},    {70, 2},   {33, 3},   {1000, 4},
                                       {31, 7},   {40, 8},   {9, 33},   {100, 64}, {6, 100},
                                       {5, 257},  {3, 513},  {2, 600},  {2, 687},  {3, 1000},
                                       {4, 1024}, {3, 1025}, {1, 4096}, {2, 8193}, {3, 70001}};
    for (auto &shape : shapes)
        for (size_t shift : {0, 1, 4})
            for (size_t pad : {0, 3, 8}) {
                if (shape[0] * shape[1] > 100000 && (shift == 1) == (pad == 3)) continue;
                test_matrix(shape[0], shape[1], pad, shift);
            }
    long long *offsets = (long long *)malloc((MOST + 2000) * sizeof(long long));
    for (int kind = 0; kind < 7; kind++)
        for (size_t most : {5, 1000, 60001}) {
            const size_t rows = make_offsets(kind, most, offsets);
            // The number of elements that the caller passes is only a hint: no result depends on
            // it.
            const size_t all = (size_t)(offsets[rows] - offsets[0]);
            for (size_t elements : {all, (size_t)0, (size_t)300000, (size_t)1 << 28}) {
                test_ragged<float, long long>(offsets, rows, kind % 3, elements);
                test_ragged<__half, int>(offsets, rows, kind % 5, elements);
            }
        }
    for (size_t elements : {0, 300000}) test_neighbours(elements);
    static const size_t maps[][2] = {{3, 1},      {50, 16},    {9, 30},    {5, 64},    {5, 100},
                                     {4, 256},    {3, 500},    {2, 1024},  {2, 1200},  {2, 2000},
                                     {2, 4096},   {2, 8000},   {2, 16384}, {2, 32000}, {1, 65536},
                                     {1, 131072}, {1, 262144}, {1, 300000}};
    for (auto &shape : maps)
        for (size_t pad : {0, 1}) {
            test_maps<float>(shape[0], shape[1], pad, pad);
            if (shape[1] < 50000) test_maps<__nv_bfloat16>(shape[0], shape[1], pad, pad);
        }
    for (size_t packs : {96, 160, 192, 1536}) { // the most that these teams have
        test_maps<float>(2, packs * 4, 0, 0);
        test_maps<__nv_bfloat16>(2, packs * 8 + 1, 0, 0);
    }
    test_specials();
    test_large();
    test_errors();
    test_streams();
    test_beyond();
    test_workspace();
    return ended(wrong == 0);
}
