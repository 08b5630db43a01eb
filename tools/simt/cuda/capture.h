// Stream capture: records work as nodes of a graph instead of running it.
#ifndef CAPTURE_H
#define CAPTURE_H

#include <pthread.h>

#include "simt/cuda/graph.h"
#include "simt/cuda/stream.h"

// A graph under construction.
struct Capture {
    Capture *next;
    Graph *graph;
    Stream *origin;
    pthread_t thread;
    int mode;
    bool invalid, borrowed_graph; // borrowed: by cudaStreamBeginCaptureToGraph
    uint64_t id;
};

bool capture_live(const Capture *handle);
void capture_end(Capture *capture); // does not free its graph
CudaError capture_add(Stream *stream, const Work *work);

// Checks a call that is not allowed during a capture (allocation, synchronous copies, ...). During
// one, invalidates the capture and returns the error.
CudaError capture_refuse(void);
// The same for work on the legacy stream, which would wait for all blocking streams.
CudaError capture_refuse_legacy(void);

#endif
