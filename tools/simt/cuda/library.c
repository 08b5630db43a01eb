// Handles calls to libraries beyond the runtime: cuBLAS, cuFFT, the driver API, ... The launcher
// replaces each by a stand-in (simt/launcher/standin.h) whose functions all call this one.
// Creating, configuring, and destroying a cuBLAS handle succeeds, since many programs call nothing
// else. Every other call is refused by name.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "simt/program/runtime.h"

// Prefixes of function names, the first match counts, and what the functions return: "not
// supported" in the headers of CUDA 13.0.
static const struct {
    const char *start, *library;
    int refused;
} libraries[] = {
    {"cublas", "cuBLAS", 15},      {"cufft", "cuFFT", 16},      {"fftw", "cuFFT", 0},
    {"curand", "cuRAND", 204},     {"cusolver", "cuSOLVER", 9}, {"cusparse", "cuSPARSE", 10},
    {"cudnn", "cuDNN", 3000},      {"npp", "NPP", -9999},       {"nvrtc", "NVRTC", 11},
    {"nvJitLink", "nvJitLink", 5}, {"", "the driver API", 801},
};

static const char *const makes[] = {"cublasCreate_v2", "cublasLtCreate"};
static const char *const harmless[] = {
    "cublasDestroy_v2",      "cublasLtDestroy",         "cublasSetMathMode",
    "cublasSetStream_v2",    "cublasSetPointerMode_v2", "cublasSetAtomicsMode",
    "cublasSetWorkspace_v2",
};
static const char *const texts[] = {"cublasGetStatusString",   "cublasGetStatusName",
                                    "cublasLtGetStatusString", "cublasLtGetStatusName",
                                    "cusparseGetErrorString",  "cusparseGetErrorName",
                                    "cudnnGetErrorString",     "nvrtcGetErrorString"};

static bool is_one(const char *name, const char *const *of, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(name, of[k]) == 0) return true;
    return false;
}

static CudaError refuse(const char *name, const char *library) {
    char what[320];
    snprintf(what, sizeof what, "%.250s (%s)", name, library);
    return runtime_unsupported(what);
}

// Takes the first argument of the call, and the function's name.
API intptr_t __cudaSimtLibraryCall(void **first, const char *name);
API intptr_t __cudaSimtLibraryCall(void **first, const char *name) {
    static int handle;
    size_t k = 0;
    while (strncmp(name, libraries[k].start, strlen(libraries[k].start)) != 0) k++;
    if (is_one(name, texts, sizeof texts / sizeof *texts))
        return (intptr_t) "not supported by the CPU device";
    if (is_one(name, makes, sizeof makes / sizeof *makes)) {
        *first = &handle;
        return 0;
    }
    if (is_one(name, harmless, sizeof harmless / sizeof *harmless)) return 0;
    (void)RUNTIME(refuse(name, libraries[k].library));
    return libraries[k].refused;
}
