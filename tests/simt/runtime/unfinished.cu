// Work that is not waited for: unordered streams, host code that is too early, programs that end too
// early. Arguments: names of cases, "right" for all that must not be reported, or "right_in_order" for those
// among them that end with --order: work must not wait for later work, nor host code without a call.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/atomic>
#include <thread>
#include <unistd.h>

enum { N = 1024, BYTES = N * (int)sizeof(int) };

__global__ void put(int *to, int value) { to[threadIdx.x + blockIdx.x * blockDim.x] = value; }
__global__ void get(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void put_bytes(char *to) { to[threadIdx.x] = 1; }
__global__ void count(int *counter) { atomicAdd(counter, 1); }
__global__ void print() { printf("hello\n"); }
__global__ void tell_host(int *data, volatile int *flag) {
    *data = 1;
    __threadfence_system();
    *flag = 1;
}
__global__ void release(int *data, int *flag) {
    *data = 1;
    cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_release);
}
__global__ void acquire(int *data, int *flag, int *to) {
    cuda::atomic_ref<int, cuda::thread_scope_device> word(*flag);
    while (!word.load(cuda::memory_order_acquire)) continue;
    *to = *data;
}
__managed__ int variable[64];
__device__ int symbol[64];
__global__ void get_symbol(int *to) { to[threadIdx.x] = symbol[threadIdx.x]; }
__constant__ int constants[64];
__global__ void use_constant(int *to) { to[threadIdx.x] = constants[threadIdx.x]; }

static int *d, *other, *managed, *pinned, *pinned_other;
static cudaStream_t s, t, u; // u: a blocking one
static cudaEvent_t event, second;
static int sum; // of the words that host code reads

static void read_host(const volatile int *at) { sum += *at; }
static void wait_for(cudaStream_t waits, cudaStream_t behind) {
    cudaEventRecord(event, behind);
    cudaStreamWaitEvent(waits, event, 0);
}

// --- two streams ---

