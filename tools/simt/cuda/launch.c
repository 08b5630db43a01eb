// Kernel launches by every call that makes one, and queries about kernels.
#include "simt/cuda/launch.h"

#include <string.h>

#include "simt/base/limits.h"
#include "simt/cuda/stream.h"

static uint32_t cluster_blocks(Dim3 cluster) { return cluster.x * cluster.y * cluster.z; }

void launch_complete(const KernelEntry *entry, Launch *launch) {
    const Dim3 own = entry->cluster;
    launch->explicit_cluster = launch->cluster.x || own.x;
    if (!launch->cluster.x) launch->cluster = own.x ? own : (Dim3){1, 1, 1};
}

// Where a launch by <<<...>>> is, between its last two calls; 0: there is none.
static _Thread_local uint64_t arrows;

static CudaError launch(const void *function, Launch shape, size_t shared, Stream *stream) {
    Work work = {.kind = WORK_KERNEL};
    if (arrows) runtime_called_by_arrows(arrows);
    arrows = 0;
    CudaError error = registry_entry(function, &work.kernel.entry);
    if (error) {
        if (!runtime_broken()) launch_failed(work.kernel.entry, error, NULL);
        return error;
    }
    shape.dynamic_shared_bytes = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX;
    launch_complete(work.kernel.entry, &shape);
    error = launch_check(work.kernel.entry, &shape);
    if (error) return error;
    if (work.kernel.entry->info.parameter_count && !shape.arguments) {
        launch_failed(work.kernel.entry, CUDA_INVALID_VALUE, "no arguments");
        return CUDA_INVALID_VALUE;
    }
    work.kernel.launch = shape;
    return stream_submit(stream, &work);
}

// --- <<<...>>> ---

typedef struct {
    Dim3 grid, block;
    size_t shared;
    Stream *stream;
    uint64_t from; // the call, in the function that launches
} Configuration;

enum { MAX_CONFIGURATIONS = 16 }; // launches nested in the arguments of launches

static _Thread_local Configuration configurations[MAX_CONFIGURATIONS];
static _Thread_local int configuration_count;

API CudaError __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, Stream *stream) {
    if (configuration_count == MAX_CONFIGURATIONS) return CUDA_INVALID_CONFIGURATION;
    const uint64_t from = (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
    configurations[configuration_count++] = (Configuration){grid, block, shared, stream, from};
    return CUDA_SUCCESS;
}

API CudaError __cudaPopCallConfiguration(Dim3 *grid, Dim3 *block, size_t *shared, void *stream) {
    if (configuration_count == 0) return CUDA_ILLEGAL_STATE;
    const Configuration *top = &configurations[--configuration_count];
    arrows = top->from;
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    memcpy(stream, &top->stream, sizeof top->stream);
    return CUDA_SUCCESS;
}

API CudaError cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments,
                               size_t shared, Stream *stream) {
    Launch shape = {.grid = grid, .block = block, .arguments = arguments};
    return RUNTIME(launch(function, shape, shared, stream));
}

API CudaError cudaLaunchKernel_ptsz(const void *function, Dim3 grid, Dim3 block, void **arguments,
                                    size_t shared, Stream *stream) {
    return cudaLaunchKernel(function, grid, block, arguments, shared, stream_ptsz(stream));
}

API CudaError __cudaLaunchKernel(const void *kernel, Dim3 grid, Dim3 block, void **arguments,
                                 size_t shared, Stream *stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

API CudaError __cudaLaunchKernel_ptsz(const void *kernel, Dim3 grid, Dim3 block, void **arguments,
                                      size_t shared, Stream *stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream_ptsz(stream));
}

API CudaError cudaLaunchCooperativeKernel(const void *function, Dim3 grid, Dim3 block,
                                          void **arguments, size_t shared, Stream *stream) {
    Launch shape = {.grid = grid, .block = block, .arguments = arguments, .cooperative = true};
    return RUNTIME(launch(function, shape, shared, stream));
}

