// Tests softmax and the norms of reduce_rows.cuh with rows at any address: every phase of input,
// output and weights, strides, in place, special elements. Every buffer ends with its last element.
// Gaps between rows are uninitialised in the input and must stay unchanged in the output, so simt
// --check finds reads of them, and this program finds writes. Part of every.cu, which has the same
// kernels.
#include <math.h>
#include <string.h>

#include "common.cuh"

namespace ends {
enum { SOFTMAX, PLAIN, NORM, RMS, MAPS };
static const char *const names[MAPS] = {"softmax", "layer norm", "layer norm with weights",
                                        "RMS norm with weights"};
static void *d_workspace;

typedef struct {
    size_t rows, cols, in_stride, out_stride, in_phase, out_phase, weight_phase;
    bool in_place;
} Case;

// The expected result of a row, computed by the host: kind is one of the maps.
static void answer_of(int kind, const float *x, const float *w, size_t n, double *y) {
    double most = -INFINITY, sum = 0, mean = 0, variance = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] > most) most = x[i];
        mean += x[i] / (double)n, squares += x[i] * (double)x[i] / (double)n;
    }
    const double to = fabs(most) == INFINITY ? 0 : most;
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] - to), variance += (x[i] - mean) * (x[i] - mean) / (double)n;
    for (size_t i = 0; i < n; i++) {
        if (kind == SOFTMAX) y[i] = exp(x[i] - to) / sum;
        if (kind == PLAIN || kind == NORM) y[i] = (x[i] - mean) / sqrt(variance + 1e-5);
        if (kind == NORM) y[i] = y[i] * w[i] + w[i];
        if (kind == RMS) y[i] = x[i] / sqrt(squares + 1e-5) * w[i];
    }
}

static bool near(double is, double should, double error) {
    return is == should || (is != is && should != should) ||
           fabs(is - should) <= error * (fabs(should) + 0.5);
}

// Row 4 has a NaN, row 5 only -inf, row 6 a +inf.
static float element_of(size_t row, size_t col, size_t cols) {
    if (row == 4 && col == cols / 2) return NAN;
    if (row == 5) return -INFINITY;
    if (row == 6 && col == cols - 1) return INFINITY;
    return (float)((int)(next_random() % 65) - 32) / 8;
}

template <class T>
static cudaError_t start(int kind, const Case &c, const T *in, T *out, const T *w) {
    const T *none = NULL;
    if (kind == SOFTMAX)
        return rows_softmax(in, out, c.rows, c.cols, c.in_stride, c.out_stride, d_workspace, 0);
    if (kind == RMS)
        return rows_rms_norm(in, out, c.rows, c.cols, c.in_stride, c.out_stride, w, 1e-5f,
                             d_workspace, 0);
    return rows_layer_norm(in, out, c.rows, c.cols, c.in_stride, c.out_stride,
                           kind == PLAIN ? none : w, kind == PLAIN ? none : w, 1e-5f, d_workspace,
                           0);
}

template <class T>
static void compare(int kind, const Case &c, const float *x, const float *w, const T *is) {
    const double error = sizeof(T) == 4 ? 4e-5 : 1.2e-2;
    double *y = (double *)malloc(c.cols * sizeof(double));
    const size_t all = c.out_phase + (c.rows - 1) * c.out_stride + c.cols;
    unsigned char poison[sizeof(T)];
    memset(poison, 0xA5, sizeof poison);
    for (size_t i = 0; i < all; i++) {
        const size_t row = (i - c.out_phase) / c.out_stride, col = (i - c.out_phase) % c.out_stride;
        const bool outside = i < c.out_phase || col >= c.cols;
        if (!outside && col == 0) answer_of(kind, x + row * c.cols, w, c.cols, y);
        const bool right = outside ? c.in_place || memcmp(is + i, poison, sizeof poison) == 0
                                   : near(of_element(is[i]), y[col], error);
        if (right || wrong++ > 20) continue;
        printf("WRONG: %s, element %zu of row %zu of %zu x %zu, strides %zu %zu, phases %zu %zu\n",
               names[kind], col, row, c.rows, c.cols, c.in_stride, c.out_stride, c.in_phase,
               c.out_phase);
    }
    free(y);
}

