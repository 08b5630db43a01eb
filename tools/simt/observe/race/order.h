// Order through words of memory: releases, acquires and fences.
#ifndef RACE_ORDER_H
#define RACE_ORDER_H

#include "simt/observe/race/release.h"
#include "simt/observe/race/sync.h"

// A word through which something was released. wide: at a scope that includes other blocks; narrow:
// at the scope of a block, by threads of narrow_block.
typedef struct {
    uint64_t address;
    Log *wide, *narrow;
    Log *copies; // asynchronous copies that have counted their bytes at it
    uint64_t narrow_block;
    bool waited; // a thread spins until it changes: it is a flag
} SyncWord;

typedef struct {
    SyncWord *at; // hash table; a free entry has no logs
    uint32_t count, slots;
    uint64_t low, high; // of the words' keys (key_of in order.c), if there are any
} SyncTable;

// The effect of a fence of some lanes: a later strong write of one of `lanes` releases what all
// lanes in `of` did before the fence or, if `apart`, only what the writing lane itself did.
typedef struct {
    const Release *release;
    uint32_t of, lanes;
    bool apart; // no barrier has followed
} Fenced;

// What the threads of a warp, or of a block, have acquired, and their fences that a write may
// release.
typedef struct {
    SeenList acquired, pending; // pending: read, and still needs a fence
    Fenced *fenced;
    size_t fenced_count, fenced_capacity;
} Knowledge;

// What the threads of a block know.
typedef struct {
    Knowledge *warps, common;        // of each warp since the last barrier; of the block before it
    Knowledge arrived[BARRIERS];     // of warps that arrived at a barrier without waiting
    bool any;                        // at least one Knowledge is not empty
    SyncTable words;                 // of shared memory
    uint32_t fenced[MAX_WARPS];      // lanes that have executed a fence in this block,
    uint32_t fenced_wide[MAX_WARPS]; // and one whose scope includes other blocks
} OrderState;

// Follows an access to global or shared memory, or a fence.
void order_access(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES], SyncTable *table);
void order_fence(Warp *warp, const Inst *inst);

// Whether what `thread` has acquired orders an access of any block before what it does now.
bool order_acquired(Checker *checker, uint32_t thread, const Event *event);
// Whether some thread of the checker's block has acquired an access.
bool order_reached(Checker *checker, uint64_t block, uint32_t other, uint64_t time);
// Whether the table may have a word of [first, first + bytes).
bool order_words(const SyncTable *table, uint64_t first, uint64_t bytes);
// Whether something was released through the word at an address, and no store has followed.
bool order_released(const SyncTable *table, uint64_t address);
bool order_waited(const SyncTable *table, uint64_t address); // see SyncWord.waited
// What the warp's lanes that execute release if they release now.
const Release *order_now(Checker *checker, const Warp *warp);

// Threads that synchronize share what they have acquired: all threads of the block, the warps that
// wait at a barrier, or some lanes.
void order_begin(Checker *checker);
void order_barrier(Checker *checker);
void order_arrive(Checker *checker, uint32_t barrier, uint32_t warp); // arrives without waiting
void order_join_warps(Checker *checker, uint32_t barrier, uint32_t waiting);
void order_join_lanes(Checker *checker, uint32_t warp, uint32_t lanes);
// Lanes that took values from each other, without a barrier, share only what they have acquired.
void order_share_lanes(Checker *checker, uint32_t warp, uint32_t lanes);
// At the barrier of a cluster, see Observer; `first` is the checker of the cluster's first block.
void order_cluster_arrive(Checker *checker, Checker *first, const Warp *warp);
void order_cluster_waited(Checker *checker, const Checker *first, const Warp *warp);

// A copy is complete when the mbarrier at this address of shared memory completes.
void order_copy_counted(Checker *checker, SyncTable *table, uint64_t address, Record copy);
// The lanes' copies arrive at the mbarrier when they are complete.
void order_copies_arrive(Checker *checker, const Warp *warp, uint64_t address, uint32_t lanes);

#endif
