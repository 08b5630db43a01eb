// Describes the device: one table feeds the attributes and both layouts of the properties.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "simt/base/limits.h"
#include "simt/cuda/capture.h"
#include "simt/cuda/unfinished.h"
#include "simt/memory/memory.h"
#include "simt/program/runtime.h"

// One property: its number as an attribute (enum cudaDeviceAttr; 0: none), its offsets in
// cudaDeviceProp of CUDA 12 and 13 (-1: absent), its size, and its value. Numbers and offsets are
// those of driver_types.h of 12.8 and 13.0. Texture and surface limits are 0, because the device
// has none. Three values are chosen when the program starts: see fact_value.
static const struct {
    int attribute, offset_12, offset_13, bytes, value;
} facts[] = {
    {1, 320, 320, 4, DEVICE_MAX_THREADS},       // max threads per block
    {2, 324, 324, 4, DEVICE_MAX_THREADS},       // max block x
    {3, 328, 328, 4, DEVICE_MAX_THREADS},       // max block y
    {4, 332, 332, 4, DEVICE_MAX_BLOCK_Z},       // max block z
    {5, 336, 336, 4, DEVICE_MAX_GRID_X},        // max grid x
    {6, 340, 340, 4, DEVICE_MAX_GRID_YZ},       // max grid y
    {7, 344, 344, 4, DEVICE_MAX_GRID_YZ},       // max grid z
    {8, 296, 296, 8, DEVICE_SHARED_DEFAULT},    // shared memory per block
    {9, 352, 352, 8, 65536},                    // constant memory
    {10, 308, 308, 4, DEVICE_WARP},             // warp size
    {11, 312, 312, 8, 2147483647},              // max pitch
    {12, 304, 304, 4, DEVICE_REGISTERS},        // registers per block
    {13, 348, -1, 4, 0},                        // clock rate, kHz: not defined
    {14, 368, 368, 8, 512},                     // texture alignment
    {51, 376, 376, 8, 32},                      // texture pitch alignment
    {15, 384, -1, 4, 0},                        // copies overlap kernels
    {16, 388, 384, 4, DEVICE_SMS},              // multiprocessors
    {17, 392, -1, 4, 0},                        // kernel time limit
    {18, 396, 388, 4, 0},                       // integrated
    {19, 400, 392, 4, 1},                       // maps host memory
    {20, 404, -1, 4, 0},                        // compute mode: default
    {30, 568, 552, 8, 512},                     // surface alignment
    {31, 576, 560, 4, 0},                       // concurrent kernels
    {32, 580, 564, 4, 0},                       // ECC
    {33, 584, 568, 4, 0},                       // PCI bus
    {34, 588, 572, 4, 0},                       // PCI device
    {50, 592, 576, 4, 0},                       // PCI domain
    {35, 596, 580, 4, 0},                       // TCC driver
    {36, 608, -1, 4, 0},                        // memory clock, kHz: not defined
    {37, 612, 592, 4, 0},                       // memory bus bits: not defined
    {38, 616, 596, 4, DEVICE_L2_BYTES},         // L2 bytes
    {39, 624, 604, 4, DEVICE_THREADS_PER_SM},   // threads per multiprocessor
    {40, 600, 584, 4, 0},                       // copy engines
    {41, 604, 588, 4, 1},                       // unified addressing
    {75, 360, 360, 4, DEVICE_ARCH / 10},        // compute capability, major
    {76, 364, 364, 4, DEVICE_ARCH % 10},        // compute capability, minor
    {78, 628, 608, 4, 1},                       // stream priorities
    {79, 632, 612, 4, 1},                       // L1 caches globals
    {80, 636, 616, 4, 1},                       // L1 caches locals
    {81, 640, 624, 8, DEVICE_SHARED_PER_SM},    // shared memory per multiprocessor
    {82, 648, 632, 4, DEVICE_REGISTERS},        // registers per multiprocessor
    {83, 652, 636, 4, 1},                       // managed memory
    {84, 656, 640, 4, 0},                       // multi-GPU board
    {85, 660, 644, 4, 0},                       // multi-GPU board group
    {86, 664, 648, 4, 0},                       // native atomics to the host
    {87, 668, -1, 4, 2},                        // float to double ratio
    {88, 672, 652, 4, 0},                       // pageable memory access
    {89, 676, 656, 4, 1},                       // concurrent managed access
    {90, 680, 660, 4, 0},                       // preemption
    {91, 684, 664, 4, 0},                       // host pointers of registered memory
    {95, 688, 668, 4, 1},                       // cooperative launch
    {0, 692, -1, 4, 0},                         // multi-device cooperative launch
    {97, 696, 672, 8, DEVICE_SHARED_OPTIN},     // shared memory per block, opt-in
    {98, -1, -1, 4, 0},                         // flushes remote writes
    {99, 728, 704, 4, 0},                       // host register
    {100, 704, 680, 4, 0},                      // host page tables
    {101, 708, 684, 4, 0},                      // direct managed access from host
    {106, 712, 688, 4, DEVICE_BLOCKS_PER_SM},   // blocks per multiprocessor
    {108, 620, 600, 4, 0},                      // persisting L2
    {109, 716, 692, 4, 0},                      // access policy window
    {111, 720, 696, 8, DEVICE_SHARED_RESERVED}, // reserved shared memory per block
    {112, 732, 708, 4, 0},                      // sparse arrays
    {113, 736, 712, 4, 0},                      // read-only host register
    {114, 740, 716, 4, 0},                      // timeline semaphores
    {115, 744, 720, 4, 1},                      // memory pools
    {116, 748, 724, 4, 0},                      // GPUDirect RDMA
    {117, 752, 728, 4, 0},                      // GPUDirect RDMA flush options
    {118, 756, 732, 4, 0},                      // GPUDirect RDMA write ordering
    {119, 760, 736, 4, 0},                      // memory pool handle types
    {120, 772, 748, 4, 1},                      // cluster launch
    {121, 764, 740, 4, 0},                      // deferred mapping of arrays
    {125, 768, 744, 4, 0},                      // IPC events
    {126, -1, -1, 4, 1},                        // memory domains
    {0, 776, 752, 4, 0},                        // unified function pointers
    {130, -1, 756, 4, 0},                       // NUMA configuration: none
    {131, -1, 760, 4, -1},                      // NUMA node
    {133, -1, 764, 4, 0},                       // MPS
    {134, -1, 768, 4, -1},                      // host NUMA node
    {135, -1, -1, 4, 0},                        // D3D12 graphics
    {138, -1, -1, 4, 0},                        // Vulkan graphics
    {139, -1, 772, 4, 0},                       // PCI device and vendor
    {140, -1, 776, 4, 0},                       // PCI subsystem
    {142, -1, -1, 4, 0},                        // host NUMA pools
    {143, -1, 780, 4, 0},                       // host NUMA IPC
    {144, -1, -1, 4, 0},                        // host pools
    {147, -1, -1, 4, 0},                        // partial native host atomics
};

