// What asynchronous copies do to shared memory: rows of words that they write or read, and what
// becomes of their records once somebody has waited for them. See copy.c.
//
// Copies in bulk write many words as one, and mostly nobody else looks at them but in whole rows
// much later. So one record stands for the last writes of a whole group of words (REGION_GROUP),
// until somebody accesses one of these.
#include <stdlib.h>
#include <string.h>

#include "simt/observe/check/shared.h"

// --- groups ---

static void expand(Checker *owner, uint32_t group) {
    const Record record = owner->group_write[group];
    Record *write = owner->cells.write + (size_t)group * REGION_GROUP;
    if (!record) return;
    for (uint32_t k = 0; k < REGION_GROUP; k++) write[k] = record;
    owner->group_write[group] = 0;
    owner->groups_on--;
}

void shared_expand(Checker *owner, uint32_t word, uint32_t words) {
    if (!owner->groups_on || !words) return;
    for (uint32_t g = word / REGION_GROUP; g <= (word + words - 1) / REGION_GROUP; g++)
        expand(owner, g);
}

void shared_expand_lanes(const SharedTouch *at) {
    for (uint32_t m = at->mask; m; m &= m - 1) {
        const uint32_t first = (uint32_t)at->address[__builtin_ctz(m)];
        shared_expand(at->owner, first / 4, (first + at->size - 1) / 4 - first / 4 + 1);
    }
}

// Whether so many groups one behind the other all have records that stand for their words'.
static bool all_on(const Checker *owner, uint32_t group, uint32_t count) {
    uint64_t missing = 0;
    for (uint32_t k = 0; k < count; k++) missing |= owner->group_write[group + k] ? 0 : 1;
    return !missing;
}

// Whether a copy writes whole groups, for which there are records.
static bool of_groups(Checker *owner, const CopiedRow *row) {
    const uint32_t bytes = REGION_GROUP * 4;
    if (row->shift != COPIED_BY_ONE || row->address % bytes || row->words % REGION_GROUP)
        return false;
    if (!owner->group_write)
        owner->group_write =
            calloc(owner->shared_words / REGION_GROUP + 1, sizeof *owner->group_write);
    return owner->group_write;
}

// --- what a copy does ---

// A record of the first lane's, as that of the lane of word k.
static inline Record of_lane(Record record, uint32_t k, uint32_t shift) {
    return record + ((Record)(k >> shift) << RECORD_THREAD);
}

// Whether all records are before `noise`. A difference tells it of several at once, which a
// comparison of numbers without a sign does not. It may say no where a highest bit is set, as in
// copies: then each record is looked at.
static bool all_before(const Record *records, uint32_t words, Record noise) {
    Record late = 0;
    for (uint32_t k = 0; k < words; k++) late |= records[k] | (noise - 1 - records[k]);
    return !(late >> 63);
}

// Whether no record of these words says anything against the access.
static bool quiet(const SharedTouch *at, const Record *records, const CopiedRow *of) {
    const SharedTouch local = *at;
    const CopiedRow row = *of;
    uint64_t wrong = 0;
    records += row.address / 4;
    if (all_before(records, row.words, local.noise)) return true;
    for (uint32_t k = 0; k < row.words; k++)
        wrong |=
            (uint64_t)shared_open(&local, records[k], of_lane(local.mine, k, row.shift), false);
    return !wrong;
}

// The same of second records, of which none may be of interest.
static bool past(const SharedTouch *at, const Record *records, const CopiedRow *of) {
    return all_before(records + of->address / 4, of->words, at->noise);
}

// Whether these words have all been written, and quiet() says so of that.
static bool quiet_written(const SharedTouch *at, const CopiedRow *of) {
    const Record *write = at->owner->cells.write + of->address / 4, noise = at->noise;
    Record least = ~(Record)0, late = 0;
    for (uint32_t k = 0; k < of->words; k++) {
        least = write[k] < least ? write[k] : least;
        late |= write[k] | (noise - 1 - write[k]);
    }
    return least >= at->start && (!(late >> 63) || quiet(at, at->owner->cells.write, of));
}

