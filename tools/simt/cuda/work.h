// Work: what a stream or a graph node does.
#ifndef WORK_H
#define WORK_H

#include "simt/cuda/copy.h"
#include "simt/program/registry.h"

typedef struct Graph Graph;
typedef struct Event Event;
typedef struct Stream Stream;

typedef struct {
    enum {
        WORK_NOTHING,
        WORK_KERNEL,
        WORK_COPY,
        WORK_FILL,
        WORK_HOST,
        WORK_RECORD,
        WORK_WAIT,
        WORK_GRAPH,
        WORK_AFTER // waits for work in any stream
    } kind;
    Stream *stream; // in which it runs, NULL: a part of another work's
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
        Graph *graph;   // owned by the copy that a node holds
        uint64_t after; // its number in the queue (queue.h), 0: none
    };
} Work;

CudaError work_run(const Work *work);
// A kernel that starts before the one in front of it, which it has run when it waits for it.
CudaError work_run_early(const Work *work, void (*prerequisite)(void *), void *context);
bool work_copy(Work *to, const Work *from); // deep; false: out of memory
void work_free(Work *work);

#endif