enum {
    FACTS = sizeof facts / sizeof *facts,
    ATTRIBUTE_SMS = 16,
    ATTRIBUTE_SM_THREADS = 39,
    ATTRIBUTE_SM_BLOCKS = 106,
    LAST_ATTRIBUTE = 147,
    NAME_BYTES = 256,
    UUID_OFFSET = 256,   // of 16 bytes
    MEMORY_OFFSET = 288, // totalGlobalMem, 8 bytes
    PROPERTIES_11 = 728, // bytes of the structure before CUDA 12
    PROPERTIES_12 = 1032,
    PROPERTIES_13 = 1008
};

static const char device_name[] = "CPU device (simt)";

static int fact_value(size_t i) {
    switch (facts[i].attribute) {
    case ATTRIBUTE_SMS:
        return (int)limits_sms();
    case ATTRIBUTE_SM_THREADS:
        return (int)limits_sm_threads();
    case ATTRIBUTE_SM_BLOCKS:
        return (int)limits_sm_blocks();
    default:
        return facts[i].value;
    }
}

static void put(char *properties, int offset, const void *value, size_t bytes) {
    memcpy(properties + offset, value, bytes);
}

static CudaError properties(void *out, int device, int abi, size_t bytes) {
    if (!out) return CUDA_INVALID_VALUE;
    if (device != 0) return CUDA_INVALID_DEVICE;
    char all[PROPERTIES_12] = {0};
    put(all, 0, device_name, sizeof device_name);
    put(all, UUID_OFFSET, "simt CPU device", 16);
    uint64_t memory = memory_limit();
    put(all, MEMORY_OFFSET, &memory, sizeof memory);
    for (size_t i = 0; i < FACTS; i++) {
        int offset = abi == 12 ? facts[i].offset_12 : facts[i].offset_13;
        int64_t value = fact_value(i);
        if (offset >= 0) put(all, offset, &value, (size_t)facts[i].bytes);
    }
    memcpy(out, all, bytes);
    return CUDA_SUCCESS;
}

