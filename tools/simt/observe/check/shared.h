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
    bool strong, cluster, partial; // the last: see Code
    bool plain;                    // only barriers of whole warps and of the block order threads
} SharedTouch;

// A bit for each lane of which the next one accesses the same.
static inline uint32_t shared_same(const SharedTouch *at) {
    uint32_t same = 0;
    for (uint32_t l = 0; l < LANES - 1; l++)
        same |= (uint32_t)(at->address[l + 1] == at->address[l]) << l;
    return same & at->mask & at->mask >> 1;
}

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

// An access of these lanes, as check_shared has it. The record of thread 0.
Record shared_begin(SharedTouch *at, Checker *checker, Block *of, Warp *warp, const Access *access,
                    const uint64_t address[LANES], uint32_t mask, uint64_t copy);
// From now on it is looked at as this lane's. `base`: the record of thread 0.
void shared_set_lane(SharedTouch *at, Record base, uint32_t lane);
// Nothing of what was noted is later than this access of any thread.
void shared_note_latest(const SharedTouch *at, Record base);

// The record that stands for the last writes of the group of a word; 0: the words have their own.
static inline Record shared_group(const Checker *owner, uint32_t word) {
    return owner->groups_on ? owner->group_write[word / REGION_GROUP] : 0;
}
// From now on so many words have their own; all words that the lanes access.
void shared_expand(Checker *owner, uint32_t word, uint32_t words);
void shared_expand_lanes(const SharedTouch *at);

// unwritten.c: a read of a byte that nothing has written, and whether an instruction has made so
// many that no more are looked at.
void unwritten_read(const SharedTouch *at, uint32_t byte);
bool unwritten_often(const Checker *checker, uint32_t site);

// A word of shared memory gets all its bytes' records apart; so do all words of which the lanes
// access less than the whole.
void shared_split_word(Checker *owner, uint32_t word);
void shared_split_words(const SharedTouch *at, uint32_t lanes);
// Whether a byte's last write was noted apart from its word's.
bool shared_written_apart(const Checker *owner, uint32_t byte);
// Of lanes that access whole words, those of which a word has to keep records of its bytes. The
// others' have none from now on.
uint32_t shared_split_lanes(const SharedTouch *at, uint32_t lanes);
// Whether none of so many words has to; accesses before `floor` are ordered.
bool shared_join(Checker *owner, uint32_t word, uint32_t words, Record floor);
// shared_quick of less than words. `apart`: no two lanes access the same.
uint32_t shared_quick_bytes(const SharedTouch *at, Record base, bool apart);
// A weak load or store by a whole warp, 1 or 2 bytes a lane, each behind the one before; `base`:
// the record of the first lane; `warp_floor`: as in SharedTouch. False: unusual, look at all lanes.
bool shared_bytes_row(Checker *checker, uint32_t byte, uint32_t size, Record base,
                      Record warp_floor, bool loads);

// Whether a read takes the place of an earlier one, which is ordered before it: what that may
// collide with it may too.
static inline __attribute__((always_inline)) bool shared_stands_for(const SharedTouch *at,
                                                                    Record old, Record mine) {
    const Record other = old ^ mine;
    const uint32_t earlier = ((uint32_t) !(other & RECORD_WARP_MASK) & (old < at->warp_floor)) |
                             (old < at->block_floor) | !(other & RECORD_LANE_MASK);
    return (old < at->floor) | ((uint32_t)shared_own(at, old) & earlier);
}

static inline __attribute__((always_inline)) bool shared_same_warp(const SharedTouch *at,
                                                                   Record record, Record mine) {
    return shared_own(at, record) & !((record ^ mine) & RECORD_WARP_MASK);
}

// Whether `second` stays beside a record that stays too, and `mine` is left out. Where two warps
// did the same, and only barriers of whole warps and blocks order them, records of two warps tell
// enough: one of them is of another warp than whoever comes behind both. A copy's stays until it is
// waited for.
static inline __attribute__((always_inline)) bool shared_stays(const SharedTouch *at, Record first,
                                                               Record second, Record mine) {
    return ((second >= at->floor) & shared_same_warp(at, first, mine) &
            !shared_same_warp(at, second, mine)) |
           record_is_copy(second);
}

// Where SharedTouch.plain. Whether two weak reads of two warps are noted, both since the barrier
// before `floor`: another read adds nothing, since one of the two is of another warp than whoever
// comes behind all of them.
static inline __attribute__((always_inline)) uint64_t shared_told(Record read, Record second,
                                                                  Record floor) {
    const Record earlier = read < second ? read : second;
    const uint64_t scopes = (read | second) & (((Record)1 << RECORD_MANY) - 1) ? 1 : 0;
    const uint64_t apart = (read ^ second) & RECORD_WARP_MASK ? 1 : 0;
    return (uint64_t)(earlier >= floor) & apart & (scopes ^ 1);
}

