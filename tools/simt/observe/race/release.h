// What threads have let others know: releases, the logs in which words keep them, and what threads
// have seen of such logs. Vector clocks (Fidge, Mattern), of which only the parts are kept that
// some release is about.
//
// A release says of its block up to when its threads' accesses are ordered before it, and what the
// releasing threads had seen of others. An atomic operation continues the release sequence of the
// word that it updates: its release is added at the end of the word's log. A store begins a new
// log. Whoever reads the word has seen the log as long as it then was, and no more.
#ifndef CHECK_RELEASE_H
#define CHECK_RELEASE_H

#include <stdbool.h>

#include "base/arena.h"
#include "simt/observe/race/record.h"

typedef struct Log Log;

// A log as long as some lanes of a warp have seen it.
typedef struct {
    Log *log;
    uint32_t count; // of its releases
    uint32_t lanes;
    bool wide; // read at a scope that covers the device; else only its own block's releases count
    bool message; // it orders reads alone, see order.c
    bool swap;    // by a compare-and-swap that no fence has followed
} Seen;

typedef struct {
    Seen *at;
    size_t count, capacity;
} SeenList;

// By lanes of a warp, of a block that goes on: times are the block's. Accesses before a time are
// ordered before the release: `floor` for all threads, `warps` for those of each other warp (NULL:
// no later than floor), for lanes of the warp `warp_floor` and `others` (NULL: none), and `time`
// for those that release.
typedef struct Release {
    uint64_t block, floor, warp_floor, time;
    uint64_t *warps, *others;
    uint32_t warp, lanes;
    bool wide;     // at a scope that covers the device, else the block
    bool message;  // it orders reads alone
    uint32_t seen; // number of logs that they had seen
    Seen *logs;
} Release;

// All logs and releases of a launch, or of a block where blocks never meet.
typedef struct {
    Arena arena;
    uint64_t queries, steps; // releases that queries have asked
    SeenList stack;          // of logs that a query still has to look at
} ReleaseRoom;

// Adds what lanes have seen; what it includes is left out.
void seen_add(ReleaseRoom *room, SeenList *list, Seen seen);
// Lanes that are ordered behind some of `lanes` have seen what those have.
void seen_spread(SeenList *list, uint32_t lanes);

// Adds of a release what some of its lanes have in it, at the end. If they are not all, its lanes
// knew the same of each other. NULL: begins a log.
void log_add(ReleaseRoom *room, Log **log, const Release *release, uint32_t lanes);
uint32_t log_count(const Log *log);
// Whether all its releases are of one block: this one.
bool log_only(const Log *log, uint64_t block);

// With copies of `warps` and `others`, 32 times each, and of what its lanes have seen, in two
// lists.
const Release *release_new(ReleaseRoom *room, const Release *facts, const SeenList *seen,
                           const SeenList *more);
void release_forget_all(ReleaseRoom *room);

// Whether a release itself orders an access of a thread of its block.
bool release_covers(const Release *release, uint32_t thread, uint64_t time);

// An access of a thread of a block at a time, whether it reads, and whether it is asked for as a
// volatile one; ANY_THREAD: anything at all.
enum { ANY_THREAD = UINT32_MAX };
typedef struct {
    uint64_t block, time;
    uint32_t thread;
    bool read;
    bool eager; // see order.c
} Event;

// Whether what was seen by `lane` orders an access before what it does now.
bool seen_orders(ReleaseRoom *room, const SeenList *list, uint32_t lane, const Event *event);

#endif
