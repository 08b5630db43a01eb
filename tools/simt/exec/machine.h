// One launch as all the host threads that run it see it.
#ifndef MACHINE_H
#define MACHINE_H

#include <signal.h>

#include "simt/base/dim3.h"
#include "simt/base/status.h"
#include "simt/exec/code.h"

typedef struct Observer Observer;

// The seed of the order in which the last block comes first, and of its warps the last one.
#define ORDER_REVERSED UINT64_MAX

typedef struct {
    const Code *code;
    Code *const *codes; // of all functions of the module, lowered or not
    uint32_t code_count;
    const Inst *entry;
    Dim3 grid, block, cluster;
    uint64_t block_count, cluster_count;
    bool explicit_cluster; // the launch or the kernel says so
    uint32_t warps_per_block, threads_per_block;
    uint32_t dynamic_base, dynamic_shared;  // where it begins, behind the static one; bytes
    uint32_t shared_bytes;                  // of a block, with all that can be reached
    uint32_t reserved_base, reserved_bytes; // the system's own shared memory; 0 bytes: none is used
    uint32_t local_bytes; // per thread, of the kernel and the deepest calls, but for recursion
    uint32_t local_room;  // with what recursion may use
    uint32_t stack_bytes; // per warp, of one frame of each function
    uint32_t deeper_most; // further frames of a warp, of functions that call themselves
    uint8_t *params;      // the kernel's parameter block
    uint32_t param_bytes;
    bool plain_ranks;        // addresses of shared memory name the block of its cluster by its rank
    uint64_t grid_workspace; // of a cooperative launch, device address
    uint64_t grid_id;
    bool cooperative;
    bool ordered;                // its blocks run on one host thread, see schedule.c
    bool partial;                // as of its Code
    bool volatiles;              // likewise, and the check is to look at them
    uint32_t slot_count;         // of counters
    const SlotTable *longest_of; // what longest_warp is counted by; NULL: it is not asked for
    uint64_t longest_warp;       // the most instructions of one warp, see longest.c
    const PtxModule *module;
    Observer *observers; // all of them; NULL: there are none
    // Those of them that get events, see observer.h; each may be NULL.
    Observer *observer, *profile, *trace;
    uint64_t order;     // seed that permutes the order of warps and blocks; 0: in order
    uint64_t work_left; // basic blocks that warps may still run on one host thread; 0: any number
    bool spent;         // they have run all of them
    bool spun;          // a warp only waited for what others do to memory
    uint32_t host_threads; // 0: one for each processor that the process may use
    uint64_t after;        // grid_id of the launch that this one need not wait for, 0: none
    // A launch that may run before what is in front of it: called once, at the first
    // griddepcontrol.wait or behind the last block, to run that. NULL: nothing is in front of it.
    void (*run_prerequisite)(void *context);
    void *prerequisite_context;
    double watchdog_seconds; // a kernel of which no warp ends for this long is ended; 0: never
    // The failure that comes first: of the first cluster in the order of the launch, and in it of
    // the block with the lowest number. Clusters with a later place need not run any more.
    uint64_t failed_place, failed_block;
    SimtStatus status;
    SimtError error;
    uint64_t moves;      // rounds of a block in which it did something, of an ordered launch
    int64_t deadline_ns; // of the watchdog, moved on by progress; 0: none
} Machine;

// The code that an instruction is of; NULL if it is not of this launch's.
const Code *machine_code(const Machine *machine, const Inst *inst);
// The PTX instruction that this one was made from; NULL: none.
const PtxInst *machine_instruction(const Machine *machine, const Inst *inst);

// The watchdog: its deadline lies the set time behind the last progress, which is a warp that ends.
// A barrier is none: a loop that does not end may have one.
void machine_progress(Machine *machine);
bool machine_expired(const Machine *machine);

// Whether a cluster with an earlier place has failed.
static inline bool machine_failed_before(const Machine *machine, uint64_t place) {
    return place > __atomic_load_n(&machine->failed_place, __ATOMIC_RELAXED);
}

// Runs what is in front of the launch, if that has not run yet.
void machine_await_prerequisite(Machine *machine);

// Set, also by a signal handler, to end the kernel that runs with SIMT_INTERRUPTED.
extern volatile sig_atomic_t machine_interrupted;

#endif
