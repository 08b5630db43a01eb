// Many lanes at once, where nothing happened since the last barrier that matters: see shared.h.
//
// Lanes one behind the other are compared and noted as a run of words, few others one by one, and
// many in loops over all lanes, without branches, of which compilers make vectors. A lane that is
// off does in these what the first one does, once more.
#include <string.h>

#include "simt/observe/check/shared_lanes.h"

#define ALWAYS static inline __attribute__((always_inline))

// --- runs ---

// Lanes one behind the other whose words are too, or are the same.
typedef struct {
    uint32_t lane, lanes;
    uint32_t word, words; // `each` of them a lane's, or all of them every lane's
    bool same;
} Run;

// How the lanes' words lie: a bit for each lane behind which the next one's are, or the same.
typedef struct {
    uint32_t on, same;
} Pattern;

static inline Pattern pattern_of(const SharedTouch *at) {
    const uint64_t *address = at->address, size = at->size;
    uint32_t on = 0;
    for (uint32_t l = 0; l < LANES - 1; l++)
        on |= (uint32_t)(address[l + 1] == address[l] + size) << l;
    return (Pattern){on & at->mask & at->mask >> 1, shared_same(at)};
}

static uint32_t length(uint32_t bits, uint32_t lane) {
    const uint32_t rest = ~(bits >> lane);
    return rest ? (uint32_t)__builtin_ctz(rest) : LANES;
}

static Run run_of(const SharedTouch *at, const Pattern *pattern, uint32_t lane, uint32_t each) {
    const uint32_t on = length(pattern->on, lane), same = length(pattern->same, lane);
    const bool equal = same > on;
    return (Run){.lane = lane,
                 .lanes = 1 + (equal ? same : on),
                 .word = (uint32_t)at->address[lane] / 4,
                 .words = each * (equal ? 1 : 1 + on),
                 .same = equal};
}

ALWAYS bool quiet_load(const SharedTouch *at, Record base, const Run *run, uint32_t shift) {
    const SharedTouch local = *at;
    const Record *write = at->owner->cells.write + run->word;
    const Record *write_2 = at->owner->cells.write_2 + run->word;
    const bool same = run->same;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < run->words; k++) wrong |= (uint32_t)(write[k] < local.start);
    for (uint32_t k = 0; shared_any_write(at) && k < run->words; k++) {
        const Record mine = base + ((Record)(k >> shift) << RECORD_THREAD);
        wrong |= shared_open(&local, write[k], mine, same);
    }
    for (uint32_t k = 0; shared_any_write_2(at) && k < run->words; k++)
        wrong |= (uint32_t)(write_2[k] >= local.noise);
    return !wrong;
}

ALWAYS bool quiet_store(const SharedTouch *at, Record base, const Run *run, uint32_t shift) {
    const SharedTouch local = *at;
    const Cells *cells = &at->owner->cells;
    const Record *write = cells->write + run->word, *write_2 = cells->write_2 + run->word;
    const Record *read = cells->read + run->word, *read_2 = cells->read_2 + run->word;
    const bool same = run->same;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < run->words; k++) {
        const Record mine = base + ((Record)(k >> shift) << RECORD_THREAD);
        wrong |= shared_open(&local, write[k], mine, same);
    }
    for (uint32_t k = 0; shared_any_read(at) && k < run->words; k++) {
        const Record mine = base + ((Record)(k >> shift) << RECORD_THREAD);
        wrong |= shared_open(&local, read[k], mine, same);
    }
    for (uint32_t k = 0; shared_any_write_2(at) && k < run->words; k++)
        wrong |= (uint32_t)(write_2[k] >= local.noise);
    for (uint32_t k = 0; shared_any_read_2(at) && k < run->words; k++) {
        const Record mine = base + ((Record)(k >> shift) << RECORD_THREAD);
        wrong |= shared_open(&local, read_2[k], mine, same);
    }
    return !wrong;
}

// Of the reads that the lanes' take the place of, and of the lanes', those for which there is no
// room.
static void give_way(const SharedTouch *at, Record base, const Run *run, uint32_t shift) {
    const Cells *cells = &at->owner->cells;
    for (uint32_t k = 0; k < run->words; k++) {
        const Record mine = base + ((Record)(k >> shift) << RECORD_THREAD);
        const Record old = cells->read[run->word + k], second = cells->read_2[run->word + k];
        if (shared_stands_for(at, old, mine)) continue;
        if (shared_stays(at, old, second, mine))
            shared_add_rest(at, mine, (run->word + k) * 4, 4, false);
        else
            shared_give_way(at, second, run->word + k, mine);
    }
}

