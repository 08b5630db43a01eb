// Races in shared memory from the inside: shared.c says what a race is, and looks at lanes one by
// one; shared_quick.c sees at once what most of them do, shared_whole.c what whole warps do.
#ifndef CHECK_SHARED_H
#define CHECK_SHARED_H

#include "simt/observe/check/inside.h"

// One access of a warp.
typedef struct {
    Checker *checker;
    Checker *owner; // of the memory: another block's, in a cluster
    Warp *warp;
    uint8_t *shared; // the memory
    const Access *access;
    const uint64_t *address;
    Record mine; // of its lane
    Record
        copy; // time of an asynchronous copy, which is recorded in place of the access's; 0: none
    Record floor;       // records from here on are not ordered by a barrier of all threads
    Record block_floor; // the block's own ones are from here on
    Record times, span; // where the block's own latest times are; without clusters all are its own
    Record start;       // earlier ones are of other blocks: the word is not written
    Record noise;       // those from here on are looked at; all others are not
    Record warp_floor;  // the warp's own earlier ones are ordered by bar.warp.sync
    uint32_t thread, lane, mask, size;
    AccessKind kind;
    bool strong, cluster;
} SharedTouch;

// Whether the access of this record is known to be the block's own, and no asynchronous copy's.
static inline bool shared_own(const SharedTouch *at, Record record) {
    return record - at->times < at->span;
}

// Whether it is not seen at once that the access of this record is ordered before one by `mine`, or
// by any lane of its warp. An asynchronous copy is no access of the lane that began it.
static inline __attribute__((always_inline)) uint32_t
shared_open(const SharedTouch *at, Record record, Record mine, bool any_lane) {
    const Record other = record ^ mine;
    const uint32_t earlier = ((uint32_t) !(other & RECORD_WARP_MASK) & (record < at->warp_floor)) |
                             (record < at->block_floor);
    const uint32_t same = (uint32_t)!any_lane & !(other & RECORD_LANE_MASK);
    return (record >= at->noise) & !((uint32_t)shared_own(at, record) & (earlier | same));
}

// A word of shared memory gets records for each of its bytes.
void shared_split_word(Checker *owner, uint32_t word);
// So do all words of which the lanes access less than the whole.
void shared_split_words(const SharedTouch *at, uint32_t lanes);
// Of lanes that access whole words, those of which a word has to keep such records.
uint32_t shared_split_lanes(const SharedTouch *at, uint32_t lanes);

// A record was noted that is no later than this one.
static inline void shared_noted(Record *latest, Record record) {
    if (record > *latest) *latest = record;
}

// Notes what no record says anything against, of all accesses but copies; `base`: the record of
// thread 0. The lanes that need a closer look.
uint32_t shared_quick(const SharedTouch *at, Record base);

#endif