API CudaError cudaLaunchCooperativeKernel_ptsz(const void *function, Dim3 grid, Dim3 block,
                                               void **arguments, size_t shared, Stream *stream) {
    return cudaLaunchCooperativeKernel(function, grid, block, arguments, shared,
                                       stream_ptsz(stream));
}

// driver_types.h: cudaLaunchConfig_t and cudaLaunchAttribute.
typedef struct {
    int id;
    union {
        char pad[64];
        int32_t value;
        Dim3 shape;
    } __attribute__((aligned(8)));
} LaunchAttribute;

typedef struct {
    Dim3 grid, block;
    size_t shared;
    Stream *stream;
    const LaunchAttribute *attributes;
    unsigned int attribute_count;
} LaunchConfig;

_Static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56, "as in driver_types.h");

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4, ATTRIBUTE_PROGRAMMATIC = 6 };

static Launch launch_of(const LaunchConfig *config) {
    Launch shape = {.grid = config->grid, .block = config->block};
    for (unsigned int i = 0; i < config->attribute_count; i++) {
        const LaunchAttribute *attribute = &config->attributes[i];
        if (attribute->id == ATTRIBUTE_COOPERATIVE) shape.cooperative = attribute->value != 0;
        if (attribute->id == ATTRIBUTE_CLUSTER) shape.cluster = attribute->shape;
        if (attribute->id == ATTRIBUTE_PROGRAMMATIC) shape.programmatic = attribute->value != 0;
    }
    return shape;
}

static CudaError launch_config(const LaunchConfig *config, const void *function, void **arguments,
                               bool per_thread) {
    if (!config) return CUDA_INVALID_VALUE;
    Launch shape = launch_of(config);
    shape.arguments = arguments;
    Stream *stream = per_thread ? stream_ptsz(config->stream) : config->stream;
    return launch(function, shape, config->shared, stream);
}

API CudaError cudaLaunchKernelExC(const LaunchConfig *config, const void *function,
                                  void **arguments) {
    return RUNTIME(launch_config(config, function, arguments, false));
}

API CudaError cudaLaunchKernelExC_ptsz(const LaunchConfig *config, const void *function,
                                       void **arguments) {
    return RUNTIME(launch_config(config, function, arguments, true));
}

// --- how many clusters fit ---

// All blocks of a cluster run on one GPC. The table was measured on one H200: how many clusters of
// 1 to 8 and of 16 blocks fit when one, two, or four blocks fit on an SM. For other occupancies the
// first row is scaled, 9 to 15 blocks count as 16, and other devices scale by their number of SMs.
static int active_clusters(const KernelEntry *entry, const Launch *launch, size_t shared) {
    enum { SIZES = 9 };
    static const struct {
        int per_sm, fit[SIZES];
    } measured[] = {{1, {132, 66, 39, 30, 22, 17, 15, 15, 7}},
                    {2, {264, 132, 79, 62, 47, 39, 32, 30, 14}},
                    {4, {528, 264, 163, 124, 94, 79, 69, 62, 28}}};
    const Dim3 block = launch->block;
    const int per_sm = kernel_occupancy(&entry->info, (int)(block.x * block.y * block.z), shared);
    const uint32_t size = cluster_blocks(launch->cluster), at = size < SIZES ? size - 1 : SIZES - 1;
    for (size_t k = 0; k < sizeof measured / sizeof *measured; k++)
        if (measured[k].per_sm == per_sm)
            return measured[k].fit[at] * (int)limits_sms() / DEVICE_SMS;
    return measured[0].fit[at] * per_sm * (int)limits_sms() / DEVICE_SMS;
}