ALWAYS void note_reads(const SharedTouch *at, Record base, const Run *run, uint32_t shift) {
    Record *read = at->owner->cells.read + run->word;
    Record *read_2 = at->owner->cells.read_2 + run->word;
    const SharedTouch local = *at;
    uint32_t others = 0;
    for (uint32_t k = 0; shared_read_before(at) && k < run->words; k++)
        others |= (uint32_t)!shared_stands_for(&local, read[k],
                                               base + ((Record)(k >> shift) << RECORD_THREAD));
    if (!others) {
        for (uint32_t k = 0; k < run->words; k++)
            read[k] = base + ((Record)(k >> shift) << RECORD_THREAD);
        return;
    }
    if (local.partial) give_way(at, base, run, shift);
    for (uint32_t k = 0; k < run->words; k++) {
        const Record mine = base + ((Record)(k >> shift) << RECORD_THREAD);
        const Record old = read[k], second = read_2[k];
        const bool first = shared_stands_for(&local, old, mine);
        read[k] = first ? mine : old;
        read_2[k] = first | shared_stays(&local, old, second, mine) ? second : mine;
    }
    shared_noted(&at->owner->latest_read_2, base | RECORD_LANE_MASK);
}

// All lanes of the run read the same: as if one after the other did.
static void note_same_reads(const SharedTouch *at, Record base, const Run *run) {
    const Cells *cells = &at->owner->cells;
    const Record last = base + ((Record)(run->lanes - 1) << RECORD_THREAD);
    for (uint32_t k = run->word; k < run->word + run->words; k++) {
        Record old = cells->read[k];
        if (at->plain && shared_told(old, cells->read_2[k], at->floor)) continue;
        const uint32_t lane = record_thread(old) - record_thread(base); // may be none of these
        Record first = base, other = last;
        if (old >= at->floor) {
            const bool own = lane < run->lanes && shared_own(at, old);
            const bool earlier = shared_stands_for(at, old, last);
            first = own ? base + ((Record)lane << RECORD_THREAD) : earlier ? base : old;
            if (first == last) other = last - ((Record)1 << RECORD_THREAD);
        }
        cells->read[k] = first;
        if (!shared_stays(at, first, cells->read_2[k], last)) cells->read_2[k] = other;
    }
    shared_noted(&at->owner->latest_read_2, base | RECORD_LANE_MASK);
}

ALWAYS void note_stores(const SharedTouch *at, Record base, const Run *run, uint32_t shift) {
    Record *write = at->owner->cells.write + run->word;
    for (uint32_t k = 0; k < run->words; k++)
        write[k] = base + ((Record)(k >> shift) << RECORD_THREAD);
}

// All lanes of the run store the same value in the same words: two are remembered.
static bool note_same_stores(const SharedTouch *at, Record base, const Run *run) {
    uint8_t first[16], other[16];
    if (at->size > sizeof first || at->partial ||
        !address_stored(at->warp, at->access, run->lane, 0, at->size, first))
        return false;
    for (uint32_t l = run->lane + 1; l < run->lane + run->lanes; l++) {
        if (!address_stored(at->warp, at->access, l, 0, at->size, other)) return false;
        if (memcmp(first, other, at->size) != 0) return false;
    }
    const Record last = base + ((Record)(run->lanes - 1) << RECORD_THREAD);
    for (uint32_t k = run->word; k < run->word + run->words; k++) {
        at->owner->cells.write[k] = last;
        at->owner->cells.write_2[k] = base;
        shared_noted_second(at->owner, k, base);
    }
    return true;
}

static bool note_run(const SharedTouch *at, Record base, const Run *run, uint32_t shift) {
    base = shared_record(at, base, run->lane);
    if (at->kind == ACCESS_LOAD) {
        if (!quiet_load(at, base, run, shift)) return false;
        if (run->same && at->partial && run->lanes > 1) return false;
        if (run->same)
            note_same_reads(at, base, run);
        else if (at->plain && shared_read_before(at))
            shared_note_plain(at->owner, run->word, run->words, shift, base, at->floor,
                              at->warp_floor);
        else
            note_reads(at, base, run, shift);
        return true;
    }
    if (!quiet_store(at, base, run, shift)) return false;
    if (run->same) return note_same_stores(at, base, run);
    note_stores(at, base, run, shift);
    return true;
}

// --- lanes at any addresses ---

// How far each lane's address lies behind that of the lane before, if all are on and this is the
// same for all; else 0.
static int32_t even_stride(const SharedTouch *at) {
    const uint64_t *address = at->address;
    const uint32_t first = (uint32_t)address[0], stride = (uint32_t)address[1] - first;
    uint32_t stray = at->mask != ALL_LANES;
    LANE_LOOP stray |= (first + stride * (uint32_t)l) ^ (uint32_t)address[l];
    return stray ? 0 : (int32_t)stride;
}