// CUDA 12's headers rename cudaGetDeviceProperties to _v2; the plain name is CUDA 11's.
API CudaError cudaGetDeviceProperties(void *out, int device) {
    size_t bytes = runtime_abi == 12 ? PROPERTIES_11 : PROPERTIES_13;
    return RUNTIME(properties(out, device, runtime_abi, bytes));
}

API CudaError cudaGetDeviceProperties_v2(void *out, int device) {
    return RUNTIME(properties(out, device, 12, PROPERTIES_12));
}

static CudaError attribute(int *value, int number, int device) {
    if (!value || number <= 0 || number > LAST_ATTRIBUTE) return CUDA_INVALID_VALUE;
    if (device != 0) return CUDA_INVALID_DEVICE;
    *value = 0;
    for (size_t i = 0; i < FACTS; i++)
        if (facts[i].attribute == number) *value = fact_value(i);
    return CUDA_SUCCESS;
}

API CudaError cudaDeviceGetAttribute(int *value, int number, int device) {
    return RUNTIME(attribute(value, number, device));
}

// --- choosing a device ---

static CudaError give(int *to, int value) {
    if (!to) return CUDA_INVALID_VALUE;
    *to = value;
    return CUDA_SUCCESS;
}

static CudaError only_device(int device) {
    return device == 0 ? CUDA_SUCCESS : CUDA_INVALID_DEVICE;
}

API CudaError cudaGetDeviceCount(int *count) { return RUNTIME(give(count, 1)); }
API CudaError cudaGetDevice(int *device) { return RUNTIME(give(device, 0)); }
API CudaError cudaSetDevice(int device) { return RUNTIME(only_device(device)); }

API CudaError cudaChooseDevice(int *device, const void *properties) {
    (void)properties;
    return RUNTIME(give(device, 0));
}

API CudaError cudaSetValidDevices(int *devices, int count) {
    (void)devices, (void)count;
    return RUNTIME(CUDA_SUCCESS);
}

API CudaError cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
    (void)device_flags, (void)flags;
    return RUNTIME(only_device(device));
}

static unsigned int device_flags;

API CudaError cudaSetDeviceFlags(unsigned int flags) {
    return RUNTIME((device_flags = flags, CUDA_SUCCESS));
}

static CudaError get_flags(unsigned int *flags) {
    if (!flags) return CUDA_INVALID_VALUE;
    *flags = device_flags;
    return CUDA_SUCCESS;
}

API CudaError cudaGetDeviceFlags(unsigned int *flags) { return RUNTIME(get_flags(flags)); }

API CudaError cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    (void)device, (void)peer;
    return RUNTIME(give(can, 0));
}

static CudaError bus_id(char *text, int length, int device) {
    if (!text || length < 13) return CUDA_INVALID_VALUE;
    if (device != 0) return CUDA_INVALID_DEVICE;
    snprintf(text, (size_t)length, "0000:00:00.0");
    return CUDA_SUCCESS;
}

API CudaError cudaDeviceGetPCIBusId(char *text, int length, int device) {
    return RUNTIME(bus_id(text, length, device));
}

// --- versions ---

// The newest runtime that simt replaces. A real driver is never older than its runtime.
API CudaError cudaDriverGetVersion(int *version) { return RUNTIME(give(version, 13000)); }

API CudaError cudaRuntimeGetVersion(int *version) {
    return RUNTIME(give(version, runtime_abi == 12 ? 12080 : 13000));
}

// --- synchronization and limits ---

static CudaError wait_for_all(void) {
    CudaError error = capture_refuse();
    return error ? error : unfinished_wait_all();
}

