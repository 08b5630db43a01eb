// The interface through which observers watch a launch. exec/ does not know which ones there are.
//
// A machine has a list of observers. Three of them may have a place for events. While
// machine->observer is set, instructions that access memory or synchronize lanes of a warp call it
// before they run; while it is NULL, instructions run as they were lowered, at no cost.
// machine->profile gets attach, detach and access, the last only from instructions that may access
// shared memory. machine->trace gets access, arrive, complete, shuffle, join and race, before
// machine->observer does.
#ifndef OBSERVER_H
#define OBSERVER_H

#include "simt/exec/bulk.h"

typedef struct Observed Observed; // see observe/observed.h

// A race in shared memory, between two threads of a block.
typedef struct {
    uint64_t block;
    const Inst *inst, *other; // the earlier access is the other's
    uint32_t thread, other_thread;
    uint64_t address;
} ObserverRace;

// The functions of an observer, at the start of its state. A NULL is not called. Events of
// different Blocks may come from different host threads at the same time. A Block stands for many
// blocks of the grid, one after another.
struct Observer {
    Observer *next; // in machine->observers

    // The launch is over and its Blocks are freed: adds what it saw to of->report.
    void (*report)(Observer *self, Observed *of);
    // Frees the observer, also when memory ran out.
    void (*close)(Observer *self, Observed *of);

    // For device/orders.c, which runs the launch in a forked child first. forked: in the child,
    // forgets earlier launches, whose records the child does not have. send: what the child found;
    // receive: adds it to what the parent finds. Either all three are NULL or none.
    void (*forked)(void);
    const void *(*send)(Observer *self, size_t *bytes);
    void (*receive)(Observer *self, const void *found, size_t bytes);

    // A Block is made and freed. Its block->watch belongs to machine->observer, block->profile to
    // machine->profile. attach: false when out of memory.
    bool (*attach)(Block *block);
    void (*detach)(Block *block);

    // A block of the grid starts in it, and ends, also by failing or by being stuck; its warps are
    // then still as they were.
    void (*begin)(Block *block);
    void (*end)(Block *block);

    // The lanes access memory, all in access->space, which is never PTX_GENERIC, at these addresses
    // within it. Not checked yet: they may lie outside.
    void (*access)(Warp *warp, const Access *access, uint32_t lanes, const uint64_t address[LANES]);

    // Whether it knows all it wants of a weak load or store of all lanes, in shared memory also of
    // a volatile one, at consecutive addresses, the first of which is this one: asked before
    // access, which then is not called.
    bool (*whole)(Warp *warp, const Inst *inst, uint64_t first);
    // As access, for shared memory of another block of the cluster (NULL: of none). The addresses
    // are within it.
    void (*remote)(Warp *warp, const Access *access, uint32_t lanes, Block *of,
                   const uint64_t address[LANES]);

    // warp->exec executes a fence: its order and scope are the instruction's.
    void (*fence)(Warp *warp, const Inst *inst);

    // A lane copies in bulk, or lanes store; it is done at once, and then counted at the mbarrier.
    void (*bulk)(Warp *warp, const Bulk *bulk);
    // warp->exec closes a group of asynchronous copies, or waits for groups, as its InstGroup says.
    void (*group)(Warp *warp, const Inst *inst);
    // The copies that these lanes have made (cp.async) arrive at an mbarrier when they are done.
    void (*copies_arrive)(Warp *warp, const Inst *inst);

    // warp->exec has waited for the kernels in front of this one.
    void (*grid_waited)(Warp *warp);

    // A lane frees what the heap has not given it, or what was freed before.
    void (*bad_free)(Warp *warp, const Inst *inst, int lane, uint64_t address);

    // warp->exec arrives at a barrier of the block; the barrier is complete.
    // counted: it waits for a number of threads, not for all.
    void (*arrive)(Warp *warp, const Inst *inst, uint32_t barrier, bool counted);
    void (*complete)(Block *block, uint32_t barrier);

    // warp->exec arrives at the barrier of its cluster, and has waited for it. Both come in the
    // order of their execution, an arrival before the barrier is complete with it.
    void (*cluster_arrive)(Warp *warp, const Inst *inst);
    void (*cluster_waited)(Warp *warp, const Inst *inst);
    void (*cluster_complete)(Block *block); // of its first block

    // warp->exec comes to a warp-wide instruction, each lane naming those that it meets there.
    void (*meet)(Warp *warp, const Inst *inst, const LaneU32 named[LANES]);
    // All that are still there of the `named` lanes have met: `lanes`.
    void (*met)(Warp *warp, const Inst *inst, uint32_t named, uint32_t lanes);
    // Of these lanes, which have met at a shfl, each takes the value of a source; they have these.
    void (*shuffle)(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES],
                    const LaneU32 value[LANES]);
    // These lanes have met at bar.warp.sync, those that named each other at a time, which orders
    // them.
    void (*join)(Warp *warp, const Inst *inst, uint32_t lanes);

    // machine->observer has found a race of an access that is about to be made.
    void (*race)(Observer *self, const ObserverRace *race);

    // warp->exec is about to execute an instruction; while warp->followed, which the observer sets
    // and clears, at a shuffle or an access first.
    void (*step)(Warp *warp, const Inst *inst);
};

// Before every launch: lets those who watch the machine, and no others, see its instructions.
void observer_watch(const Machine *machine);

// Runs a warp as long as it is followed; the next instruction, as of an Op.
const Inst *observer_follow(Warp *warp, const Inst *inst);

// What others than the instructions tell.
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
