// Finds data races in shared and global memory. A race is two accesses to a byte by different
// threads, of which at least one writes, that are not both strong with scopes that include each
// other, and neither of which happens before the other (PTX ISA, "Memory Consistency Model:
// Data-Races"). Two stores of the same value are not reported.
//
// Each word, or byte, has records of its last write and its last read. A new access replaces the
// record of one that happens before it: whatever races with the old one later also races with the
// new one. Otherwise the old record becomes the second one. If only barriers of whole blocks and
// whole warps order threads, the two most distant of three accesses are enough: another block is
// more distant than another warp, and another warp than another lane. A later access that is
// ordered after neither of the two differs from at least one of them in its block, warp or lane. If
// a kernel can order some threads and not others (Code.partial), or if strong and weak accesses are
// mixed, all accesses are saved (rest.h).
#ifndef CHECK_RACE_H
#define CHECK_RACE_H

#include "simt/observe/race/checker.h"

// One access of a warp, while it is checked against the records of earlier ones.
typedef struct {
    Checker *checker;
    Checker *owner; // of shared memory, which may be another block's; NULL: global memory
    Warp *warp;
    const Access *access;
    const uint64_t *address;
    Shadow *shadow;     // records of the memory that is accessed
    RestTable *rest;    // accesses that do not fit into them
    Record base;        // of the warp's first lane
    Record mine;        // of the lane that is checked
    Record copy;        // of an asynchronous copy, recorded in place of mine; 0: not a copy
    Record start;       // earlier records are of other launches or blocks: the word is unwritten
    Record skip;        // earlier records are treated as ordered before this access
    Record all_before;  // earlier records happen before every access from now on
    Record floor;       // earlier records of the block happen before, by a barrier,
    Record warp_floor;  // and earlier ones of the warp, by bar.warp.sync
    Record times, span; // the range of the block's own latest times
    uint32_t mask, lane, size;
    AccessKind kind;
    bool strong, cluster, partial;
    bool volatiles; // the kernel has volatile stores, and they are checked
    bool constant;  // ld.global.nc or, of a write, the launch has such reads
    bool exact;     // a record outside of [times, times + span) is another block's
} Race;

// Begins an access by these lanes, whose addresses are valid, to shared memory of block `of`, or to
// global memory if that is NULL. copy: the time of an asynchronous copy; 0: the warp's own access.
void race_begin(Race *at, Checker *checker, Block *of, Warp *warp, const Access *access,
                uint32_t mask, const uint64_t address[LANES], uint64_t copy);
// Checks these lanes' accesses against all earlier ones, and records them. Accesses to consecutive
// elements are checked in ranges.
void race_lanes(Race *at, uint32_t mask);

// The same for a weak access to consecutive words, or bytes, 1 << shift of them for each lane from
// `first` on. False: nothing was done, and race_lanes has to check each lane.
enum { RANGE_OF_ONE = 31 };
bool race_range(Race *at, uint32_t first, uint64_t address, uint64_t bytes, uint32_t shift);

// A lane has waited for its asynchronous copy: from here on, the bytes count as accessed by its
// thread.
void race_complete_copy(Shadow *shadow, uint64_t address, uint64_t bytes, Record copy, Record mine);
// Removes the records of all asynchronous copies.
void race_forget_copies(Shadow *shadow, Extent where);

// In unwritten.c: reports a read of an unwritten byte; whether an instruction has made many such
// reads that no more are checked.
void unwritten_read(const Race *at, uint32_t byte);
bool unwritten_often(const Checker *checker, uint32_t site);

// --- for race.c and range.c ---

static inline bool race_own(const Race *at, Record record) { return record - at->times < at->span; }

// Whether a quick test shows that the access of a record happens before `mine`. An asynchronous
// copy is no access of the lane that started it.
static inline uint64_t race_before(const Race *at, Record record, Record mine) {
    const Record other = record ^ mine;
    const uint64_t earlier = (uint64_t)(record < at->floor) | !(other & RECORD_LANE_MASK) |
                             ((uint64_t) !(other & RECORD_WARP_MASK) & (record < at->warp_floor));
    return (uint64_t)(record < at->skip) | ((uint64_t)race_own(at, record) & earlier);
}

// The distance of a record's thread: 0 if its access is ordered before, 1 in the same warp, 2 in
// the same block, 3 in another block.
static inline uint64_t race_distance(const Race *at, Record record, Record mine) {
    if (race_before(at, record, mine)) return 0;
    if (!race_own(at, record)) return 3;
    return (record ^ mine) & RECORD_WARP_MASK ? 2 : 1;
}

// Raises Shadow.latest to this record, made by any lane of its warp.
static inline void race_note_latest(Shadow *shadow, int slot, Record record) {
    const Record last = record | RECORD_LANE_MASK | 7;
    if (last > shadow->latest[slot]) shadow->latest[slot] = last;
}

// The record in a slot; 0 if no record there is late enough to matter.
static inline Record race_record(const Race *at, const Cells *cells, int slot, uint32_t k) {
    const Record least = slot == WRITE ? at->start : at->all_before;
    return at->shadow->latest[slot] >= least && cells->at[slot] ? cells->at[slot][k] : 0;
}

#endif
