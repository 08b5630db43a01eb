// Stream capture: records work as nodes of a graph instead of running it.
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/capture.h"

#include <stdlib.h>
#include <string.h>

typedef enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALID } CaptureStatus; // as in CUDA
enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };                        // as in CUDA

static Capture *captures;
static uint64_t last_capture_id;
static _Thread_local int thread_mode = MODE_GLOBAL; // how this thread treats unsafe calls

bool capture_live(const Capture *handle) {
    for (const Capture *capture = captures; capture; capture = capture->next)
        if (capture == handle) return true;
    return false;
}

CudaError capture_refuse(void) {
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

CudaError capture_refuse_legacy(void) {
    CudaError error = CUDA_SUCCESS;
    for (Capture *capture = captures; capture; capture = capture->next) {
        if (capture->origin->flags & STREAM_NON_BLOCKING) continue;
        capture->invalid = true;
        error = CUDA_STREAM_CAPTURE_IMPLICIT;
    }
    return error;
}

CudaError capture_add(Stream *stream, const Work *work) {
    Capture *capture = stream->capture;
    if (capture->invalid) return CUDA_STREAM_CAPTURE_INVALIDATED;
    GraphNode *node = graph_add(capture->graph, work, stream->last.nodes, stream->last.count);
    if (!node || !node_set_assign(&stream->last, &node, 1)) {
        capture->invalid = true;
        return CUDA_MEMORY_ALLOCATION;
    }
    return CUDA_SUCCESS;
}

static CudaError begin_capture(Stream *handle, Graph *into, GraphNode *const *nodes, size_t count,
                               int mode) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    if (mode < MODE_GLOBAL || mode > MODE_RELAXED) return CUDA_INVALID_VALUE;
    if (stream == &stream_legacy) return CUDA_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return CUDA_ILLEGAL_STATE;
    Capture *capture = calloc(1, sizeof *capture);
    Graph *graph = into ? into : graph_new();
    if (!capture || !graph || !node_set_assign(&stream->last, nodes, count)) {
        if (!into) graph_free(graph);
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

// Whether another stream has captured work for which the origin does not wait.
static bool unjoined(const Capture *capture) {
    for (const Stream *stream = stream_list; stream; stream = stream->next) {
        if (stream->capture != capture || stream == capture->origin) continue;
        for (size_t i = 0; i < stream->last.count; i++)
            if (!graph_precedes(stream->last.nodes[i], capture->origin->last.nodes,
                                capture->origin->last.count))
                return true;
    }
    return false;
}

void capture_end(Capture *capture) {
    for (Stream *stream = stream_list; stream; stream = stream->next)
        if (stream->capture == capture) {
            stream->capture = NULL;
            node_set_clear(&stream->last);
        }
    for (Capture **link = &captures; *link; link = &(*link)->next)
        if (*link == capture) {
            *link = capture->next;
            break;
        }
    free(capture);
}

static CudaError end_capture(Stream *handle, Graph **graph) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    Capture *capture = stream->capture;
    if (!capture) return CUDA_ILLEGAL_STATE;
    if (!graph && !capture->borrowed_graph) return CUDA_INVALID_VALUE; // nowhere to return it
    if (capture->origin != stream) return CUDA_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != MODE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return CUDA_STREAM_CAPTURE_WRONG_THREAD;
    error = capture->invalid    ? CUDA_STREAM_CAPTURE_INVALIDATED
            : unjoined(capture) ? CUDA_STREAM_CAPTURE_UNJOINED
                                : CUDA_SUCCESS;
    if (graph) *graph = error ? NULL : capture->graph;
    if (error && !capture->borrowed_graph) graph_free(capture->graph);
    capture_end(capture);
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
    if (!graph_known(graph) || !graph_has_nodes(graph, nodes, count)) return CUDA_INVALID_VALUE;
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
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
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
    Stream *stream;
    stream_find(handle, &stream);
    if (out.id) *out.id = capture->id;
    if (out.graph) *out.graph = capture->graph;
    if (out.nodes) *out.nodes = stream->last.nodes;
    if (out.edges) *out.edges = NULL; // NULL, because all edges are plain
    if (out.count) *out.count = stream->last.count;
    return CUDA_SUCCESS;
}

// CUDA 13 gives the plain name the parameters of CUDA 12's _v3; CUDA 12's has three, its _v2 six.
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

API CudaError cudaStreamGetCaptureInfo_v3_ptsz(Stream *stream, int *status, unsigned long long *id,
                                               Graph **graph, GraphNode *const **nodes,
                                               const void **edges, size_t *count) {
    return cudaStreamGetCaptureInfo_v3(stream_ptsz(stream), status, id, graph, nodes, edges, count);
}

static CudaError update_dependencies(Stream *handle, GraphNode *const *nodes, size_t count,
                                     bool replace) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    if (!stream->capture) return CUDA_ILLEGAL_STATE;
    if (!graph_has_nodes(stream->capture->graph, nodes, count)) return CUDA_INVALID_VALUE;
    NodeSet set = {(GraphNode **)nodes, count};
    bool done =
        replace ? node_set_assign(&stream->last, nodes, count) : node_set_add(&stream->last, &set);
    return done ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

// CUDA 13 inserted the edges' data before the number of nodes.
API CudaError cudaStreamUpdateCaptureDependencies(Stream *stream, GraphNode *const *nodes,
                                                  const void *edges_or_count, size_t count,
                                                  unsigned int flags) {
    if (runtime_abi == 12) { // without the edges' data
        flags = (unsigned int)count;
        count = (size_t)(uintptr_t)edges_or_count;
    }
    return RUNTIME(update_dependencies(stream, nodes, count, flags == 1));
}

API CudaError cudaStreamUpdateCaptureDependencies_ptsz(Stream *stream, GraphNode *const *nodes,
                                                       const void *edges_or_count, size_t count,
                                                       unsigned int flags) {
    return cudaStreamUpdateCaptureDependencies(stream_ptsz(stream), nodes, edges_or_count, count,
                                               flags);
}

API CudaError cudaStreamUpdateCaptureDependencies_v2(Stream *stream, GraphNode *const *nodes,
                                                     const void *edges, size_t count,
                                                     unsigned int flags) {
    (void)edges;
    return RUNTIME(update_dependencies(stream, nodes, count, flags == 1));
}

API CudaError cudaStreamUpdateCaptureDependencies_v2_ptsz(Stream *stream, GraphNode *const *nodes,
                                                          const void *edges, size_t count,
                                                          unsigned int flags) {
    return cudaStreamUpdateCaptureDependencies_v2(stream_ptsz(stream), nodes, edges, count, flags);
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
