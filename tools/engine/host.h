// Host: runs a function of the host, such as the launch of a stage, from its typed tree. It has
// numbers, variables and pointers to them, structs, control flow, calls, launches, and the calls of
// the CUDA runtime in cuda.c. What else the function does is refused at its place.
#ifndef ENGINE_HOST_H
#define ENGINE_HOST_H

#include "base/arena.h"
#include "simt/cudac/tree.h"

enum { HOST_ARGUMENTS = 64, HOST_STATICS = 64, HOST_BYTES = 1 << 20 };
#define HOST_BASE UINT64_C(0x10000000000)

typedef struct {
    int64_t integer; // also of a pointer
    double floating;
    const uint8_t *bytes; // of a struct
} HostValue;

typedef struct {
    const Function *kernel;
    uint32_t grid[3], block[3];
    uint64_t shared_bytes;
    uint64_t values[HOST_ARGUMENTS];
    size_t bytes[HOST_ARGUMENTS], count;
} HostLaunch;

typedef struct {
    Arena *arena;
    Refusal *refusal;
    // Carries out a launch. False: it failed, and the host's code ends.
    bool (*launch)(void *context, const HostLaunch *launch);
    void *context;
    // Of the function that is running.
    uint8_t **variables; // by Variable.number: its bytes
    // The memory of host code, at HOST_BASE: up to `used` the variables of functions that have not
    // returned, and from `top` those that outlive them.
    uint8_t *memory;
    size_t used, top;
    struct {
        const Variable *variable;
        uint8_t *bytes;
    } statics[HOST_STATICS];
    size_t static_count;
    HostValue returned;
    bool ended;
} Host;

// Calls a function that takes one struct and returns an integer. False: it has not returned, and
// *host->refusal says why, or a launch has failed.
bool host_call(Host *host, const Function *function, const uint8_t *argument, int64_t *result);

// For host_cuda(). The bytes at an address of the host; NULL: they are not in its memory.
uint8_t *host_at(const Host *host, uint64_t address, uint64_t bytes);
// Ends the host's code: it does not run `what`.
HostValue host_refuse(Host *host, Place place, const char *what);

// cuda.c: carries out a call of the CUDA runtime, whose arguments have been evaluated.
HostValue host_cuda(Host *host, const Expression *call, const HostValue *arguments);

#endif
