// What kernels did, instruction by instruction, as a page shows it: of each kernel its PTX, the
// launches that differ, and for accesses to shared memory the worst. Bounded: of a kernel only so
// many launches are kept apart, the others are added up.
#ifndef PROFILE_H
#define PROFILE_H

#include "simt/device/device.h"
#include "simt/observe/count/counters.h"

// Each of the instructions first..last counted `value` of a Counter; or, COUNTERS and a Stall
// together, it is predicted that warps spend `value` picoseconds of the launch there.
typedef struct {
    uint32_t first, last, counter;
    uint64_t value;
} ProfileEntry;

// Launches of one kernel with the same shape that counted the same.
typedef struct {
    Dim3 grid, block;
    Counters total; // of one of them
    uint64_t launches;
    size_t launch; // number of the first of them, with --last the only one
    ProfileEntry *entries;
    size_t counted, count, capacity; // the first `counted` are no times
    TimePrediction time;             // of the first of them; us 0: nothing was predicted
} Profile;

// A function that the kernel is or called: its text, and for each of its instructions the line in
// it, from 0, and the place in the source.
typedef struct {
    Str name, text;
    uint32_t first; // number of its first instruction in the kernel
    uint32_t count;
    uint32_t *line;
    size_t *file; // see source.h
    uint32_t *source_line;
} ProfileFunction;

typedef struct {
    BankAccesses found;  // added up; `ptx` is the instruction's number in the kernel
    size_t launch;       // of the worst access, and its block
    Dim3 block, threads; // and how many threads that has
} ProfileBanks;

typedef struct {
    const char *mangled, *name;
    ProfileFunction *functions; // its own first
    size_t function_count, function_capacity;
    uint32_t inst_count; // of all functions
    Profile *profiles;
    size_t profile_count, profile_capacity;
    // Launches that are not kept apart, added up by instruction.
    Profile rest;
    Counters *rest_insts;
    uint32_t rest_capacity;
    ProfileBanks *banks; // by instruction
    size_t bank_count, bank_capacity;
} ProfileKernel;

// Adds a launch, the `number`th; `only_last`: forgets the earlier ones of kernels of this name with
// blocks of this size.
void profile_add(Arena *arena, const char *mangled, const char *name, bool only_last, size_t number,
                 const Launch *launch, const LaunchReport *report);

// The kernels in the order of their first launches.
const ProfileKernel *profile_kernels(size_t *count);

// --- the instructions of a source line and what each of them counted, for `--machine --lines` ---

typedef struct {
    Str text; // /*0010*/ IMAD.WIDE.U32 R2, R0, 0x4, R2
    Counters counted;
} ListingInst;

// The instructions at a line of a file in the launches of a kernel that profile.h has, in the order
// of the code; `kernel` is its name in the table. To be asked when there are no more launches.
const ListingInst *listing_of(Arena *arena, const char *kernel, const char *file, uint32_t line,
                              size_t *count);

#endif
