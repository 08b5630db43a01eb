// Streams, events and captures from the inside.
#ifndef RUNTIME_STREAM_H
#define RUNTIME_STREAM_H

#include <pthread.h>

#include "simt/cuda/runtime.h"

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

enum { STREAM_NON_BLOCKING = 1 };

extern Stream *stream_list; // all but the legacy stream
extern Stream stream_legacy;

// The stream that a handle names; NULL if it names none.
Stream *stream_find(Stream *handle);

// For calls that wait for a stream, or ask whether it is done: everything in it is, unless it
// captures.
CudaError stream_settled(Stream *handle);

bool capture_live(const Capture *handle);
void capture_end(Capture *capture); // without its graph

// Both give false when out of memory.
bool node_set(NodeSet *set, GraphNode *const *nodes, size_t count);
bool node_set_add(NodeSet *set, const NodeSet *more);

#endif
