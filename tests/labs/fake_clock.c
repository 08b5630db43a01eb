// A memory clock for the CPU device, preloaded in front of it, so that labs also time. Their times
// mean nothing; that every row of a table is timed, in its own way, does.
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    cudaError_t (*next)(int *, enum cudaDeviceAttr, int) =
        (cudaError_t(*)(int *, enum cudaDeviceAttr, int))dlsym(RTLD_NEXT, "cudaDeviceGetAttribute");
    cudaError_t error = next(value, attribute, device);
    if (attribute == cudaDevAttrMemoryClockRate) *value = 1000000;
    if (attribute == cudaDevAttrGlobalMemoryBusWidth) *value = 1024;
    return error;
}