static void two_kernels() { put<<<1, 64, 0, s>>>(d, 1), put<<<1, 64, 0, t>>>(d, 2); }
static void two_kernels_right() { put<<<1, 64, 0, s>>>(d, 1), wait_for(t, s), put<<<1, 64, 0, t>>>(d, 2); }
static void halves_right() { put<<<1, 64, 0, s>>>(d, 1), put<<<1, 64, 0, t>>>(d + 64, 2); }
static void memset_default() { cudaMemset(d, 0, 256), get<<<1, 64, 0, s>>>(d, other); }
static void memset_blocking_right() { cudaMemset(d, 0, 256), get<<<1, 64, 0, u>>>(d, other); }
static void memset_async() { cudaMemsetAsync(d, 0, 256, s), get<<<1, 64, 0, t>>>(d, other); }
static void copy_beside() {
    put<<<1, 64, 0, s>>>(d, 1);
    cudaMemcpyAsync(other, d, 256, cudaMemcpyDeviceToDevice, t);
}
static void copy_back_beside() {
    int host[64];
    put<<<1, 64, 0, s>>>(d, 1);
    cudaMemcpy(host, d, 256, cudaMemcpyDeviceToHost);
}
static void copy_back_right() {
    int host[64];
    put<<<1, 64, 0, u>>>(d, 1);
    cudaMemcpy(host, d, 256, cudaMemcpyDeviceToHost);
}
static void event_early() {
    cudaEventRecord(event, s);
    put<<<1, 64, 0, s>>>(d, 1);
    cudaStreamWaitEvent(t, event, 0);
    get<<<1, 64, 0, t>>>(d, other);
}
static void wait_before_record() {
    cudaStreamWaitEvent(t, event, 0); // AT waits
    put<<<1, 64, 0, s>>>(d, 1);
    cudaEventRecord(event, s);
    get<<<1, 64, 0, t>>>(d, other);
}
static void wait_after_record_right() {
    put<<<1, 64, 0, s>>>(d, 1);
    cudaEventRecord(event, s);
    cudaStreamWaitEvent(t, event, 0);
    get<<<1, 64, 0, t>>>(d, other);
}
// One scratch array for two streams: one wait, for the last operation of the other, is missing.
static void scratch_for_two() {
    for (cudaStream_t stream : {s, t}) {
        put<<<1, 64, 0, stream>>>(d, 1), count<<<1, 64, 0, stream>>>(d);
        get<<<1, 64, 0, stream>>>(d, other + (stream == t ? 64 : 0));
    }
}
static void symbol_beside() {
    int host[64] = {1};
    get_symbol<<<1, 64, 0, s>>>(other);
    cudaMemcpyToSymbolAsync(symbol, host, sizeof host, 0, cudaMemcpyHostToDevice, t); // AT symbol
}
static void writer_behind_one_reader() {
    get<<<1, 64, 0, s>>>(d, other), get<<<1, 64, 0, t>>>(d, other + 64);
    wait_for(u, t), put<<<1, 64, 0, u>>>(d, 1);
}
static void writer_behind_both_right() {
    get<<<1, 64, 0, s>>>(d, other), get<<<1, 64, 0, t>>>(d, other + 64);
    wait_for(u, t), wait_for(u, s), put<<<1, 64, 0, u>>>(d, 1);
}
static void bytes() { put_bytes<<<1, 33, 0, s>>>((char *)d), put_bytes<<<1, 33, 0, t>>>((char *)d + 32); }
static void bytes_right() { put_bytes<<<1, 33, 0, s>>>((char *)d), put_bytes<<<1, 33, 0, t>>>((char *)d + 33); }
static void counter_read() { count<<<2, 64, 0, s>>>(d), get<<<1, 1, 0, t>>>(d, other); }
static void counters_right() { count<<<2, 64, 0, s>>>(d), count<<<2, 64, 0, t>>>(d); }
static void flag_right() {
    release<<<1, 1, 0, s>>>(d, d + 1), acquire<<<1, 1, 0, t>>>(d, d + 1, other);
}
static void per_thread() { put<<<1, 64, 0, cudaStreamPerThread>>>(d, 1), get<<<1, 64, 0, t>>>(d, other); }
static void per_thread_right() { put<<<1, 64, 0, cudaStreamPerThread>>>(d, 1), get<<<1, 64>>>(d, other); }
static void waited_right() {
    put<<<1, 64, 0, s>>>(d, 1), cudaStreamSynchronize(s), put<<<1, 64, 0, t>>>(d, 2);
}
static void queried_right() {
    put<<<1, 64, 0, s>>>(d, 1), cudaEventRecord(event, s);
    while (cudaEventQuery(event) == cudaErrorNotReady) continue;
    put<<<1, 64, 0, t>>>(d, 2);
}
static void ping_pong_right() {
    for (int k = 0; k < 300; k++) {
        cudaStream_t mine = k % 2 ? s : t, next = k % 2 ? t : s;
        put<<<1, 64, 0, mine>>>(d, k), get<<<1, 64, 0, mine>>>(d, other);
        cudaEventRecord(k % 2 ? event : second, mine);
        cudaStreamWaitEvent(next, k % 2 ? event : second, 0);
    }
}
static void destroyed() {
    cudaStream_t brief;
    cudaStreamCreateWithFlags(&brief, cudaStreamNonBlocking);
    put<<<1, 64, 0, brief>>>(d, 1), cudaStreamDestroy(brief), get<<<1, 64, 0, t>>>(d, other);
}
static void pool_right() {
    int *block;
    cudaMallocAsync(&block, BYTES, s);
    put<<<1, 64, 0, s>>>(block, 1), wait_for(t, s), get<<<1, 64, 0, t>>>(block, other);
    wait_for(s, t), cudaFreeAsync(block, s);
}
static void pool_freed() { // beside a kernel of another stream
    int *block;
    cudaMallocAsync(&block, BYTES, s);
    put<<<1, 64, 0, s>>>(block, 1), wait_for(t, s), get<<<1, 64, 0, t>>>(block, other);
    cudaFreeAsync(block, s);
}
static void pool_not_there() {
    int *block;
    cudaMallocAsync(&block, BYTES, s), put<<<1, 64, 0, t>>>(block, 1), wait_for(s, t), cudaFreeAsync(block, s);
}
static void pool_there_right() {
    int *block;
    cudaMallocAsync(&block, BYTES, s), cudaStreamSynchronize(s);
    put<<<1, 64, 0, t>>>(block, 1), cudaFreeAsync(block, t);
}
static void constant_replaced() {
    use_constant<<<1, 32, 0, s>>>(other);
    cudaMemcpyToSymbolAsync(constants, pinned, 256, 0, cudaMemcpyHostToDevice, t);
}
static void constant_replaced_right() {
    use_constant<<<1, 32, 0, s>>>(other);
    cudaMemcpyToSymbolAsync(constants, pinned, 128, 128, cudaMemcpyHostToDevice, t);
    wait_for(t, s), cudaMemcpyToSymbolAsync(constants, pinned, 128, 0, cudaMemcpyHostToDevice, t);
}
static void mark(void *flag) { *(std::atomic<bool> *)flag = true; }
static void host_function_right() {
    std::atomic<bool> flag(false);
    put<<<1, 64, 0, s>>>(managed, 1);
    cudaLaunchHostFunc(s, mark, &flag);
    while (!flag) continue;
    read_host(managed);
    put<<<1, 64, 0, t>>>(managed, 2);
}
static void work_of(int k) {
    cudaStream_t mine;
    cudaStreamCreate(&mine);
    for (int n = 0; n < 20; n++) {
        put<<<1, 64, 0, mine>>>(d + 64 * k, n), cudaStreamSynchronize(mine);
        put<<<1, 64, 0, mine>>>(managed + 64 * k, n), cudaStreamSynchronize(mine);
        read_host(managed + 64 * k);
    }
    cudaStreamDestroy(mine);
}
static void threads_right() {
    std::thread one(work_of, 1), two(work_of, 2);
    one.join(), two.join();
}

