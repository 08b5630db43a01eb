// Counters by instruction, for the page: the PTX of each kernel, its distinct launches, and the
// worst access to shared memory at each instruction. A bounded number of launches is saved
// separately for each kernel; the others are added up.
#ifndef PROFILE_H
#define PROFILE_H

#include "simt/device/device.h"
#include "simt/observe/count/counters.h"

// Each instruction first..last counted `value` of a Counter. If `counter` is COUNTERS plus a Stall,
// warps are predicted to spend `value` picoseconds of the launch there.
typedef struct {
    uint32_t first, last, counter;
    uint64_t value;
} ProfileEntry;

// Launches of one kernel with the same shape and the same counters.
typedef struct {
    Dim3 grid, block;
    Counters total; // of one of them
    uint64_t launches;
    size_t launch; // number of the first, or with --last of the only one
    ProfileEntry *entries;
    size_t counted, count, capacity; // the first `counted` entries are counters, the others times
    TimePrediction time;             // of the first; us is 0 without a prediction
} Profile;

// The kernel's own function or one that it calls: its text, and for each instruction its line in
// the text, from 0, and its source location.
typedef struct {
    Str name, text;
    uint32_t first; // number of its first instruction in the kernel
    uint32_t count;
    uint32_t *line;
    size_t *file; // see source.h
    uint32_t *source_line;
} ProfileFunction;

typedef struct {
    BankAccesses found;  // summed; `ptx` is the instruction's number in the kernel
    size_t launch;       // of the worst access, like `block`
    Dim3 block, threads; // `threads`: the block's shape
} ProfileBanks;

typedef struct {
    const char *mangled, *name;
    ProfileFunction *functions; // its own first
    size_t function_count, function_capacity;
    uint32_t inst_count; // of all functions
    Profile *profiles;
    size_t profile_count, profile_capacity;
    // The sum of the launches that are not saved separately, also by instruction.
    Profile rest;
    Counters *rest_insts;
    uint32_t rest_capacity;
    ProfileBanks *banks; // by instruction
    size_t bank_count, bank_capacity;
} ProfileKernel;

// Adds launch `number`. `only_last`: first drops earlier launches of kernels of this name with
// blocks of this size.
void profile_add(Arena *arena, const char *mangled, const char *name, bool only_last, size_t number,
                 const Launch *launch, const LaunchReport *report);

// The kernels in the order of their first launches.
const ProfileKernel *profile_kernels(size_t *count);

// --- the instructions of a source line with their counters, for `--machine --lines` ---

typedef struct {
    Str text; // /*0010*/ IMAD.WIDE.U32 R2, R0, 0x4, R2
    Counters counted;
} ListingInst;

// The instructions at a source line in all launches of a kernel, in code order. `kernel` is its
// name in the table. Call this only after the last launch.
const ListingInst *listing_of(Arena *arena, const char *kernel, const char *file, uint32_t line,
                              size_t *count);

#endif
