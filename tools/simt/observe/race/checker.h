// simt --check: finds hazards while a kernel runs. Each Block has a Checker, which follows it
// through all blocks of the grid that it stands for.
//
// The checker is a happens-before detector, as FastTrack is (Flanagan and Freund, 2009), with the
// hierarchy of the GPU in place of one clock for each thread. Barriers order whole blocks, so one
// number for a block, and one for a warp where only some take part, says what is ordered inside it.
// Between blocks only words of memory carry order. record.h: what is recorded of an access;
// shadow.h: where; race.h: the rule. What orders accesses: sync.h (barriers), order.h and release.h
// (words of memory), cluster.h, copy.h.
//
// All blocks run on one host thread (schedule.c). So whether a store changes memory, and which
// access to a word was the last, have one answer, and the findings are the same every time.
//
// The states of the checker's modules are side by side here. A module's state and functions are in
// its own header; its functions take the Checker, so modules that call each other include this one.
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

// Opens the observer that finds hazards, for SimtOptions.check.
void check_open(Observed *of);

#endif