static CudaError max_active_clusters(int *clusters, const void *function,
                                     const LaunchConfig *config) {
    KernelEntry *entry;
    if (!clusters || !config) return CUDA_INVALID_VALUE;
    CudaError error = registry_entry(function, &entry);
    if (error) return error;
    Launch launch = launch_of(config);
    if (!launch.cluster.x && !entry->cluster.x) return CUDA_INVALID_CLUSTER_SIZE;
    launch_complete(entry, &launch);
    launch.grid = launch.cluster; // the number of clusters does not matter
    char why[LAUNCH_WHY];
    error = launch_check_shape(entry, &launch, why);
    if (!error) *clusters = active_clusters(entry, &launch, config->shared);
    return error;
}

API CudaError cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                             const LaunchConfig *config) {
    return RUNTIME(max_active_clusters(clusters, function, config));
}

static CudaError max_potential_cluster(int *blocks, const void *function,
                                       const LaunchConfig *config) {
    KernelEntry *entry;
    if (!blocks || !config) return CUDA_INVALID_VALUE;
    CudaError error = registry_entry(function, &entry);
    if (error) return error;
    Launch launch = launch_of(config);
    if (entry->cluster.x)
        launch_complete(entry, &launch);
    else if (!launch.cluster.x)
        launch.cluster = launch.grid = (Dim3){1, 1, 1};
    char why[LAUNCH_WHY];
    error = launch_check_shape(entry, &launch, why);
    if (error) return error;
    uint32_t most = entry->nonportable_cluster ? DEVICE_CLUSTER_MOST : DEVICE_CLUSTER;
    if (entry->info.max_cluster && entry->info.max_cluster < most) most = entry->info.max_cluster;
    if (entry->cluster.x) most = cluster_blocks(entry->cluster);
    launch.cluster = (Dim3){1, 1, 1};
    *blocks = active_clusters(entry, &launch, config->shared) ? (int)most : 0;
    return CUDA_SUCCESS;
}

API CudaError cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function,
                                                   const LaunchConfig *config) {
    return RUNTIME(max_potential_cluster(blocks, function, config));
}

// --- attributes ---

// driver_types.h: cudaFuncAttributes.
typedef struct {
    size_t shared_bytes, constant_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared;
    int carveout, cluster_must_be_set, cluster_width, cluster_height, cluster_depth;
    int cluster_policy, nonportable_cluster, reserved[16];
} FunctionAttributes;

_Static_assert(sizeof(FunctionAttributes) == 144, "as in driver_types.h");

static CudaError get_attributes(FunctionAttributes *attributes, const void *function) {
    KernelEntry *entry;
    if (!attributes) return CUDA_INVALID_VALUE;
    CudaError error = registry_entry(function, &entry);
    if (error) return error;
    *attributes = (FunctionAttributes){
        .shared_bytes = entry->info.static_shared_bytes,
        .constant_bytes = entry->info.constant_bytes,
        .local_bytes = entry->info.local_bytes,
        .max_threads = (int)entry->info.max_threads_per_block,
        .registers = occupancy_registers(&entry->info),
        .ptx_version = (int)entry->info.sm_target,
        .binary_version = DEVICE_ARCH,
        .max_dynamic_shared = entry->max_dynamic_shared,
        .carveout = entry->carveout,
        .cluster_must_be_set = entry->info.explicit_cluster,
        .cluster_width = (int)entry->cluster.x,
        .cluster_height = (int)entry->cluster.y,
        .cluster_depth = (int)entry->cluster.z,
        .nonportable_cluster = entry->nonportable_cluster,
    };
    return CUDA_SUCCESS;
}

API CudaError cudaFuncGetAttributes(FunctionAttributes *attributes, const void *function) {
    return RUNTIME(get_attributes(attributes, function));
}

enum {
    FUNCTION_MAX_DYNAMIC_SHARED = 8,
    FUNCTION_CARVEOUT = 9,
    FUNCTION_CLUSTER_WIDTH = 11,
    FUNCTION_CLUSTER_HEIGHT = 12,
    FUNCTION_CLUSTER_DEPTH = 13,
    FUNCTION_NONPORTABLE_CLUSTER = 14,
    FUNCTION_CLUSTER_POLICY = 15
};

