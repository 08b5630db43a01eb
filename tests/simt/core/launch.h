// Loads and launches kernels in PTX: one module at a time, that of the current case.
#ifndef LAUNCH_H
#define LAUNCH_H

#include "simt/device/device.h"
#include "simt/memory/memory.h"
#include "told.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HEAD         ".version 9.0\n.target sm_90\n.address_size 64\n"
// A kernel k with registers and `out` in %rd1; its body begins in line 11. EACH also puts the
// thread's number into %r1 and the address of its word into %rd2; there the body begins in line 14.
#define OUT(declared, body)                                                                        \
    HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<30>;\n"             \
         ".reg .f32 %f<9>;\n.reg .b64 %rd<30>;\n" declared "ld.param.u64 %rd1, [p];\n" body        \
         "ret;\n}\n"
#define EACH(declared, body)                                                                       \
    OUT(declared,                                                                                  \
        "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n" body)
#define PLAIN   ((SimtOptions){0})
#define CHECKED ((SimtOptions){.check = true})

static Module *module;      // NULL if there is none or it was refused
static LaunchReport report; // of the last launch
static SimtError error;
static uint64_t out;    // the kernels' argument: memory for results
static uint32_t *words; // the same

static inline SimtStatus loaded(const char *text) {
    SimtStatus status;
    module_unload(module);
    module = module_load(str_of(text), "PTX", &status, &error);
    return status;
}

static inline void load(const char *text) {
    if (loaded(text) != SIMT_OK) wrong("%s", error.text);
}

static inline SimtStatus launched_as(const char *kernel, Launch launch, SimtOptions options) {
    void *arguments[] = {&out};
    arena_free(&report.arena);
    report = (LaunchReport){0};
    if (!module) return SIMT_INVALID_PTX;
    launch.arguments = arguments;
    if (options.watchdog_seconds == 0) options.watchdog_seconds = 5;
    return kernel_launch(module_kernel(module, kernel), &launch, &options, &report, &error);
}

static inline SimtStatus launched(Dim3 grid, Dim3 block, SimtOptions options) {
    const Launch launch = {.grid = grid, .block = block, .cluster = {1, 1, 1}};
    return launched_as("k", launch, options);
}

static inline void run(uint32_t blocks, uint32_t threads, SimtOptions options) {
    if (launched((Dim3){blocks, 1, 1}, (Dim3){threads, 1, 1}, options) != SIMT_OK)
        wrong("%s", error.text);
}

static inline void same(const char *name, const char *what, unsigned long long found,
                        unsigned long long wanted) {
    if (found != wanted) wrong("%s: %s %llu, not %llu", name, what, found, wanted);
}

static inline void same_text(const char *name, const char *found, const char *wanted) {
    if (!found || strcmp(found, wanted) != 0) wrong("%s: %s, not %s", name, found, wanted);
}

static inline void done(const char *name) {
    module_unload(module);
    module = NULL;
    arena_free(&report.arena);
    report = (LaunchReport){0};
    told(name);
}

#endif