API CudaError cudaDeviceSynchronize(void) { return RUNTIME(wait_for_all()); }
API CudaError cudaThreadSynchronize(void) { return RUNTIME(wait_for_all()); }

API CudaError cudaDeviceReset(void) {
    runtime_enter();
    unfinished_wait_all();
    runtime_reset_errors();
    memory_free_all();
    heap_forget();
    return runtime_leave(CUDA_SUCCESS);
}

API CudaError cudaThreadExit(void) { return cudaDeviceReset(); }

// enum cudaLimit: stack, printf buffer, heap, two device-side launch limits, L2 fetch and
// persisting L2.
static size_t limits[] = {1024, 1 << 20, HEAP_DEFAULT_BYTES, 2, 2048, 64, 0};

enum { LIMITS = sizeof limits / sizeof *limits, LIMIT_STACK = 0, LIMIT_HEAP = 2 };

size_t device_stack_limit(void) { return limits[LIMIT_STACK]; }

static CudaError set_limit(unsigned int limit, size_t value) {
    if (limit >= LIMITS) return CUDA_UNSUPPORTED_LIMIT;
    if (limit == LIMIT_STACK && value > DEVICE_LOCAL) return CUDA_INVALID_VALUE;
    if (value > memory_limit()) return CUDA_MEMORY_ALLOCATION;
    if (limit == LIMIT_HEAP && !heap_set_bytes(value)) return CUDA_INVALID_VALUE;
    limits[limit] = value;
    return CUDA_SUCCESS;
}

static CudaError get_limit(size_t *value, unsigned int limit) {
    if (!value) return CUDA_INVALID_VALUE;
    if (limit >= LIMITS) return CUDA_UNSUPPORTED_LIMIT;
    *value = limits[limit];
    return CUDA_SUCCESS;
}

API CudaError cudaDeviceSetLimit(int limit, size_t value) {
    return RUNTIME(set_limit((unsigned int)limit, value));
}

API CudaError cudaDeviceGetLimit(size_t *value, int limit) {
    return RUNTIME(get_limit(value, (unsigned int)limit));
}

// --- preferences: saved, without effect ---

static int cache_preference, bank_preference;

API CudaError cudaDeviceSetCacheConfig(int preference) {
    return RUNTIME((cache_preference = preference, CUDA_SUCCESS));
}
API CudaError cudaDeviceGetCacheConfig(int *preference) {
    return RUNTIME(give(preference, cache_preference));
}
API CudaError cudaDeviceSetSharedMemConfig(int preference) {
    return RUNTIME((bank_preference = preference, CUDA_SUCCESS));
}
API CudaError cudaDeviceGetSharedMemConfig(int *preference) {
    return RUNTIME(give(preference, bank_preference));
}
API CudaError cudaCtxResetPersistingL2Cache(void) { return RUNTIME(CUDA_SUCCESS); }

// Profiler ranges have no effect: the report has every launch.
API CudaError cudaProfilerStart(void) { return RUNTIME(CUDA_SUCCESS); }
API CudaError cudaProfilerStop(void) { return RUNTIME(CUDA_SUCCESS); }

// --- the driver API: not available ---

enum { DRIVER_SYMBOL_NOT_FOUND = 1 }; // enum cudaDriverEntryPointQueryResult

static CudaError no_entry_point(void **function, int *status) {
    if (!function) return CUDA_INVALID_VALUE;
    *function = NULL;
    if (!status) return CUDA_SYMBOL_NOT_FOUND;
    *status = DRIVER_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

API CudaError cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                      int *status) {
    (void)symbol, (void)flags;
    return RUNTIME(no_entry_point(function, status));
}

API CudaError cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function,
                                           unsigned long long flags, int *status) {
    return cudaGetDriverEntryPoint(symbol, function, flags, status);
}

API CudaError cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                               unsigned int version, unsigned long long flags,
                                               int *status) {
    (void)version;
    return cudaGetDriverEntryPoint(symbol, function, flags, status);
}

API CudaError cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **function,
                                                    unsigned int version, unsigned long long flags,
                                                    int *status) {
    (void)version;
    return cudaGetDriverEntryPoint(symbol, function, flags, status);
}
