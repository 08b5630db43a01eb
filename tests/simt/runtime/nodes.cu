// Conditional nodes of graphs: conditional [NAME]; with a name, a program that is wrong. What is
// expected is in the CUDA C++ Programming Guide and in driver_types.h.
#include "calls.h"

enum { IF, WHILE, SWITCH }; // cudaGraphConditionalNodeType; CUDA 12.4 has no third

typedef cudaGraphConditionalHandle Handle;

__global__ void set(Handle handle, unsigned value) { cudaGraphSetConditional(handle, value); }
__global__ void set_from(Handle handle, const unsigned *value) {
    if (threadIdx.x == 0) cudaGraphSetConditional(handle, *value);
}
__global__ void append(unsigned *log, unsigned value) { log[++log[0]] = value; }
// Counts down; the loop ends at 0.
__global__ void count_down(Handle handle, unsigned *left, unsigned *log) {
    log[++log[0]] = *left;
    cudaGraphSetConditional(handle, --*left); // AT count_down
}
__global__ void restart(unsigned *left, unsigned value) { *left = value; }
__global__ void go_on(Handle handle) { cudaGraphSetConditional(handle, 7); } // AT go_on

static unsigned *d_log, *d_value; // a list behind its length; a word

// CUDA 13 gave some calls one more parameter; AS_CUDA_12 makes the others with its headers too.
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

static cudaError_t go_on_behind(cudaStream_t stream, cudaGraphNode_t node) {
#ifdef BEFORE_13
    auto update = (cudaError_t(*)(cudaStream_t, cudaGraphNode_t *, size_t, unsigned))(
        void *)cudaStreamUpdateCaptureDependencies;
    return update(stream, &node, 1, cudaStreamSetCaptureDependencies);
#else
    return cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                               cudaStreamSetCaptureDependencies);
#endif
}

// A conditional node behind another (NULL: none); its bodies go to bodies[].
static cudaError_t add_conditional(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphNode_t after,
                                   Handle handle, int type, unsigned size, cudaGraph_t *bodies) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = (cudaGraphConditionalNodeType)type;
    params.conditional.size = size;
    cudaError_t error = add_node(node, graph, &after, after ? 1 : 0, &params);
    for (unsigned k = 0; !error && k < size; k++) bodies[k] = params.conditional.phGraph_out[k];
    return error;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, void *kernel,
                                  void **arguments, unsigned threads = 1) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = kernel;
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(threads);
    params.kernel.kernelParams = arguments;
    cudaGraphNode_t node = NULL;
    GOOD(add_node(&node, graph, &after, after ? 1 : 0, &params));
    return node;
}

static cudaGraphNode_t add_append(cudaGraph_t graph, cudaGraphNode_t after, unsigned value) {
    void *arguments[] = {&d_log, &value};
    return add_kernel(graph, after, (void *)append, arguments);
}

static cudaGraphNode_t add_set_from(cudaGraph_t graph, Handle handle) {
    void *arguments[] = {&handle, &d_value};
    return add_kernel(graph, NULL, (void *)set_from, arguments, 32);
}

static void run(cudaGraphExec_t exec, unsigned value) {
    GOOD(cudaMemset(d_log, 0, sizeof *d_log));
    GOOD(cudaMemcpy(d_value, &value, sizeof value, cudaMemcpyHostToDevice));
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

static void test_if() {
    cudaGraph_t graph, body[2];
    Handle handle;
    cudaGraphNode_t node;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    GOOD(add_conditional(&node, graph, add_set_from(graph, handle), handle, IF, 1, body));
    add_append(body[0], add_append(body[0], NULL, 1), 2);
    add_append(graph, node, 9);
    cudaGraphNodeType type;
    GOOD(cudaGraphNodeGetType(node, &type));
    CHECK(type == cudaGraphNodeTypeConditional);
    cudaGraphExec_t exec = instantiate(graph);
    const unsigned values[] = {1, 0, 5};
    for (unsigned value : values) {
        run(exec, value);
        CHECK(logged(value ? "129" : "9"));
    }
    destroy(exec, graph);
}

static void test_else_and_switch() {
    cudaGraph_t graph, body[2], cases[4];
    Handle one, other;
    cudaGraphNode_t first, node;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphConditionalHandleCreate(&one, graph, 0, 0));
    GOOD(cudaGraphConditionalHandleCreate(&other, graph, 3, cudaGraphCondAssignDefault));
    GOOD(add_conditional(&first, graph, add_set_from(graph, one), one, IF, 2, body));
    add_append(body[0], NULL, 1);
    void *arguments[] = {&other, &d_value}; // the else part chooses the case
    add_kernel(body[1], add_append(body[1], NULL, 2), (void *)set_from, arguments, 32);
    GOOD(add_conditional(&node, graph, first, other, SWITCH, 4, cases));
    for (unsigned k = 0; k < 4; k++) add_append(cases[k], NULL, 5 + k);
    cudaGraphExec_t exec = instantiate(graph);
    run(exec, 1);
    CHECK(logged("18")); // the default of the other
    run(exec, 0);
    CHECK(logged("25"));
    run(exec, 1);
    CHECK(logged("18")); // assigned anew
    destroy(exec, graph);
}

