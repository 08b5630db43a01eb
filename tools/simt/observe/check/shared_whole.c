// Whole warps that load or store shared memory, each lane behind the one before: the words between
// them are looked at as a row. See shared.h.
//
// Mostly a barrier lies behind all that others did to a row: then the greatest record tells so.
#include "simt/observe/check/shared.h"

#define ALWAYS static inline __attribute__((always_inline))

// Over the words of a row, whose records are in arrays apart: of this the compiler makes vectors.
#if defined(__clang__)
#define WORD_LOOP(words)                                                                           \
    _Pragma("clang loop vectorize(assume_safety)") for (uint64_t k = 0; k < (words); k++)
#else
#define WORD_LOOP(words) _Pragma("GCC ivdep") for (uint64_t k = 0; k < (words); k++)
#endif
#define ROW_LOOP(row) WORD_LOOP((row)->words)

typedef struct {
    Checker *checker;
    uint32_t word, words; // 1 << shift of them a lane's
    uint32_t shift;
    Record base;  // of the first lane
    Record floor; // as those of SharedTouch
    Record block_floor, warp_floor, start, times, span;
} Row;

ALWAYS Record mine_of(const Row *row, uint64_t k) {
    return row->base + (k >> row->shift << RECORD_THREAD);
}

ALWAYS Record least(const Record *records, const Row *row) {
    Record found = ~(Record)0;
    ROW_LOOP(row) found = records[k] < found ? records[k] : found;
    return found;
}

ALWAYS Record greatest(const Record *records, const Row *row) {
    Record found = 0;
    ROW_LOOP(row) found = records[k] > found ? records[k] : found;
    return found;
}

// Whether all are seen to be ordered before the lanes' accesses by a barrier, by bar.warp.sync, or
// as the same lanes' own.
ALWAYS bool ordered(const Row *row, const Record *records) {
    const Row local = *row;
    uint64_t open = 0;
    ROW_LOOP(&local) {
        const Record record = records[k], other = record ^ mine_of(&local, k);
        const bool own = record - local.times < local.span;
        const bool mine = !(other & RECORD_LANE_MASK) | (record < local.block_floor);
        const bool warps = !(other & RECORD_WARP_MASK) & (record < local.warp_floor);
        const bool settled = (record < local.floor) | (own & (mine | warps));
        open |= (uint64_t)!settled;
    }
    return !open;
}

// The same of records none of which is later than `latest`.
ALWAYS bool settled(const Row *row, const Record *records, Record latest) {
    return latest < row->floor || greatest(records, row) < row->floor || ordered(row, records);
}

// Whether a barrier lies behind all of them.
ALWAYS bool past(const Row *row, const Record *records, Record latest) {
    return latest < row->floor || greatest(records, row) < row->floor;
}

// The same of second writes.
ALWAYS bool past_second(const Row *row, const Record *write_2) {
    const bool any =
        shared_second_writes(row->checker, row->word, (uint32_t)row->words, row->floor);
    return !any || greatest(write_2, row) < row->floor;
}

ALWAYS void set(const Row *row, Record *records) {
    const Row local = *row;
    ROW_LOOP(&local) records[k] = mine_of(&local, k);
}

// Where others have read since the barrier, the lanes' reads are noted beside theirs.
static void note_beside(const Row *row, Record *read, Record *read_2) {
    const Row local = *row;
    for (uint64_t first = 0; first < local.words; first += LANES) {
        Record *const reads = read + first, *const others = read_2 + first;
        Record mine[LANES], keep[LANES], stay[LANES];
        LANE_LOOP mine[l] = mine_of(&local, first + (uint64_t)l);
        LANE_LOOP {
            // As shared_stands_for and shared_stays.
            const uint64_t strange = (reads[l] ^ mine[l]) & RECORD_LANE_MASK ? 1 : 0;
            const uint64_t far = (reads[l] ^ mine[l]) & RECORD_WARP_MASK ? 1 : 0;
            const uint64_t late = far | (uint64_t)(reads[l] >= local.warp_floor);
            const uint64_t foreign = (uint64_t)(reads[l] - local.times >= local.span);
            const uint64_t of_warp = (foreign | far) ^ 1;
            const uint64_t far_2 = (others[l] ^ mine[l]) & RECORD_WARP_MASK ? 1 : 0;
            const uint64_t foreign_2 = (uint64_t)(others[l] - local.times >= local.span);
            const uint64_t stays = of_warp & (far_2 | foreign_2);
            const uint64_t copy = (uint64_t)(others[l] >= RECORD_COPY << RECORD_TIME);
            keep[l] = 0 - ((foreign | (strange & late)) & (uint64_t)(reads[l] >= local.floor));
            stay[l] = 0 - ((stays & (uint64_t)(others[l] >= local.floor)) | copy);
        }
        LANE_LOOP reads[l] = (reads[l] & keep[l]) | (mine[l] & ~keep[l]);
        LANE_LOOP stay[l] |= ~keep[l];
        LANE_LOOP others[l] = (others[l] & stay[l]) | (mine[l] & ~stay[l]);
    }
    shared_noted(&local.checker->latest_read_2, local.base | RECORD_LANE_MASK);
}

// Whether other reads tell all that may collide with the lanes'.
static bool told(const Record *read, const Record *read_2, uint64_t words, Record floor) {
    uint64_t open = 0;
    if (!shared_told(read[0], read_2[0], floor)) return false;
    if (!shared_told(read[words - 1], read_2[words - 1], floor)) return false;
    for (uint64_t k = 0; k < words; k++) open |= shared_told(read[k], read_2[k], floor) ^ 1;
    return !open;
}

