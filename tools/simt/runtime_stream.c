// Streams, events and stream capture. Every call has run when it returns, so a stream holds no work
// and an event is complete once recorded; what remains is the bookkeeping of captures.
#define _POSIX_C_SOURCE 200809L
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALID } CaptureStatus; // as in CUDA
enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };                        // as in CUDA

typedef struct {
    GraphNode **nodes;
    size_t count;
} NodeSet;

// One capture: a graph under construction and the streams that take part.
typedef struct Capture {
    struct Capture *next;
    Graph *graph;
    Stream *origin;
    pthread_t thread;
    int mode;
    bool invalid, borrowed_graph; // borrowed: cudaStreamBeginCaptureToGraph
    uint64_t id;
} Capture;

struct Stream {
    Stream *next;
    unsigned int flags;
    int priority;
    uint64_t id;
    Capture *capture;
    NodeSet last; // what the next captured node depends on
};

struct Event {
    Event *next;
    unsigned int flags;
    bool recorded;
    double milliseconds;
    Capture *capture; // when last recorded in a capture, and after which nodes
    NodeSet last;
};

enum { STREAM_NON_BLOCKING = 1, EVENT_DISABLE_TIMING = 2, HIGHEST_PRIORITY = -5 };

static Stream *streams;
static Event *events;
static Capture *captures;
static uint64_t last_id = 2, last_capture_id;
static Stream legacy = {.id = 1};
static _Thread_local int thread_mode = MODE_GLOBAL; // how this thread's unsafe calls are treated
static _Thread_local Stream *per_thread;            // made at first use, in the list of all streams

// --- handles ---

static Stream *new_stream(unsigned int flags, int priority) {
    Stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    *stream = (Stream){.next = streams, .flags = flags, .priority = priority, .id = ++last_id};
    return streams = stream;
}

// The stream that a handle names; NULL if it names none.
static Stream *find_stream(Stream *handle) {
    if (!handle || handle == STREAM_LEGACY) return &legacy;
    if (handle == STREAM_PER_THREAD) {
        if (!per_thread) per_thread = new_stream(0, 0);
        return per_thread;
    }
    for (Stream *stream = streams; stream; stream = stream->next)
        if (stream == handle) return stream;
    return NULL;
}

static bool known_event(const Event *handle) {
    for (const Event *event = events; event; event = event->next)
        if (event == handle) return true;
    return false;
}

static bool live_capture(const Capture *handle) {
    for (const Capture *capture = captures; capture; capture = capture->next)
        if (capture == handle) return true;
    return false;
}

static bool set_nodes(NodeSet *set, GraphNode *const *nodes, size_t count) {
    GraphNode **copy = malloc((count ? count : 1) * sizeof *copy);
    if (!copy) return false;
    if (count) memcpy(copy, nodes, count * sizeof *copy);
    free(set->nodes);
    *set = (NodeSet){copy, count};
    return true;
}

static bool add_nodes(NodeSet *set, const NodeSet *more) {
    GraphNode **all = malloc((set->count + more->count + 1) * sizeof *all);
    if (!all) return false;
    size_t count = set->count;
    if (count) memcpy(all, set->nodes, count * sizeof *all);
    for (size_t i = 0; i < more->count; i++) {
        bool there = false;
        for (size_t k = 0; k < count; k++) there |= all[k] == more->nodes[i];
        if (!there) all[count++] = more->nodes[i];
    }
    free(set->nodes);
    *set = (NodeSet){all, count};
    return true;
}

// --- captures ---

CudaError stream_refuse_capture(void) {
    CudaError error = CUDA_SUCCESS;
    if (thread_mode == MODE_RELAXED) return error;
    for (Capture *capture = captures; capture; capture = capture->next) {
        bool mine = pthread_equal(capture->thread, pthread_self());
        if (capture->mode == MODE_RELAXED || (capture->mode == MODE_THREAD_LOCAL && !mine))
            continue;
        capture->invalid = true;
        error = CUDA_STREAM_CAPTURE_UNSUPPORTED;
    }
    return error;
}

// Work on the legacy stream would wait for every blocking stream, also for one that captures.
static CudaError refuse_implicit(void) {
    CudaError error = CUDA_SUCCESS;
    for (Capture *capture = captures; capture; capture = capture->next) {
        if (capture->origin->flags & STREAM_NON_BLOCKING) continue;
        capture->invalid = true;
        error = CUDA_STREAM_CAPTURE_IMPLICIT;
    }
    return error;
}

