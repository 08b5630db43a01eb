// Races in shared memory. Two accesses of different threads to a byte are a race if one of them
// writes, they are not both strong, and no synchronization orders them. Two writes of the same
// value are none. Volatile accesses are not strong here: what they leave open between lanes is what
// --check is asked about. Only those to a flag are, see is_flag().
#include <string.h>

#include "simt/observe/check/inside.h"

#define ALWAYS static inline __attribute__((always_inline))

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
    Record floor;      // records from here on are not ordered by a barrier of all threads
    Record start;      // earlier ones are of other blocks: the word is not written
    Record noise;      // those from here on are looked at; all others are not
    Record warp_floor; // the warp's own earlier ones are ordered by bar.warp.sync
    uint32_t thread, lane, mask, size;
    AccessKind kind;
    bool strong, cluster;
} Touch;

// The same with blocks of a cluster, and with copies.
static bool concurrent_far(const Touch *at, Record record) {
    Checker *checker = at->checker;
    const uint32_t other = record_thread(record), thread = at->thread;
    const uint64_t time = record_time(record);
    if (record_is_copy(record))
        return time == RECORD_COPY ||
               !check_acquired(checker, thread, record_copy_block(record), other, time);
    const uint64_t block = at->cluster ? shadow_block(time) : checker->block;
    if (block == checker->block && (other == thread || time < checker->block_floor ||
                                    !check_unordered(checker, time, other, thread)))
        return false;
    return !check_acquired(checker, thread, block, other, time);
}

// Whether the access of that record and the one now may be without order.
static inline bool concurrent(const Touch *at, Record record) {
    if (record < at->noise) return false;
    if (at->cluster || record_is_copy(record))
        return !check_saturated(at->checker, at->mine) && concurrent_far(at, record);
    if (!((record ^ at->mine) & RECORD_LANE_MASK)) return false;
    if (check_saturated(at->checker, at->mine)) return false;
    const uint32_t other = record_thread(record);
    const uint64_t time = record_time(record);
    if (!check_unordered(at->checker, time, other, at->thread)) return false;
    return !check_acquired(at->checker, at->thread, at->checker->block, other, time);
}

// Whether both are volatile, by two warps, and to a flag: a word through which a fence released
// something. Who polls it needs no more.
static bool is_flag(const Touch *at, Record record, uint32_t byte) {
    const Inst *other = at->checker->check->sites[record_site(record)].inst;
    return at->access->order & ORDER_VOLATILE && other->order & ORDER_VOLATILE &&
           record_thread(record) / LANES != at->thread / LANES &&
           order_released(&at->owner->words, byte);
}

static inline bool both_strong(const Touch *at, Record record, uint32_t byte) {
    return (at->strong && record_scope(record)) || is_flag(at, record, byte);
}

// Bytes that a lane stores at shared address `byte`, which its access covers. False: not known.
static bool stored(const Touch *at, uint32_t lane, uint32_t byte, uint32_t count, uint8_t *out) {
    return address_stored(at->warp, at->access, lane, byte - (uint32_t)at->address[lane], count,
                          out);
}

// Whether this lane's store leaves what another thread wrote as it is. The other may be a lane of
// the same instruction, whose value is not yet in memory.
static bool same_value(const Touch *at, Record record, uint32_t byte, uint32_t count) {
    if (at->kind != ACCESS_STORE || record_scope(record) || record_is_copy(record)) return false;
    uint8_t mine[4], theirs[4];
    if (!stored(at, at->lane, byte, count, mine)) return false;
    uint32_t other = record_thread(record), lane = other % LANES;
    bool own = !at->cluster || shadow_block(record_time(record)) == at->checker->block;
    bool together = own && other / LANES == at->thread / LANES && lane < at->lane &&
                    (at->warp->exec >> lane & 1) && at->address[lane] <= byte &&
                    byte + count <= at->address[lane] + at->size;
    if (together)
        stored(at, lane, byte, count, theirs);
    else
        memcpy(theirs, at->shared + byte, count);
    return memcmp(mine, theirs, count) == 0;
}

