// Tests graph nodes of every kind, added in every way: nodes [refused]. The expected results follow
// the CUDA C++ Programming Guide and driver_types.h.
#include "calls.h"

__global__ void append(unsigned *log, unsigned value) { log[++log[0]] = value; }
__global__ void count_down(unsigned *left, unsigned *log) { log[++log[0]] = (*left)--; }
__global__ void restart(unsigned *left, unsigned value) { *left = value; }
__global__ void set(cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, 1); }

static unsigned *d_log, *d_value; // a list after its length; a word

// CUDA 13 gave some calls one more parameter; AS_CUDA_12 calls the older ones with its headers too.
#if CUDART_VERSION < 13000 || defined AS_CUDA_12
#define BEFORE_13
extern "C" cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t, cudaStreamCaptureStatus *,
                                                   unsigned long long *, cudaGraph_t *,
                                                   const cudaGraphNode_t **, size_t *);
#endif

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t count, cudaGraphNodeParams *params) {
#ifdef BEFORE_13
    auto add = (cudaError_t(*)(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
                               cudaGraphNodeParams *))(void *)cudaGraphAddNode;
    return add(node, graph, after, count, params);
#else
    return cudaGraphAddNode(node, graph, after, NULL, count, params);
#endif
}

static cudaError_t last_captured(cudaStream_t stream, cudaGraph_t *graph,
                                 const cudaGraphNode_t **last, size_t *count) {
    cudaStreamCaptureStatus status;
#ifdef BEFORE_13
    return cudaStreamGetCaptureInfo_v2(stream, &status, NULL, graph, last, count);
#else
    return cudaStreamGetCaptureInfo(stream, &status, NULL, graph, last, NULL, count);
#endif
}

static cudaError_t go_on_after(cudaStream_t stream, cudaGraphNode_t node) {
#ifdef BEFORE_13
    auto update = (cudaError_t(*)(cudaStream_t, cudaGraphNode_t *, size_t, unsigned))(
        void *)cudaStreamUpdateCaptureDependencies;
    return update(stream, &node, 1, cudaStreamSetCaptureDependencies);
#else
    return cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                               cudaStreamSetCaptureDependencies);
#endif
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, void *kernel,
                                  void **arguments) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = kernel;
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = arguments;
    cudaGraphNode_t node = NULL;
    GOOD(add_node(&node, graph, &after, after ? 1 : 0, &params));
    return node;
}

static cudaGraphNode_t add_append(cudaGraph_t graph, cudaGraphNode_t after, unsigned value) {
    void *arguments[] = {&d_log, &value};
    return add_kernel(graph, after, (void *)append, arguments);
}

static void run(cudaGraphExec_t exec) {
    GOOD(cudaMemset(d_log, 0, sizeof *d_log));
    GOOD(cudaGraphLaunch(exec, NULL));
    GOOD(cudaDeviceSynchronize());
}

