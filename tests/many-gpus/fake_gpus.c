// Pretends to be several GPUs and NCCL, on top of the single CPU device: preloaded before both.
//
// FAKE_GPUS is their number. Each is the same CPU device, with little memory and, unless
// FAKE_UNTIMED is set, a memory clock, so that the lab also times. Calls are checked as NCCL and
// CUDA check them: a rank belongs to the device that was current, a group has one call of each
// rank, and no graph is instantiated during a capture. With FAKE_FAULT=sum the sum of rank 1 is
// wrong, with FAKE_FAULT=call a call fails.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ncclComm {
    int rank, ranks;
};

typedef struct {
    const void *send;
    void *receive;
    size_t n;
    ncclComm_t comm;
    cudaStream_t stream;
} Call;

static int current, recording, depth, call_count;
static Call calls[1024];

static int gpus(void) {
    const char *text = getenv("FAKE_GPUS");
    return text ? atoi(text) : 1;
}

static int fault(const char *kind) {
    const char *text = getenv("FAKE_FAULT");
    return text && !strcmp(text, kind);
}

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) fprintf(stderr, "fake: no %s after this one\n", name), abort();
    return found;
}

static void broken(const char *rule) {
    fprintf(stderr, "fake: %s\n", rule);
    exit(9);
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = gpus();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= gpus()) return cudaErrorInvalidDevice;
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    (void)device;
    cudaError_t (*next)(struct cudaDeviceProp *, int) =
        (cudaError_t(*)(struct cudaDeviceProp *, int))real("cudaGetDeviceProperties");
    cudaError_t error = next(properties, 0);
    properties->totalGlobalMem = 4 << 20;
    return error;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    (void)device;
    *value = 1000000;
    if (attribute == cudaDevAttrMemoryClockRate) return cudaSuccess;
    *value = getenv("FAKE_UNTIMED") ? 0 : 1024;
    if (attribute == cudaDevAttrGlobalMemoryBusWidth) return cudaSuccess;
    cudaError_t (*next)(int *, enum cudaDeviceAttr, int) =
        (cudaError_t(*)(int *, enum cudaDeviceAttr, int))real("cudaDeviceGetAttribute");
    return next(value, attribute, 0);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    cudaError_t (*next)(cudaStream_t, enum cudaStreamCaptureMode) =
        (cudaError_t(*)(cudaStream_t, enum cudaStreamCaptureMode))real("cudaStreamBeginCapture");
    recording++;
    return next(stream, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    cudaError_t (*next)(cudaStream_t, cudaGraph_t *) =
        (cudaError_t(*)(cudaStream_t, cudaGraph_t *))real("cudaStreamEndCapture");
    recording--;
    return next(stream, graph);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags) {
    cudaError_t (*next)(cudaGraphExec_t *, cudaGraph_t, unsigned long long) = (cudaError_t(*)(
        cudaGraphExec_t *, cudaGraph_t, unsigned long long))real("cudaGraphInstantiate");
    return recording ? cudaErrorStreamCaptureUnsupported : next(exec, graph, flags);
}

ncclResult_t ncclGetVersion(int *version) {
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    memset(id, 7, sizeof *id);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank) {
    if (id.internal[0] != 7 || id.internal[sizeof id - 1] != 7) broken("not the id that was given");
    if (rank >= ranks || rank != current) broken("this rank is not on its own device");
    *comm = malloc(sizeof **comm);
    (*comm)->rank = rank;
    (*comm)->ranks = ranks;
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t n, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
    if (fault("call")) return ncclSystemError;
    if (!depth || !comm || type != ncclFloat || operation != ncclSum) broken("a call out of place");
    if (call_count == sizeof calls / sizeof *calls) broken("too many calls in a group");
    calls[call_count++] = (Call){send, receive, n, comm, stream};
    return ncclSuccess;
}

// Adds up the contributions of all ranks, and gives the sum to each. During a capture it does
// nothing.
static void reduce(void) {
    enum cudaStreamCaptureStatus status;
    if (call_count != calls[0].comm->ranks) broken("a group without a call of every rank");
    cudaStreamIsCapturing(calls[0].stream, &status);
    if (status == cudaStreamCaptureStatusActive) return;
    size_t n = calls[0].n, bytes = n * sizeof(float);
    float *sum = calloc(n + 1, sizeof *sum), *part = malloc(bytes + 1);
    for (int i = 0; i < call_count; i++) {
        if (calls[i].n != n || calls[i].comm->rank != i) broken("ranks disagree");
        cudaStreamSynchronize(calls[i].stream);
        cudaMemcpy(part, calls[i].send, bytes, cudaMemcpyDeviceToHost);
        for (size_t k = 0; k < n; k++) sum[k] += part[k];
    }
    for (int i = 0; i < call_count; i++) {
        if (i == 1 && n && fault("sum")) sum[n - 1] += 1;
        cudaMemcpy(calls[i].receive, sum, bytes, cudaMemcpyHostToDevice);
    }
    free(sum);
    free(part);
}

ncclResult_t ncclGroupStart(void) {
    depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
    if (--depth == 0 && call_count) reduce(), call_count = 0;
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
    *error = ncclSuccess;
    return comm ? ncclSuccess : ncclInvalidArgument;
}

const char *ncclGetErrorString(ncclResult_t result) { return result ? "system error" : "none"; }
const char *ncclGetLastError(ncclComm_t comm) { return comm ? "" : "said so by the test"; }