static Record last_write(const Checker *checker, uint32_t byte) {
    return checker->split[byte / 4] ? checker->byte_cells.write[byte]
                                    : checker->cells.write[byte / 4];
}

// A bit for each word of a lane's access that its block has written.
static uint32_t written_words(const Touch *at, uint32_t lane) {
    uint32_t first = (uint32_t)at->address[lane] & ~3u, words = 0;
    uint32_t count = (at->size + 3) / 4;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t time = record_time(last_write(at->owner, first + 4 * i));
        words |= (uint32_t)(time >= at->owner->block_start) << i;
    }
    return words;
}

// As for global memory: the padding of structures is unwritten in all lanes.
static bool padding(const Touch *at) {
    uint32_t any = 0;
    for (uint32_t m = at->mask; m; m &= m - 1) any |= written_words(at, (uint32_t)__builtin_ctz(m));
    return any && written_words(at, at->lane) == any;
}

static void unwritten(const Touch *at, uint32_t byte) {
    Checker *checker = at->checker;
    if (at->owner != checker || (at->size > 4 && padding(at))) return;
    if (checker->unwritten_count == MAX_UNWRITTEN) return; // of one step of one block: enough
    checker->unwritten_at[record_site(at->mine)]++;
    checker->unwritten[checker->unwritten_count++] =
        (UnwrittenRead){at->access->inst, checker->now, byte, at->thread};
}

void check_unwritten(Checker *checker) {
    for (size_t i = 0; i < checker->unwritten_count; i++) {
        const UnwrittenRead *read = &checker->unwritten[i];
        Record write = last_write(checker, read->byte);
        if (record_time(write) >= read->time && record_thread(write) != read->thread) continue;
        check_found(checker, KIND_UNWRITTEN, PTX_SHARED, read->inst, read->thread, NULL, 0,
                    read->byte,
                    "thread %u reads shared memory that nothing in its block has written: store "
                    "first",
                    read->thread);
    }
    if (checker->unwritten_count)
        memset(checker->unwritten_at, 0,
               (checker->check->site_count + 1u) * sizeof *checker->unwritten_at);
    checker->unwritten_count = 0;
}

// --- lane by lane ---

static void against_write(const Touch *at, Record record, uint32_t byte, uint32_t count) {
    if (!concurrent(at, record) || both_strong(at, record, byte)) return;
    if (!same_value(at, record, byte, count))
        check_race(at->checker, PTX_SHARED, at->mine, record, byte);
}

static void against_read(const Touch *at, Record record, uint32_t byte) {
    if (concurrent(at, record) && !both_strong(at, record, byte))
        check_race(at->checker, PTX_SHARED, at->mine, record, byte);
}

static inline __attribute__((always_inline)) void note_read(const Touch *at, const Cells *cells,
                                                            uint32_t k) {
    Record read = cells->read[k];
    const bool own = !((read ^ at->mine) & RECORD_LANE_MASK);
    const bool weaker = at->strong && !record_scope(read); // which this one does not stand for
    bool first = read < at->floor || (own && !weaker);
    if (at->copy)
        cells->read_2[k] = at->copy;
    else
        *(first ? &cells->read[k] : &cells->read_2[k]) = at->mine;
}

static void load(const Touch *at, const Cells *cells, uint32_t k, uint32_t byte, uint32_t count) {
    if (cells->write[k] < at->start) unwritten(at, byte);
    if (cells->write[k] >= at->noise || cells->write_2[k] >= at->noise) {
        against_write(at, cells->write[k], byte, count);
        against_write(at, cells->write_2[k], byte, count);
    }
    note_read(at, cells, k);
}

// Whether this was a store that accesses now may still collide with.
static bool is_plain(const Touch *at, Record record) {
    return !record_scope(record) && record >= at->floor;
}

