// Registers a program's device code, as the constructors that nvcc generates ask for, and looks up
// kernels and variables by their host addresses. A module is parsed when one of its kernels or
// variables is first needed.
#include "simt/program/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "simt/base/limits.h"
#include "simt/program/fatbin.h"

typedef struct Variable {
    struct Variable *next;
    const void *host;
    void **managed; // the host's pointer to a __managed__ variable, NULL for others
    const char *mangled;
    RegisteredModule *module;
} Variable;

struct RegisteredModule {
    RegisteredModule *next;
    const void *wrapper;
    bool tried;    // whether loading was tried
    bool no_image; // it has nothing that the device can run, so launches fail as on a GPU
    CudaError error;
    Module *module;
};

static RegisteredModule *modules;
static KernelEntry *kernels;
static Variable *variables;

// Whether some registration ran out of memory. A failed lookup may then be due to that.
static bool lost;

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    lost |= !memory;
    return memory;
}

static CudaError not_found(CudaError error) { return lost ? CUDA_MEMORY_ALLOCATION : error; }

// --- calls from generated constructors ---

API void **__cudaRegisterFatBinary(void *wrapper) {
    runtime_enter();
    RegisteredModule *module = allocate(sizeof *module);
    if (module) {
        module->wrapper = wrapper;
        module->next = modules;
        modules = module;
    }
    runtime_leave(CUDA_SUCCESS);
    return (void **)module;
}

API void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *mangled,
                                int thread_limit, void *thread, void *block, void *block_shape,
                                void *grid_shape, int *warp_size) {
    (void)device, (void)thread_limit, (void)thread, (void)block;
    (void)block_shape, (void)grid_shape, (void)warp_size;
    runtime_enter();
    KernelEntry *entry = allocate(sizeof *entry);
    if (entry) {
        entry->host = host;
        entry->mangled = mangled;
        entry->module = (RegisteredModule *)handle;
        entry->carveout = -1;
        entry->next = kernels;
        kernels = entry;
    }
    runtime_leave(CUDA_SUCCESS);
}

static void register_variable(void **handle, const void *host, void **managed,
                              const char *mangled) {
    runtime_enter();
    Variable *variable = allocate(sizeof *variable);
    if (variable) {
        *variable = (Variable){variables, host, managed, mangled, (RegisteredModule *)handle};
        variables = variable;
    }
    runtime_leave(CUDA_SUCCESS);
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *mangled,
                           int external, size_t bytes, int constant, int global) {
    (void)device, (void)external, (void)bytes, (void)constant, (void)global;
    register_variable(handle, host, NULL, mangled);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *mangled,
                                  int external, size_t bytes, int constant, int global) {
    (void)device, (void)external, (void)bytes, (void)constant, (void)global;
    register_variable(handle, host, host, mangled);
}

API void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

// --- loading ---

static CudaError fatbin_code(FatbinStatus status) {
    switch (status) {
    case FATBIN_OK:
        return CUDA_SUCCESS;
    case FATBIN_CORRUPT:
        return CUDA_INVALID_KERNEL_IMAGE;
    case FATBIN_RELOCATABLE:
        return CUDA_NOT_SUPPORTED;
    case FATBIN_NO_PTX:
    case FATBIN_NO_IMAGE:
        break;
    }
    return CUDA_NO_KERNEL_IMAGE_FOR_DEVICE;
}

static CudaError load_ptx(RegisteredModule *module, SimtError *error) {
    FatbinPtx packed;
    Str ptx;
    const FatbinStatus found = fatbin_wrapper_ptx(module->wrapper, &packed, error);
    module->no_image = found == FATBIN_NO_IMAGE;
    if (found != FATBIN_OK) return fatbin_code(found);
    SimtStatus status = unpack_ptx(&packed, &ptx, error);
    if (status == SIMT_OK) module->module = module_load(ptx, "PTX", &status, error);
    return module->module ? CUDA_SUCCESS : error_of_status(status);
}

// Loads machine code, for --machine.
static CudaError load_machine(RegisteredModule *module, SimtError *error) {
    FatbinPtx packed;
    Str cubin;
    CudaError found = fatbin_code(fatbin_wrapper_machine(module->wrapper, &packed, error));
    if (found) return found;
    SimtStatus status = unpack_machine(&packed, &cubin, error);
    if (status == SIMT_OK)
        module->module = module_load_machine(cubin, "machine code", &status, error);
    return module->module ? CUDA_SUCCESS : error_of_status(status);
}

static CudaError load(RegisteredModule *module) {
    if (!module) return CUDA_MEMORY_ALLOCATION; // registration ran out of memory
    if (module->tried) return module->error;
    SimtError error = {""};
    module->error =
        runtime_options()->machine ? load_machine(module, &error) : load_ptx(module, &error);
    module->tried = module->error != CUDA_MEMORY_ALLOCATION; // memory may be available later
    if (module->error) console_say_as(module->no_image ? "no-image" : "refused", "%s", error.text);
    if (module->error && module->tried && !module->no_image) runtime_refuse(module->error);
    return module->error;
}

