// Parameters of graph nodes, as in driver_types.h, and their conversion to work.
#ifndef NODE_PARAMS_H
#define NODE_PARAMS_H

#include "simt/cuda/graph.h"

// driver_types.h: cudaKernelNodeParams, cudaMemsetParams, cudaHostNodeParams.
typedef struct {
    void *function;
    Dim3 grid, block;
    unsigned int shared;
    void **arguments;
    void **extra;
} KernelParams;

typedef struct {
    void *to;
    size_t pitch;
    unsigned int value, element;
    size_t width, height;
} FillParams;

typedef struct {
    void (*call)(void *);
    void *data;
} HostParams;

// driver_types.h: cudaGraphNodeType.
typedef enum {
    NODE_KERNEL,
    NODE_COPY,
    NODE_FILL,
    NODE_HOST,
    NODE_GRAPH,
    NODE_EMPTY,
    NODE_WAIT,
    NODE_RECORD,
    NODE_LAST = 13
} NodeType;

// driver_types.h: cudaGraphNodeParams.
typedef struct {
    int type, reserved[3];
    union {
        long long padding[29];
        KernelParams kernel;
        struct {
            int flags, reserved[3];
            char params[160]; // cudaMemcpy3DParms
        } copy;
        FillParams fill;
        HostParams host;
        struct {
            Graph *graph;
            int ownership; // 0: the node owns a clone
        } child;
        Event *event;
    };
    long long reserved_too;
} NodeParams;

// Converts a node's parameters to work, and checks them. The work refers to the same memory.
CudaError node_params_kernel(const KernelParams *params, Work *work);
CudaError node_params_fill(const FillParams *params, Work *work);
CudaError node_params_copy(void *to, const void *from, size_t bytes, int kind, Work *work);
CudaError memcpy_3d_work(const void *params, Work *work); // cudaMemcpy3DParms
CudaError node_params_work(const NodeParams *params, Work *work);

#endif