// Before a strong write takes the place of the last one: a plain store is kept, and a strong write
// by another thread.
static void keep_write(const Touch *at, const Cells *cells, uint32_t k) {
    Record write = cells->write[k];
    if (is_plain(at, cells->write_2[k]) && !is_plain(at, write)) return;
    if (record_scope(write) && !((write ^ at->mine) & RECORD_LANE_MASK)) return;
    cells->write_2[k] = write;
}

static void store(const Touch *at, const Cells *cells, uint32_t k, uint32_t byte, uint32_t count) {
    if (at->kind == ACCESS_ATOMIC && cells->write[k] < at->start) unwritten(at, byte);
    if (cells->write[k] >= at->noise || cells->write_2[k] >= at->noise) {
        against_write(at, cells->write[k], byte, count);
        against_write(at, cells->write_2[k], byte, count);
    }
    if (cells->read[k] >= at->noise || cells->read_2[k] >= at->noise) {
        against_read(at, cells->read[k], byte);
        against_read(at, cells->read_2[k], byte);
    }
    if (at->strong)
        keep_write(at, cells, k);
    else
        cells->write_2[k] = 0;
    cells->write[k] = at->copy ? at->copy : at->mine;
}

static inline void touch(const Touch *at, const Cells *cells, uint32_t k, uint32_t byte,
                         uint32_t count) {
    if (at->kind == ACCESS_LOAD)
        load(at, cells, k, byte, count);
    else
        store(at, cells, k, byte, count);
}

static void split_word(Checker *checker, uint32_t word) {
    if (checker->split[word]) return;
    checker->split[word] = 1;
    checker->any_split = true;
    const Cells *words = &checker->cells, *bytes = &checker->byte_cells;
    for (uint32_t k = word * 4; k < word * 4 + 4; k++) {
        bytes->write[k] = words->write[word];
        bytes->write_2[k] = words->write_2[word];
        bytes->read[k] = words->read[word];
        bytes->read_2[k] = words->read_2[word];
    }
}

// Whether it is not seen at once that the access of this record is ordered before one by `mine`, or
// by any lane of its warp. An asynchronous copy is no access of the lane that began it.
static inline uint32_t open_to(const Touch *at, Record record, Record mine, bool any_lane) {
    const Record other = record ^ mine;
    const uint32_t earlier = (uint32_t) !(other & RECORD_WARP_MASK) & (record < at->warp_floor);
    const uint32_t own =
        (uint32_t)!any_lane & !(other & RECORD_LANE_MASK) & (record < RECORD_COPY << RECORD_TIME);
    return (record >= at->noise) & !(earlier | own);
}

// Cells, of words or bytes, that no lane beside this one has to do with. False: a closer look.
static inline bool note_cells(const Touch *at, const Cells *cells, uint32_t first, uint32_t count,
                              Record mine) {
    const bool loads = at->kind == ACCESS_LOAD;
    const Record start = loads ? at->start : 0;
    uint32_t wrong = 0;
    for (uint32_t k = first; k < first + count; k++) {
        wrong |= (cells->write[k] < start) | open_to(at, cells->write[k], mine, false) |
                 (cells->write_2[k] >= at->noise);
        if (!loads)
            wrong |= open_to(at, cells->read[k], mine, false) |
                     open_to(at, cells->read_2[k], mine, false);
    }
    for (uint32_t k = first; !wrong && k < first + count; k++) {
        const bool again =
            cells->read[k] < at->floor || !((cells->read[k] ^ mine) & RECORD_LANE_MASK);
        *(!loads ? &cells->write[k] : again ? &cells->read[k] : &cells->read_2[k]) = mine;
    }
    return !wrong;
}

static void touch_bytes(const Touch *at, uint32_t first, uint32_t count) {
    const Cells *cells = &at->owner->byte_cells;
    split_word(at->owner, first / 4);
    const bool plain = !at->strong && !at->cluster && !at->copy;
    if (plain && note_cells(at, cells, first, count, at->mine)) return;
    for (uint32_t byte = first; byte < first + count; byte++) touch(at, cells, byte, byte, 1);
}