static void test_switch_beyond() {
    cudaGraph_t graph, cases[3];
    Handle handle;
    cudaGraphNode_t node;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    GOOD(add_conditional(&node, graph, add_set_from(graph, handle), handle, SWITCH, 3, cases));
    for (unsigned k = 0; k < 3; k++) add_append(cases[k], NULL, k);
    cudaGraphExec_t exec = instantiate(graph);
    for (unsigned value = 0; value < 5; value++) {
        const char *digits[] = {"0", "1", "2", "", ""};
        run(exec, value);
        CHECK(logged(digits[value]));
    }
    destroy(exec, graph);
}

// while (outer: 3, 2, 1) { restart inner; while (inner: 2, 1) {} }
static void test_nested() {
    cudaGraph_t graph, body, inner_body;
    Handle outer, inner;
    cudaGraphNode_t node, inner_node;
    unsigned *d_inner, two = 2;
    GOOD(cudaMalloc(&d_inner, sizeof *d_inner));
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphConditionalHandleCreate(&outer, graph, 1, cudaGraphCondAssignDefault));
    GOOD(add_conditional(&node, graph, NULL, outer, WHILE, 1, &body));
    GOOD(cudaGraphConditionalHandleCreate(&inner, body, 1, cudaGraphCondAssignDefault));
    void *start[] = {&d_inner, &two}, *begin[] = {&inner, &d_inner};
    void *count_inner[] = {&inner, &d_inner, &d_log}, *count_outer[] = {&outer, &d_value, &d_log};
    cudaGraphNode_t ready = add_kernel(body, NULL, (void *)restart, start);
    ready = add_kernel(body, ready, (void *)set_from, begin, 32);
    GOOD(add_conditional(&inner_node, body, ready, inner, WHILE, 1, &inner_body));
    add_kernel(inner_body, NULL, (void *)count_down, count_inner);
    add_kernel(body, inner_node, (void *)count_down, count_outer);
    cudaGraphExec_t exec = instantiate(graph);
    for (int k = 0; k < 2; k++) {
        run(exec, 3);
        CHECK(logged("213212211"));
    }
    destroy(exec, graph);
    GOOD(cudaFree(d_inner));
}