bool stream_capturing(Stream *handle) {
    Stream *stream = find_stream(handle);
    return stream && stream->capture;
}

CudaError stream_submit(Stream *handle, const Work *work) {
    Stream *stream = find_stream(handle);
    if (!stream) return CUDA_INVALID_RESOURCE_HANDLE;
    if (!stream->capture) {
        CudaError error = stream == &legacy ? refuse_implicit() : CUDA_SUCCESS;
        return error ? error : work_run(work);
    }
    Capture *capture = stream->capture;
    if (capture->invalid) return CUDA_STREAM_CAPTURE_INVALIDATED;
    GraphNode *node = graph_add(capture->graph, work, stream->last.nodes, stream->last.count);
    if (!node || !set_nodes(&stream->last, &node, 1)) {
        capture->invalid = true;
        return CUDA_MEMORY_ALLOCATION;
    }
    return CUDA_SUCCESS;
}

static CudaError begin_capture(Stream *handle, Graph *into, GraphNode *const *nodes, size_t count,
                               int mode) {
    Stream *stream = find_stream(handle);
    if (!stream) return CUDA_INVALID_RESOURCE_HANDLE;
    if (mode < MODE_GLOBAL || mode > MODE_RELAXED) return CUDA_INVALID_VALUE;
    if (stream == &legacy) return CUDA_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return CUDA_ILLEGAL_STATE;
    Capture *capture = calloc(1, sizeof *capture);
    Graph *graph = into ? into : graph_new();
    if (!capture || !graph || !set_nodes(&stream->last, nodes, count)) {
        free(capture);
        return CUDA_MEMORY_ALLOCATION;
    }
    *capture = (Capture){.next = captures,
                         .graph = graph,
                         .origin = stream,
                         .mode = mode,
                         .thread = pthread_self(),
                         .borrowed_graph = into != NULL,
                         .id = ++last_capture_id};
    stream->capture = captures = capture;
    return CUDA_SUCCESS;
}

// Whether some other stream has captured work that the origin does not wait for.
static bool unjoined(const Capture *capture) {
    for (const Stream *stream = streams; stream; stream = stream->next) {
        if (stream->capture != capture || stream == capture->origin) continue;
        for (size_t i = 0; i < stream->last.count; i++)
            if (!graph_precedes(stream->last.nodes[i], capture->origin->last.nodes,
                                capture->origin->last.count))
                return true;
    }
    return false;
}

static void end(Capture *capture) {
    for (Stream *stream = streams; stream; stream = stream->next)
        if (stream->capture == capture) {
            stream->capture = NULL;
            set_nodes(&stream->last, NULL, 0);
        }
    for (Capture **link = &captures; *link; link = &(*link)->next)
        if (*link == capture) {
            *link = capture->next;
            break;
        }
    free(capture);
}

static CudaError end_capture(Stream *handle, Graph **graph) {
    Stream *stream = find_stream(handle);
    if (!stream) return CUDA_INVALID_RESOURCE_HANDLE;
    if (!graph) return CUDA_INVALID_VALUE;
    Capture *capture = stream->capture;
    if (!capture) return CUDA_ILLEGAL_STATE;
    if (capture->origin != stream) return CUDA_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != MODE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return CUDA_STREAM_CAPTURE_WRONG_THREAD;
    CudaError error = capture->invalid    ? CUDA_STREAM_CAPTURE_INVALIDATED
                      : unjoined(capture) ? CUDA_STREAM_CAPTURE_UNJOINED
                                          : CUDA_SUCCESS;
    *graph = error ? NULL : capture->graph;
    if (error && !capture->borrowed_graph) graph_free(capture->graph);
    end(capture);
    return error;
}

API CudaError cudaStreamBeginCapture(Stream *stream, int mode) {
    return RUNTIME(begin_capture(stream, NULL, NULL, 0, mode));
}

API CudaError cudaStreamBeginCapture_ptsz(Stream *stream, int mode) {
    return cudaStreamBeginCapture(stream_ptsz(stream), mode);
}