static void set_lane(Touch *at, Record base, uint32_t lane) {
    at->lane = lane;
    at->thread = at->warp->index * LANES + lane;
    at->mine = base | at->thread << RECORD_THREAD;
    if (at->copy) at->copy = (at->copy & ~RECORD_LANE_MASK) | at->thread << RECORD_THREAD;
}

static void lane_by_lane(Touch *at, Record base, uint32_t lanes) {
    Checker *checker = at->owner;
    for (uint32_t m = lanes; m; m &= m - 1) {
        set_lane(at, base, (uint32_t)__builtin_ctz(m));
        uint32_t first = (uint32_t)at->address[at->lane];
        if (at->size < 4) {
            touch_bytes(at, first, at->size);
            continue;
        }
        for (uint32_t byte = first; byte < first + at->size; byte += 4)
            if (__builtin_expect(checker->split[byte / 4], 0))
                touch_bytes(at, byte, 4);
            else
                touch(at, &checker->cells, byte / 4, byte, 4);
    }
}

// --- many lanes at once, where nothing happened since the last barrier that matters ---

// Lanes one behind the other whose words are too, or are the same.
typedef struct {
    uint32_t lane, lanes;
    uint32_t word, words; // `each` of them a lane's, or all of them every lane's
    bool same;
} Run;

// How the lanes' words lie: a bit for each lane whose next one is `each` words on, or at the same.
typedef struct {
    uint32_t on, same;
} Pattern;

static Pattern pattern_of(const Touch *at, uint32_t each) {
    uint32_t on = 0, same = 0, word[LANES + 1];
    LANE_LOOP word[l] = (uint32_t)at->address[l] / 4;
    word[LANES] = 0;
    LANE_LOOP on |= (uint32_t)(word[l + 1] == word[l] + each) << l;
    LANE_LOOP same |= (uint32_t)(word[l + 1] == word[l]) << l;
    const uint32_t pairs = at->mask & at->mask >> 1;
    return (Pattern){on & pairs, same & pairs};
}

static uint32_t length(uint32_t bits, uint32_t lane) {
    const uint32_t rest = ~(bits >> lane);
    return rest ? (uint32_t)__builtin_ctz(rest) : LANES;
}

static Run run_of(const Touch *at, const Pattern *pattern, uint32_t lane, uint32_t each) {
    const uint32_t on = length(pattern->on, lane), same = length(pattern->same, lane);
    const bool equal = same > on;
    return (Run){.lane = lane,
                 .lanes = 1 + (equal ? same : on),
                 .word = (uint32_t)at->address[lane] / 4,
                 .words = each * (equal ? 1 : 1 + on),
                 .same = equal};
}

ALWAYS bool quiet_load(const Touch *at, Record base, const Run *run, uint32_t shift) {
    const Touch local = *at;
    const Record *write = at->owner->cells.write + run->word;
    const Record *write_2 = at->owner->cells.write_2 + run->word;
    const bool same = run->same;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < run->words; k++) {
        const Record mine = base + ((Record)(k >> shift) << RECORD_THREAD);
        wrong |= (uint32_t)(write[k] < local.start) | open_to(&local, write[k], mine, same) |
                 (uint32_t)(write_2[k] >= local.noise);
    }
    return !wrong;
}

ALWAYS bool quiet_store(const Touch *at, Record base, const Run *run, uint32_t shift) {
    const Touch local = *at;
    const Cells *cells = &at->owner->cells;
    const Record *write = cells->write + run->word, *write_2 = cells->write_2 + run->word;
    const Record *read = cells->read + run->word, *read_2 = cells->read_2 + run->word;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < run->words; k++) {
        const Record mine = base + ((Record)(k >> shift) << RECORD_THREAD);
        wrong |= open_to(&local, write[k], mine, false) | (uint32_t)(write_2[k] >= local.noise) |
                 open_to(&local, read[k], mine, false) | open_to(&local, read_2[k], mine, false);
    }
    return !wrong;
}

