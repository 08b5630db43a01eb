// Stream capture: work becomes nodes of a graph instead of running.
#ifndef CAPTURE_H
#define CAPTURE_H

#include <pthread.h>

#include "simt/cuda/graph.h"
#include "simt/cuda/stream.h"

// A graph under construction and the streams that take part.
struct Capture {
    Capture *next;
    Graph *graph;
    Stream *origin;
    pthread_t thread;
    int mode;
    bool invalid, borrowed_graph; // borrowed: cudaStreamBeginCaptureToGraph
    uint64_t id;
};

bool capture_live(const Capture *handle);
void capture_end(Capture *capture); // without its graph
CudaError capture_add(Stream *stream, const Work *work);

// For calls that must not happen during a capture (allocation, synchronous copies, ...): the error,
// and the capture is then invalid.
CudaError capture_refuse(void);
// The same for work on the legacy stream, which would wait for every blocking stream.
CudaError capture_refuse_legacy(void);

#endif
