// Streams. In the usual order every call has run when it returns, and a stream holds only work that
// it captures. With --order it also queues work: queue.h.
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
    NodeSet last;     // the dependencies of the next captured node
    uint64_t launch;  // LaunchReport.serial of the last kernel, if it lets the next start early;
                      // otherwise 0
};

enum { STREAM_NON_BLOCKING = 1 };

extern Stream *stream_list; // all but the legacy stream
extern Stream stream_legacy;

// Stream handles: 0 and 1 are the legacy default stream, 2 is the thread's default stream
// (driver_types.h: cudaStreamLegacy, cudaStreamPerThread). In calls whose name ends in _ptsz, 0 is
// the thread's default stream.
#define STREAM_LEGACY     ((Stream *)1)
#define STREAM_PER_THREAD ((Stream *)2)
static inline Stream *stream_ptsz(Stream *stream) { return stream ? stream : STREAM_PER_THREAD; }

// Finds the stream of a handle.
CudaError stream_find(Stream *handle, Stream **stream);

// Runs the work, queues it, or adds it to the graph that the stream is capturing.
CudaError stream_submit(Stream *handle, const Work *work);

// The same for a call without a stream. The caller has checked that captures allow it.
CudaError stream_submit_legacy(const Work *work);

// Finishes all work of a stream. Returns an error if the stream is capturing.
CudaError stream_finish(Stream *handle);

// --- events ---

void event_record(Event *event);

// The number of the work that records the event; 0: none.
void event_waits(Event *event, uint64_t number);
uint64_t event_number(const Event *event);

#endif
