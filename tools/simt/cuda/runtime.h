// What the parts of the CUDA runtime's interface share: the lock, errors, streams, work, kernels.
//
// The runtime_*.c files define the functions that programs call, under the names and with the
// binary interface of libcudart 12 and 13. Signatures and structures: the toolkit's
// cuda_runtime_api.h and driver_types.h, which are not included so that the tool builds without
// them. All work runs at once, in the order of the calls, on the calling thread, under one lock.
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/cuda/errors.h"
#include "simt/device/device.h"

#define API __attribute__((visibility("default")))

typedef int CudaError; // errors.h

// 12 or 13: the libcudart for which this library stands in.
extern const int runtime_abi;

// --- runtime.c: lock, state, last error ---

// Evaluates a CudaError under the lock and returns it from an API function. After a kernel has
// broken the context (illegal address, assert, ...) every call returns that error instead.
#define RUNTIME(body) runtime_leave(runtime_enter() ? CUDA_SUCCESS : (body))

bool runtime_enter(void); // true if the context is broken
CudaError runtime_leave(CudaError error);
void runtime_start(void); // before anything else, repeatedly
const SimtOptions *runtime_options(void);
void runtime_break(CudaError error); // every later call returns this error
CudaError runtime_broken(void);
void runtime_reset_errors(void);

// One line on stderr, "simt: ..."; the same line only once.
void runtime_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Calls into the program, without the lock.
void runtime_call_host(void (*call)(void *), void *data);

// runtime_signal.c
void runtime_watch_signals(void);
void runtime_launching(bool running);
void runtime_end_interrupted(void); // as SIGINT would have

// Names a call that the CPU device does not have, and returns the error for it.
CudaError runtime_unsupported(const char *what);

// --- runtime_module.c: registered modules, kernels and variables ---

typedef struct RegisteredModule RegisteredModule;

typedef struct KernelEntry {
    struct KernelEntry *next;
    const void *host; // the stub's address, which programs use as the kernel's name
    const char *mangled;
    RegisteredModule *module;
    Kernel *kernel; // NULL until the module is loaded
    KernelInfo info;
    int max_dynamic_shared; // bytes; raised by cudaFuncSetAttribute
    int carveout, nonportable_cluster;
} KernelEntry;

// The entry of a stub address or of a handle, its module loaded.
CudaError module_entry(const void *function, KernelEntry **entry);
CudaError module_symbol(const void *symbol, uint64_t *address, size_t *bytes);
CudaError module_error_code(SimtStatus status); // what a launch or load returns for it

// --- work: what a stream or a graph node does ---

typedef struct Graph Graph;
typedef struct GraphNode GraphNode;
typedef struct Event Event;

typedef struct {
    uint64_t to, from; // host or device addresses
    size_t to_pitch, to_slice, from_pitch, from_slice;
    size_t width, height, depth; // bytes, rows, slices
    int kind;                    // cudaMemcpyKind
} Copy;

typedef struct {
    uint64_t to;
    size_t pitch, width, height; // width in elements
    uint32_t value, element;     // bytes per element: 1, 2 or 4
} Fill;

typedef struct {
    enum {
        WORK_NOTHING,
        WORK_KERNEL,
        WORK_COPY,
        WORK_FILL,
        WORK_HOST,
        WORK_RECORD,
        WORK_WAIT,
        WORK_GRAPH
    } kind;
    union {
        struct {
            KernelEntry *entry;
            Launch launch;
        } kernel;
        Copy copy;
        Fill fill;
        struct {
            void (*call)(void *);
            void *data;
        } host;
        Event *event;
        Graph *graph; // owned by the copy that a node holds
    };
} Work;

CudaError work_run(const Work *work);
bool work_copy(Work *to, const Work *from); // deep; false: out of memory
void work_free(Work *work);

CudaError launch_check(const KernelEntry *entry, const Launch *launch); // shape and resources
CudaError launch_now(KernelEntry *entry, const Launch *launch);
CudaError copy_3d_work(const void *params, Work *work); // cudaMemcpy3DParms
CudaError copy_check(const Copy *copy);
CudaError copy_run(const Copy *copy);
CudaError fill_check(const Fill *fill);
CudaError fill_run(const Fill *fill);
void event_record(Event *event);
CudaError graph_run(const Graph *graph);
Graph *graph_clone(const Graph *graph);
void graph_free(Graph *graph);

// --- streams, events, captures ---

typedef struct Stream Stream;

// Stream handles: 0 and 1 the legacy default stream, 2 the thread's default stream
// (driver_types.h: cudaStreamLegacy, cudaStreamPerThread). In the variants of a call whose name
// ends with _ptsz, 0 is the thread's.
#define STREAM_LEGACY     ((Stream *)1)
#define STREAM_PER_THREAD ((Stream *)2)
static inline Stream *stream_ptsz(Stream *stream) { return stream ? stream : STREAM_PER_THREAD; }

// Runs the work now, or adds it to the graph that the stream is capturing.
CudaError stream_submit(Stream *stream, const Work *work);

// For calls that must not happen during a capture (allocation, synchronous copies, ...): the error,
// and the capture is then invalid.
CudaError stream_refuse_capture(void);

bool stream_capturing(Stream *stream);

// --- runtime_graph.c ---

Graph *graph_new(void);
// Adds a node after `dependencies`. NULL: out of memory, or work that cannot be copied.
GraphNode *graph_add(Graph *graph, const Work *work, GraphNode *const *dependencies, size_t count);
bool graph_known(const Graph *graph);
bool graph_has_node(const Graph *graph, const GraphNode *node);
// Whether `node` is one of `nodes` or comes before one of them.
bool graph_precedes(const GraphNode *node, GraphNode *const *nodes, size_t count);

// --- device.c: what the device can hold ---

// Blocks of this kernel that fit on one multiprocessor: the least of the limits on threads, blocks
// and shared memory. Registers are left out, since their number is decided by ptxas.
int device_resident_blocks(const KernelInfo *info, int threads, size_t dynamic_shared_bytes);

// What is reported as registers per thread: the estimate, within what a full block could have.
int device_registers(const KernelInfo *info);

#endif
