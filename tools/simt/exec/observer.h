// The interface through which observers watch a launch. exec/ does not know which observers exist.
//
// A machine has a list of observers. Up to three of them get events. While machine->observer is
// set, instructions that access memory or synchronize lanes of a warp call it before they run;
// while it is NULL, instructions run as they were lowered, at no cost. machine->profile gets
// attach, detach and access, the last only from instructions that may access shared memory.
// machine->trace gets access, arrive, complete, shuffle, join and race, before machine->observer
// does.
#ifndef OBSERVER_H
#define OBSERVER_H

#include "simt/exec/bulk.h"
#include "simt/memory/image.h"

typedef struct Observed Observed; // see observe/observed.h

// A race in shared memory, between two threads of a block.
typedef struct {
    uint64_t block;
    const Inst *inst, *other; // `other` is the earlier access
    uint32_t thread, other_thread;
    uint64_t address;
} ObserverRace;

// The functions of an observer, at the start of its state; NULL functions are not called. Events of
// different Blocks may come from different host threads at the same time. One Block runs many
// blocks of the grid, one after another.
struct Observer {
    Observer *next; // in machine->observers

    // The launch is over and its Blocks are freed: adds the findings to of->report.
    void (*report)(Observer *self, Observed *of);
    // Frees the observer, also when memory ran out.
    void (*close)(Observer *self, Observed *of);

    // For device/order_fork.c, which first runs the launch in a forked child. forked: in the child,
    // forgets earlier launches, whose records the child does not have. send: returns the child's
    // findings; receive: adds them to the parent's. All are set, or all are NULL.
    void (*forked)(void);
    const void *(*send)(Observer *self, size_t *bytes);
    void (*receive)(Observer *self, const void *found, size_t bytes);
    // In the child, after the launch: copies what the launch has written into the image.
    void (*fill)(Observer *self, Image *image);
    // The instruction of a record in the shadow of global memory; NULL: it is of another launch.
    const Inst *(*store)(const Observer *self, uint64_t record);

    // A Block is made and freed. Its block->watch belongs to machine->observer, block->profile to
    // machine->profile. attach: false when out of memory.
    bool (*attach)(Block *block);
    void (*detach)(Block *block);

    // A block of the grid starts in the Block, and ends, also by failure or deadlock; at the end
    // its warps still have their last state.
    void (*begin)(Block *block);
    void (*end)(Block *block);

    // The lanes access memory at these addresses, all in access->space, which is never PTX_GENERIC.
    // The addresses are not checked yet: they may be out of bounds.
    void (*access)(Warp *warp, const Access *access, uint32_t lanes, const uint64_t address[LANES]);

    // Whether it needs no `access` event for this weak load or store by all lanes at consecutive
    // addresses, which start at `first`. In shared memory volatile ones are included. Called before
    // access, which is skipped if true.
    bool (*whole)(Warp *warp, const Inst *inst, uint64_t first);
    // As access, for shared memory of another block of the cluster (NULL: no such block). The
    // addresses are offsets in that block.
    void (*remote)(Warp *warp, const Access *access, uint32_t lanes, Block *of,
                   const uint64_t address[LANES]);

    // warp->exec executes a fence: its order and scope are the instruction's.
    void (*fence)(Warp *warp, const Inst *inst);

    // A lane copies in bulk, or lanes store. The copy happens at once, and is then counted at the
    // mbarrier.
    void (*bulk)(Warp *warp, const Bulk *bulk);
    // warp->exec closes a group of asynchronous copies, or waits for groups, as its InstGroup says.
    void (*group)(Warp *warp, const Inst *inst);
    // These lanes' earlier copies (cp.async) will arrive at an mbarrier when they are done.
    void (*copies_arrive)(Warp *warp, const Inst *inst);

    // warp->exec has waited for the kernels that precede this one.
    void (*grid_waited)(Warp *warp);

    // A lane frees memory that the heap has not allocated, or that is already free.
    void (*bad_free)(Warp *warp, const Inst *inst, int lane, uint64_t address);

    // warp->exec arrives at a barrier of the block; the barrier is complete. counted: it waits for
    // a given number of threads, not for all.
    void (*arrive)(Warp *warp, const Inst *inst, uint32_t barrier, bool counted);
    void (*complete)(Block *block, uint32_t barrier);

    // warp->exec arrives at the barrier of its cluster, and has waited for it. Both come in the
    // order of their execution; the last arrival comes before cluster_complete.
    void (*cluster_arrive)(Warp *warp, const Inst *inst);
    void (*cluster_waited)(Warp *warp, const Inst *inst);
    void (*cluster_complete)(Block *block); // called for the cluster's first block