// The same of last writes to whole groups. What the words of a group have to which one record
// belongs is earlier.
static bool quiet_groups(const SharedTouch *at, const CopiedRow *of) {
    const Checker *owner = at->owner;
    const Record *write = owner->cells.write, *groups = owner->group_write;
    const uint32_t first = (uint32_t)of->address / 4;
    const uint32_t group = first / REGION_GROUP, count = of->words / REGION_GROUP;
    if (all_on(owner, group, count) && all_before(groups + group, count, at->noise)) return true;
    for (uint32_t k = first; k < first + of->words; k += REGION_GROUP) {
        const Record whole = groups[k / REGION_GROUP];
        const CopiedRow words = {of->lanes, (uint64_t)k * 4, REGION_GROUP, of->shift};
        if (whole ? shared_open(at, whole, at->mine, false) : !quiet(at, write, &words))
            return false;
    }
    return true;
}

static void note_groups(Checker *owner, uint32_t word, uint32_t words, Record copy) {
    Record *const groups = owner->group_write + word / REGION_GROUP;
    uint32_t off = 0;
    for (uint32_t k = 0; k < words / REGION_GROUP; k++) off += !groups[k];
    for (uint32_t k = 0; k < words / REGION_GROUP; k++) groups[k] = copy;
    owner->groups_on += off;
}

// Notes what copies do to so many words, if no record says anything against it.
static bool note_copy(const SharedTouch *at, const CopiedRow *of) {
    Checker *owner = at->owner;
    const Cells *cells = &owner->cells;
    const uint32_t word = (uint32_t)of->address / 4, words = of->words, shift = of->shift;
    const bool loads = at->kind == ACCESS_LOAD;
    const bool second = shared_second_writes(owner, word, words, at->noise);
    if (rest_any(&owner->rest, word, words, loads, false)) return false;
    if (loads && owner->latest_read_2 >= at->noise && !past(at, cells->read_2, of)) return false;
    const bool joined = shared_join(owner, word, words, at->floor);
    const bool groups = !loads && joined && of_groups(owner, of);
    if (!groups) shared_expand(owner, word, words);
    if (at->kind == ACCESS_ATOMIC || !joined) return false;
    if (loads    ? !quiet_written(at, of)
        : groups ? !quiet_groups(at, of)
                 : !quiet(at, cells->write, of))
        return false;
    if (second && !past(at, cells->write_2, of)) return false;
    if (!loads && owner->latest_read >= at->noise && !quiet(at, cells->read, of)) return false;
    if (!loads && owner->latest_read_2 >= at->noise && !past(at, cells->read_2, of)) return false;
    Record *const noted = (loads ? cells->read_2 : cells->write) + word, copy = at->copy;
    if (groups) note_groups(owner, word, words, copy);
    for (uint32_t k = 0; !groups && k < words; k++) noted[k] = of_lane(copy, k, shift);
    if (!loads && second) memset(cells->write_2 + word, 0, words * sizeof(Record));
    if (loads) shared_noted(&owner->latest_read_2, at->copy | RECORD_LANE_MASK);
    return true;
}

bool check_shared_row(Checker *checker, Block *of, Warp *warp, const Access *access,
                      const CopiedRow *row, uint64_t copy) {
    SharedTouch at;
    const Record base = shared_begin(&at, checker, of, warp, access, NULL, row->lanes, copy);
    shared_set_lane(&at, base, (uint32_t)__builtin_ctz(row->lanes));
    if (!note_copy(&at, row)) return false;
    shared_note_latest(&at, base);
    return true;
}

// --- what copies did, once somebody has waited for them ---

// Of so many words, or bytes, as those of a CopiedRow lie; `mine` becomes of its copies what they
// did.
static void settle(Record *records, uint64_t count, uint32_t shift, Record copy, Record mine) {
    for (uint32_t k = 0; k < (uint32_t)count; k++) {
        const Record other = records[k] ^ of_lane(copy, k, shift);
        records[k] = other & ~(Record)3 ? records[k] : of_lane(mine, k, shift);
    }
}

// Where none is as late as that of a copy, none is one.
static bool any_copy(Record latest) { return latest >= RECORD_COPY << RECORD_TIME; }

typedef struct {
    uint64_t first, count; // cells
    uint32_t shift;
    Record copy, mine;
} Settled;

