// Releases, the logs in which words of memory save them, and what threads have seen of such logs.
// Together these are sparse vector clocks (Fidge, Mattern): they hold only components that some
// release changed.
//
// A release holds the time before which accesses of its block's threads happen before it, and what
// the releasing threads had seen of other blocks. An atomic operation continues the release
// sequence of the word that it updates: its release is added at the end of the word's log. A store
// begins a new log. A thread that reads the word has seen the releases that the log had at that
// time.
#ifndef CHECK_RELEASE_H
#define CHECK_RELEASE_H

#include <stdbool.h>

#include "base/arena.h"
#include "simt/observe/race/record.h"

typedef struct Log Log;

// The part of a log that some lanes of a warp have seen: its first `count` releases.
typedef struct {
    Log *log;
    uint32_t count;
    uint32_t lanes;
    bool wide; // read at a scope that covers the device; else only its own block's releases count
    bool message; // it orders reads alone, see order.c
    bool swap;    // by a compare-and-swap that no fence has followed
} Seen;

typedef struct {
    Seen *at;
    size_t count, capacity;
} SeenList;

// A release by lanes of a warp. Accesses of its block before these times happen before it: `floor`
// for all threads; `warps` for the threads of each other warp (NULL: no later than floor);
// `warp_floor` and `others` (NULL: none) for lanes of the same warp; `time` for the lanes that
// release.
typedef struct Release {
    uint64_t block, floor, warp_floor, time;
    uint64_t *warps, *others;
    uint32_t warp, lanes;
    bool wide;     // at a scope that covers the device, else the block
    bool message;  // it orders reads alone
    uint32_t seen; // number of logs that they had seen
    Seen *logs;
} Release;

// All logs and releases of a launch or, if blocks never synchronize, of a block.
typedef struct {
    Arena arena;
    uint64_t queries, steps; // steps: releases that queries have examined
    SeenList stack;          // logs that a query still has to examine
} ReleasePool;

// Adds what lanes have seen, and removes entries that it includes.
void seen_add(ReleasePool *pool, SeenList *list, Seen seen);
// All of `lanes` have now seen what some of them have.
void seen_spread(SeenList *list, uint32_t lanes);

// Appends the part of a release that belongs to some of its lanes. If these are not all, the lanes
// of the release had seen the same of each other. Begins the log if it is NULL.
void log_add(ReleasePool *pool, Log **log, const Release *release, uint32_t lanes);
uint32_t log_count(const Log *log);
// Whether all its releases are by this block.
bool log_only(const Log *log, uint64_t block);

// Makes a release with copies of `warps` and `others`, 32 times each, and of what its lanes have
// seen according to two lists.
const Release *release_new(ReleasePool *pool, const Release *facts, const SeenList *seen,
                           const SeenList *more);
void release_forget_all(ReleasePool *pool);

// Whether a release itself orders an access of a thread of its block.
bool release_covers(const Release *release, uint32_t thread, uint64_t time);

// An access of a thread of a block at a time. ANY_THREAD: any event of the block.
enum { ANY_THREAD = UINT32_MAX };
typedef struct {
    uint64_t block, time;
    uint32_t thread;
    bool read;
    bool eager; // both accesses are volatile, see order.c
} Event;

// Whether what was seen by `lane` orders an access before what it does now.
bool seen_orders(ReleasePool *pool, const SeenList *list, uint32_t lane, const Event *event);

#endif