// The PTX of --ptx, which is used for the kernels and variables that it has; NULL: none was given.
static CudaError load_replacement(Module **module) {
    static Module *loaded;
    static Arena arena;
    Str ptx;
    SimtStatus status = SIMT_OK;
    SimtError error = {""};
    const char *path = getenv("SIMT_PTX");
    if (path && *path && !loaded) {
        if (file_read(&arena, path, &ptx)) {
            loaded = module_load(ptx, path, &status, &error);
        } else {
            console_say_as("refused", "%s: %s", path, strerror(errno));
            return runtime_refuse(CUDA_INVALID_PTX);
        }
        if (!loaded) {
            console_say_as("refused", "%s", error.text);
            return runtime_refuse(error_of_status(status));
        }
    }
    *module = loaded;
    return CUDA_SUCCESS;
}

static CudaError load_kernel(KernelEntry *entry) {
    if (entry->kernel) return CUDA_SUCCESS;
    Module *replacement;
    CudaError error = load_replacement(&replacement);
    if (error) return error;
    if (replacement) entry->kernel = module_kernel(replacement, entry->mangled);
    if (!entry->kernel) {
        error = load(entry->module);
        if (error) return error;
        entry->kernel = module_kernel(entry->module->module, entry->mangled);
    }
    if (!entry->kernel) {
        console_say_as("refused", "kernel %s is not in the program's PTX", entry->mangled);
        return runtime_refuse(CUDA_INVALID_DEVICE_FUNCTION);
    }
    kernel_info(entry->kernel, &entry->info);
    int left = DEVICE_SHARED_DEFAULT - (int)entry->info.static_shared_bytes;
    entry->max_dynamic_shared = left > 0 ? left : 0;
    entry->cluster = entry->info.cluster;
    return CUDA_SUCCESS;
}

CudaError registry_entry(const void *function, KernelEntry **found) {
    for (KernelEntry *entry = kernels; entry; entry = entry->next) {
        if (entry->host != function && entry != function) continue;
        *found = entry;
        return load_kernel(entry);
    }
    return not_found(CUDA_INVALID_DEVICE_FUNCTION);
}

CudaError registry_symbol(const void *symbol, uint64_t *address, size_t *bytes) {
    for (Variable *variable = variables; variable; variable = variable->next) {
        const void *managed = variable->managed ? *variable->managed : NULL;
        if (variable->host != symbol && (!symbol || managed != symbol)) continue;
        Module *replacement;
        CudaError error = load_replacement(&replacement);
        if (!error && replacement &&
            module_variable(replacement, variable->mangled, address, bytes))
            return CUDA_SUCCESS;
        if (!error) error = load(variable->module);
        if (error) return error;
        if (module_variable(variable->module->module, variable->mangled, address, bytes))
            return CUDA_SUCCESS;
        return CUDA_INVALID_SYMBOL;
    }
    return not_found(CUDA_INVALID_SYMBOL);
}

// Sets the program's pointers to its __managed__ variables. Each translation unit calls this before
// it first uses one of them.
static CudaError start_managed(RegisteredModule *module) {
    CudaError error = load(module);
    for (Variable *variable = variables; !error && variable; variable = variable->next) {
        uint64_t address;
        size_t bytes;
        if (variable->module != module || !variable->managed) continue;
        if (!module_variable(module->module, variable->mangled, &address, &bytes))
            return CUDA_INVALID_SYMBOL;
        *variable->managed = (void *)(uintptr_t)address;
    }
    return error;
}

API char __cudaInitModule(void **handle) {
    return RUNTIME(start_managed((RegisteredModule *)handle)) == CUDA_SUCCESS;
}

// --- lookups by programs ---

static CudaError get_entry(const void **handle, const void *function) {
    KernelEntry *entry;
    if (!handle) return CUDA_INVALID_VALUE;
    CudaError error = registry_entry(function, &entry);
    if (!error) *handle = entry;
    return error;
}

// Returns a handle even if the module cannot be loaded, because the stub saves the handle: CUDA
// 13's host_runtime.h ignores the result. The launch then returns the error.
static CudaError get_kernel(const void **handle, const void *function) {
    for (KernelEntry *entry = kernels; entry; entry = entry->next)
        if (entry->host == function) {
            *handle = entry;
            return CUDA_SUCCESS;
        }
    return not_found(CUDA_INVALID_DEVICE_FUNCTION);
}

API CudaError __cudaGetKernel(const void **handle, const void *function) {
    return RUNTIME(get_kernel(handle, function));
}

API CudaError cudaGetKernel(const void **handle, const void *function) {
    return RUNTIME(get_entry(handle, function));
}

API CudaError cudaGetFuncBySymbol(const void **handle, const void *function) {
    return RUNTIME(get_entry(handle, function));
}

static CudaError function_name(const char **name, const void *function) {
    KernelEntry *entry;
    if (!name) return CUDA_INVALID_VALUE;
    CudaError error = registry_entry(function, &entry);
    if (!error) *name = entry->mangled;
    return error;
}

API CudaError cudaFuncGetName(const char **name, const void *function) {
    return RUNTIME(function_name(name, function));
}

static CudaError symbol_address(void **address, const void *symbol) {
    uint64_t at;
    size_t bytes;
    if (!address) return CUDA_INVALID_VALUE;
    CudaError error = registry_symbol(symbol, &at, &bytes);
    if (!error) *address = (void *)(uintptr_t)at;
    return error;
}

API CudaError cudaGetSymbolAddress(void **address, const void *symbol) {
    return RUNTIME(symbol_address(address, symbol));
}

static CudaError symbol_size(size_t *bytes, const void *symbol) {
    uint64_t at;
    return bytes ? registry_symbol(symbol, &at, bytes) : CUDA_INVALID_VALUE;
}

API CudaError cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    return RUNTIME(symbol_size(bytes, symbol));
}
