// One launch: what all its host threads share.
#ifndef MACHINE_H
#define MACHINE_H

#include <signal.h>

#include "simt/base/dim3.h"
#include "simt/base/status.h"
#include "simt/exec/code.h"

typedef struct Observer Observer;

// The seed that reverses the order of the blocks and of each block's warps.
#define ORDER_REVERSED UINT64_MAX

typedef struct {
    const Code *code;
    Code *const *codes; // of all functions of the module, lowered or not
    uint32_t code_count;
    const Inst *entry;
    Dim3 grid, block, cluster;
    uint64_t block_count, cluster_count;
    bool explicit_cluster; // the launch or the kernel sets the cluster size
    uint32_t warps_per_block, threads_per_block;
    uint32_t dynamic_base, dynamic_shared;  // its offset, after the static shared memory; its size
    uint32_t shared_bytes;                  // per block, with everything that it may access
    uint32_t reserved_base, reserved_bytes; // reserved for the system; 0 bytes: not used
    uint32_t local_bytes;       // per thread: the kernel and its deepest calls, without recursion
    uint32_t local_limit;       // the same with the maximum for recursion
    uint32_t stack_bytes;       // per warp, for one frame of each function
    uint32_t extra_frame_limit; // most additional frames per warp, for recursive functions
    uint8_t *params;            // the kernel's parameter block
    uint32_t param_bytes;
    bool plain_ranks;        // shared-memory addresses hold the rank itself, see address_rank()
    uint64_t grid_workspace; // of a cooperative launch, device address
    uint64_t grid_id;
    bool cooperative;
    bool ordered;                // its blocks run on one host thread, see schedule.c
    uint64_t turns;              // clusters of an ordered launch that run side by side: each ends
                                 // its turn after a spin read. 0: only those that spin take turns
    uint64_t ran;                // basic blocks that warps have run, if `turns` is set
    bool partial;                // as of its Code
    bool volatiles;              // likewise, if volatile stores are to be checked
    uint32_t slot_count;         // of counters
    const SlotTable *longest_of; // the slots that longest_warp adds up; NULL: not requested
    uint64_t longest_warp;       // the most instructions of one warp, see longest.c
    const PtxModule *module;
    Observer *observers; // all of them; NULL: there are none
    // The observers that get events, see observer.h; each may be NULL.
    Observer *observer, *profile, *trace;
    uint64_t order;     // seed that permutes the order of warps and blocks; 0: in order
    uint64_t work_left; // basic blocks that warps may still run on one host thread; 0: any number
    bool spent;         // work_left has been used up
    bool spun;          // some warp only waited for a change of memory
    uint32_t host_threads; // 0: one for each processor that the process may use
    uint64_t after;        // grid_id of the earlier launch that this one may overlap, 0: none
    // Runs the launches that precede this one. It is called once, at the first griddepcontrol.wait
    // or after the last block. NULL: no earlier launch is pending.
    void (*run_prerequisite)(void *context);
    void *prerequisite_context;
    double watchdog_seconds; // a kernel in which no warp exits for this long is ended; 0: never
    // The first failure: that of the earliest cluster in the order of the launch, and in it of the
    // block with the lowest number. Clusters with a later place are skipped.
    uint64_t failed_place, failed_block;
    SimtStatus status;
    SimtError error;
    uint64_t moves;      // of an ordered launch: rounds in which a block did more than spin
    int64_t deadline_ns; // when the watchdog ends the kernel; 0: never
} Machine;

// The code that contains an instruction; NULL if it is not from this launch.
const Code *machine_code(const Machine *machine, const Inst *inst);
// The PTX instruction that this one was made from; NULL: none.
const PtxInst *machine_instruction(const Machine *machine, const Inst *inst);

// The watchdog's deadline is the set time after the last progress, which is a warp's exit. A
// completed barrier does not count: an endless loop may contain one.
void machine_progress(Machine *machine);
bool machine_expired(const Machine *machine);

// Whether a cluster with an earlier place has failed.
static inline bool machine_failed_before(const Machine *machine, uint64_t place) {
    return place > __atomic_load_n(&machine->failed_place, __ATOMIC_RELAXED);
}

// Runs the launches that precede this one, if they have not run yet.
void machine_await_prerequisite(Machine *machine);

// Set to end the running kernel with SIMT_INTERRUPTED; a signal handler may set it.
extern volatile sig_atomic_t machine_interrupted;

#endif
