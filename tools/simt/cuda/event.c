// Events. An event is complete when the work that records it has run. In a capture it stands for
// nodes of the graph.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "simt/base/clock.h"
#include "simt/cuda/capture.h"
#include "simt/cuda/queue.h"
#include "simt/cuda/stream.h"
#include "simt/cuda/unfinished.h"

struct Event {
    Event *next;
    unsigned int flags;
    bool recorded;
    uint64_t number; // of the work that last recorded it
    double milliseconds;
    Capture *capture; // the capture that last recorded it, after the nodes in `last`
    NodeSet last;
};

enum { EVENT_DISABLE_TIMING = 2 };

static Event *events;

static bool known_event(const Event *handle) {
    for (const Event *event = events; event; event = event->next)
        if (event == handle) return true;
    return false;
}

static CudaError create_event(Event **event, unsigned int flags) {
    if (!event || flags > 7) return CUDA_INVALID_VALUE; // cudaEventDisableTiming is 2
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
    node_set_clear(&event->last);
    free(event);
    return CUDA_SUCCESS;
}

API CudaError cudaEventDestroy(Event *event) { return RUNTIME(destroy_event(event)); }

void event_record(Event *event) {
    if (!known_event(event)) return; // a graph may outlive the event that it records
    event->milliseconds = (double)clock_ns(CLOCK_MONOTONIC) * 1e-6;
    event->recorded = true;
    event->capture = NULL;
}

void event_waits(Event *event, uint64_t number) {
    if (known_event(event)) event->number = number;
}

uint64_t event_number(const Event *event) { return known_event(event) ? event->number : 0; }

enum { RECORD_EXTERNAL = 1 }; // cudaEventRecordExternal: in a capture, adds a node

static CudaError record(Event *event, Stream *handle, unsigned int flags) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    if (!known_event(event)) return CUDA_INVALID_RESOURCE_HANDLE;
    Work work = {.kind = WORK_RECORD, .event = event};
    if (!stream->capture || flags & RECORD_EXTERNAL) return stream_submit(handle, &work);
    event->capture = stream->capture;
    return node_set_assign(&event->last, stream->last.nodes, stream->last.count)
               ? CUDA_SUCCESS
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

// A stream that waits for a captured event joins the capture and depends on the event's nodes.
static CudaError wait_event(Stream *handle, Event *event, unsigned int flags) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    if (!known_event(event)) return CUDA_INVALID_RESOURCE_HANDLE;
    if (event->capture && !capture_live(event->capture)) event->capture = NULL;
    if (!event->capture) {
        if (!stream->capture || flags & RECORD_EXTERNAL)
            return stream_submit(handle, &(Work){.kind = WORK_WAIT, .event = event});
        stream->capture->invalid = true;
        return CUDA_STREAM_CAPTURE_ISOLATION;
    }
    if (stream == &stream_legacy) return CUDA_STREAM_CAPTURE_IMPLICIT;
    if (stream->capture && stream->capture != event->capture) {
        stream->capture->invalid = event->capture->invalid = true;
        return CUDA_STREAM_CAPTURE_MERGE;
    }
    stream->capture = event->capture;
    return node_set_add(&stream->last, &event->last) ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

API CudaError cudaStreamWaitEvent(Stream *stream, Event *event, unsigned int flags) {
    return RUNTIME(wait_event(stream, event, flags));
}

API CudaError cudaStreamWaitEvent_ptsz(Stream *stream, Event *event, unsigned int flags) {
    return cudaStreamWaitEvent(stream_ptsz(stream), event, flags);
}

static CudaError event_settled(Event *event) {
    if (!known_event(event)) return CUDA_INVALID_RESOURCE_HANDLE;
    if (!event->capture || !capture_live(event->capture)) return unfinished_wait_to(event->number);
    event->capture->invalid = true;
    return CUDA_CAPTURED_EVENT;
}

API CudaError cudaEventSynchronize(Event *event) { return RUNTIME(event_settled(event)); }
API CudaError cudaEventQuery(Event *event) { return RUNTIME(event_settled(event)); }

// Returns host time: how long the CPU device took, not a GPU.
static CudaError elapsed(float *milliseconds, const Event *first, const Event *second) {
    if (!milliseconds) return CUDA_INVALID_VALUE;
    if (!known_event(first) || !known_event(second)) return CUDA_INVALID_RESOURCE_HANDLE;
    const bool waits = queue_waits(first->number) || queue_waits(second->number);
    bool timed = !((first->flags | second->flags) & EVENT_DISABLE_TIMING);
    if (!waits && (!timed || !first->recorded || !second->recorded))
        return CUDA_INVALID_RESOURCE_HANDLE;
    unfinished_elapsed(first->number);
    unfinished_elapsed(second->number);
    if (waits) return CUDA_NOT_READY;
    *milliseconds = (float)(second->milliseconds - first->milliseconds);
    return CUDA_SUCCESS;
}

API CudaError cudaEventElapsedTime(float *milliseconds, Event *first, Event *second) {
    return RUNTIME(elapsed(milliseconds, first, second));
}

API CudaError cudaEventElapsedTime_v2(float *milliseconds, Event *first, Event *second) {
    return RUNTIME(elapsed(milliseconds, first, second));
}
