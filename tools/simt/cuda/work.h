// Work: an operation of a stream or a graph node.
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
    Stream *stream;  // the stream, or NULL for a part of other work
    uint64_t number; // from 1, in the order of the calls; 0: a part of other work
    union {
        // WORK_NOTHING: the memory that it allocates or frees
        struct {
            uint64_t address;
            size_t bytes; // 0: none
            bool frees;
        } memory;
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
        Graph *graph;   // owned by the node's copy of the work
        uint64_t after; // the number of other work, 0: none
    };
} Work;

CudaError work_run(const Work *work);
// Runs a kernel before the previous one, which `prerequisite` runs when the kernel waits for it.
CudaError work_run_early(const Work *work, void (*prerequisite)(void *), void *context);
bool work_copy(Work *to, const Work *from); // deep copy; false if out of memory
void work_free(Work *work);

#endif