template <class T> static void test(const Case &c) {
    const size_t in_size = c.in_phase + (c.rows - 1) * c.in_stride + c.cols;
    const size_t out_size = c.out_phase + (c.rows - 1) * c.out_stride + c.cols;
    const size_t w_size = c.weight_phase + c.cols;
    float *x = (float *)malloc(c.rows * c.cols * sizeof(float)), *w = x;
    T *row = (T *)malloc(c.cols * sizeof(T)), *is = (T *)malloc(out_size * sizeof(T));
    T *d_in, *d_out, *d_w;
    w = (float *)malloc(c.cols * sizeof(float));
    stop_on(cudaMalloc(&d_w, w_size * sizeof(T)), "weights");
    for (size_t i = 0; i < c.cols; i++)
        w[i] = (float)(next_random() % 17) / 8, to_element(w[i], row + i);
    stop_on(cudaMemcpy(d_w + c.weight_phase, row, c.cols * sizeof(T), cudaMemcpyDefault),
            "weights");
    for (int kind = 0; kind < MAPS; kind++) {
        stop_on(cudaMalloc(&d_in, in_size * sizeof(T)), "input");
        d_out = d_in;
        if (!c.in_place) stop_on(cudaMalloc(&d_out, out_size * sizeof(T)), "output");
        if (!c.in_place) stop_on(cudaMemset(d_out, 0xA5, out_size * sizeof(T)), "poison");
        for (size_t r = 0; r < c.rows; r++) {
            for (size_t i = 0; i < c.cols; i++)
                to_element(x[r * c.cols + i] = element_of(r, i, c.cols), row + i);
            stop_on(cudaMemcpy(d_in + c.in_phase + r * c.in_stride, row, c.cols * sizeof(T),
                               cudaMemcpyDefault),
                    "input");
        }
        stop_on(start<T>(kind, c, d_in + c.in_phase, d_out + c.out_phase, d_w + c.weight_phase),
                names[kind]);
        stop_on(cudaMemcpy(is, d_out, out_size * sizeof(T), cudaMemcpyDefault), names[kind]);
        compare<T>(kind, c, x, w, is);
        stop_on(cudaFree(d_in), "free");
        if (!c.in_place) stop_on(cudaFree(d_out), "free");
    }
    stop_on(cudaFree(d_w), "free");
    free(x), free(w), free(row), free(is);
}

// Some phases and strides, and for short rows every phase of 16 bytes against every other.
template <class T> static void test_all(size_t cols, bool every) {
    const size_t vec = 16 / sizeof(T), rows = cols < 3000 ? 8 : cols < 40000 ? 4 : 2;
    for (size_t a = 0; a < vec; a++)
        for (size_t b = 0; b < vec; b++) {
            const bool some = (a == b && a < 2) || (a == 1 && b == vec - 1) || (a == 0 && b == 1);
            if (!every && !some) continue;
            const size_t strides[][2] = {{0, 0}, {1, 1}, {3, 0}, {0, 5}};
            for (auto &more : strides) {
                if (every && more[0] + more[1] > 0 && (a + b) % 3 > 0) continue;
                if (cols > 40000 && (a == b ? more[0] != 1 : more[1] != 5)) continue;
                Case c = {rows, cols, cols + more[0], cols + more[1], a, b, (a + 1) % vec, false};
                test<T>(c);
                c.in_place = a == b && more[0] == more[1];
                if (c.in_place) test<T>(c);
            }
        }
}

// Tests all lengths, a few of them, or only long ones. Returns false if a result was wrong.
static bool test_lengths(bool few, bool only_long) {
    stop_on(cudaMalloc(&d_workspace, ROWS_WORKSPACE_BYTES), "workspace");
    stop_on(cudaMemset(d_workspace, 0, ROWS_WORKSPACE_BYTES), "workspace");
    for (size_t cols : {40, 300}) {
        if (only_long) continue;
        test_all<float>(cols, !few);
        test_all<__half>(cols, !few);
    }
    for (size_t cols :
         {1,   5,    9,    10,   17,   31,    34,    65,    67,    129,    140,    263,   265,
          521, 1025, 2051, 4111, 8197, 16400, 16417, 32800, 50257, 131089, 150001, 300001}) {
        if (few && cols > 9000 && cols != 16417) continue;
        if (only_long && cols < 30000) continue;
        test_all<float>(cols, false);
        test_all<__half>(cols, false);
    }
    return wrong == 0;
}
}  // namespace ends