// --- graphs ---

static cudaGraphNode_t node_of(cudaGraph_t graph, int *to, const cudaGraphNode_t *behind, int count) {
    cudaGraphNode_t node;
    int value = 1;
    void *arguments[] = {&to, &value};
    cudaKernelNodeParams params = {(void *)put, 1, 64, 0, arguments, nullptr};
    cudaGraphAddKernelNode(&node, graph, behind, (size_t)count, &params);
    return node;
}
static cudaGraphExec_t diamond(bool open, int *last, cudaGraphNode_t *middle = nullptr) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t top = node_of(graph, d, nullptr, 0), sides[2];
    for (int k = 0; k < 2; k++) sides[k] = node_of(graph, d + 64 * (k + 1), &top, 1);
    node_of(graph, last, sides, open ? 1 : 2);
    cudaGraphInstantiate(&exec, graph, 0);
    if (middle) *middle = sides[1];
    return exec;
}
static void graph_branches() { cudaGraphLaunch(diamond(true, d + 128), s); }
static void graph_right() { cudaGraphLaunch(diamond(false, d + 128), s); }
static void graph_disabled_right() {
    cudaGraphNode_t middle;
    cudaGraphExec_t exec = diamond(true, d + 64, &middle);
    cudaGraphNodeSetEnabled(exec, middle, 0);
    cudaGraphLaunch(exec, s);
}
static void graph_twice_right() {
    cudaGraphExec_t exec = diamond(false, d + 128);
    cudaGraphLaunch(exec, s), cudaGraphLaunch(exec, t), get<<<1, 64, 0, t>>>(d, other);
}
static void graph_beside() { cudaGraphLaunch(diamond(false, d + 128), s), get<<<1, 64, 0, t>>>(d, other); }
static void captured(bool join) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    wait_for(t, s);
    put<<<1, 64, 0, s>>>(d, 1);
    if (join) wait_for(t, s);
    get<<<1, 64, 0, t>>>(d, other);
    wait_for(s, t);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, s);
}
static void captured_apart() { captured(false); }
static void captured_right() { captured(true); }

