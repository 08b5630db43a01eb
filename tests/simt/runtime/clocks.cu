// Clocks that are read before a kernel has finished, and right twins: clocks CASE
#include <chrono>
#include <cstring>
#include <sys/time.h>
#include <time.h>

__global__ void put(int *to) { to[threadIdx.x] = 1; }
__global__ void tell(volatile int *flag) { *flag = 1; }

static int *d, *flag;
static int h[32];
static double t0, t1, t2;
static cudaStream_t stream;
static cudaEvent_t event;

static double chrono() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
static double posix() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);  // AT posix
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double day() {
    timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}
static void copy() { cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost); }

static void measure_both() {
    for (int k = 0; k < 3; k++) {
        t0 = posix();
        put<<<1, 32>>>(d);
        t1 = posix();
        cudaDeviceSynchronize();
        t2 = posix();
    }
}

#define CASE(name, ...) {#name, [] { __VA_ARGS__; }}
static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    CASE(chrono, t0 = chrono(); put<<<1, 32>>>(d); t1 = chrono(); copy()),
    CASE(posix, t0 = posix(); put<<<1, 32>>>(d); t1 = posix(); copy(); t2 = posix()),  // AT launch
    CASE(day, t0 = day(); put<<<1, 32, 0, stream>>>(d); cudaGetLastError(); t1 = day(); copy()),
    CASE(many, t0 = posix(); for (int k = 0; k < 9; k++) put<<<1, 32>>>(d); t1 = posix(); copy()),
    CASE(both, measure_both()),
    CASE(waits, t0 = chrono(); put<<<1, 32>>>(d); cudaDeviceSynchronize(); t1 = chrono()),
    CASE(copies, t0 = day(); put<<<1, 32>>>(d); copy(); t1 = day()),
    CASE(waits_event, t0 = posix(); put<<<1, 32>>>(d); cudaEventRecord(event); cudaEventSynchronize(event);
         t1 = posix()),
    CASE(told, t0 = posix(); tell<<<1, 1>>>(flag); while (!*(volatile int *)flag) continue; t1 = posix()),
    CASE(before, put<<<1, 32>>>(d); t0 = posix(); cudaDeviceSynchronize(); t1 = posix()),
    CASE(two_clocks, t0 = day(); put<<<1, 32>>>(d); t1 = posix(); copy()),
};

int main(int argc, char **argv) {
    cudaMalloc(&d, 4096);
    cudaMallocHost(&flag, sizeof *flag);
    *flag = 0;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    for (const auto &one : cases)
        if (argc > 1 && !strcmp(argv[1], one.name)) one.run();
    cudaDeviceSynchronize();
    return t0 + t1 + t2 == 0;
}