// The same of a warp's reads that come behind these: also where two of its own lanes have read
// since it last met, at `warp_floor`, one of the two is another thread than whoever comes behind.
static inline __attribute__((always_inline)) uint64_t
shared_told_to(Record read, Record second, Record mine, Record floor, Record warp_floor) {
    const Record earlier = read < second ? read : second;
    const uint64_t scopes = (read | second) & (((Record)1 << RECORD_MANY) - 1) ? 1 : 0;
    const uint64_t far = ((read ^ mine) | (second ^ mine)) & RECORD_WARP_MASK ? 1 : 0;
    const uint64_t own = (far ^ 1) & (uint64_t)(earlier >= warp_floor);
    return shared_told(read, second, floor) | ((uint64_t)(earlier >= floor) & own & (scopes ^ 1));
}

// The same: whether the read `mine` does not take the place of the first one; `warp_floor` is no
// earlier than `floor`.
static inline __attribute__((always_inline)) uint64_t
shared_beside(Record read, Record mine, Record floor, Record warp_floor) {
    const uint64_t strange = (read ^ mine) & RECORD_LANE_MASK ? 1 : 0;
    const uint64_t far = (read ^ mine) & RECORD_WARP_MASK ? 1 : 0;
    const uint64_t late = (far & (uint64_t)(read >= floor)) | (uint64_t)(read >= warp_floor);
    return strange & late;
}

// Notes weak reads of words one behind the other, 1 << `shift` of them a lane's, where
// SharedTouch.plain; `base`: the record of the first lane.
void shared_note_plain(Checker *owner, uint32_t word, uint64_t words, uint32_t shift, Record base,
                       Record floor, Record warp_floor);

// A store that accesses now may still collide with.
static inline bool shared_is_plain(const SharedTouch *at, Record record) {
    return !record_scope(record) && record >= at->floor;
}

// Whether the last write is kept when a strong one takes its place, as the second one: a plain
// store is; else of another thread, and if both are left of other warps, the last one.
static inline bool shared_keeps(const SharedTouch *at, Record write, Record second, Record mine) {
    const bool plain = shared_is_plain(at, write), plain_2 = shared_is_plain(at, second);
    if (plain || plain_2) return plain;
    if (shared_own(at, write) && !((write ^ mine) & RECORD_LANE_MASK)) return false;
    return !shared_stays(at, write, second, mine);
}

// Where Check.partial: keeps the access of a record that gives way, or has no room, to `count`
// bytes of a word.
void shared_add_rest(const SharedTouch *at, Record record, uint32_t byte, uint32_t count,
                     bool writes);
// The same of reads of a whole word that others take the place of, and are not ordered behind.
static inline void shared_give_way(const SharedTouch *at, Record read, uint32_t word, Record mine) {
    if (at->partial && read >= at->noise && shared_open(at, read, mine, false))
        shared_add_rest(at, read, word * 4, 4, false);
}

// Whether last writes and reads may be of interest, or second ones.
static inline bool shared_any_write(const SharedTouch *at) {
    return at->owner->latest_write >= at->noise;
}
static inline bool shared_any_read(const SharedTouch *at) {
    return at->owner->latest_read >= at->noise;
}
static inline bool shared_any_write_2(const SharedTouch *at) {
    return at->owner->latest_write_2 >= at->noise;
}
static inline bool shared_any_read_2(const SharedTouch *at) {
    return at->owner->latest_read_2 >= at->noise;
}
// Whether there may be reads beside which another one is noted.
static inline bool shared_read_before(const SharedTouch *at) {
    return at->owner->latest_read >= at->floor;
}

// The record of a lane. `base`: of thread 0.
static inline Record shared_record(const SharedTouch *at, Record base, uint32_t lane) {
    return base + ((Record)(at->warp->index * (uint32_t)LANES + lane) << RECORD_THREAD);
}

// A record was noted that is no later than this one.
static inline void shared_noted(Record *latest, Record record) {
    if (record > *latest) *latest = record;
}

// The same of a second write to a word.
static inline void shared_noted_second(Checker *owner, uint32_t word, Record record) {
    Extent *at = &owner->second_writes;
    shared_noted(&owner->latest_write_2, record);
    if (!at->high || word < at->low) at->low = word;
    if (word >= at->high) at->high = word + (uint64_t)1;
}
// Whether second writes to some of these words may be as late as this record.
static inline bool shared_second_writes(const Checker *owner, uint32_t word, uint32_t words,
                                        Record record) {
    const Extent *at = &owner->second_writes;
    return owner->latest_write_2 >= record && word < at->high && word + words > at->low;
}

// Notes what no record says anything against, of all accesses but copies; `base`: the record of
// thread 0. The lanes that need a closer look.
uint32_t shared_quick(const SharedTouch *at, Record base);

#endif