// Adds to `wrong` where it is not seen at once that the accesses of these records are ordered
// before those of the lanes.
static inline void add_open(const SharedTouch *at, const Lanes *of, const Record *records,
                            uint64_t wrong[LANES]) {
    const SharedTouch local = *at;
    Old old;
    shared_find_old(of, records, &old);
    if (old.greatest < local.noise) return;
    LANE_LOOP wrong[l] |= (uint64_t)shared_open(&local, old.at[l], of->mine[l], false);
}

// The same of last writes, of which a load wants that there was one; and of second ones.
static inline void add_writes(const SharedTouch *at, const Lanes *of, uint32_t k, Record start,
                              uint64_t wrong[LANES]) {
    const SharedTouch local = *at;
    Old old;
    shared_find_old(of, of->cells->write + k, &old);
    if (old.least < start) LANE_LOOP wrong[l] |= (uint64_t)(old.at[l] < start);
    if (old.greatest >= local.noise)
        LANE_LOOP wrong[l] |= (uint64_t)shared_open(&local, old.at[l], of->mine[l], false);
    if (!shared_any_write_2(at)) return;
    shared_find_old(of, of->cells->write_2 + k, &old);
    LANE_LOOP wrong[l] |= (uint64_t)(old.at[l] >= local.noise);
}

// A bit for each lane that has something to look at.
static inline uint32_t open_lanes(const SharedTouch *at, const Lanes *of) {
    const bool loads = at->kind == ACCESS_LOAD;
    const Record start = loads ? at->start : 0;
    uint64_t wrong[LANES] = {0}, any = 0;
    uint32_t bits = 0;
    for (uint32_t k = 0; k < of->each; k++) {
        if (start || shared_any_write(at) || shared_any_write_2(at))
            add_writes(at, of, k, start, wrong);
        if (!loads && shared_any_read(at)) add_open(at, of, of->cells->read + k, wrong);
        if (!loads && shared_any_read_2(at)) add_open(at, of, of->cells->read_2 + k, wrong);
    }
    LANE_LOOP any |= wrong[l];
    if (any) LANE_LOOP bits |= (uint32_t)(wrong[l] != 0) << l;
    return bits & of->lanes;
}

// Sets the last reads where the lanes' stand for what was. Whether they do everywhere.
static inline bool set_reads(const SharedTouch *at, const Lanes *of, Record *read) {
    const SharedTouch local = *at;
    uint64_t others[LANES], any = 0;
    Old old;
    if (shared_read_before(at)) {
        shared_find_old(of, read, &old);
        LANE_LOOP others[l] = !shared_stands_for(&local, old.at[l], of->mine[l]);
        LANE_LOOP any |= others[l];
    }
    for (int l = 0; !any && l < LANES; l++) read[of->cell[l]] = of->mine[l];
    for (int l = 0; any && l < LANES; l++)
        if (!others[l]) read[of->cell[l]] = of->mine[l];
    return !any;
}

// The lanes whose reads tell of something that the two that are noted do not.
static inline uint32_t untold_lanes(const SharedTouch *at, const Lanes *of, const Record *read,
                                    const Record *read_2) {
    const Record floor = at->floor;
    uint64_t untold[LANES], any = 0;
    uint32_t bits = 0;
    LANE_LOOP {
        const Record first = read[of->cell[l]], second = read_2[of->cell[l]];
        untold[l] = (uint64_t)(first != of->mine[l]) & (shared_told(first, second, floor) ^ 1);
    }
    LANE_LOOP any |= untold[l];
    if (any) LANE_LOOP bits |= (uint32_t)untold[l] << l;
    return bits;
}

// note_cell_reads where only barriers of whole warps and of the block order threads.
static inline void note_cell_reads_plain(const SharedTouch *at, const Lanes *of, uint32_t k) {
    Record *read = of->cells->read + k, *read_2 = of->cells->read_2 + k;
    if (set_reads(at, of, read) && of->apart) return;
    const uint32_t untold = untold_lanes(at, of, read, read_2);
    for (uint32_t m = untold; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        read_2[of->cell[l]] = of->mine[l];
    }
    if (untold) shared_noted(&at->owner->latest_read_2, of->mine[0] | RECORD_LANE_MASK);
}