// The node is added to a capture, and its body is captured.
static void test_captured() {
    cudaStream_t stream, inside;
    cudaGraph_t graph, capturing, body;
    const cudaGraphNode_t *last;
    cudaGraphNode_t node;
    size_t count;
    Handle handle;
    GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    GOOD(cudaStreamCreateWithFlags(&inside, cudaStreamNonBlocking));
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    append<<<1, 1, 0, stream>>>(d_log, 8);
    GOOD(last_captured(stream, &capturing, &last, &count));
    GOOD(cudaGraphConditionalHandleCreate(&handle, capturing, 1, cudaGraphCondAssignDefault));
    CHECK(count == 1);
    GOOD(add_conditional(&node, capturing, last[0], handle, WHILE, 1, &body));
    GOOD(go_on_behind(stream, node));
    append<<<1, 1, 0, stream>>>(d_log, 9);
    GOOD(cudaStreamBeginCaptureToGraph(inside, body, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    count_down<<<1, 1, 0, inside>>>(handle, d_value, d_log);
    cudaGraph_t same;
    GOOD(cudaStreamEndCapture(inside, &same));
    CHECK(same == body);
    GOOD(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = instantiate(graph);
    run(exec, 4);
    CHECK(logged("843219"));
    destroy(exec, graph);
    GOOD(cudaGraphCreate(&graph, 0)); // one that is there need not be returned
    GOOD(cudaStreamBeginCaptureToGraph(inside, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    GOOD(cudaStreamEndCapture(inside, NULL));
    GOOD(cudaGraphDestroy(graph));
    GOOD(cudaStreamDestroy(inside));
    GOOD(cudaStreamDestroy(stream));
}

// A loop of so many rounds, each of which appends a number; the node that does.
static cudaGraph_t loop(unsigned number, Handle *handle, cudaGraphNode_t *inside, int type) {
    cudaGraph_t graph, body;
    cudaGraphNode_t node;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphConditionalHandleCreate(handle, graph, 1, cudaGraphCondAssignDefault));
    GOOD(add_conditional(&node, graph, NULL, *handle, type, 1, &body));
    *inside = add_append(body, NULL, number);
    unsigned zero = 0;
    void *arguments[] = {handle, &zero};
    add_kernel(body, *inside, (void *)set, arguments);
    return graph;
}

static void test_update() {
    Handle handle, other;
    cudaGraphNode_t inside, inside_other;
    cudaGraph_t graph = loop(1, &handle, &inside, WHILE),
                second = loop(2, &other, &inside_other, WHILE);
    cudaGraph_t third = loop(2, &other, &inside_other, IF);
    cudaGraphExec_t exec = instantiate(graph);
    run(exec, 0);
    CHECK(logged("1"));
    cudaGraphNodeParams params = {};
    unsigned seven = 7;
    void *arguments[] = {&d_log, &seven};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)append;
    params.kernel.gridDim = params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = arguments;
    GOOD(cudaGraphExecNodeSetParams(exec, inside, &params)); // of a node in the body
    run(exec, 0);
    CHECK(logged("7"));
    unsigned eight = 8;
    void *others[] = {&d_log, &eight};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)append;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = others;
    GOOD(cudaGraphExecKernelNodeSetParams(exec, inside, &kernel));
    run(exec, 0);
    CHECK(logged("8"));
    cudaGraphExecUpdateResultInfo info;
    GOOD(cudaGraphExecUpdate(exec, second, &info));
    run(exec, 0);
    CHECK(logged("2"));
    GOOD(cudaGraphExecNodeSetParams(exec, inside, &params));
    run(exec, 0);
    CHECK(logged("7"));
    ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, third, &info));
    CHECK(info.result == cudaGraphExecUpdateErrorNotSupported);
    (void)cudaGetLastError();
    GOOD(cudaGraphNodeSetParams(inside, &params));
    GOOD(cudaGraphExecUpdate(exec, graph, &info));
    run(exec, 0);
    CHECK(logged("7"));
    GOOD(cudaGraphDestroy(third));
    GOOD(cudaGraphDestroy(second));
    destroy(exec, graph);
}

static void nothing(void *) {}

static void test_errors() {
    cudaGraph_t graph, parent, copy, body[2];
    Handle handle, unused;
    cudaGraphNode_t node, inside;
    GOOD(cudaGraphCreate(&parent, 0));
    graph = loop(1, &handle, &inside, WHILE);
    ERROR(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&unused, graph, 0, 2));
    ERROR(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
    CHECK(cudaGraphClone(&copy, graph) != cudaSuccess);
    ERROR(cudaErrorInvalidValue,
          add_conditional(&node, graph, NULL, handle, IF, 1, body)); // has one
    ERROR(cudaErrorInvalidValue,
          add_conditional(&node, parent, NULL, handle, IF, 1, body)); // another's
    ERROR(cudaErrorInvalidValue, add_conditional(&node, parent, NULL, 12345, IF, 1, body));
    GOOD(cudaGraphConditionalHandleCreate(&unused, parent, 0, 0));
    ERROR(cudaErrorInvalidValue, add_conditional(&node, parent, NULL, unused, WHILE, 2, body));
    ERROR(cudaErrorInvalidValue, add_conditional(&node, parent, NULL, unused, IF, 3, body));
    ERROR(cudaErrorInvalidValue, add_conditional(&node, parent, NULL, unused, IF, 0, body));
    ERROR(cudaErrorInvalidValue, add_conditional(&node, parent, NULL, unused, 3, 1, body));
    cudaGraphExec_t exec, again;
    cudaGraphInstantiateParams params = {};
    CHECK(cudaGraphInstantiateWithParams(&exec, parent, &params) != cudaSuccess);
    CHECK(params.result_out == 5); // ...ConditionalHandleUnused, which 12.4 has no name for
    GOOD(add_conditional(&node, parent, NULL, unused, IF, 1, body));
    exec = instantiate(graph);
    CHECK(cudaGraphInstantiate(&again, graph, 0) != cudaSuccess); // one at a time
    GOOD(cudaGraphExecDestroy(exec));
    exec = instantiate(graph);
    cudaStream_t stream;
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaGraphLaunch(exec, stream) != cudaSuccess); // it would be a child graph
    CHECK(cudaStreamEndCapture(stream, &copy) == cudaErrorStreamCaptureInvalidated);
    GOOD(cudaStreamDestroy(stream));
    destroy(exec, graph);
    cudaHostNodeParams host = {nothing, NULL};
    CHECK(cudaGraphAddHostNode(&inside, body[0], NULL, 0, &host) != cudaSuccess ||
          cudaGraphInstantiate(&exec, parent, 0) != cudaSuccess); // no host functions in bodies
    GOOD(cudaGraphDestroy(parent));
    (void)cudaGetLastError();
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