// By itself: where the number of words is known, compilers take the loop apart before they would
// make vectors of it.
__attribute__((noinline)) void shared_note_plain(Checker *owner, uint32_t word, uint64_t words,
                                                 uint32_t shift, Record base, Record floor,
                                                 Record warp_floor) {
    Record *const read = owner->cells.read + word, *const read_2 = owner->cells.read_2 + word;
    const Record warps = warp_floor > floor ? warp_floor : floor;
    uint64_t any = 0;
    if (told(read, read_2, words, floor)) return;
    WORD_LOOP(words) {
        const Record mine = base + (k >> shift << RECORD_THREAD), old = read[k], second = read_2[k];
        const Record keep = 0 - shared_beside(old, mine, floor, warps);
        const Record stay = ~keep | (0 - shared_told(old, second, floor));
        read[k] = (old & keep) | (mine & ~keep);
        read_2[k] = (second & stay) | (mine & ~stay);
        any |= ~stay;
    }
    if (any) shared_noted(&owner->latest_read_2, base | RECORD_LANE_MASK);
}

ALWAYS bool load_row(const Row *row) {
    Checker *checker = row->checker;
    const Cells *cells = &checker->cells;
    Record *write = cells->write + row->word, *write_2 = cells->write_2 + row->word;
    Record *read = cells->read + row->word, *read_2 = cells->read_2 + row->word;
    if (least(write, row) < row->start) return false;
    if (!settled(row, write, checker->latest_write)) return false;
    if (!past_second(row, write_2)) return false;
    if (past(row, read, checker->latest_read))
        set(row, read);
    else if (checker->check->partial)
        return false;
    else if (!check_clusters(checker->machine))
        shared_note_plain(checker, row->word, row->words, row->shift, row->base, row->floor,
                          row->warp_floor);
    else
        note_beside(row, read, read_2);
    shared_noted(&checker->latest_read, row->base | RECORD_LANE_MASK | 3);
    return true;
}

ALWAYS bool store_row(const Row *row) {
    Checker *checker = row->checker;
    const Cells *cells = &checker->cells;
    Record *write = cells->write + row->word, *write_2 = cells->write_2 + row->word;
    Record *read = cells->read + row->word, *read_2 = cells->read_2 + row->word;
    if (!settled(row, write, checker->latest_write)) return false;
    if (!past_second(row, write_2)) return false;
    if (!settled(row, read, checker->latest_read)) return false;
    if (!settled(row, read_2, checker->latest_read_2)) return false;
    set(row, write);
    shared_noted(&checker->latest_write, row->base | RECORD_LANE_MASK | 3);
    return true;
}

// By the number of words, which makes the loops quick.
static bool touch_row(Row *row, uint32_t size, bool loads) {
#define ROW_OF(n)                                                                                  \
    case 4 << (n): {                                                                               \
        Row of = *row;                                                                             \
        of.words = LANES << (n);                                                                   \
        of.shift = (n);                                                                            \
        return loads ? load_row(&of) : store_row(&of);                                             \
    }
    switch (size) {
        ROW_OF(0)
        ROW_OF(1)
        ROW_OF(2)
    default:
        return false;
    }
#undef ROW_OF
}

// Other blocks access the memory too: only a barrier of the cluster orders all that happened.
static void set_cluster(Row *row, const Warp *warp) {
    const Checker *checker = row->checker;
    const Record met = checker->cluster_floor[warp->index] << RECORD_TIME;
    row->floor = met > row->start ? met : row->start;
    row->times = checker->times << RECORD_TIME;
    row->span = (checker->times_end - checker->times) << RECORD_TIME;
    cluster_between(warp, ALL_LANES);
}

bool check_whole_shared(Checker *checker, Warp *warp, const Inst *inst, uint64_t first) {
    const uint32_t site = check_known_site(checker, inst->slot);
    const uint32_t size = (uint32_t)inst->memory.bytes * inst->memory.elements;
    const uint64_t bytes = (uint64_t)size * LANES;
    const Extent *extent = &checker->variables[site];
    const bool loads = inst->access == ACCESS_LOAD;
    if (!site || first & (size - 1)) return false;
    if (first < extent->low || first + bytes > extent->high) return false;
    if (checker->unwritten_at[site]) return false;
    if (inst->order && checker->words.count) return false;
    if (!loads && order_words(&checker->words, first, bytes)) return false;
    if (checker->orders && inst->order) return false;
    Row row = {.checker = checker,
               .word = (uint32_t)first / 4,
               .base = record_make(checker->now, site, warp->index * (uint32_t)LANES, 0),
               .floor = checker->block_floor << RECORD_TIME,
               .block_floor = checker->block_floor << RECORD_TIME,
               .warp_floor = checker->warp_floor[warp->index] << RECORD_TIME,
               .start = checker->block_start << RECORD_TIME,
               .span = RECORD_COPY << RECORD_TIME};
    if (check_saturated(checker, row.base)) return false;
    const uint64_t words = (first % 4 + bytes + 3) / 4;
    if (rest_any(&checker->rest, row.word, words, loads, false)) return false;
    if (size < 4)
        return shared_bytes_row(checker, (uint32_t)first, size, row.base, row.warp_floor, loads);
    if (check_clusters(checker->machine)) set_cluster(&row, warp);
    shared_expand(checker, row.word, (uint32_t)bytes / 4);
    if (!shared_join(checker, row.word, (uint32_t)bytes / 4, row.floor)) return false;
    return touch_row(&row, size, loads);
}
