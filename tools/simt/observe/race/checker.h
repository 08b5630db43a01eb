// The checker of a launch and of each of its blocks: the states of its modules, side by side.
//
// A module's state and functions are in its own header. A module that needs another one includes
// this header, since every function takes the Checker.
#ifndef RACE_CHECKER_H
#define RACE_CHECKER_H

#include "simt/observe/race/advice.h"
#include "simt/observe/race/bounds.h"
#include "simt/observe/race/cluster.h"
#include "simt/observe/race/copy.h"
#include "simt/observe/race/early.h"
#include "simt/observe/race/finding.h"
#include "simt/observe/race/order.h"
#include "simt/observe/race/rest.h"
#include "simt/observe/race/shadow.h"
#include "simt/observe/race/sync.h"
#include "simt/observe/race/touched.h"
#include "simt/observe/race/undefined.h"
#include "simt/observe/race/unwritten.h"

// The checks of one launch.
struct Check {
    Observer observer; // first, so that a pointer to it is one to the Check
    const Machine *machine;
    uint64_t launch; // its first time
    Arena arena;     // of what lasts as long
    bool lost;       // memory was too short for some
    bool partial;    // see Code
    // Sites, by number from 1 on, and the number of a counter slot's site; 0: it has none yet.
    Site *sites;
    uint32_t site_count, site_room;
    uint16_t *site_of_slot;
    Extent *variables;   // by site: the variable of shared memory that its accesses should be in,
    Extent *met;         // and the allocation of global memory that its last access was in,
    uint64_t seen_frees; // when memory_frees had this value
    SyncTable words;     // of global memory
    ReleaseRoom room;    // of the launch; where blocks never wait for each other, of one block
    RestTable rest;      // of global memory, likewise
    Findings findings;
    Findings unsure; // of volatile accesses: a thread may still be found to wait for the word
    TouchedState touched;
};

// The checks of one Block.
struct Checker {
    Check *check;
    Arena arena; // of what lasts as long
    const Machine *machine;
    uint64_t block; // that it now stands for
    ReleaseRoom *room;
    Shadow shadow;   // of shared memory,
    uint8_t *shared; // which is this
    RestTable rest;  // accesses that do not fit into the shadow
    bool lost;       // memory was too short for some
    SyncState sync;
    OrderState order;
    ClusterState cluster;
    CopyState copy;
    EarlyState early;
    UnwrittenState unwritten;
    UndefinedList undefined[MAX_WARPS];
    FoundRaces finding;
};

static inline Checker *check_of(const Warp *warp) { return warp->block->watch; }

static inline uint32_t check_site(const Checker *checker, const Access *access) {
    const uint32_t site = checker->check->site_of_slot[access->slot];
    return site ? site : finding_new_site(checker->check, access);
}

static inline const Site *check_site_of(const Checker *checker, Record record) {
    return &checker->check->sites[record_site(record)];
}

// How many races an instruction may have in a block before no more are looked for, so that finding
// them does not take too long. It depends on the block's number, so that what is found does not
// depend on which host thread runs the block.
static inline uint16_t check_many_races(const Checker *checker) {
    enum { FIRST_BLOCKS = 64, OF_FIRST = 128, OF_OTHERS = 4 };
    return checker->block < FIRST_BLOCKS ? OF_FIRST : OF_OTHERS;
}
static inline bool check_saturated(const Checker *checker, Record record) {
    return checker->finding.races[record_site(record)] >= check_many_races(checker);
}

#endif