static CudaError begin_into(Stream *stream, Graph *graph, GraphNode *const *nodes, size_t count,
                            int mode) {
    if (!graph_known(graph) || (count && !nodes)) return CUDA_INVALID_VALUE;
    return begin_capture(stream, graph, nodes, count, mode);
}

API CudaError cudaStreamBeginCaptureToGraph(Stream *stream, Graph *graph, GraphNode *const *nodes,
                                            const void *edges, size_t count, int mode) {
    (void)edges;
    return RUNTIME(begin_into(stream, graph, nodes, count, mode));
}

API CudaError cudaStreamBeginCaptureToGraph_ptsz(Stream *stream, Graph *graph,
                                                 GraphNode *const *nodes, const void *edges,
                                                 size_t count, int mode) {
    return cudaStreamBeginCaptureToGraph(stream_ptsz(stream), graph, nodes, edges, count, mode);
}

API CudaError cudaStreamEndCapture(Stream *stream, Graph **graph) {
    return RUNTIME(end_capture(stream, graph));
}

API CudaError cudaStreamEndCapture_ptsz(Stream *stream, Graph **graph) {
    return cudaStreamEndCapture(stream_ptsz(stream), graph);
}

static CudaError capture_status(Stream *handle, int *status, Capture **capture) {
    Stream *stream = find_stream(handle);
    if (!stream) return CUDA_INVALID_RESOURCE_HANDLE;
    if (!status) return CUDA_INVALID_VALUE;
    *capture = stream->capture;
    *status = !stream->capture           ? CAPTURE_NONE
              : stream->capture->invalid ? CAPTURE_INVALID
                                         : CAPTURE_ACTIVE;
    return CUDA_SUCCESS;
}

API CudaError cudaStreamIsCapturing(Stream *stream, int *status) {
    Capture *capture;
    return RUNTIME(capture_status(stream, status, &capture));
}

API CudaError cudaStreamIsCapturing_ptsz(Stream *stream, int *status) {
    return cudaStreamIsCapturing(stream_ptsz(stream), status);
}

typedef struct {
    int *status;
    unsigned long long *id;
    Graph **graph;
    GraphNode *const **nodes;
    const void **edges;
    size_t *count;
} CaptureInfo;

static CudaError capture_info(Stream *handle, CaptureInfo out) {
    Capture *capture;
    CudaError error = capture_status(handle, out.status, &capture);
    if (error || !capture) return error;
    const Stream *stream = find_stream(handle);
    if (out.id) *out.id = capture->id;
    if (out.graph) *out.graph = capture->graph;
    if (out.nodes) *out.nodes = stream->last.nodes;
    if (out.edges) *out.edges = NULL; // NULL: plain edges only
    if (out.count) *out.count = stream->last.count;
    return CUDA_SUCCESS;
}

// CUDA 13 gave the plain name the arguments of 12's _v3; in 12 it has three and _v2 six.
API CudaError cudaStreamGetCaptureInfo(Stream *stream, int *status, unsigned long long *id,
                                       Graph **graph, GraphNode *const **nodes, const void **edges,
                                       size_t *count) {
    CaptureInfo out = {status, id, graph, nodes, edges, count};
    if (runtime_abi == 12) out = (CaptureInfo){status, id, NULL, NULL, NULL, NULL};
    return RUNTIME(capture_info(stream, out));
}

API CudaError cudaStreamGetCaptureInfo_ptsz(Stream *stream, int *status, unsigned long long *id,
                                            Graph **graph, GraphNode *const **nodes,
                                            const void **edges, size_t *count) {
    return cudaStreamGetCaptureInfo(stream_ptsz(stream), status, id, graph, nodes, edges, count);
}

API CudaError cudaStreamGetCaptureInfo_v2(Stream *stream, int *status, unsigned long long *id,
                                          Graph **graph, GraphNode *const **nodes, size_t *count) {
    CaptureInfo out = {status, id, graph, nodes, NULL, count};
    return RUNTIME(capture_info(stream, out));
}

API CudaError cudaStreamGetCaptureInfo_v2_ptsz(Stream *stream, int *status, unsigned long long *id,
                                               Graph **graph, GraphNode *const **nodes,
                                               size_t *count) {
    return cudaStreamGetCaptureInfo_v2(stream_ptsz(stream), status, id, graph, nodes, count);
}