ALWAYS void note_reads(const Touch *at, Record base, const Run *run, uint32_t shift) {
    Record *read = at->owner->cells.read + run->word;
    Record *read_2 = at->owner->cells.read_2 + run->word;
    const Record floor = at->floor;
    for (uint32_t k = 0; k < run->words; k++) {
        Record mine = base + ((Record)(k >> shift) << RECORD_THREAD), old = read[k];
        bool first = old < floor || !((old ^ mine) & RECORD_LANE_MASK);
        read[k] = first ? mine : old;
        read_2[k] = first ? read_2[k] : mine;
    }
}

// All lanes of the run read the same: as if one after the other did.
static void note_same_reads(const Touch *at, Record base, const Run *run) {
    const Cells *cells = &at->owner->cells;
    const Record last = base + ((Record)(run->lanes - 1) << RECORD_THREAD);
    for (uint32_t k = run->word; k < run->word + run->words; k++) {
        Record old = cells->read[k];
        const uint32_t lane = record_thread(old) - record_thread(base); // may be none of these
        Record first = base, other = last;
        if (old >= at->floor) {
            const bool own = lane < run->lanes;
            first = own ? base + ((Record)lane << RECORD_THREAD) : old;
            if (first == last) other = last - ((Record)1 << RECORD_THREAD);
        }
        cells->read[k] = first;
        cells->read_2[k] = other;
    }
}

ALWAYS void note_stores(const Touch *at, Record base, const Run *run, uint32_t shift) {
    Record *write = at->owner->cells.write + run->word;
    for (uint32_t k = 0; k < run->words; k++)
        write[k] = base + ((Record)(k >> shift) << RECORD_THREAD);
}

static bool any_split(const Checker *checker, const Run *run) {
    uint32_t split = 0;
    for (uint32_t k = 0; k < run->words; k++) split |= checker->split[run->word + k];
    return split;
}

static bool note_run(const Touch *at, Record base, const Run *run, uint32_t shift) {
    if (at->owner->any_split && any_split(at->owner, run)) return false;
    base += (Record)(at->warp->index * (uint32_t)LANES + run->lane) << RECORD_THREAD;
    if (at->kind == ACCESS_LOAD) {
        if (!quiet_load(at, base, run, shift)) return false;
        if (run->same)
            note_same_reads(at, base, run);
        else
            note_reads(at, base, run, shift);
        return true;
    }
    if (run->same || !quiet_store(at, base, run, shift)) return false;
    note_stores(at, base, run, shift);
    return true;
}

static inline bool note_lane(const Touch *at, Record base, uint32_t lane) {
    const uint32_t word = (uint32_t)at->address[lane] / 4;
    const uint32_t thread = at->warp->index * (uint32_t)LANES + lane;
    if (at->owner->split[word]) return false;
    return note_cells(at, &at->owner->cells, word, 1, base + ((Record)thread << RECORD_THREAD));
}

// All lanes, one word each, one behind the other: the common case.
static bool whole_warp(const Touch *at, Record base) {
    const uint64_t first = at->address[0];
    if (at->mask != ALL_LANES || at->size != 4 || first % 4) return false;
    uint64_t wrong = 0;
    LANE_LOOP wrong |= (first + 4 * (uint64_t)l) ^ at->address[l];
    if (wrong) return false;
    const Run run = {.lanes = LANES, .word = (uint32_t)first / 4, .words = LANES};
    if (at->owner->any_split && any_split(at->owner, &run)) return false;
    base += (Record)at->warp->index * LANES << RECORD_THREAD;
    if (at->kind == ACCESS_LOAD) {
        if (!quiet_load(at, base, &run, 0)) return false;
        note_reads(at, base, &run, 0);
        return true;
    }
    if (!quiet_store(at, base, &run, 0)) return false;
    note_stores(at, base, &run, 0);
    return true;
}

