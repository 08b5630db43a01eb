// Blocks: their memory, and how their warps take turns.
#ifndef BLOCK_H
#define BLOCK_H

#include "simt/exec/machine.h"
#include "simt/exec/warp.h"

enum { BARRIERS = 16 };

// See barrier.h.
typedef struct {
    uint32_t arrived;   // threads, as they are counted: warps come whole
    uint32_t expected;  // 0: all threads that have not exited
    uint32_t came;      // threads, each of which was there
    uint32_t ones;      // of these, who came with a true predicate (bar.red)
    BarrierResult last; // when it was last completed
    uint32_t slot;      // counter of the instruction that came last
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
    uint8_t *local; // threads * local_stride; of each as much as its warp has reached
    uint32_t local_stride;
    Tally *tally;
    Tally *own; // of each warp, see longest.c; NULL: they share the block's
    Barrier barriers[BARRIERS];
    void *watch;       // what the machine's observer keeps about it
    void *profile;     // the same of its profile
    uint64_t progress; // barriers completed and warps ended
    uint32_t stuck;    // rounds in which all warps only spun, and nothing moved anywhere
    uint64_t seen;     // machine->moves then
    bool running;      // started and not yet done
    uint8_t *stacks;   // of all warps
    uint8_t *copy;     // of one, see spin.h
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
// Before an observer is told that it begins.
void block_start(Block *block, uint64_t number);
// Runs until all threads have exited, or until all warps wait for something that other blocks may
// do, if `may_yield`.
BlockResult block_run(Block *block, bool may_yield);
// None of its warps can go on: fails at a line where one waits.
BlockResult block_deadlock(Block *block);

// --- longest.c: how many instructions the longest warp of a launch executes ---
//
// A block takes at least as long as its longest warp. Only on request does each warp count for
// itself, so that other launches do not pay for it.

// Gives each warp of a Block counters of its own. False: out of memory.
bool longest_attach(Block *block);
// Frees them, after longest_end().
void longest_detach(Block *block);
// A block of the grid has ended: adds its warps' counts to the Block's counters, and the largest
// number of instructions to machine->longest_warp.
void longest_end(Block *block);

// --- schedule.c: runs the blocks of a launch ---

// Runs all blocks; the failure, if any, is in machine->status and error. False: out of memory.
bool schedule_run(Machine *machine, Tally *tally, uint32_t slots);

// Whether the counts are the same for every number of threads. False: the launch failed, and the
// tally is empty.
bool schedule_counts(const Machine *machine);

#endif
