// Creates, finds, and synchronizes streams, and submits work to them.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "simt/cuda/capture.h"
#include "simt/cuda/queue.h"
#include "simt/cuda/unfinished.h"

enum { HIGHEST_PRIORITY = -5 };

Stream *stream_list;
Stream stream_legacy = {.id = 1};
static uint64_t last_id = 2;
static _Thread_local Stream *per_thread; // created on first use; also in stream_list

static Stream *new_stream(unsigned int flags, int priority) {
    Stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    *stream = (Stream){.next = stream_list, .flags = flags, .priority = priority, .id = ++last_id};
    return stream_list = stream;
}

CudaError stream_find(Stream *handle, Stream **stream) {
    *stream = &stream_legacy;
    if (!handle || handle == STREAM_LEGACY) return CUDA_SUCCESS;
    if (handle == STREAM_PER_THREAD) {
        if (!per_thread) per_thread = new_stream(0, 0);
        *stream = per_thread;
        return per_thread ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
    }
    for (*stream = stream_list; *stream; *stream = (*stream)->next)
        if (*stream == handle) return CUDA_SUCCESS;
    return CUDA_INVALID_RESOURCE_HANDLE;
}

// Makes the events that the work records, or a part of it, wait for it.
static void record_events(const Work *work, uint64_t number) {
    if (work->kind == WORK_RECORD) event_waits(work->event, number);
    if (work->kind != WORK_GRAPH) return;
    for (const GraphNode *node = work->graph->first; node; node = node->next)
        record_events(&node->work, number);
}

static CudaError submit(Stream *stream, const Work *work) {
    Work placed = *work;
    CudaError error = queue_make_room();
    if (error) return error;
    placed.stream = stream;
    placed.number = unfinished_begin(&placed);
    runtime_at_end(unfinished_end);
    error = queue_on() ? queue_add(&placed) : unfinished_run(&placed);
    if (!error) record_events(work, placed.number);
    return error;
}

CudaError stream_submit_legacy(const Work *work) { return submit(&stream_legacy, work); }

CudaError stream_submit(Stream *handle, const Work *work) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    if (stream->capture) return capture_add(stream, work);
    if (stream == &stream_legacy) error = capture_refuse_legacy();
    return error ? error : submit(stream, work);
}

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
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    if (stream == &stream_legacy || stream == per_thread) return CUDA_INVALID_RESOURCE_HANDLE;
    Capture *capture = stream->capture;
    if (capture && capture->origin == stream) {
        if (!capture->borrowed_graph) graph_free(capture->graph);
        capture_end(capture);
    }
    for (Stream **link = &stream_list; *link; link = &(*link)->next)
        if (*link == stream) {
            *link = stream->next;
            break;
        }
    node_set_clear(&stream->last);
    error = queue_run(stream);
    unfinished_gone(stream);
    free(stream);
    return error;
}

API CudaError cudaStreamDestroy(Stream *stream) { return RUNTIME(destroy_stream(stream)); }

CudaError stream_finish(Stream *handle) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    if (!stream->capture) return unfinished_wait(stream);
    stream->capture->invalid = true;
    return CUDA_STREAM_CAPTURE_UNSUPPORTED;
}

API CudaError cudaStreamSynchronize(Stream *stream) { return RUNTIME(stream_finish(stream)); }
API CudaError cudaStreamQuery(Stream *stream) { return RUNTIME(stream_finish(stream)); }

API CudaError cudaStreamSynchronize_ptsz(Stream *stream) {
    return cudaStreamSynchronize(stream_ptsz(stream));
}

API CudaError cudaStreamQuery_ptsz(Stream *stream) { return cudaStreamQuery(stream_ptsz(stream)); }

typedef enum { STREAM_FLAGS, STREAM_PRIORITY, STREAM_ID, STREAM_DEVICE } StreamFact;

static CudaError stream_fact(Stream *handle, StreamFact fact, void *out) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
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
    CudaError error = stream_finish(handle); // the call is not allowed in a capture
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
