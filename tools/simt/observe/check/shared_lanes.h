// Lanes at any addresses of shared memory, from the inside: loops over all of them, without
// branches, of which compilers make vectors. A lane that is off does in these what the first one
// does, once more. See shared.h.
#ifndef CHECK_SHARED_LANES_H
#define CHECK_SHARED_LANES_H

#include "simt/observe/check/shared.h"

// The cells that each lane touches, `each` of them, and the record of that.
typedef struct {
    const Cells *cells;
    uint32_t lanes, each;
    bool apart; // no two lanes touch the same; false: some may
    uint32_t cell[LANES];
    Record mine[LANES];
} Lanes;

static inline void shared_find_cells(const SharedTouch *at, Record base, uint32_t lanes, bool apart,
                                     Lanes *of) {
    const uint32_t first = (uint32_t)__builtin_ctz(lanes);
    const uint32_t first_address = (uint32_t)at->address[first];
    base = shared_record(at, base, 0);
    of->cells = &at->owner->cells;
    of->lanes = lanes;
    of->each = at->size / 4;
    LANE_LOOP {
        const bool on = lanes >> l & 1;
        of->cell[l] = (on ? (uint32_t)at->address[l] : first_address) / 4;
        of->mine[l] = base + ((Record)(on ? (uint32_t)l : first) << RECORD_THREAD);
    }
    of->apart = apart && lanes == ALL_LANES;
}

// The lanes' k-th records, and the least and the greatest of them.
typedef struct {
    Record at[LANES], least, greatest;
} Old;

static inline void shared_find_old(const Lanes *of, const Record *records, Old *old) {
    Record least = ~(Record)0, greatest = 0;
    LANE_LOOP old->at[l] = records[of->cell[l]];
    LANE_LOOP least = old->at[l] < least ? old->at[l] : least;
    LANE_LOOP greatest = old->at[l] > greatest ? old->at[l] : greatest;
    old->least = least;
    old->greatest = greatest;
}

// shared_quick of strong accesses: updates of words.
uint32_t shared_update_lanes(const SharedTouch *at, Record base);

#endif
