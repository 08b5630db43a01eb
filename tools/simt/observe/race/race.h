// Races, in shared and in global memory by one rule: two accesses of different threads to a byte of
// which one writes, that are not both strong at scopes that cover each other, and that nothing
// orders. PTX ISA, "Memory Consistency Model: Data-Races". Two stores of the same value are none.
//
// What is kept. Of each word, or byte, the last write and the last read. What comes next takes the
// place of one for which it stands: one that lies before it, so that whoever races with that races
// with the newer one, too. Else the older one stays beside it, as the second. Of a third, where
// only barriers of whole blocks and whole warps order threads, the farther one stays: of another
// block, of another warp, of another lane. That is enough: whoever comes behind both without order
// is of another block, warp or lane than one of the two. Else, as where a kernel can order some
// threads and not others (Code.partial), or where strong accesses lie beside weak ones, all are
// kept in a list of the memory's own (rest.h).
#ifndef CHECK_RACE_H
#define CHECK_RACE_H

#include "simt/observe/race/checker.h"

// One access of a warp, while it is held against the records of earlier ones.
typedef struct {
    Checker *checker;
    Checker *owner; // of shared memory, which may be another block's; NULL: global memory
    Warp *warp;
    const Access *access;
    const uint64_t *address;
    Shadow *shadow;     // of the memory at hand
    RestTable *rest;    // what its records have no room for
    Record base;        // of the warp's first lane
    Record mine;        // of the lane at hand
    Record copy;        // of an asynchronous copy, kept in place of mine; 0: it is none
    Record start;       // earlier ones are of other launches, or blocks: nothing is written
    Record noise;       // earlier ones are not looked at: all is before this access
    Record past;        // earlier ones lie before all that comes
    Record floor;       // the block's own earlier ones are ordered by a barrier,
    Record warp_floor;  // the warp's own by bar.warp.sync
    Record times, span; // where the block's own latest times are
    uint32_t mask, lane, size;
    AccessKind kind;
    bool strong, cluster, partial;
    bool volatiles; // the kernel has volatile stores, which are looked at
    bool constant;  // ld.global.nc
    bool exact;     // a record that is not in these times is another block's
} Race;

// An access by these lanes, whose addresses are good ones, to shared memory of a block, or `of`
// NULL to global memory. copy: the time of an asynchronous copy, 0: an access of the warp's own.
void race_begin(Race *at, Checker *checker, Block *of, Warp *warp, const Access *access,
                uint32_t mask, const uint64_t address[LANES], uint64_t copy);
// Holds these lanes' accesses against all earlier ones, and keeps them: those to elements one
// behind the other in rows.
void race_lanes(Race *at, uint32_t mask);

// The same of a weak access to words, or bytes, one behind the other, 1 << shift of them a lane's
// from lane `first` on. False: something has to be looked at lane by lane, and nothing was done.
enum { ROW_OF_ONE = 31 };
bool race_row(Race *at, uint32_t first, uint64_t address, uint64_t bytes, uint32_t shift);

// Copies of a lane that became accesses of a thread; all copies when a block begins.
void race_settle(Shadow *shadow, uint64_t address, uint64_t bytes, Record copy, Record mine);
void race_forget_copies(Shadow *shadow, Extent where);

// unwritten.c: a read of a byte that nothing has written, and whether an instruction has made so
// many that no more are looked at.
void unwritten_read(const Race *at, uint32_t byte);
bool unwritten_often(const Checker *checker, uint32_t site);

// What the row and the lanes share.

static inline bool race_own(const Race *at, Record record) { return record - at->times < at->span; }

// Whether it is seen at once that the access of this record lies before one of the thread of
// `mine`. An asynchronous copy is no access of the lane that began it.
static inline uint64_t race_settled(const Race *at, Record record, Record mine) {
    const Record other = record ^ mine;
    const uint64_t earlier = (uint64_t)(record < at->floor) | !(other & RECORD_LANE_MASK) |
                             ((uint64_t) !(other & RECORD_WARP_MASK) & (record < at->warp_floor));
    return (uint64_t)(record < at->noise) | ((uint64_t)race_own(at, record) & earlier);
}

// How far off the thread of a record that is not settled is: of the warp, of the block, of others.
static inline uint64_t race_distance(const Race *at, Record record, Record mine) {
    if (race_settled(at, record, mine)) return 0;
    if (!race_own(at, record)) return 3;
    return (record ^ mine) & RECORD_WARP_MASK ? 2 : 1;
}

// Nothing in a slot is later than the access of this record by any lane.
static inline void race_note_latest(Shadow *shadow, int slot, Record record) {
    const Record last = record | RECORD_LANE_MASK | 7;
    if (last > shadow->latest[slot]) shadow->latest[slot] = last;
}

// The record in a slot, 0 if none there is late enough to matter: of the last write, whether there
// is any.
static inline Record race_record(const Race *at, const Cells *cells, int slot, uint32_t k) {
    const Record least = slot == WRITE ? at->start : at->past;
    return at->shadow->latest[slot] >= least && cells->at[slot] ? cells->at[slot][k] : 0;
}

#endif
