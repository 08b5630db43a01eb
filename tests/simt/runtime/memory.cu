// Makes every allocation of host memory inside a CUDA call fail in turn. Each call must then succeed
// anyway or return cudaErrorMemoryAllocation, and the same work must succeed afterwards. Prints the
// number of failed allocations, and the number of calls that returned the error.
#pragma nv_diag_suppress 20011 // malloc is host and device code to nvcc
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// --- replacements of malloc and related functions ---

static volatile bool armed;
static long left; // allocations that succeed before one fails

static bool fails() {
    if (!armed || __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) != 0) return false;
    errno = ENOMEM;
    return true;
}

template <typename Function> static Function *next(Function *&known, const char *name) {
    if (!known) known = (Function *)dlsym(RTLD_NEXT, name);
    return known;
}

extern "C" void *malloc(size_t bytes) noexcept {
    static void *(*real)(size_t);
    return fails() ? NULL : next(real, "malloc")(bytes);
}

extern "C" void *calloc(size_t count, size_t bytes) noexcept {
    static void *(*real)(size_t, size_t);
    return fails() ? NULL : next(real, "calloc")(count, bytes);
}

extern "C" void *realloc(void *old, size_t bytes) noexcept {
    static void *(*real)(void *, size_t);
    return fails() ? NULL : next(real, "realloc")(old, bytes);
}

extern "C" void *aligned_alloc(size_t align, size_t bytes) noexcept {
    static void *(*real)(size_t, size_t);
    return fails() ? NULL : next(real, "aligned_alloc")(align, bytes);
}

// --- the work ---

enum { COUNT = 1000 };

__device__ int factor = 1;

__global__ void scale(int *data, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? data[i] : 0;
    __syncthreads();
    if (i < n) data[i] = factor * s[threadIdx.x];
}

static int *said; // calls that returned cudaErrorMemoryAllocation, in memory shared with the parent

// Makes a call whose allocations may fail. Returns whether it succeeded.
#define CALL(call)                                                                                 \
    do {                                                                                           \
        armed = true;                                                                              \
        cudaError_t error = (call);                                                                \
        armed = false;                                                                             \
        if (error == cudaSuccess) break;                                                           \
        if (error != cudaErrorMemoryAllocation) {                                                  \
            printf("wrong: %s: %s\n", #call, cudaGetErrorName(error));                             \
            fflush(stdout);                                                                        \
            _exit(1);                                                                              \
        }                                                                                          \
        ++*said;                                                                                   \
        cudaGetLastError();                                                                        \
        return false;                                                                              \
    } while (0)

static cudaError_t launch(int *data, cudaStream_t stream) {
    scale<<<(COUNT + 255) / 256, 256, 0, stream>>>(data, COUNT);
    return cudaGetLastError();
}

static bool graphs(int *data, int *host) {
    cudaStream_t stream;
    cudaGraph_t graph = NULL, copy;
    cudaGraphExec_t exec;
    cudaEvent_t event;
    CALL(cudaStreamCreate(&stream));
    CALL(cudaEventCreate(&event));
    CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t captured = cudaSuccess;
    armed = true;
    captured = launch(data, stream);
    if (!captured) captured = cudaEventRecord(event, stream);
    if (!captured) captured = cudaStreamWaitEvent(cudaStreamPerThread, event, 0);
    if (!captured) captured = launch(data, cudaStreamPerThread);
    if (!captured) captured = cudaEventRecord(event, cudaStreamPerThread);
    if (!captured) captured = cudaStreamWaitEvent(stream, event, 0);
    if (!captured)
        captured =
            cudaMemcpyAsync(host, data, COUNT * sizeof *host, cudaMemcpyDeviceToHost, stream);
    armed = false;
    cudaError_t ended = cudaStreamEndCapture(stream, &graph); // also after an error
    if (captured && ended == cudaErrorStreamCaptureInvalidated) ended = cudaSuccess;
    if (captured && graph) cudaGraphDestroy(graph);
    CALL(captured);
    CALL(ended);
    CALL(cudaGraphClone(&copy, graph));
    CALL(cudaGraphInstantiate(&exec, copy, 0));
    CALL(cudaGraphLaunch(exec, stream));
    CALL(cudaStreamSynchronize(stream));
    CALL(cudaGraphExecDestroy(exec));
    CALL(cudaGraphDestroy(copy));
    CALL(cudaGraphDestroy(graph));
    CALL(cudaEventDestroy(event));
    CALL(cudaStreamDestroy(stream));
    return true;
}

static bool work() {
    static int host[COUNT];
    int *data, *pinned, three = 3;
    for (int i = 0; i < COUNT; i++) host[i] = i;
    CALL(cudaMalloc(&data, sizeof host));
    CALL(cudaMallocHost(&pinned, 100));
    CALL(cudaHostRegister(host, sizeof host, 0));
    CALL(cudaHostUnregister(host));
    CALL(cudaMemcpyToSymbol(factor, &three, sizeof three));
    CALL(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    CALL(launch(data, 0));
    CALL(cudaDeviceSynchronize());
    if (!graphs(data, host)) return false;
    for (int i = 0; i < COUNT; i++)
        if (host[i] != 27 * i) {
            printf("wrong: host[%d] is %d\n", i, host[i]);
            fflush(stdout);
            _exit(1);
        }
    CALL(cudaFree(data));
    CALL(cudaFreeHost(pinned));
    return true;
}

// Runs the work in a child process. Returns whether it reached the n-th allocation.
static bool one(long n) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        left = n;
        bool reached = !work() || left < 0;
        left = -1;
        if (reached && !work()) {
            printf("wrong: after allocation %ld failed, the work fails for good\n", n);
            fflush(stdout);
            _exit(1);
        }
        _exit(reached ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 1) {
        printf("wrong: with allocation %ld failing: status 0x%x\n", n, status);
        exit(1);
    }
    return WEXITSTATUS(status) == 0;
}

int main() {
    said =
        (int *)mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long n = 0;
    while (one(n)) n++;
    printf("%ld allocations failed in turn, %d calls said so\n", n, *said);
    return 0;
}
