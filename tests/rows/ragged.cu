// Tests ragged rows in shares of few and of many tiles, in any grid: rows that end at a tile's border
// or one step from it, empty rows there, rows over many shares, more rows than elements, offsets that
// begin far from 0, and memory that ends with the last row. Prints `all right`, and the bits of sums
// whose value depends on the order of additions.
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "reduce_rows.cuh"

using namespace reduction;

static int wrong;
static cudaStream_t stream;
static void *d_workspace;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "ragged: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}
static unsigned next_random() {
    static unsigned long long state = 88172645463325252ull;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33);
}
static void expect(bool right, const char *what, size_t rows, size_t row) {
    if (right || wrong++ > 10) return;
    printf("wrong: %s, %zu rows, row %zu\n", what, rows, row);
}

typedef std::vector<long long> Offsets;

enum {
    TILE = 4096,
    STEPS = TILE - 32 - 128,
    END = 3
}; // of rows_ragged<..., float, long long, 4, TILE>

static Offsets by_length(size_t n, long long (*length)(size_t row)) {
    Offsets o(1, 0);
    while ((size_t)o.back() < n) {
        const long long end = o.back() + length(o.size() - 1);
        o.push_back(end < (long long)n ? end : (long long)n);
    }
    return o;
}
static long long equal(size_t) { return 64; }
static long long any(size_t) { return next_random() % 129; }
static long long power(size_t) {
    return next_random() % 8 ? next_random() % 9 : next_random() % 900;
}
static long long giant(size_t row) { return row == 40 ? 30000 : next_random() % 32; }
static long long mostly_none(size_t) { return next_random() % 40 ? 0 : next_random() % 50; }
static long long long_ones(size_t) { return 3000 + next_random() % 9000; }
// A row ends at the end of a tile, at its start, or one step after.
static long long to_border(size_t row) {
    const long long around[] = {STEPS - END, 0, 0, STEPS - 3 * END, 1, STEPS - 2 * END - 1};
    return around[row % 6];
}
static long long to_border_beside(size_t row) {
    const long long around[] = {STEPS - END - 1, 1, STEPS - 2 * END + 1, 2, STEPS + 2, 0,
                                STEPS - 4};
    return around[row % 7];
}

// Every other row is long and begins just before a border. If it begins at most 128 steps before, the
// next share takes it as a whole.
static long long begun_at_border(size_t row) {
    static const long long before[] = {0, 1, 60, 127, 128, 129, 130};
    static long long step;
    long long length = STEPS * 3 / 2;
    if (row % 2 == 0) length = (2 * STEPS - END - before[row / 2 % 7] - step % STEPS) % STEPS;
    step += length + END;
    return length;
}

static bool near(double is, double should) {
    return is == should || fabs(is - should) <= 1e-4 * (1 + fabs(should));
}

// Rows of T in memory that ends with the last row; before the first row are `lead` uninitialised
// elements. The first offset is `from`.
template <class T, class O, int WARPS, int TILE> struct Rows {
    Offsets at;
    std::vector<float> x;
    T *d_data;
    O *d_offsets;
    const T *in;
    void *d_out;

    Rows(const Offsets &offsets, size_t lead, O from) : at(offsets) {
        const size_t n = (size_t)at.back(), rows = at.size() - 1;
        std::vector<T> data(n);
        std::vector<O> moved(rows + 1);
        for (size_t i = 0; i < n; i++) {
            x.push_back((float)((int)(next_random() % 17) - 8));
            data[i] = T(x[i]);
        }
        for (size_t r = 0; r <= rows; r++) moved[r] = (O)at[r] + from;
        const size_t bytes = n * sizeof(T);
        stop_on(cudaMalloc(&d_data, bytes + lead * sizeof(T) + (bytes == 0)), "elements");
        stop_on(cudaMalloc(&d_offsets, moved.size() * sizeof(O)), "offsets");
        stop_on(cudaMalloc(&d_out, rows * 8), "results");
        stop_on(cudaMemcpy(d_data + lead, data.data(), bytes, cudaMemcpyHostToDevice), "elements");
        stop_on(
            cudaMemcpy(d_offsets, moved.data(), moved.size() * sizeof(O), cudaMemcpyHostToDevice),
            "offsets");
        in = (const T *)((size_t)(d_data + lead) - (size_t)from * sizeof(T));
    }
    ~Rows() { cudaFree(d_data), cudaFree(d_offsets), cudaFree(d_out); }

    // The number of multiprocessors; 0: all; negative: one block, or as many blocks as there are
    // rows for.
    template <class Op> std::vector<typename Op::Out> reduce(int sms) const {
        const size_t rows = at.size() - 1;
        std::vector<typename Op::Out> is(rows);
        RowsDevice d;
        stop_on(rows_device(&d), "device");
        if (sms > 0) d.sms = sms;
        const size_t elements = sms < 0 ? 0 : (size_t)1 << 30;
        stop_on(cudaMemset(d_out, 0xFF, rows * 8), "poison");
        const RowsRagged<Op, T, O> call = {in,
                                           d_offsets,
                                           rows,
                                           elements,
                                           (typename Op::Out *)d_out,
                                           (unsigned long long *)d_workspace,
                                           stream};
        const cudaError_t error = call.template by_tiles<WARPS, TILE>(d);
        stop_on(error, "launch");
        stop_on(cudaStreamSynchronize(stream), "run");
        stop_on(cudaMemcpy(is.data(), d_out, rows * sizeof is[0], cudaMemcpyDeviceToHost),
                "results");
        return is;
    }
    void check(int sms, const char *what) const {
        const std::vector<float> sums = reduce<RowsSum>(sms);
        const std::vector<RowsPlace> places = reduce<RowsArgMax>(sms);
        const std::vector<RowsMeanVariance> moments = reduce<RowsVariance>(sms);
        for (size_t r = 0; r + 1 < at.size(); r++) {
            double sum = 0, squares = 0, n = (double)(at[r + 1] - at[r]);
            float most = -INFINITY;
            unsigned place = UINT_MAX;
            for (long long i = at[r]; i < at[r + 1]; i++) {
                sum += x[i], squares += (double)x[i] * x[i];
                if (x[i] > most) most = x[i], place = (unsigned)(i - at[r]);
            }
            expect((double)sums[r] == sum, what, at.size() - 1, r);
            expect(places[r].value == most && places[r].index == place, what, at.size() - 1, r);
            if (n > 0)
                expect(near(moments[r].mean, sum / n) &&
                           near(moments[r].variance, squares / n - sum / n * (sum / n)),
                       what, at.size() - 1, r);
        }
    }
};