    // warp->exec reaches a warp-wide instruction; `named` is each lane's mask.
    void (*meet)(Warp *warp, const Inst *inst, const LaneU32 named[LANES]);
    // All `named` lanes that have not exited have arrived: `lanes`.
    void (*met)(Warp *warp, const Inst *inst, uint32_t named, uint32_t lanes);
    // These lanes take part in a shfl: each takes the value of its source lane. `value` has their
    // values.
    void (*shuffle)(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES],
                    const LaneU32 value[LANES]);
    // These lanes have synchronized at bar.warp.sync, as one set of lanes that named each other.
    void (*join)(Warp *warp, const Inst *inst, uint32_t lanes);

    // machine->observer has found a race: an access is about to be made that races with an earlier
    // one.
    void (*race)(Observer *self, const ObserverRace *race);

    // warp->exec is about to execute an instruction. Called while warp->followed is set, which the
    // observer sets and clears, and before the event of a shuffle or access.
    void (*step)(Warp *warp, const Inst *inst);
};

// Called before every launch: makes instructions call exactly the machine's observers.
void observer_watch(const Machine *machine);

// Runs a warp while it is followed; returns the next instruction, as an Op does.
const Inst *observer_follow(Warp *warp, const Inst *inst);

// Events that do not come from instructions.
bool observer_attach(Block *block);
void observer_detach(Block *block);
void observer_begin(Block *block);
void observer_end(Block *block);

static inline const Observer *observer_of(const Block *block) { return block->machine->observer; }

static inline void observer_fence(Warp *warp, const Inst *inst) {
    const Observer *observer = observer_of(warp->block);
    if (observer && observer->fence) observer->fence(warp, inst);
}

static inline void observer_bulk(Warp *warp, const Bulk *bulk) {
    const Observer *observer = observer_of(warp->block);
    if (observer && observer->bulk) observer->bulk(warp, bulk);
}

static inline void observer_group(Warp *warp, const Inst *inst) {
    const Observer *observer = observer_of(warp->block);
    if (observer && observer->group) observer->group(warp, inst);
}

static inline void observer_copies_arrive(Warp *warp, const Inst *inst) {
    const Observer *observer = observer_of(warp->block);
    if (observer && observer->copies_arrive) observer->copies_arrive(warp, inst);
}

static inline void observer_grid_waited(Warp *warp) {
    const Observer *observer = observer_of(warp->block);
    if (observer && observer->grid_waited) observer->grid_waited(warp);
}

static inline void observer_arrive(Warp *warp, const Inst *inst, uint32_t barrier, bool counted) {
    const Observer *observer = observer_of(warp->block), *trace = warp->block->machine->trace;
    if (trace) trace->arrive(warp, inst, barrier, counted);
    if (observer && observer->arrive) observer->arrive(warp, inst, barrier, counted);
}

static inline void observer_cluster_arrive(Warp *warp, const Inst *inst) {
    const Observer *observer = observer_of(warp->block);
    if (observer && observer->cluster_arrive) observer->cluster_arrive(warp, inst);
}

static inline void observer_cluster_waited(Warp *warp, const Inst *inst) {
    const Observer *observer = observer_of(warp->block);
    if (observer && observer->cluster_waited) observer->cluster_waited(warp, inst);
}

static inline void observer_cluster_complete(Block *block) {
    const Observer *observer = observer_of(block);
    if (observer && observer->cluster_complete) observer->cluster_complete(block);
}

static inline void observer_met(Warp *warp, const Inst *inst, uint32_t named, uint32_t lanes) {
    const Observer *observer = observer_of(warp->block);
    if (observer && observer->met) observer->met(warp, inst, named, lanes);
}

static inline void observer_shuffle(Warp *warp, const Inst *inst, uint32_t lanes,
                                    const int32_t source[LANES], const LaneU32 value[LANES]) {
    const Observer *observer = observer_of(warp->block), *trace = warp->block->machine->trace;
    if (trace) trace->shuffle(warp, inst, lanes, source, value);
    if (observer && observer->shuffle) observer->shuffle(warp, inst, lanes, source, value);
}

static inline void observer_join(Warp *warp, const Inst *inst, uint32_t lanes) {
    const Observer *observer = observer_of(warp->block), *trace = warp->block->machine->trace;
    if (trace) trace->join(warp, inst, lanes);
    if (observer && observer->join) observer->join(warp, inst, lanes);
}

static inline void observer_complete(Block *block, uint32_t barrier) {
    const Observer *observer = observer_of(block), *trace = block->machine->trace;
    if (trace) trace->complete(block, barrier);
    if (observer && observer->complete) observer->complete(block, barrier);
}

#endif
