// Converts between parameters of graph nodes and work.
#include "simt/cuda/node_params.h"

#include "simt/cuda/launch.h"

_Static_assert(sizeof(KernelParams) == 56 && sizeof(FillParams) == 40 && sizeof(NodeParams) == 256,
               "as in driver_types.h");

CudaError node_params_kernel(const KernelParams *params, Work *work) {
    if (!params) return CUDA_INVALID_VALUE;
    if (params->extra) return runtime_unsupported("a kernel node with `extra` parameters");
    *work = (Work){.kind = WORK_KERNEL};
    CudaError error = registry_entry(params->function, &work->kernel.entry);
    if (error) return error;
    work->kernel.launch = (Launch){.grid = params->grid,
                                   .block = params->block,
                                   .dynamic_shared_bytes = params->shared,
                                   .arguments = params->arguments};
    launch_complete(work->kernel.entry, &work->kernel.launch);
    return launch_check(work->kernel.entry, &work->kernel.launch);
}

CudaError node_params_fill(const FillParams *params, Work *work) {
    if (!params) return CUDA_INVALID_VALUE;
    *work = (Work){.kind = WORK_FILL};
    work->fill = (Fill){(uintptr_t)params->to, params->pitch,   params->width, params->height,
                        params->value,         params->element, true};
    return copy_fill_check(&work->fill);
}

CudaError node_params_copy(void *to, const void *from, size_t bytes, int kind, Work *work) {
    *work = (Work){.kind = WORK_COPY};
    work->copy =
        (Copy){(uintptr_t)to, (uintptr_t)from, bytes, bytes, bytes, bytes, bytes, 1, 1, kind};
    return copy_check(&work->copy);
}

CudaError node_params_work(const NodeParams *params, Work *work) {
    CudaError error;
    switch (params->type) {
    case NODE_KERNEL:
        return node_params_kernel(&params->kernel, work);
    case NODE_COPY:
        error = memcpy_3d_work(params->copy.params, work);
        return error ? error : copy_check(&work->copy);
    case NODE_FILL:
        return node_params_fill(&params->fill, work);
    case NODE_HOST:
        *work = (Work){.kind = WORK_HOST, .host = {params->host.call, params->host.data}};
        return params->host.call ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
    case NODE_GRAPH:
        if (params->child.ownership) return runtime_unsupported("a child graph that is moved");
        *work = (Work){.kind = WORK_GRAPH, .graph = params->child.graph};
        return graph_known(work->graph) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
    case NODE_EMPTY:
        *work = (Work){.kind = WORK_NOTHING};
        return CUDA_SUCCESS;
    case NODE_WAIT:
    case NODE_RECORD:
        *work = (Work){.kind = params->type == NODE_WAIT ? WORK_WAIT : WORK_RECORD,
                       .event = params->event};
        return CUDA_SUCCESS;
    }
    if (params->type < 0 || params->type > NODE_LAST) return CUDA_INVALID_VALUE;
    return runtime_unsupported("cudaGraphAddNode with memory, semaphores or a condition");
}
