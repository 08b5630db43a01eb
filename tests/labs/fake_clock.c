// Preloaded before the CPU device, this gives it a memory clock, so that labs also time their
// kernels. The times mean nothing; the test checks that every row of a table is timed.
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