static void settle_writes(const Checker *owner, const Cells *cells, const Settled *of) {
    settle(cells->write + of->first, of->count, of->shift, of->copy, of->mine);
    if (any_copy(owner->latest_write_2))
        settle(cells->write_2 + of->first, of->count, of->shift, of->copy, of->mine);
}

static void settle_reads(const Checker *owner, const Cells *cells, const Settled *of) {
    if (any_copy(owner->latest_read))
        settle(cells->read + of->first, of->count, of->shift, of->copy, of->mine);
    if (any_copy(owner->latest_read_2))
        settle(cells->read_2 + of->first, of->count, of->shift, of->copy, of->mine);
}

// Writes of words, or of groups of them.
static void settle_words(Checker *owner, const Settled *of) {
    Record *const write = owner->cells.write;
    const uint64_t end = of->first + of->count;
    if (!owner->groups_on || of->shift != COPIED_BY_ONE) {
        settle_writes(owner, &owner->cells, of);
        return;
    }
    const uint32_t first = (uint32_t)of->first / REGION_GROUP;
    const uint32_t groups = (uint32_t)of->count / REGION_GROUP;
    const bool aligned = !(of->first % REGION_GROUP) && !(of->count % REGION_GROUP);
    const bool whole_groups = aligned && all_on(owner, first, groups);
    if (whole_groups) settle(owner->group_write + first, groups, of->shift, of->copy, of->mine);
    for (uint64_t k = of->first, next; !whole_groups && k < end; k = next) {
        const uint32_t group = (uint32_t)k / REGION_GROUP;
        const Record whole = owner->group_write[group];
        next = ((uint64_t)group + 1) * REGION_GROUP;
        if (next > end) next = end;
        if (whole && next - k == REGION_GROUP) {
            if (!((whole ^ of->copy) & ~(Record)3)) owner->group_write[group] = of->mine;
            continue;
        }
        expand(owner, group);
        settle(write + k, next - k, of->shift, of->copy, of->mine);
    }
    if (any_copy(owner->latest_write_2))
        settle(owner->cells.write_2 + of->first, of->count, of->shift, of->copy, of->mine);
}

// Where a word has records of its bytes, its own are not looked at.
void check_settle(Checker *owner, const CopiedRow *row, Record copy, Record mine, bool read) {
    const Settled words = {row->address / 4, row->words, row->shift, copy, mine};
    const uint32_t byte_shift = row->shift < 30 ? row->shift + 2 : row->shift;
    const Settled bytes = {row->address, (uint64_t)row->words * 4, byte_shift, copy, mine};
    if (read) {
        settle_reads(owner, &owner->cells, &words);
        if (owner->any_split) settle_reads(owner, &owner->byte_cells, &bytes);
        return;
    }
    settle_words(owner, &words);
    if (owner->any_split) settle_writes(owner, &owner->byte_cells, &bytes);
}

static void forget(Record *records, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; i++) records[i] = record_is_copy(records[i]) ? 0 : records[i];
}

// In so many words, or bytes.
static void forget_in(const Checker *owner, const Cells *cells, uint64_t unit) {
    const Extent to = owner->copied, from = owner->copied_from;
    const uint64_t to_end = (to.high + unit - 1) / unit, from_end = (from.high + unit - 1) / unit;
    forget(cells->write, to.low / unit, to_end);
    if (any_copy(owner->latest_write_2)) forget(cells->write_2, to.low / unit, to_end);
    if (any_copy(owner->latest_read)) forget(cells->read, from.low / unit, from_end);
    if (any_copy(owner->latest_read_2)) forget(cells->read_2, from.low / unit, from_end);
}

static void forget_groups(Checker *owner) {
    const Extent to = owner->copied;
    for (uint64_t k = to.low / 4; owner->groups_on && k < (to.high + 3) / 4; k += REGION_GROUP) {
        Record *group = &owner->group_write[k / REGION_GROUP];
        if (!*group || !record_is_copy(*group)) continue;
        *group = 0;
        owner->groups_on--;
    }
}

void check_forget_copies(Checker *owner) {
    forget_groups(owner);
    forget_in(owner, &owner->cells, 4);
    if (owner->any_split) forget_in(owner, &owner->byte_cells, 1);
    owner->copied = owner->copied_from = (Extent){0, 0};
}
