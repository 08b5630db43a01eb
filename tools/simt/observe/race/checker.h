// simt --check: finds hazards while a kernel runs. Each Block has a Checker, which follows it
// through all blocks of the grid that it executes.
//
// The checker is a happens-before detector, as FastTrack is (Flanagan and Freund, 2009), with the
// hierarchy of the GPU in place of one clock for each thread. Barriers order whole blocks, so a
// block has one time and, if only some warps or lanes synchronize, each warp has one. Different
// blocks are ordered only through words of memory. record.h defines what is recorded of an access,
// shadow.h where, and race.h what a race is. Accesses are ordered by barriers (sync.h), by words of
// memory (order.h, release.h), in clusters (cluster.h) and by asynchronous copies (copy.h).
//
// All blocks run on one host thread (schedule.c), so the findings are the same every time.
//
// A Checker holds the state of each module, which the module's own header declares. The functions
// of a module take the Checker, so modules that call each other include this header.
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
#include "simt/observe/race/unwritten.h"

// The checks of one launch.
struct Check {
    Observer observer; // first, so that a pointer to it is one to the Check
    const Machine *machine;
    uint64_t launch; // its first time
    Arena arena;     // freed with the Check
    bool lost;       // out of memory: some accesses were not recorded
    bool partial;    // see Code
    bool constants;  // some site is ld.global.nc whose memory must not be written later
    bool library;    // a kernel of CUB or Thrust, which work in place on what they have so read
    bool streams;    // other streams may access, and copies may change, what the launch reads
    // Sites are numbered from 1. site_of_slot: the site of a counter slot; 0: it has none yet.
    Site *sites;
    uint32_t site_count, site_capacity;
    uint16_t *site_of_slot;
    Extent *variables;   // by site: the variable of shared memory that its accesses should be in
    Extent *allocations; // by site: the allocation of global memory that its last access was in,
    uint64_t seen_frees; // valid while memory_frees has this value
    SyncTable words;     // of global memory
    // Of the launch or, if blocks never wait for each other, of one block at a time:
    ReleasePool pool;
    RestTable rest; // of global memory
    Findings findings;
    Findings unsure; // of volatile accesses: a thread may still be found to wait for the word
    TouchedState touched;
};

// The checks of one Block.
struct Checker {
    Check *check;
    Arena arena; // freed with the Checker
    const Machine *machine;
    uint64_t block; // the block of the grid that it follows now
    ReleasePool *pool;
    Shadow shadow;   // of shared memory
    uint8_t *shared; // shared memory itself
    RestTable rest;  // accesses that do not fit into the shadow
    bool lost;       // out of memory: some accesses were not recorded
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

// After this many races of an instruction in a block, the checker ignores its further races there,
// to save time. The limit depends on the block's number, so that the findings do not depend on
// which host thread runs the block.
static inline uint16_t check_many_races(const Checker *checker) {
    enum { FIRST_BLOCKS = 64, OF_FIRST = 128, OF_OTHERS = 4 };
    return checker->block < FIRST_BLOCKS ? OF_FIRST : OF_OTHERS;
}
static inline bool check_saturated(const Checker *checker, Record record) {
    return checker->finding.races[record_site(record)] >= check_many_races(checker);
}

// Opens the observer that finds hazards, for SimtOptions.check.
void check_open(Observed *of);

#endif
