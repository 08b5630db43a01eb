// Host: runs functions of the host, such as the launch of a stage or the main() of an exercise,
// from their typed trees. They have numbers, texts, variables and pointers to them, structs,
// pointers to functions, control flow, calls, launches, printf, and the calls of the CUDA runtime
// in cuda.c. What else a function does is refused at its place.
#ifndef ENGINE_HOST_H
#define ENGINE_HOST_H

#include "base/arena.h"
#include "simt/cudac/tree.h"

#define HOST_FULL "the variables of host code take more than a megabyte: make arrays smaller"
enum { HOST_ARGUMENTS = 64, HOST_CALLS = 32, HOST_SLOTS = 4096, HOST_BYTES = 1 << 20 };

struct Kernel; // of simt/device/device.h

typedef struct {
    int64_t integer; // also of a pointer; of a struct, its address in the host's memory
    double floating;
} HostValue;

typedef struct {
    const Function *kernel;
    uint32_t grid[3], block[3];
    uint64_t shared_bytes;
    bool cooperative;
    uint64_t values[HOST_ARGUMENTS];
    size_t bytes[HOST_ARGUMENTS], count;
} HostLaunch;

typedef struct {
    Arena *arena;
    Refusal *refusal;
    void *context; // of these three, which return false or NULL to end the host's code
    bool (*launch)(void *context, const HostLaunch *launch);
    const struct Kernel *(*kernel)(void *context, const Function *function);
    // Carries out exercise(e, argc, argv); the type is that of e, a struct. NULL: it is refused.
    bool (*exercise)(void *context, const Type *type, HostValue e, int64_t *status);
    Buf printed;     // by printf
    int64_t error;   // of the last call of the CUDA runtime that failed, for cudaGetLastError()
    Refusal failure; // the first of them
    bool ended;      // *refusal says why, or one of the three functions above has ended it

    // The rest is private to the host's files. First the function that is running: its variables by
    // Variable.number, and how many calls are around it.
    uint8_t **variables, **slots;
    size_t slots_used, calls;
    HostValue returned;
    // The memory of host code: below `frame` are the variables of the functions that are running,
    // then come structs that the current statement has computed, up to `used`; what outlives
    // functions is above `top`.
    uint8_t *memory;
    size_t frame, used, top;
    struct {
        const void *of; // a Variable, or the Expression of a text
        uint8_t *bytes;
    } * statics;
    size_t static_count, static_capacity;
    const Function **functions; // whose addresses were taken
    size_t function_count, function_capacity;
    uint8_t *mapped;
    uint64_t mapped_bytes;
    struct {
        const Function *kernel;
        uint64_t bytes; // of dynamic shared memory, by cudaFuncSetAttribute()
    } * limits;         // the newest last
    size_t limit_count, limit_capacity;
} Host;

// Gives a host, whose fields before the private ones are set, its memory.
void host_open(Host *host);

// Calls a function. False: host->ended.
bool host_call(Host *host, const Function *function, const HostValue *arguments, size_t count,
               HostValue *result);

// --- host_memory.c ---

// Copies bytes, such as a struct, to memory that outlives functions, and returns their address; 0:
// there is no room, and the host has ended.
uint64_t host_put(Host *host, const void *bytes, size_t size);
// Lets host code use the caller's bytes, in place of those of an earlier call.
uint64_t host_map(Host *host, uint8_t *bytes, uint64_t size);
// The bytes at an address of the host; NULL: they are not in its memory.
uint8_t *host_at(const Host *host, uint64_t address, uint64_t size);
// The address of bytes in the host's memory.
uint64_t host_address(const Host *host, const uint8_t *bytes);
// The function that a pointer of host code points to, or NULL.
const Function *host_function(const Host *host, HostValue pointer);

// For the host's files.
uint64_t host_function_address(Host *host, const Function *function);
uint8_t *host_static(Host *host, const Variable *variable);
uint8_t *host_text(Host *host, const Expression *text); // terminated

// --- host.c, host_value.c, host_print.c and cuda.c, for each other ---

// Ends the host's code: with a message, or because it does not run `what`.
HostValue host_fault(Host *host, Place place, const char *message);
HostValue host_refuse(Host *host, Place place, const char *what);
HostValue host_run(Host *host, const Function *function, const HostValue *arguments, Place place);
// Evaluates an expression. After it has ended the host, the value is 0.
HostValue host_value(Host *host, const Expression *e);
HostValue host_load(Host *host, const Type *type, uint8_t *bytes, Place place);
void host_store(Host *host, const Type *type, uint8_t *to, HostValue value);
// A size of a launch: a number, or a dim3.
void host_shape(const Host *host, const Type *type, HostValue value, uint32_t *shape);
HostValue host_print(Host *host, const Expression *call); // printf
// Starts a launch that `call` makes, if the kernel may have so much shared memory.
HostValue host_start(Host *host, const Expression *call, const HostLaunch *made);
// A call of the CUDA runtime, whose arguments have been evaluated.
HostValue host_cuda(Host *host, const Expression *call, const HostValue *arguments);

#endif