// Copies, fills, child graphs and empty nodes, in a body too; other kinds in the graph.
static void test_kinds() {
    cudaGraph_t graph, child, body;
    cudaGraphNode_t node, last = NULL;
    Handle handle;
    unsigned *d_more, host[2] = {4, 5}, back[4] = {};
    cudaEvent_t event;
    GOOD(cudaMalloc(&d_more, sizeof back));
    GOOD(cudaEventCreate(&event));
    GOOD(cudaGraphCreate(&child, 0));
    add_append(child, NULL, 3);
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    GOOD(add_conditional(&node, graph, NULL, handle, IF, 1, &body));
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
    cudaGraphNodeParams *inside[] = {&fill, &empty, &inner},
                        *outside[] = {&called, &record, &wait, &empty};
    for (cudaGraphNodeParams *params : inside)
        GOOD(add_node(&last, body, &last, last ? 1 : 0, params));
    for (cudaGraphNodeParams *params : outside) GOOD(add_node(&node, graph, &node, 1, params));
    GOOD(add_node(&last, graph, &node, 1, &copy));
    params_are_checked(graph, &fill);
    cudaGraphExec_t exec = instantiate(graph);
    run(exec, 0);
    CHECK(logged("3") && back[0] == 9);
    GOOD(cudaEventQuery(event));
    GOOD(cudaMemcpy(d_more, host, sizeof host, cudaMemcpyHostToDevice));
    fill.memset.value = 6;
    fill.memset.width = 1;
    GOOD(cudaGraphExecNodeSetParams(exec, first_of(body), &fill));
    run(exec, 0);
    GOOD(cudaMemcpy(back, d_more, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 6 && back[1] == 5 && back[2] == 6 && back[3] == 5);
    destroy(exec, graph);
    GOOD(cudaGraphDestroy(child));
    GOOD(cudaEventDestroy(event));
    GOOD(cudaFree(d_more));
}

// Launches of one instance come one after the other also where their streams do not.
static void test_two_streams() {
    cudaStream_t a, b;
    Handle handle;
    cudaGraph_t graph, body;
    cudaGraphNode_t node;
    unsigned three = 3;
    GOOD(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    GOOD(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    void *start[] = {&d_value, &three}, *count[] = {&handle, &d_value, &d_log};
    cudaGraphNode_t ready = add_kernel(graph, add_append(graph, NULL, 8), (void *)restart, start);
    GOOD(add_conditional(&node, graph, ready, handle, WHILE, 1, &body));
    add_kernel(body, NULL, (void *)count_down, count);
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

// A loop that goes on for ever; one whose condition nothing has set; a handle that is made up.
static void wrong(const char *name) {
    cudaGraph_t graph, body;
    Handle handle;
    cudaGraphNode_t node;
    GOOD(cudaGraphCreate(&graph, 0));
    bool endless = strncmp(name, "endless", 7) == 0;
    GOOD(cudaGraphConditionalHandleCreate(&handle, graph, 1,
                                          endless ? cudaGraphCondAssignDefault : 0));
    GOOD(add_conditional(&node, graph, NULL, handle, WHILE, 1, &body));
    void *arguments[] = {&handle};
    if (!strcmp(name, "endless")) add_kernel(body, NULL, (void *)go_on, arguments);
    GOOD(cudaGraphLaunch(instantiate(graph), NULL));
    if (!strcmp(name, "made up")) go_on<<<1, 1>>>(4242);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

int main(int argc, char **argv) {
    GOOD(cudaMalloc(&d_log, 256 * sizeof *d_log));
    GOOD(cudaMalloc(&d_value, sizeof *d_value));
    GOOD(cudaMemset(d_log, 0, 256 * sizeof *d_log));
    if (argc > 1) return wrong(argv[1]), 0;
    run_test("if", test_if);
    run_test("if and else, switch, defaults", test_else_and_switch);
    run_test("switch with values beyond", test_switch_beyond);
    run_test("while in while", test_nested);
    run_test("in captures", test_captured);
    run_test("updates", test_update);
    run_test("errors", test_errors);
    run_test("nodes of every kind", test_kinds);
    run_test("launches in two streams", test_two_streams);
    return 0;
}