// One graph records an event in a child graph, and another waits for it; beside it one that does not wait.
static void graph_events_right() {
    cudaGraph_t child, first, then;
    cudaGraphExec_t execs[2];
    cudaGraphNode_t node, behind;
    cudaGraphCreate(&child, 0), cudaGraphCreate(&first, 0), cudaGraphCreate(&then, 0);
    behind = node_of(child, d, nullptr, 0);
    cudaGraphAddEventRecordNode(&node, child, &behind, 1, event);
    cudaGraphAddChildGraphNode(&node, first, nullptr, 0, child);
    cudaGraphAddEventWaitNode(&behind, then, nullptr, 0, event);
    node_of(then, d, &behind, 1), node_of(then, d + 64, nullptr, 0);
    cudaGraphInstantiate(&execs[0], first, 0), cudaGraphInstantiate(&execs[1], then, 0);
    cudaGraphLaunch(execs[0], s), cudaGraphLaunch(execs[1], t);
    cudaStreamWaitEvent(u, event, 0), cudaStreamSynchronize(t), get<<<1, 64, 0, u>>>(d, other);
}

// --- host code ---

static void host_reads() { put<<<1, 64>>>(managed, 1), read_host(managed + 3); }
static void host_reads_right() { put<<<1, 64>>>(managed, 1), cudaDeviceSynchronize(), read_host(managed + 3); }
static void host_reads_beside_right() { put<<<1, 64>>>(managed, 1), read_host(managed + 64); }
static void host_reads_later() {
    put<<<1, 64>>>(managed, 1), get<<<1, 64>>>(d, pinned_other), read_host(managed);
}
static void host_reads_at_last() { // the host has waited for the other work
    for (int k = 0; k < 1100; k++) put<<<1, 64>>>(managed, 1), cudaDeviceSynchronize();
    put<<<1, 64>>>(pinned, 1), read_host(pinned);
}
static void host_writes() { get<<<1, 64>>>(managed, d), managed[5] = 1; }
static void host_reads_too_right() { get<<<1, 64>>>(managed, d), read_host(managed); }
static void host_reads_variable() { put<<<1, 64>>>(variable, 1), read_host(variable); }
static void host_reads_pinned() { put<<<1, 64>>>(pinned, 1), read_host(pinned); }
static void host_reads_copy() {
    cudaMemcpyAsync(pinned, d, BYTES, cudaMemcpyDeviceToHost, s), read_host(pinned + 9);
}
static void host_reads_copy_right() {
    cudaMemcpyAsync(pinned, d, BYTES, cudaMemcpyDeviceToHost, s), cudaStreamSynchronize(s);
    read_host(pinned + 9);
}
static void host_reuses_buffer() {
    cudaMemcpyAsync(d, pinned, BYTES, cudaMemcpyHostToDevice, s); // AT copies
    memset(pinned, 1, BYTES);                                     // AT fills
}
static void host_reuses_pages() {
    int *staged, *to;
    cudaMallocHost(&staged, 4 * BYTES), cudaMalloc(&to, 4 * BYTES);
    cudaMemcpyAsync(to, staged, 4 * BYTES, cudaMemcpyHostToDevice, s);
    for (int k = 0; k < 4 * N; k++) ((volatile int *)staged)[k] = k;
}
static void nothing(void *) {}
static void host_reads_before_function() { // the function tells nothing
    cudaMemcpyAsync(pinned, d, BYTES, cudaMemcpyDeviceToHost, s), cudaLaunchHostFunc(s, nothing, nullptr);
    read_host(pinned + 9);
}
static void host_function_waited_right() {
    cudaMemcpyAsync(pinned, d, BYTES, cudaMemcpyDeviceToHost, s), cudaLaunchHostFunc(s, nothing, nullptr);
    cudaStreamSynchronize(s), read_host(pinned + 9);
}
static void two_buffers_right() {
    for (int k = 0; k < 6; k++) {
        int *buffer = k % 2 ? pinned : pinned_other;
        cudaEventSynchronize(k % 2 ? event : second);
        memset(buffer, k, BYTES);
        cudaMemcpyAsync(d, buffer, BYTES, cudaMemcpyHostToDevice, s);
        cudaEventRecord(k % 2 ? event : second, s);
    }
}
static void pageable_right() {
    int host[64] = {0};
    cudaMemcpyAsync(d, host, 256, cudaMemcpyHostToDevice, s), host[0] = 1;
    cudaMemcpyAsync(host, d, 256, cudaMemcpyDeviceToHost, s), read_host(host);
}
static void host_waits_for_another() {
    put<<<1, 64, 0, s>>>(managed, 1), cudaStreamSynchronize(t), read_host(managed);
}
static void host_polls_right() {
    put<<<1, 64, 0, s>>>(managed + 64, 1);
    tell_host<<<1, 1, 0, s>>>(managed, managed + 1);
    while (!((volatile int *)managed)[1]) continue;
    read_host(managed), read_host(managed + 64);
}
static void host_writes_file_right() { // a system call touches a page that a kernel has touched elsewhere
    put<<<1, 64>>>(managed, 1);
    FILE *file = tmpfile();
    if (fwrite(managed + 64, 4, N - 64, file) != N - 64 || write(fileno(file), managed + 64, 256) != 256) exit(3);
    rewind(file);
    setvbuf(file, nullptr, _IONBF, 0);
    put<<<1, 64>>>(managed, 1);
    if (fread(managed + 64, 4, N - 64, file) != N - 64) exit(4);
    fclose(file);
}
__global__ void fails() { asm("trap;"); }
static void host_reads_of_failed() { // every wait fails; the program checks the error
    put<<<1, 64>>>(managed, 1), fails<<<1, 1>>>();
    if (cudaDeviceSynchronize() != cudaSuccess) read_host(managed);
}
static void host_reads_and_aborts() { put<<<1, 64>>>(managed, 1), read_host(managed), abort(); }

