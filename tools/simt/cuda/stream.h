// Streams. In the usual order every call has run when it returns, and a stream holds no work but
// what it captures. With --order it waits: queue.h.
#ifndef STREAM_H
#define STREAM_H

#include "simt/cuda/graph.h"
#include "simt/cuda/work.h"

typedef struct Capture Capture;

struct Stream {
    Stream *next;
    unsigned int flags;
    int priority;
    uint64_t id;
    Capture *capture; // NULL: none
    NodeSet last;     // what the next captured node depends on
    uint64_t launch;  // LaunchReport.serial of the kernel that ran last in it and lets others
                      // start before its end; 0: no such kernel
};

enum { STREAM_NON_BLOCKING = 1 };

extern Stream *stream_list; // all but the legacy stream
extern Stream stream_legacy;

// Stream handles: 0 and 1 the legacy default stream, 2 the thread's default stream
// (driver_types.h: cudaStreamLegacy, cudaStreamPerThread). In the variants of a call whose name
// ends with _ptsz, 0 is the thread's.
#define STREAM_LEGACY     ((Stream *)1)
#define STREAM_PER_THREAD ((Stream *)2)
static inline Stream *stream_ptsz(Stream *stream) { return stream ? stream : STREAM_PER_THREAD; }

// The stream that a handle names.
CudaError stream_find(Stream *handle, Stream **stream);

// Runs the work now, lets it wait, or adds it to the graph that the stream is capturing.
CudaError stream_submit(Stream *handle, const Work *work);

// The same for a call without a stream, which was found to be allowed during the captures there
// are.
CudaError stream_submit_legacy(const Work *work);

// For calls that wait for a stream, or ask whether it is done: runs all that is in it. An error if
// it captures.
CudaError stream_settled(Stream *handle);

// --- events ---

void event_record(Event *event);

// The work of the queue (queue.h) that records the event; 0: none.
void event_waits(Event *event, uint64_t number);
uint64_t event_number(const Event *event);

#endif
