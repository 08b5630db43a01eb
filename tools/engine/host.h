// Host: runs a function of the host, such as the launch of a stage, from its typed tree. It has
// numbers, pointers that are only passed on, structs, control flow, calls and launches; what else
// the function does is refused at its place.
#ifndef ENGINE_HOST_H
#define ENGINE_HOST_H

#include "base/arena.h"
#include "simt/cudac/tree.h"

enum { HOST_ARGUMENTS = 64 };

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
    HostValue returned;
    bool ended;
} Host;

// Calls a function that takes one struct and returns an integer. False: it has not returned, and
// *host->refusal says why, or a launch has failed.
bool host_call(Host *host, const Function *function, const uint8_t *argument, int64_t *result);

#endif