// Sets one dimension of the required cluster, unless the kernel itself specifies a cluster.
static CudaError set_cluster(KernelEntry *entry, int attribute, int value) {
    if (entry->info.cluster.x || value < 0 || value > DEVICE_CLUSTER_MOST)
        return CUDA_INVALID_VALUE;
    if (!entry->cluster.x) entry->cluster = (Dim3){1, 1, 1};
    uint32_t *side = attribute == FUNCTION_CLUSTER_WIDTH    ? &entry->cluster.x
                     : attribute == FUNCTION_CLUSTER_HEIGHT ? &entry->cluster.y
                                                            : &entry->cluster.z;
    *side = (uint32_t)value;
    return CUDA_SUCCESS;
}

static CudaError set_attribute(const void *function, int attribute, int value) {
    KernelEntry *entry;
    CudaError error = registry_entry(function, &entry);
    if (error) return error;
    int largest = DEVICE_SHARED_OPTIN - (int)entry->info.static_shared_bytes;
    switch (attribute) {
    case FUNCTION_MAX_DYNAMIC_SHARED:
        if (value < 0 || value > largest) return CUDA_INVALID_VALUE;
        entry->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    case FUNCTION_CARVEOUT:
        if (value < -1 || value > 100) return CUDA_INVALID_VALUE;
        entry->carveout = value;
        return CUDA_SUCCESS;
    case FUNCTION_CLUSTER_WIDTH:
    case FUNCTION_CLUSTER_HEIGHT:
    case FUNCTION_CLUSTER_DEPTH:
        return set_cluster(entry, attribute, value);
    case FUNCTION_NONPORTABLE_CLUSTER:
        if (value < 0 || value > 1) return CUDA_INVALID_VALUE;
        entry->nonportable_cluster = value;
        return CUDA_SUCCESS;
    case FUNCTION_CLUSTER_POLICY: // a hint
        return value < 0 || value > 2 ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
    }
    return CUDA_INVALID_VALUE;
}

API CudaError cudaFuncSetAttribute(const void *function, int attribute, int value) {
    return RUNTIME(set_attribute(function, attribute, value));
}

API CudaError cudaKernelSetAttributeForDevice(const void *function, int attribute, int value,
                                              int device) {
    return RUNTIME(device ? CUDA_INVALID_DEVICE : set_attribute(function, attribute, value));
}

// Accepts cache and bank-width preferences, which have no effect on this device.
static CudaError take_hint(const void *function) {
    KernelEntry *entry;
    return registry_entry(function, &entry);
}

API CudaError cudaFuncSetCacheConfig(const void *function, int configuration) {
    (void)configuration;
    return RUNTIME(take_hint(function));
}

API CudaError cudaFuncSetSharedMemConfig(const void *function, int configuration) {
    (void)configuration;
    return RUNTIME(take_hint(function));
}

static CudaError parameter_info(const void *function, size_t index, size_t *offset, size_t *bytes) {
    KernelEntry *entry;
    CudaError error = registry_entry(function, &entry);
    if (error) return error;
    if (index >= entry->info.parameter_count || !offset) return CUDA_INVALID_VALUE;
    *offset = 0;
    for (size_t i = 0; i <= index; i++) {
        size_t size = entry->info.parameter_bytes[i], align = 1;
        while (align < 16 && size % (align * 2) == 0) align *= 2;
        *offset = (*offset + align - 1) / align * align;
        if (i < index) *offset += size;
    }
    if (bytes) *bytes = entry->info.parameter_bytes[index];
    return CUDA_SUCCESS;
}

API CudaError cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset,
                                   size_t *bytes) {
    return RUNTIME(parameter_info(function, index, offset, bytes));
}