struct Kind {
    const char *name;
    Offsets offsets;
};
// With `ragged short`, for --check, long rows have a fifth of the length.
static std::vector<Kind> kinds_of(size_t part) {
    return {
        {"equal", by_length(50000, equal)},
        {"random", by_length(70001, any)},
        {"power", by_length(60003, power)},
        {"giant", by_length(50000, giant)},
        {"mostly empty", by_length(9000, mostly_none)},
        {"long", by_length(300000 / part, long_ones)},
        {"at borders", by_length(40000, to_border)},
        {"beside borders", by_length(40000, to_border_beside)},
        {"begun at borders", by_length(120000, begun_at_border)},
        {"one", {0, 200000 / (long long)part}},
        {"one element", {0, 0, 0, 1, 1}},
        {"none", Offsets(5000, 0)},
    };
}

// The bits of a sum must not depend on timing.
static void print_bits(const Offsets &offsets) {
    std::vector<float> x(60000);
    for (float &e : x) e = (float)next_random() / 3e9f;
    Rows<float, long long, 4, 4096> rows(offsets, 1, 0);
    stop_on(cudaMemcpy(rows.d_data + 1, x.data(), 50000 * 4, cudaMemcpyHostToDevice), "elements");
    unsigned long long hash = 14695981039346656037ull;
    for (int sms : {1, 3, 0})
        for (float sum : rows.reduce<RowsSum>(sms)) {
            unsigned bits;
            memcpy(&bits, &sum, 4);
            hash = (hash ^ bits) * 1099511628211ull;
        }
    printf("bits %016llx\n", hash);
}

int main(int argc, char **) {
    const std::vector<Kind> kinds = kinds_of(argc > 1 ? 5 : 1);
    stop_on(cudaStreamCreate(&stream), "stream");
    stop_on(cudaMalloc(&d_workspace, ROWS_WORKSPACE_BYTES), "workspace");
    stop_on(cudaMemset(d_workspace, 0, ROWS_WORKSPACE_BYTES), "workspace");
    size_t lead = 0;
    for (const auto &kind : kinds) {
        const Rows<float, long long, 4, 4096> small(kind.offsets, lead, (long long)lead << 33);
        const Rows<float, int, 8, 8192> large(kind.offsets, 3 - lead, (int)lead * 7);
        const Rows<__half, int, 8, 8192> halves(kind.offsets, lead * 3 % 8, (int)lead * 5);
        for (int sms : {-1, 1, 2, 0}) small.check(sms, kind.name);
        for (int sms : {-1, 1}) large.check(sms, kind.name);
        halves.check(lead % 2 ? 0 : -1, kind.name);
        lead = (lead + 1) % 4;
    }
    std::vector<unsigned char> bytes(ROWS_WORKSPACE_BYTES);
    stop_on(cudaMemcpy(bytes.data(), d_workspace, bytes.size(), cudaMemcpyDeviceToHost),
            "workspace");
    for (unsigned char byte : bytes) expect(byte == 0, "the workspace is zero again", 0, 0);
    print_bits(kinds[3].offsets);
    printf(wrong ? "%d wrong\n" : "all right\n", wrong);
    return wrong != 0;
}