// Whether the list holds these digits.
static bool logged(const char *digits) {
    unsigned log[256], count = (unsigned)strlen(digits);
    GOOD(cudaMemcpy(log, d_log, sizeof log, cudaMemcpyDeviceToHost));
    bool good = log[0] == count;
    for (unsigned i = 0; good && i < count; i++) good = log[i + 1] == (unsigned)(digits[i] - '0');
    return good;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t exec = NULL;
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void destroy(cudaGraphExec_t exec, cudaGraph_t graph) {
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

// Adds a node to a capture, and captures into an existing graph.
static void test_captured() {
    cudaStream_t stream;
    cudaGraph_t graph, same, capturing;
    const cudaGraphNode_t *last;
    size_t count;
    GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    append<<<1, 1, 0, stream>>>(d_log, 8);
    GOOD(last_captured(stream, &capturing, &last, &count));
    CHECK(count == 1);
    GOOD(go_on_after(stream, add_append(capturing, last[0], 5)));
    append<<<1, 1, 0, stream>>>(d_log, 9);
    GOOD(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = instantiate(graph);
    run(exec);
    CHECK(logged("859"));
    destroy(exec, graph);
    GOOD(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t first = add_append(graph, NULL, 3);
    const auto mode = cudaStreamCaptureModeRelaxed;
    GOOD(cudaStreamBeginCaptureToGraph(stream, graph, &first, NULL, 1, mode));
    append<<<1, 1, 0, stream>>>(d_log, 4);
    GOOD(cudaStreamEndCapture(stream, &same));
    CHECK(same == graph);
    exec = instantiate(graph);
    run(exec);
    CHECK(logged("34"));
    destroy(exec, graph);
    GOOD(cudaGraphCreate(&graph, 0)); // the graph that was captured into need not be returned
    GOOD(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, mode));
    GOOD(cudaStreamEndCapture(stream, NULL));
    GOOD(cudaGraphDestroy(graph));
    GOOD(cudaStreamDestroy(stream));
}

// A graph whose one node is a child graph that appends a number.
static cudaGraph_t parent_of(unsigned number) {
    cudaGraph_t graph, child;
    cudaGraphNode_t node;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphCreate(&child, 0));
    add_append(child, NULL, number);
    GOOD(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    GOOD(cudaGraphDestroy(child));
    return graph;
}

static void test_update() {
    cudaGraph_t graph = parent_of(1), second = parent_of(2), longer = parent_of(3);
    cudaGraphExec_t exec = instantiate(graph);
    run(exec);
    CHECK(logged("1"));
    cudaGraphExecUpdateResultInfo info;
    GOOD(cudaGraphExecUpdate(exec, second, &info));
    run(exec);
    CHECK(logged("2"));
    add_append(longer, NULL, 4);
    ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, longer, &info));
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    (void)cudaGetLastError();
    GOOD(cudaGraphDestroy(longer));
    GOOD(cudaGraphDestroy(second));
    destroy(exec, graph);
}

static void params_are_checked(cudaGraph_t graph, cudaGraphNodeParams *fill) {
    cudaGraphNode_t node;
    cudaGraphNodeParams bad = *fill;
    bad.memset.elementSize = 3;
    ERROR(cudaErrorInvalidValue, add_node(&node, graph, NULL, 0, &bad));
    bad.type = (cudaGraphNodeType)99;
    ERROR(cudaErrorInvalidValue, add_node(&node, graph, NULL, 0, &bad));
    ERROR(cudaErrorInvalidValue, add_node(&node, graph, NULL, 0, NULL));
}

static cudaGraphNode_t first_of(cudaGraph_t graph) {
    cudaGraphNode_t node = NULL;
    size_t count = 1;
    GOOD(cudaGraphGetNodes(graph, &node, &count));
    return node;
}

// Kernels, copies, fills, child graphs, host functions, events and empty nodes.
static void test_kinds() {
    cudaGraph_t graph, child;
    cudaGraphNode_t node = NULL;
    unsigned *d_more, host[2] = {4, 5}, back[4] = {};
    cudaEvent_t event;
    GOOD(cudaMalloc(&d_more, sizeof back));
    GOOD(cudaEventCreate(&event));
    GOOD(cudaGraphCreate(&child, 0));
    add_append(child, NULL, 3);
    GOOD(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams fill = {}, copy = {}, inner = {}, empty = {}, called = {}, record = {},
                        wait = {};
    fill.type = cudaGraphNodeTypeMemset;
    fill.memset.dst = d_more;
    fill.memset.value = 7;
    fill.memset.elementSize = 4;
    fill.memset.width = 4;
    fill.memset.height = 1;
    copy.type = cudaGraphNodeTypeMemcpy;
    copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(d_more, 8, 8, 1);
    copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(d_more + 2, 8, 8, 1);
    copy.memcpy.copyParams.extent = make_cudaExtent(8, 1, 1);
    copy.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
    inner.type = cudaGraphNodeTypeGraph;
    inner.graph.graph = child;
    empty.type = cudaGraphNodeTypeEmpty;
    called.type = cudaGraphNodeTypeHost;
    called.host.fn = [](void *at) { *(unsigned *)at = 9; };
    called.host.userData = &back[0];
    record.type = cudaGraphNodeTypeEventRecord;
    record.eventRecord.event = event;
    wait.type = cudaGraphNodeTypeWaitEvent;
    wait.eventWait.event = event;
    cudaGraphNodeParams *all[] = {&fill, &empty, &inner, &called, &record, &wait, &empty, &copy};
    for (cudaGraphNodeParams *params : all)
        GOOD(add_node(&node, graph, &node, node ? 1 : 0, params));
    params_are_checked(graph, &fill);
    cudaGraphExec_t exec = instantiate(graph);
    run(exec);
    CHECK(logged("3") && back[0] == 9);
    GOOD(cudaEventQuery(event));
    GOOD(cudaMemcpy(d_more, host, sizeof host, cudaMemcpyHostToDevice));
    fill.memset.value = 6;
    fill.memset.width = 1;
    GOOD(cudaGraphExecNodeSetParams(exec, first_of(graph), &fill));
    run(exec);
    GOOD(cudaMemcpy(back, d_more, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 6 && back[1] == 5 && back[2] == 6 && back[3] == 5);
    destroy(exec, graph);
    GOOD(cudaGraphDestroy(child));
    GOOD(cudaEventDestroy(event));
    GOOD(cudaFree(d_more));
}

// Launches of one instance run in sequence, even in streams that do not wait for each other.
//
static void test_two_streams() {
    cudaStream_t a, b;
    cudaGraph_t graph;
    unsigned three = 3;
    GOOD(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    GOOD(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    GOOD(cudaGraphCreate(&graph, 0));
    void *start[] = {&d_value, &three}, *count[] = {&d_value, &d_log};
    cudaGraphNode_t last = add_append(graph, NULL, 8);
    last = add_kernel(graph, last, (void *)restart, start);
    for (int k = 0; k < 3; k++) last = add_kernel(graph, last, (void *)count_down, count);
    cudaGraphExec_t exec = instantiate(graph);
    GOOD(cudaMemset(d_log, 0, sizeof *d_log));
    GOOD(cudaDeviceSynchronize());
    for (int k = 0; k < 4; k++) GOOD(cudaGraphLaunch(exec, k % 2 ? b : a));
    GOOD(cudaStreamSynchronize(b)); // the last one
    CHECK(logged("8321832183218321"));
    destroy(exec, graph);
    GOOD(cudaStreamDestroy(a));
    GOOD(cudaStreamDestroy(b));
}

// Conditional nodes must be refused by each host call, and in a kernel.
static void refused(const char *what) {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle handle = 0;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    if (!strcmp(what, "handle")) error = cudaGraphConditionalHandleCreate(&handle, graph, 0, 0);
    if (!strcmp(what, "node")) error = add_node(&node, graph, NULL, 0, &params);
    if (!strcmp(what, "kernel")) {
        set<<<1, 1>>>(handle);
        error = cudaDeviceSynchronize();
    }
    printf("%s\n", cudaGetErrorName(error));
}

int main(int argc, char **argv) {
    if (argc > 1) return refused(argv[1]), 0;
    GOOD(cudaMalloc(&d_log, 256 * sizeof *d_log));
    GOOD(cudaMalloc(&d_value, sizeof *d_value));
    GOOD(cudaMemset(d_log, 0, 256 * sizeof *d_log));
    run_test("in captures", test_captured);
    run_test("updates", test_update);
    run_test("nodes of every kind", test_kinds);
    run_test("launches in two streams", test_two_streams);
    return 0;
}
