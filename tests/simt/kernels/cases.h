// Shared by the programs here: arrays on host and device, comparison with the host's results, a
// clock, and a main that runs the cases of a table.
//
//     program [-s SCALE] [-t ROUNDS] [CASE...]
//
// -s: multiply all sizes by SCALE; -t: run each case ROUNDS times and print the time of each call
#ifndef CASES_H
#define CASES_H

#include <chrono>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

// Prints a case's result, `ok NAME` or `wrong NAME: why`.
static int wrong_count;

static inline void tell(const char *name, bool good, const char *why) {
    printf(good ? "ok %s\n" : "wrong %s: %s\n", name, why);
    wrong_count += !good;
}

#define CUDA(call) cuda_or_exit((call), #call)
static void cuda_or_exit(cudaError_t error, const char *call) {
    if (error == cudaSuccess) return;
    printf("wrong %s: %s\n", call, cudaGetErrorName(error));
    exit(1);
}

// Small integers, so that sums are exact in every type and order.
static inline int element(unsigned i) { return (int)((i * 2654435761u) >> 27) - 15; }

template <typename T> static void tell_value(const char *name, T got, double want) {
    char why[100];
    snprintf(why, sizeof why, "%.17g, not %.17g", (double)got, want);
    tell(name, (double)got == want, why);
}

struct Case {
    const char *name;
    void (*run)(int scale);
};

static const char *current_case;
static int rounds, current_round;

// Prints `time ROUND CASE WHAT WALL PROCESSOR`: wall and processor seconds of a statement that
// launches kernels. WHAT is the beginning of the statement, a kernel's name.
static inline void tell_time(const char *what, double wall, clock_t processor) {
    if (rounds > 0)
        printf("time %d %s %.*s %.6f %.6f\n", current_round, current_case, (int)strcspn(what, "<("),
               what, wall, (double)processor / CLOCKS_PER_SEC);
}

// Waits for launches to end, and times them.
#define RUN(...)                                                                                   \
    do {                                                                                           \
        auto run_start = std::chrono::steady_clock::now();                                         \
        clock_t run_clock = clock();                                                               \
        __VA_ARGS__;                                                                               \
        CUDA(cudaGetLastError());                                                                  \
        CUDA(cudaDeviceSynchronize());                                                             \
        clock_t run_processor = clock() - run_clock;                                               \
        std::chrono::duration<double> run_wall = std::chrono::steady_clock::now() - run_start;     \
        tell_time(#__VA_ARGS__, run_wall.count(), run_processor);                                  \
    } while (0)

// n elements on the host and on the device; the host sets them to 0 or to a function of the index.
template <typename T> struct Array {
    std::vector<T> host;
    T *device = nullptr;

    explicit Array(size_t n) : host(n) { to_device(); }
    template <typename F> Array(size_t n, F value) : host(n) {
        for (size_t i = 0; i < n; i++) host[i] = value((int)i);
        to_device();
    }
    explicit Array(const std::vector<T> &from) : host(from) { to_device(); }
    Array(const Array &) = delete;
    ~Array() { cudaFree(device); }

    operator T *() const { return device; }
    size_t bytes() const { return host.size() * sizeof(T); }
    void to_device() {
        if (!device) CUDA(cudaMalloc((void **)&device, bytes() + 256));
        CUDA(cudaMemcpy(device, host.data(), bytes(), cudaMemcpyHostToDevice));
    }
    const std::vector<T> &fetch() {
        CUDA(cudaMemcpy(host.data(), device, bytes(), cudaMemcpyDeviceToHost));
        return host;
    }
};

// A number in [-1, 1), by index; an integer from 0 to limit - 1.
static inline float real(int i) {
    return (float)((unsigned)i * 2654435761u >> 8) / (float)(1 << 23) - 1.0f;
}
static inline int whole(int i, int limit) {
    return (int)(((unsigned)i * 2246822519u + 374761393u >> 7) % (unsigned)limit);
}

// 32 pseudo-random bits, by index and purpose.
static inline unsigned mix(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
static inline unsigned chance(int i, unsigned purpose) {
    return mix((unsigned)i * 2654435761u + mix(purpose + 77));
}

// Compares every element with the host's, with `tolerance` as relative and absolute error.
template <typename T, typename U>
static void compare(const std::vector<T> &got, const std::vector<U> &want, double tolerance = 0) {
    char name[100], why[160] = "";
    snprintf(name, sizeof name, "%s %zu", current_case, want.size());
    bool good = got.size() >= want.size() && !want.empty();
    for (size_t i = 0; i < want.size() && good; i++) {
        double g = (double)got[i], w = (double)want[i];
        good = g == w || fabs(g - w) <= tolerance * (1 + fabs(w));
        if (!good) snprintf(why, sizeof why, "element %zu is %.9g, not %.9g", i, g, w);
    }
    tell(name, good, why);
}
template <typename T, typename U>
static void compare(Array<T> &got, const std::vector<U> &want, double tolerance = 0) {
    compare(got.fetch(), want, tolerance);
}

// Calls a function of cub::Device... twice: for the size of its storage, then to run it.
template <typename F> static void device_wide(F call) {
    size_t bytes = 0;
    CUDA(call(nullptr, bytes));
    Array<char> storage(bytes + 1);
    RUN(CUDA(call((void *)storage.device, bytes)));
}

#define DEVICE_WIDE(function, ...)                                                                 \
    device_wide(                                                                                   \
        [&](void *storage, size_t &bytes) { return cub::function(storage, bytes, __VA_ARGS__); })

static inline int blocks_for(int n, int block) { return (n + block - 1) / block; }

static int run_cases(const Case *cases, int count, int argc, char **argv) {
    int scale = 1, names = 1;
    for (; names < argc && argv[names][0] == '-'; names++)
        if (!strcmp(argv[names], "-t") && names + 1 < argc)
            rounds = atoi(argv[++names]);
        else if (!strcmp(argv[names], "-s") && names + 1 < argc)
            scale = atoi(argv[++names]);
    for (int i = 0; i < count; i++) {
        bool wanted = names == argc;
        for (int k = names; k < argc; k++) wanted |= !strcmp(argv[k], cases[i].name);
        if (!wanted) continue;
        current_case = cases[i].name;
        for (current_round = 0; current_round < (rounds > 0 ? rounds : 1); current_round++)
            cases[i].run(scale);
    }
    return wrong_count != 0;
}

#define CASES(table)                                                                               \
    int main(int argc, char **argv) {                                                              \
        return run_cases(table, (int)(sizeof(table) / sizeof *(table)), argc, argv);               \
    }

#endif
