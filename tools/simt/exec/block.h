// Blocks: their memory, their barriers, and the order in which their warps run.
#ifndef BLOCK_H
#define BLOCK_H

#include "simt/exec/machine.h"
#include "simt/exec/warp.h"

enum { BARRIERS = 16 };

// See barrier.h.
typedef struct {
    uint32_t arrived;   // threads, with whole warps counted as 32
    uint32_t expected;  // 0: all threads that have not exited
    uint32_t came;      // threads that arrived
    uint32_t ones;      // of these, threads with a true predicate (bar.red)
    BarrierResult last; // of the last completed phase
    uint32_t slot;      // counter of the last instruction that arrived
} Barrier;

struct Block {
    Machine *machine;
    Cluster *cluster;
    uint32_t rank;    // in the cluster
    bool plain_ranks; // as machine->plain_ranks
    Warp *warps;
    uint32_t warp_count, threads;
    uint32_t live_threads;
    uint32_t done_warps;
    uint64_t number; // linear index in the grid
    Dim3 index;
    uint8_t *shared;
    uint32_t shared_bytes;
    uint8_t *local; // threads * local_stride; initialised up to Warp.local_reached
    uint32_t local_stride;
    Tally *tally;
    Tally *own; // for each warp, see longest.c; NULL: all use the block's
    Barrier barriers[BARRIERS];
    void *watch;       // the observer's own data on the block
    void *profile;     // the profile's
    uint64_t progress; // barriers completed and warps ended
    uint32_t stuck;    // rounds in which all warps only spun, and no block did anything else
    uint64_t seen;     // machine->moves at the last round
    bool running;      // started and not yet done
    uint8_t *stacks;   // register stacks of all warps
    uint8_t *copy;     // of one register stack, see spin.h
};

typedef enum {
    BLOCK_DONE,
    BLOCK_YIELDS,
    BLOCK_WAITS, // at the barrier of its cluster
    BLOCK_FAILED
} BlockResult;

// NULL: out of memory. `tally` has a slot for every counter of the module.
Block *block_new(Machine *machine, Tally *tally);
void block_free(Block *block);
// Resets the block to run this block of the grid. Observers are not called yet.
void block_start(Block *block, uint64_t number);
// Runs until all threads have exited or, if `may_yield`, until all warps wait for something that
// other blocks may do.
BlockResult block_run(Block *block, bool may_yield);
// Fails at a line where a warp waits: none of them can continue.
BlockResult block_deadlock(Block *block);

// --- longest.c: how many instructions the longest warp of a launch executes ---
//
// A block takes at least as long as its longest warp. Each warp has counters of its own only on
// request, so that other launches do not pay for them.

// Gives each warp of a Block counters of its own. False: out of memory.
bool longest_attach(Block *block);
// Frees them, after longest_end().
void longest_detach(Block *block);
// At the end of a block of the grid: adds its warps' counts to the Block's counters, and the
// largest number of instructions to machine->longest_warp.
void longest_end(Block *block);

// --- schedule.c: runs the blocks of a launch ---

// Runs all blocks; the failure, if any, is in machine->status and error. False: out of memory.
bool schedule_run(Machine *machine, Tally *tally, uint32_t slots);

// Whether the counters are the same for every number of threads. False: the launch failed, and they
// are zero.
bool schedule_counts(const Machine *machine);

#endif
