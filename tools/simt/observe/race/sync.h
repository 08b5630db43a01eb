// Order within a block, by barriers and by instructions that synchronize lanes of a warp.
//
// Every synchronization of a block begins a new epoch, whose number is a time (record.h).
#ifndef RACE_SYNC_H
#define RACE_SYNC_H

#include "simt/observe/race/finding.h"

enum { MAX_WARPS = DEVICE_MAX_THREADS / LANES };
_Static_assert((int)MAX_WARPS == (int)LANES, "one type of vector clock for warps and lanes");

// A barrier at which some threads have arrived.
typedef struct {
    bool open;
    bool counted;              // bar.sync with a number of threads
    uint32_t waiting;          // bit for each warp that waits
    uint64_t known[MAX_WARPS]; // the clocks of warps that arrived without waiting, joined
    uint32_t threads;          // threads that have arrived
    const Inst *inst, *other;  // of the first arrival, and of one from another line
    uint32_t thread, other_thread;
    bool split;                     // part of a warp arrived at another barrier of the program
    const Inst *of_warp[MAX_WARPS]; // where each warp arrived first
} Arrival;

// A lane that waits in an instruction for others of its warp.
typedef struct {
    const Inst *inst;
    uint32_t awaited;
} Waiting;

// The happens-before order within a block. A thread has seen what another thread did before a time:
// the greatest of block_floor, for a thread of another warp warp_known, and for a thread of its own
// warp warp_floor and lane_known. Together these are the thread's vector clock.
typedef struct {
    uint64_t now;              // in [times, times_end), which no other block has
    uint64_t times, times_end; // consecutive times of the block
    uint64_t block_start;      // time at which the block began
    uint64_t block_floor;      // of the last barrier of all threads
    uint64_t warp_floor[MAX_WARPS];
    uint64_t warp_known[MAX_WARPS][MAX_WARPS];
    uint64_t (*lane_known)[LANES][LANES]; // per warp; NULL: only whole warps synchronized
    uint32_t parted;                      // bit for each warp of which only some lanes synchronized
    Arrival arrivals[BARRIERS];
    const Inst *apart[2];        // the first two barriers at which threads waited at once, or NULL
    uint32_t arrived[MAX_WARPS]; // lanes that have arrived at any barrier
    Waiting (*waiting)[LANES];   // per warp
} SyncState;

// Begins the next time, and returns it. Accesses so far are before it.
uint64_t sync_tick(Checker *checker);
// Reserves times for a block that begins.
void sync_times(Checker *checker, uint64_t block);
// Whether no barrier orders an access of `other`, of the same block, at that time before what
// `thread` does now.
bool sync_unordered(const Checker *checker, uint64_t time, uint32_t other, uint32_t thread);
// Whether all threads that have ended left the kernel early, as by `if (i >= n) return;`: with a
// jump to its end, before any barrier.
bool sync_all_left(const Block *block);

// Events: see Observer.
void sync_arrive(Warp *warp, const Inst *inst, uint32_t barrier, bool counted);
void sync_complete(Block *block, uint32_t barrier);
void sync_meet(Warp *warp, const Inst *inst, const LaneU32 named[LANES]);
void sync_met(Warp *warp, const Inst *inst, uint32_t named, uint32_t lanes);
void sync_join(Warp *warp, const Inst *inst, uint32_t lanes);
void sync_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES],
                  const LaneU32 value[LANES]);

#endif