// Of several lanes that read one cell two are remembered.
static inline void note_cell_reads(const SharedTouch *at, const Lanes *of, uint32_t k) {
    Record *read = of->cells->read + k, *read_2 = of->cells->read_2 + k, old[LANES], others = 0;
    if (set_reads(at, of, read) && of->apart) return;
    LANE_LOOP old[l] = read[of->cell[l]] ^ of->mine[l];
    LANE_LOOP others |= old[l];
    if (!others) return;
    for (int l = 0; l < LANES; l++) {
        const uint32_t cell = of->cell[l];
        const Record mine = of->mine[l], second = read_2[cell];
        if (!old[l]) continue;
        if (shared_stays(at, read[cell], second, mine)) {
            shared_add_rest(at, mine, (cell + k) * 4, 4, false);
            continue;
        }
        shared_give_way(at, second, cell + k, mine);
        read_2[cell] = mine;
    }
    shared_noted(&at->owner->latest_read_2, of->mine[0] | RECORD_LANE_MASK);
}

// False: two lanes store to one cell, and all is as before.
static inline bool note_cell_stores(const Lanes *of) {
    Record *write = of->cells->write, old[4][LANES], twice = 0;
    for (uint32_t k = 0; !of->apart && k < of->each; k++)
        LANE_LOOP old[k][l] = write[of->cell[l] + k];
    for (uint32_t k = 0; k < of->each; k++)
        for (int l = 0; l < LANES; l++) write[of->cell[l] + k] = of->mine[l];
    if (of->apart) return true;
    for (uint32_t k = 0; k < of->each; k++) LANE_LOOP twice |= write[of->cell[l] + k] ^ of->mine[l];
    if (!twice) return true;
    for (uint32_t k = 0; k < of->each; k++)
        for (int l = 0; l < LANES; l++) write[of->cell[l] + k] = old[k][l];
    return false;
}

// The lanes that need a closer look, as those of `left` do.
static uint32_t note_lanes(const SharedTouch *at, Record base, uint32_t left) {
    const uint32_t lanes = at->mask;
    const bool apart = even_stride(at) != 0;
    Lanes of;
    if (!(lanes & ~left)) return left;
    shared_find_cells(at, base, lanes & ~left, apart, &of);
    const uint32_t open = open_lanes(at, &of);
    if (open == of.lanes) return lanes;
    left |= open;
    if (open) shared_find_cells(at, base, lanes & ~left, apart, &of);
    if (at->kind != ACCESS_LOAD) return note_cell_stores(&of) ? left : lanes;
    for (uint32_t k = 0; k < of.each; k++)
        at->plain ? note_cell_reads_plain(at, &of, k) : note_cell_reads(at, &of, k);
    return left;
}

// One lane, whose cells no lane beside it has to do with. False: a closer look.
static bool quick_lane(const SharedTouch *at, Record base, uint32_t lane) {
    const bool loads = at->kind == ACCESS_LOAD;
    if (shared_split_lanes(at, 1u << lane)) return false;
    const Cells *cells = &at->owner->cells;
    const uint32_t first = (uint32_t)at->address[lane] / 4, count = at->size / 4;
    const Record start = loads ? at->start : 0, mine = shared_record(at, base, lane);
    uint32_t wrong = 0;
    for (uint32_t k = first; k < first + count; k++) {
        wrong |= (uint32_t)(cells->write[k] < start) |
                 shared_open(at, cells->write[k], mine, false) |
                 (uint32_t)(cells->write_2[k] >= at->noise);
        if (!loads)
            wrong |= shared_open(at, cells->read[k], mine, false) |
                     shared_open(at, cells->read_2[k], mine, false);
    }
    if (wrong) return false;
    for (uint32_t k = first; k < first + count; k++) {
        const Record old = cells->read[k], second = cells->read_2[k];
        const bool again = shared_stands_for(at, old, mine);
        if (loads && !again && shared_stays(at, old, second, mine)) {
            shared_add_rest(at, mine, k * 4, 4, false);
            continue;
        }
        if (loads && !again) shared_give_way(at, second, k, mine);
        *(!loads ? &cells->write[k] : again ? &cells->read[k] : &cells->read_2[k]) = mine;
        if (loads && !again) shared_noted(&at->owner->latest_read_2, mine);
    }
    return true;
}

static uint32_t one_by_one(const SharedTouch *at, Record base) {
    uint32_t left = 0;
    for (uint32_t m = at->mask; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        left |= (uint32_t)!quick_lane(at, base, lane) << lane;
    }
    return left;
}

// --- stores of what is there ---

// Whether a write matters to a store that leaves all as it is: copies and strong writes do,
// whatever they wrote.
static bool matters(const SharedTouch *at, Record write, Record mine) {
    return (record_scope(write) || record_is_copy(write)) && shared_open(at, write, mine, false);
}

