// Atomic updates of words of shared memory that others only update too, which is no race. See
// shared.h.
#include "simt/observe/check/shared_lanes.h"

// Whether an access of this record and an update by `mine` are ordered, or both strong.
static inline bool beside_update(const SharedTouch *at, Record record, Record mine) {
    return record_scope(record) || !shared_open(at, record, mine, false);
}

// Keeps a write for which the word has no room and that nothing orders, or a plain store, for which
// an update does not stand.
static void give_way(const SharedTouch *at, Record write, uint32_t word, Record mine) {
    if (write >= at->noise && (!record_scope(write) || shared_open(at, write, mine, false)))
        shared_add_rest(at, write, word * 4, 4, true);
}

// A word that others too only update. False: a closer look.
static bool update_word(const SharedTouch *at, const Cells *cells, uint32_t k, Record mine) {
    const Record write = cells->write[k], write_2 = cells->write_2[k];
    const bool quiet =
        write >= at->start && beside_update(at, write, mine) && beside_update(at, write_2, mine) &&
        beside_update(at, cells->read[k], mine) && beside_update(at, cells->read_2[k], mine);
    if (!quiet) return false;
    const bool keeps = shared_keeps(at, write, write_2, mine);
    if (at->partial) give_way(at, keeps ? write_2 : write, k, mine);
    if (keeps) {
        cells->write_2[k] = write;
        shared_noted_second(at->owner, k, write);
    }
    cells->write[k] = mine;
    return true;
}

// The same of many lanes: adds to `wrong` where an access of these records and the lanes' updates
// are neither ordered nor both strong.
static inline void add_beside(const SharedTouch *at, const Lanes *of, const Record *records,
                              Record start, uint64_t wrong[LANES]) {
    const SharedTouch local = *at;
    Old old;
    shared_find_old(of, records, &old);
    if (old.least < start) LANE_LOOP wrong[l] |= (uint64_t)(old.at[l] < start);
    if (old.greatest < local.noise) return;
    LANE_LOOP {
        const uint64_t weak = old.at[l] & 3 ? 0 : 1;
        wrong[l] |= weak & (uint64_t)shared_open(&local, old.at[l], of->mine[l], false);
    }
}

// Whether no lane needs a closer look; a lane's own update is none to the others.
static bool quiet_updates(const SharedTouch *at, const Lanes *of) {
    uint64_t wrong[LANES] = {0}, any = 0;
    add_beside(at, of, of->cells->write, at->start, wrong);
    if (shared_any_write_2(at)) add_beside(at, of, of->cells->write_2, 0, wrong);
    if (shared_any_read(at)) add_beside(at, of, of->cells->read, 0, wrong);
    if (shared_any_read_2(at)) add_beside(at, of, of->cells->read_2, 0, wrong);
    LANE_LOOP any |= wrong[l];
    return !any;
}

// shared_keeps of records of which none is a copy's, where SharedTouch.plain.
static inline bool keeps_plain(Record write, Record second, Record mine, Record floor) {
    const uint64_t late = (uint64_t)(write >= floor), late_2 = (uint64_t)(second >= floor);
    const uint64_t weak = write & 3 ? 0 : late, weak_2 = second & 3 ? 0 : late_2;
    const uint64_t strange = (write ^ mine) & RECORD_LANE_MASK ? 1 : 0;
    const uint64_t far = (write ^ mine) & RECORD_WARP_MASK ? 1 : 0;
    const uint64_t far_2 = (second ^ mine) & RECORD_WARP_MASK ? late_2 : 0;
    return weak | ((weak_2 ^ 1) & strange & (far | (far_2 ^ 1)));
}

static inline __attribute__((always_inline)) void note_updates(const SharedTouch *at,
                                                               const Lanes *of, bool plain) {
    Record *write = of->cells->write, *write_2 = of->cells->write_2, latest = 0;
    const Record floor = at->floor;
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t m = of->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), k = of->cell[lane];
        const Record old = write[k], mine = of->mine[lane];
        const bool keeps = plain ? keeps_plain(old, write_2[k], mine, floor)
                                 : shared_keeps(at, old, write_2[k], mine);
        if (!plain && at->partial) give_way(at, keeps ? write_2[k] : old, k, mine);
        write[k] = mine;
        if (!keeps) continue;
        write_2[k] = old;
        shared_noted(&latest, old);
        low = k < low ? k : low;
        high = k > high ? k : high;
    }
    if (!latest) return;
    shared_noted_second(at->owner, low, latest);
    shared_noted_second(at->owner, high, latest);
}

uint32_t shared_update_lanes(const SharedTouch *at, Record base) {
    enum { FEW_LANES = 4 };
    uint32_t left = 0;
    if (at->kind != ACCESS_ATOMIC || at->size != 4) return at->mask;
    if (shared_split_lanes(at, at->mask)) return at->mask;
    if (__builtin_popcount(at->mask) > FEW_LANES) {
        Lanes of;
        shared_find_cells(at, base, at->mask, false, &of);
        if (quiet_updates(at, &of)) {
            if (at->plain)
                note_updates(at, &of, true);
            else
                note_updates(at, &of, false);
            return 0;
        }
    }
    for (uint32_t m = at->mask; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), word = (uint32_t)at->address[lane] / 4;
        if (!update_word(at, &at->owner->cells, word, shared_record(at, base, lane)))
            left |= 1u << lane;
    }
    return left;
}