// --- the end ---

static void ends() { print<<<1, 1>>>(); }
static void ends_destroyed() { print<<<1, 1, 0, s>>>(), cudaStreamDestroy(s); }
static void ends_without_print() { put<<<1, 64>>>(d, 1); }
static float elapsed() {
    float ms = 0;
    cudaEventElapsedTime(&ms, event, second);
    return ms;
}
static void elapsed_early() {
    cudaEventRecord(event), put<<<1, 64>>>(d, 1), cudaEventRecord(second), elapsed();
    cudaDeviceSynchronize();
}
static void elapsed_right() {
    cudaEventRecord(event), put<<<1, 64>>>(d, 1), cudaEventRecord(second);
    cudaMemcpy(pinned, d, 4, cudaMemcpyDeviceToHost), elapsed();
}
static void ends_right() { print<<<1, 1>>>(), cudaFree(d); }

// --- scripts of unfinished.py ---

__global__ void look(const int *from, int *to) {
    if (from[threadIdx.x] == 12345) *to = 1;
}
__global__ void add(int *to) { atomicAdd(&to[threadIdx.x], 1); }

// Operations of a letter and digits: streams (0: the legacy one, 1 and 2: blocking, 3 and 4: not), arrays, events.
static void follow(char **at) {
    enum { ARRAYS = 4, STREAMS = 5, EVENTS = 3, SMALL = 64, SIZE = SMALL * (int)sizeof(int) };
    int *arrays[ARRAYS];
    cudaStream_t streams[STREAMS] = {nullptr};
    cudaEvent_t events[EVENTS];
    for (auto &array : arrays) cudaMallocManaged(&array, SIZE), memset(array, 0, SIZE);
    for (auto &one : events) cudaEventCreate(&one);
    for (int k = 1; k < STREAMS; k++) cudaStreamCreateWithFlags(&streams[k], k > 2 ? cudaStreamNonBlocking : 0);
    for (; *at; at++) {
        const char *op = *at;
        const int x = op[1] ? op[1] - '0' : 0, y = op[1] && op[2] ? op[2] - '0' : 0;
        if (*op == 'w') put<<<1, SMALL, 0, streams[x]>>>(arrays[y], 1);
        if (*op == 'r') look<<<1, SMALL, 0, streams[x]>>>(arrays[y], d);
        if (*op == 'a') add<<<1, SMALL, 0, streams[x]>>>(arrays[y]);
        if (*op == 'm') cudaMemsetAsync(arrays[y], 0, SIZE, streams[x]);
        if (*op == 'c') cudaMemcpyAsync(arrays[y], arrays[op[3] - '0'], SIZE, cudaMemcpyDefault, streams[x]);
        if (*op == 'e') cudaEventRecord(events[x], streams[y]);
        if (*op == 'v') cudaStreamWaitEvent(streams[x], events[y], 0);
        if (*op == 's') cudaStreamSynchronize(streams[x]);
        if (*op == 'y') cudaEventSynchronize(events[x]);
        if (*op == 'd') cudaDeviceSynchronize();
        if (*op == 'h') read_host(arrays[x] + 7);
        if (*op == 'g') *(volatile int *)(arrays[x] + 7) = 1;
    }
    cudaDeviceSynchronize();
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)();
} cases[] = {CASE(two_kernels), CASE(two_kernels_right), CASE(halves_right), CASE(memset_default),
             CASE(memset_blocking_right), CASE(memset_async), CASE(copy_beside), CASE(copy_back_beside),
             CASE(copy_back_right), CASE(event_early), CASE(wait_before_record), CASE(wait_after_record_right),
             CASE(scratch_for_two), CASE(symbol_beside), CASE(writer_behind_one_reader),
             CASE(writer_behind_both_right), CASE(bytes), CASE(bytes_right), CASE(counter_read),
             CASE(counters_right), CASE(flag_right), CASE(per_thread), CASE(per_thread_right),
             CASE(waited_right), CASE(queried_right), CASE(ping_pong_right), CASE(destroyed),
             CASE(pool_right), CASE(pool_freed), CASE(pool_not_there), CASE(pool_there_right),
             CASE(constant_replaced), CASE(constant_replaced_right), CASE(host_function_right), CASE(threads_right), CASE(graph_branches),
             CASE(graph_right), CASE(graph_disabled_right), CASE(graph_twice_right), CASE(graph_beside),
             CASE(graph_events_right), CASE(captured_apart), CASE(captured_right), CASE(host_reads), CASE(host_reads_right),
             CASE(host_reads_beside_right), CASE(host_reads_later), CASE(host_reads_at_last), CASE(host_writes),
             CASE(host_reads_too_right), CASE(host_reads_variable), CASE(host_reads_pinned),
             CASE(host_reads_copy), CASE(host_reads_copy_right), CASE(host_reuses_buffer), CASE(host_reuses_pages),
             CASE(host_reads_before_function), CASE(host_function_waited_right),
             CASE(two_buffers_right), CASE(pageable_right), CASE(host_waits_for_another),
             CASE(host_polls_right), CASE(host_writes_file_right), CASE(host_reads_of_failed),
             CASE(host_reads_and_aborts), CASE(elapsed_early),
             CASE(elapsed_right), CASE(ends),
             CASE(ends_destroyed), CASE(ends_without_print), CASE(ends_right)};

int main(int argc, char **argv) {
    cudaMalloc(&d, BYTES), cudaMalloc(&other, BYTES), cudaMallocManaged(&managed, BYTES);
    memset(managed, 0, BYTES), cudaMallocHost(&pinned, BYTES), cudaMallocHost(&pinned_other, BYTES);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaStreamCreate(&u), cudaEventCreate(&event), cudaEventCreate(&second);
    if (argc > 1 && strcmp(argv[1], "script") == 0) follow(argv + 2);
    for (const auto &one : cases) {
        const bool right = strstr(one.name, "_right"), all = argc > 1 && strncmp(argv[1], "right", 5) == 0;
        if (all && argv[1][5] && (one.run == flag_right || one.run == host_function_right || one.run == host_polls_right))
            continue;
        if (argc < 2 || (all ? !right : strcmp(argv[1], one.name))) continue;
        cudaMemset(d, 0, BYTES), cudaMemset(other, 0, BYTES), cudaDeviceSynchronize();
        one.run();
        if (right) cudaDeviceSynchronize();
    }
}