// Whether only that the value is another one would make a race of this lane's store.
static bool only_by_value(const SharedTouch *at, const Cells *cells, uint32_t k, Record mine) {
    return !matters(at, cells->write[k], mine) && !matters(at, cells->write_2[k], mine) &&
           !shared_open(at, cells->read[k], mine, false) &&
           !shared_open(at, cells->read_2[k], mine, false);
}

// Of such stores that nothing orders two are kept.
static void note_equal(const SharedTouch *at, const Cells *cells, uint32_t k, bool bytes,
                       Record mine) {
    const Record write = cells->write[k], second = cells->write_2[k];
    const uint32_t word = bytes ? k / 4 : k, byte = bytes ? k : k * 4, count = bytes ? 1 : 4;
    const bool nearer = shared_same_warp(at, second, mine) && !shared_same_warp(at, write, mine);
    const bool open_2 = shared_open(at, second, mine, false);
    cells->write[k] = mine;
    if (!shared_open(at, write, mine, false)) return;
    if (open_2) shared_add_rest(at, nearer ? second : write, byte, count, true);
    if (open_2 && !nearer) return;
    cells->write_2[k] = write;
    shared_noted_second(at->owner, word, write);
}

// Whether these lanes store what their memory has already, and no record says anything against
// that. Then it is noted.
static bool note_unchanged(const SharedTouch *at, Record base, uint32_t lanes) {
    const bool bytes = at->size < 4;
    const Cells *cells = bytes ? &at->owner->byte_cells : &at->owner->cells;
    const uint32_t shift = bytes ? 0 : 2, each = at->size >> shift;
    if (at->kind != ACCESS_STORE) return false;
    if (!bytes && shared_split_lanes(at, lanes)) return false;
    if (bytes) shared_split_words(at, lanes);
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint32_t address = (uint32_t)at->address[lane], first = address >> shift;
        if (!address_unchanged(at->warp, at->access->inst, lane, at->shared + address))
            return false;
        for (uint32_t k = first; k < first + each; k++)
            if (!only_by_value(at, cells, k, shared_record(at, base, lane))) return false;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint32_t first = (uint32_t)at->address[lane] >> shift;
        for (uint32_t k = first; k < first + each; k++)
            note_equal(at, cells, k, bytes, shared_record(at, base, lane));
    }
    return true;
}

static uint32_t quick_lanes(const SharedTouch *at, Record base) {
    enum { FEW_LANES = 6, FEW_RUNS = 4 };
    if (at->strong) return shared_update_lanes(at, base);
    if (at->size < 4) return shared_quick_bytes(at, base, even_stride(at) != 0);
    if (__builtin_popcount(at->mask) <= FEW_LANES) return one_by_one(at, base);
    const uint32_t of_bytes = shared_split_lanes(at, at->mask);
    if (of_bytes) return note_lanes(at, base, of_bytes);
    const Pattern pattern = pattern_of(at);
    const uint32_t starts = at->mask & ~((pattern.on | pattern.same) << 1);
    if (__builtin_popcount(starts) > FEW_RUNS) return note_lanes(at, base, 0);
    const uint32_t each = at->size / 4, shift = (uint32_t)__builtin_ctz(each);
    uint32_t left = 0;
    for (uint32_t m = at->mask; m;) {
        const Run run = run_of(at, &pattern, (uint32_t)__builtin_ctz(m), each);
        const uint32_t lanes = (run.lanes == LANES ? ALL_LANES : (1u << run.lanes) - 1) << run.lane;
        if (!note_run(at, base, &run, shift)) left |= lanes;
        m &= ~lanes;
    }
    return left;
}

// Whether the lanes access words that there are more records of than the cells have.
static bool any_rest(const SharedTouch *at) {
    const RestTable *rest = &at->owner->rest;
    const bool loads = at->kind == ACCESS_LOAD;
    for (uint32_t m = at->mask; rest->live && m; m &= m - 1) {
        const uint64_t word = at->address[__builtin_ctz(m)] / 4, words = (at->size + 3) / 4;
        for (uint64_t k = word; k < word + words; k++)
            if (rest_any(rest, k, 1, loads, at->strong) && rest_first(rest, k)) return true;
    }
    return false;
}

uint32_t shared_quick(const SharedTouch *at, Record base) {
    if (at->partial && any_rest(at)) {
        const bool stores = !at->strong && at->owner->rest.live == at->owner->rest.stores;
        return stores && note_unchanged(at, base, at->mask) ? 0 : at->mask;
    }
    const uint32_t left = quick_lanes(at, base);
    return left && !at->strong && note_unchanged(at, base, left) ? 0 : left;
}
