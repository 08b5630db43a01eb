// Programs with streams, by name: some rely only on guaranteed ordering, others on more. With --order
// the first are right and the others wrong, whatever the seed.
#include <stdio.h>
#include <string.h>

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) printf("line %d: %s\n", __LINE__, cudaGetErrorName(e));              \
    } while (0)

static cudaStream_t a, b, blocking; // a and b do not wait for the default stream
static int *d, *h;                  // two words on the device, two pinned ones
static cudaEvent_t event, event2;

__global__ void add(int *to, int value) { *to += value; }
__global__ void twice(int *to) { *to *= 2; }
__global__ void copy(int *to, const int *from) { *to = *from; }

static int word(int at) {
    int value;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&value, d + at, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void set(int value) { // sets both words; they are set when it returns
    int values[2] = {value, value};
    CUDA(cudaMemcpy(d, values, sizeof values, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
}

static bool one_stream() {
    for (int k = 0; k < 1500; k++) add<<<1, 1, 0, a>>>(d, k % 3);
    twice<<<1, 1, 0, a>>>(d);
    return word(0) == 3000;
}

// With the event b runs after a; without it, a is not even started when the host waits for b.
static bool two_streams(bool joined) {
    add<<<1, 1, 0, a>>>(d, 7);
    CUDA(cudaEventRecord(event, a));
    if (joined) CUDA(cudaStreamWaitEvent(b, event, 0));
    copy<<<1, 1, 0, b>>>(d + 1, d);
    CUDA(cudaMemcpyAsync(h, d + 1, sizeof *h, cudaMemcpyDeviceToHost, b));
    CUDA(cudaStreamSynchronize(b));
    return *h == 7;
}

// The default stream and a stream that waits for it, or one that does not.
static bool default_stream(cudaStream_t stream) {
    CUDA(cudaMemset(d, 1, sizeof *d));
    copy<<<1, 1, 0, stream>>>(d + 1, d);
    CUDA(cudaMemcpyAsync(h, d + 1, sizeof *h, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    return *h == 0x01010101;
}

static bool into_default(cudaStream_t stream) {
    int value;
    add<<<1, 1, 0, stream>>>(d, 5);
    CUDA(cudaMemcpy(&value, d, sizeof value, cudaMemcpyDeviceToHost));
    return value == 5;
}

static bool pinned(bool waits) {
    *h = -1;
    add<<<1, 1, 0, a>>>(d, 9);
    CUDA(cudaMemcpyAsync(h, d, sizeof *h, cudaMemcpyDeviceToHost, a));
    if (waits) CUDA(cudaStreamSynchronize(a));
    return *h == 9;
}

static bool pageable() { // a copy from pageable memory may be read only during the call
    int value = -1, from = 20;
    CUDA(cudaMemcpyAsync(d, &from, sizeof from, cudaMemcpyHostToDevice, a));
    from = 30;
    add<<<1, 1, 0, a>>>(d, 9);
    CUDA(cudaMemcpyAsync(&value, d, sizeof value, cudaMemcpyDeviceToHost, a));
    return value == 29;
}

static bool managed() {
    int *m;
    CUDA(cudaMallocManaged(&m, sizeof *m));
    CUDA(cudaMemset(m, 0, sizeof *m));
    *m += 1;
    add<<<1, 1, 0, a>>>(m, 3);
    CUDA(cudaDeviceSynchronize());
    bool right = *m == 4;
    CUDA(cudaFree(m));
    return right;
}

static void count(void *at) { ++*(int *)at; }

static bool host_function() {
    int calls = 0;
    CUDA(cudaLaunchHostFunc(a, count, &calls));
    CUDA(cudaLaunchHostFunc(a, count, h));
    bool late = calls == 0;
    CUDA(cudaStreamQuery(a));
    return late && calls == 1;
}

static bool events() {
    float ms;
    CUDA(cudaEventRecord(event, a));
    add<<<1, 1, 0, a>>>(d, 2);
    CUDA(cudaEventRecord(event2, a));
    bool late = cudaEventElapsedTime(&ms, event, event2) == cudaErrorNotReady;
    cudaGetLastError();
    CUDA(cudaEventSynchronize(event2));
    CUDA(cudaEventElapsedTime(&ms, event, event2));
    int value;
    CUDA(cudaMemcpyAsync(&value, d, sizeof value, cudaMemcpyDeviceToHost, b));
    return late && value == 2;
}

// A graph is launched with its arguments at that time, and later work of its stream runs after it.
static bool graph() {
    cudaGraph_t made;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    add<<<1, 1, 0, a>>>(d, 4);
    CUDA(cudaEventRecordWithFlags(event, a, cudaEventRecordExternal));
    add<<<1, 1, 0, a>>>(d, 10);
    CUDA(cudaStreamEndCapture(a, &made));
    CUDA(cudaGraphInstantiate(&exec, made, 0));
    CUDA(cudaGraphLaunch(exec, a));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(made));
    twice<<<1, 1, 0, a>>>(d);
    CUDA(cudaStreamWaitEvent(b, event, 0));
    copy<<<1, 1, 0, b>>>(d + 1, d);
    CUDA(cudaStreamSynchronize(b));
    int part;
    CUDA(cudaMemcpyAsync(&part, d + 1, sizeof part, cudaMemcpyDeviceToHost, b));
    return part >= 4 && word(0) == 28; // the work after the event may have run
}

static bool memory_given_back() {
    int *one, *other;
    CUDA(cudaMallocAsync(&one, sizeof *one, a));
    CUDA(cudaMalloc(&other, sizeof *other));
    CUDA(cudaMemsetAsync(one, 0, sizeof *one, a));
    CUDA(cudaMemsetAsync(other, 0, sizeof *other, b));
    add<<<1, 1, 0, a>>>(one, 6);
    copy<<<1, 1, 0, a>>>(d, one);
    CUDA(cudaFreeAsync(one, a));
    copy<<<1, 1, 0, b>>>(d + 1, other);
    CUDA(cudaFree(other)); // waits for the device
    return word(0) == 6 && word(1) == 0;
}

static bool stream_destroyed() {
    cudaStream_t gone;
    CUDA(cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking));
    add<<<1, 1, 0, gone>>>(d, 8);
    CUDA(cudaStreamDestroy(gone));
    return word(0) == 8;
}

__global__ void early_first(int *to) {
    asm volatile("griddepcontrol.launch_dependents;");
    *to += 5;
}

template <bool WAITS> __global__ void early_second(int *to, const int *from) {
    if (WAITS) asm volatile("griddepcontrol.wait;" ::: "memory");
    *to = *from * 2;
}

// The second kernel may start before the end of the first one, which permits it.
template <bool WAITS> static bool early(bool captured) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {dim3(1), dim3(1), 0, a, &attribute, 1};
    cudaGraph_t captured_graph;
    cudaGraphExec_t exec;
    if (captured) CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    early_first<<<1, 1, 0, a>>>(d);
    CUDA(cudaLaunchKernelEx(&config, early_second<WAITS>, d + 1, (const int *)d));
    if (captured) {
        CUDA(cudaStreamEndCapture(a, &captured_graph));
        CUDA(cudaGraphInstantiate(&exec, captured_graph, 0));
        CUDA(cudaGraphLaunch(exec, a));
    }
    return word(1) == 10 && word(0) == 5;
}

static bool never_waited_for() { // the launch is counted anyway
    add<<<1, 1, 0, a>>>(d, 8);
    return true;
}

static const struct {
    const char *name;
    bool right;
    bool (*run)();
} cases[] = {
    {"one stream", true, [] { return one_stream(); }},
    {"joined by an event", true, [] { return two_streams(true); }},
    {"not joined", false, [] { return two_streams(false); }},
    {"default, blocking", true, [] { return default_stream(blocking); }},
    {"default, non-blocking", false, [] { return default_stream(a); }},
    {"blocking, default", true, [] { return into_default(blocking); }},
    {"non-blocking, default", false, [] { return into_default(a); }},
    {"pinned", true, [] { return pinned(true); }},
    {"pinned, not waited", false, [] { return pinned(false); }},
    {"pageable", true, [] { return pageable(); }},
    {"managed", true, [] { return managed(); }},
    {"host function", true, [] { return host_function(); }},
    {"events", true, [] { return events(); }},
    {"graph", true, [] { return graph(); }},
    {"memory given back", true, [] { return memory_given_back(); }},
    {"stream destroyed", true, [] { return stream_destroyed(); }},
    {"early", true, [] { return early<true>(false); }},
    {"early, not waited", false, [] { return early<false>(false); }},
    {"early in a graph", true, [] { return early<true>(true); }},
    {"early in a graph, not waited", false, [] { return early<false>(true); }},
    {"never waited for", true, [] { return never_waited_for(); }},
};

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CUDA(cudaStreamCreate(&blocking));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventCreate(&event2));
    CUDA(cudaMalloc(&d, 2 * sizeof *d));
    CUDA(cudaMallocHost(&h, 2 * sizeof *h));
    set(0);
    for (const auto &c : cases)
        if (!strcmp(name, c.name)) printf(c.run() ? "right\n" : "wrong\n");
    return 0;
}