API CudaError cudaStreamGetCaptureInfo_v3(Stream *stream, int *status, unsigned long long *id,
                                          Graph **graph, GraphNode *const **nodes,
                                          const void **edges, size_t *count) {
    CaptureInfo out = {status, id, graph, nodes, edges, count};
    return RUNTIME(capture_info(stream, out));
}

static CudaError update_dependencies(Stream *handle, GraphNode *const *nodes, size_t count,
                                     bool replace) {
    Stream *stream = find_stream(handle);
    if (!stream) return CUDA_INVALID_RESOURCE_HANDLE;
    if (!stream->capture) return CUDA_ILLEGAL_STATE;
    for (size_t i = 0; i < count; i++)
        if (!graph_has_node(stream->capture->graph, nodes[i])) return CUDA_INVALID_VALUE;
    NodeSet set = {(GraphNode **)nodes, count};
    bool done = replace ? set_nodes(&stream->last, nodes, count) : add_nodes(&stream->last, &set);
    return done ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

API CudaError cudaStreamUpdateCaptureDependencies_v2(Stream *stream, GraphNode *const *nodes,
                                                     const void *edges, size_t count,
                                                     unsigned int flags) {
    (void)edges;
    return RUNTIME(update_dependencies(stream, nodes, count, flags == 1));
}

static CudaError exchange_mode(int *mode) {
    if (!mode || *mode < MODE_GLOBAL || *mode > MODE_RELAXED) return CUDA_INVALID_VALUE;
    int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

API CudaError cudaThreadExchangeStreamCaptureMode(int *mode) {
    return RUNTIME(exchange_mode(mode));
}

// --- streams ---

static CudaError create_stream(Stream **stream, unsigned int flags, int priority) {
    if (!stream || flags > STREAM_NON_BLOCKING) return CUDA_INVALID_VALUE;
    if (priority > 0) priority = 0;
    if (priority < HIGHEST_PRIORITY) priority = HIGHEST_PRIORITY;
    *stream = new_stream(flags, priority);
    return *stream ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

API CudaError cudaStreamCreate(Stream **stream) { return RUNTIME(create_stream(stream, 0, 0)); }

API CudaError cudaStreamCreateWithFlags(Stream **stream, unsigned int flags) {
    return RUNTIME(create_stream(stream, flags, 0));
}

API CudaError cudaStreamCreateWithPriority(Stream **stream, unsigned int flags, int priority) {
    return RUNTIME(create_stream(stream, flags, priority));
}

static CudaError destroy_stream(Stream *handle) {
    Stream *stream = find_stream(handle);
    if (!stream || stream == &legacy || stream == per_thread) return CUDA_INVALID_RESOURCE_HANDLE;
    Capture *capture = stream->capture;
    if (capture && capture->origin == stream) {
        if (!capture->borrowed_graph) graph_free(capture->graph);
        end(capture);
    }
    for (Stream **link = &streams; *link; link = &(*link)->next)
        if (*link == stream) {
            *link = stream->next;
            break;
        }
    free(stream->last.nodes);
    free(stream);
    return CUDA_SUCCESS;
}

API CudaError cudaStreamDestroy(Stream *stream) { return RUNTIME(destroy_stream(stream)); }

// For calls that wait for a stream, or ask whether it is done: everything in it is.
static CudaError settled(Stream *handle) {
    Stream *stream = find_stream(handle);
    if (!stream) return CUDA_INVALID_RESOURCE_HANDLE;
    if (!stream->capture) return CUDA_SUCCESS;
    stream->capture->invalid = true;
    return CUDA_STREAM_CAPTURE_UNSUPPORTED;
}

API CudaError cudaStreamSynchronize(Stream *stream) { return RUNTIME(settled(stream)); }
API CudaError cudaStreamQuery(Stream *stream) { return RUNTIME(settled(stream)); }

API CudaError cudaStreamSynchronize_ptsz(Stream *stream) {
    return cudaStreamSynchronize(stream_ptsz(stream));
}

API CudaError cudaStreamQuery_ptsz(Stream *stream) { return cudaStreamQuery(stream_ptsz(stream)); }

typedef enum { STREAM_FLAGS, STREAM_PRIORITY, STREAM_ID, STREAM_DEVICE } StreamFact;

static CudaError stream_fact(Stream *handle, StreamFact fact, void *out) {
    const Stream *stream = find_stream(handle);
    if (!stream) return CUDA_INVALID_RESOURCE_HANDLE;
    if (!out) return CUDA_INVALID_VALUE;
    switch (fact) {
    case STREAM_FLAGS:
        *(unsigned int *)out = stream->flags;
        break;
    case STREAM_PRIORITY:
        *(int *)out = stream->priority;
        break;
    case STREAM_ID:
        *(unsigned long long *)out = stream->id;
        break;
    case STREAM_DEVICE:
        *(int *)out = 0;
        break;
    }
    return CUDA_SUCCESS;
}

#define STREAM_QUERY(name, fact, type)                                                             \
    API CudaError name(Stream *stream, type *out) {                                                \
        return RUNTIME(stream_fact(stream, fact, out));                                            \
    }                                                                                              \
    API CudaError name##_ptsz(Stream *stream, type *out) { return name(stream_ptsz(stream), out); }

STREAM_QUERY(cudaStreamGetFlags, STREAM_FLAGS, unsigned int)
STREAM_QUERY(cudaStreamGetPriority, STREAM_PRIORITY, int)
STREAM_QUERY(cudaStreamGetId, STREAM_ID, unsigned long long)
STREAM_QUERY(cudaStreamGetDevice, STREAM_DEVICE, int)

static CudaError priorities(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = HIGHEST_PRIORITY;
    return CUDA_SUCCESS;
}

API CudaError cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return RUNTIME(priorities(least, greatest));
}

static CudaError submit_host(Stream *stream, void (*call)(void *), void *data) {
    Work work = {.kind = WORK_HOST, .host = {call, data}};
    return call ? stream_submit(stream, &work) : CUDA_INVALID_VALUE;
}

API CudaError cudaLaunchHostFunc(Stream *stream, void (*call)(void *), void *data) {
    return RUNTIME(submit_host(stream, call, data));
}

API CudaError cudaLaunchHostFunc_ptsz(Stream *stream, void (*call)(void *), void *data) {
    return cudaLaunchHostFunc(stream_ptsz(stream), call, data);
}

typedef struct {
    void (*call)(Stream *stream, CudaError status, void *data);
    Stream *stream;
    void *data;
} Callback;

static void run_callback(void *data) {
    const Callback *callback = data;
    callback->call(callback->stream, CUDA_SUCCESS, callback->data);
}

static CudaError add_callback(Stream *handle, Callback callback) {
    CudaError error = settled(handle); // the call is not allowed in a capture
    if (error || !callback.call) return error ? error : CUDA_INVALID_VALUE;
    runtime_call_host(run_callback, &callback);
    return CUDA_SUCCESS;
}

API CudaError cudaStreamAddCallback(Stream *stream, void (*call)(Stream *, CudaError, void *),
                                    void *data, unsigned int flags) {
    (void)flags;
    return RUNTIME(add_callback(stream, (Callback){call, stream, data}));
}

API CudaError cudaStreamAddCallback_ptsz(Stream *stream, void (*call)(Stream *, CudaError, void *),
                                         void *data, unsigned int flags) {
    return cudaStreamAddCallback(stream_ptsz(stream), call, data, flags);
}

// --- events ---

static CudaError create_event(Event **event, unsigned int flags) {
    if (!event || flags > 7) return CUDA_INVALID_VALUE; // three flags, cudaEventDisableTiming = 2
    Event *made = calloc(1, sizeof *made);
    if (!made) return CUDA_MEMORY_ALLOCATION;
    *made = (Event){.next = events, .flags = flags};
    *event = events = made;
    return CUDA_SUCCESS;
}

API CudaError cudaEventCreate(Event **event) { return RUNTIME(create_event(event, 0)); }

API CudaError cudaEventCreateWithFlags(Event **event, unsigned int flags) {
    return RUNTIME(create_event(event, flags));
}

static CudaError destroy_event(Event *event) {
    if (!known_event(event)) return CUDA_INVALID_RESOURCE_HANDLE;
    for (Event **link = &events; *link; link = &(*link)->next)
        if (*link == event) {
            *link = event->next;
            break;
        }
    free(event->last.nodes);
    free(event);
    return CUDA_SUCCESS;
}

API CudaError cudaEventDestroy(Event *event) { return RUNTIME(destroy_event(event)); }

void event_record(Event *event) {
    if (!known_event(event)) return; // a graph may outlive the event that it records
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->milliseconds = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    event->recorded = true;
    event->capture = NULL;
}

enum { RECORD_EXTERNAL = 1 }; // cudaEventRecordExternal: a node of the graph, also in a capture

static CudaError record(Event *event, Stream *handle, unsigned int flags) {
    Stream *stream = find_stream(handle);
    if (!stream || !known_event(event)) return CUDA_INVALID_RESOURCE_HANDLE;
    Work work = {.kind = WORK_RECORD, .event = event};
    if (!stream->capture || flags & RECORD_EXTERNAL) return stream_submit(handle, &work);
    event->capture = stream->capture;
    return set_nodes(&event->last, stream->last.nodes, stream->last.count) ? CUDA_SUCCESS
                                                                           : CUDA_MEMORY_ALLOCATION;
}

API CudaError cudaEventRecord(Event *event, Stream *stream) {
    return RUNTIME(record(event, stream, 0));
}

API CudaError cudaEventRecord_ptsz(Event *event, Stream *stream) {
    return cudaEventRecord(event, stream_ptsz(stream));
}

API CudaError cudaEventRecordWithFlags(Event *event, Stream *stream, unsigned int flags) {
    return RUNTIME(record(event, stream, flags));
}

API CudaError cudaEventRecordWithFlags_ptsz(Event *event, Stream *stream, unsigned int flags) {
    return cudaEventRecordWithFlags(event, stream_ptsz(stream), flags);
}

// A stream that waits for a captured event joins the capture, and depends on what the event does.
static CudaError wait_event(Stream *handle, Event *event, unsigned int flags) {
    Stream *stream = find_stream(handle);
    if (!stream || !known_event(event)) return CUDA_INVALID_RESOURCE_HANDLE;
    if (event->capture && !live_capture(event->capture)) event->capture = NULL;
    if (!event->capture) {
        if (!stream->capture) return CUDA_SUCCESS;
        if (flags & RECORD_EXTERNAL)
            return stream_submit(handle, &(Work){.kind = WORK_WAIT, .event = event});
        stream->capture->invalid = true;
        return CUDA_STREAM_CAPTURE_ISOLATION;
    }
    if (stream == &legacy) return CUDA_STREAM_CAPTURE_IMPLICIT;
    if (stream->capture && stream->capture != event->capture) {
        stream->capture->invalid = event->capture->invalid = true;
        return CUDA_STREAM_CAPTURE_MERGE;
    }
    stream->capture = event->capture;
    return add_nodes(&stream->last, &event->last) ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

API CudaError cudaStreamWaitEvent(Stream *stream, Event *event, unsigned int flags) {
    return RUNTIME(wait_event(stream, event, flags));
}

API CudaError cudaStreamWaitEvent_ptsz(Stream *stream, Event *event, unsigned int flags) {
    return cudaStreamWaitEvent(stream_ptsz(stream), event, flags);
}

static CudaError event_settled(Event *event) {
    if (!known_event(event)) return CUDA_INVALID_RESOURCE_HANDLE;
    if (!event->capture || !live_capture(event->capture)) return CUDA_SUCCESS;
    event->capture->invalid = true;
    return CUDA_CAPTURED_EVENT;
}

API CudaError cudaEventSynchronize(Event *event) { return RUNTIME(event_settled(event)); }
API CudaError cudaEventQuery(Event *event) { return RUNTIME(event_settled(event)); }

// Host time: it says how long the CPU device took, nothing about a GPU.
static CudaError elapsed(float *milliseconds, const Event *first, const Event *second) {
    if (!milliseconds) return CUDA_INVALID_VALUE;
    if (!known_event(first) || !known_event(second)) return CUDA_INVALID_RESOURCE_HANDLE;
    bool timed = !((first->flags | second->flags) & EVENT_DISABLE_TIMING);
    if (!timed || !first->recorded || !second->recorded) return CUDA_INVALID_RESOURCE_HANDLE;
    *milliseconds = (float)(second->milliseconds - first->milliseconds);
    return CUDA_SUCCESS;
}

API CudaError cudaEventElapsedTime(float *milliseconds, Event *first, Event *second) {
    return RUNTIME(elapsed(milliseconds, first, second));
}

API CudaError cudaEventElapsedTime_v2(float *milliseconds, Event *first, Event *second) {
    return RUNTIME(elapsed(milliseconds, first, second));
}