// The lanes that need a closer look.
static uint32_t by_runs(const Touch *at, Record base) {
    if (at->size < 4 || at->strong || at->cluster || at->copy) return at->mask;
    if (whole_warp(at, base)) return 0;
    const uint32_t each = at->size / 4, shift = (uint32_t)__builtin_ctz(each);
    const Pattern pattern = pattern_of(at, each);
    const Touch local = *at;
    uint32_t left = 0;
    for (uint32_t m = at->mask; m;) {
        const uint32_t first = (uint32_t)__builtin_ctz(m);
        if (each == 1 && !((pattern.on | pattern.same) >> first & 1)) {
            left |= (uint32_t)!note_lane(&local, base, first) << first;
            m &= m - 1;
            continue;
        }
        const Run run = run_of(at, &pattern, first, each);
        const uint32_t lanes = (run.lanes == LANES ? ALL_LANES : (1u << run.lanes) - 1) << run.lane;
        if (!note_run(at, base, &run, shift)) left |= lanes;
        m &= ~lanes;
    }
    return left;
}

static Touch touch_of(Checker *checker, Block *of, Warp *warp, const Access *access,
                      const uint64_t address[LANES]) {
    Checker *owner = of->watch;
    // An update that says nothing about order makes an mbarrier: for others it is a store.
    const bool atomic = access->kind == ACCESS_ATOMIC && access->order;
    const bool cluster = check_clusters(checker->machine);
    const bool enough =
        checker->unwritten_at[check_site(checker, access)] >= check_many_races(checker);
    const Record start = owner->block_start << RECORD_TIME;
    return (Touch){.checker = checker,
                   .owner = owner,
                   .warp = warp,
                   .shared = of->shared,
                   .access = access,
                   .address = address,
                   .floor = cluster ? start : checker->block_floor << RECORD_TIME,
                   .start = enough ? 0 : start,
                   .warp_floor = checker->warp_floor[warp->index] << RECORD_TIME,
                   .size = address_bytes(access),
                   .kind = access->kind == ACCESS_LOAD ? ACCESS_LOAD
                           : atomic                    ? ACCESS_ATOMIC
                                                       : ACCESS_STORE,
                   .strong = access->order & ~ORDER_VOLATILE,
                   .cluster = cluster};
}

void check_shared(Checker *checker, Block *of, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES], uint64_t copy) {
    Touch at = touch_of(checker, of, warp, access, address);
    const uint32_t site = check_site(checker, access);
    const Record base = record_make(checker->now, site, 0, at.strong ? SCOPE_CTA : 0);
    if (copy) at.copy = record_make(copy, site, 0, 0);
    at.noise = check_saturated(checker, base) ? ~(Record)0 : at.floor;
    at.mask = mask;
    lane_by_lane(&at, base, by_runs(&at, base));
}

// --- what copies did, once somebody has waited for them ---

static void settle(Record *record, Record copy, Record mine) {
    if (!((*record ^ copy) & ~(Record)3)) *record = mine;
}

void check_settle(Checker *owner, uint64_t first, uint64_t bytes, Record copy, Record mine) {
    Cells *words = &owner->cells, *single = &owner->byte_cells;
    for (uint64_t byte = first; byte < first + bytes; byte++) {
        const uint64_t word = byte / 4;
        Record *const records[] = {&words->write[word], &words->write_2[word], &words->read[word],
                                   &words->read_2[word]};
        Record *const split[] = {&single->write[byte], &single->write_2[byte], &single->read[byte],
                                 &single->read_2[byte]};
        for (int k = 0; k < 4; k++) settle(owner->split[word] ? split[k] : records[k], copy, mine);
    }
}

static void forget(Cells *cells, uint32_t count) {
    Record *const records[] = {cells->write, cells->write_2, cells->read, cells->read_2};
    for (int k = 0; k < 4; k++)
        for (uint32_t i = 0; i < count; i++)
            if (record_is_copy(records[k][i])) records[k][i] = 0;
}

void check_forget_copies(Checker *owner) {
    const uint32_t words = owner->shared_words;
    if (owner->copied) {
        forget(&owner->cells, words);
        forget(&owner->byte_cells, words * 4);
    }
    owner->copied = false;
}
