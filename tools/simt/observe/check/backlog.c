// The backlog of a region: weak accesses to words that the region's records do not have yet, one
// behind the other.
//
// In most launches what is read somewhere is not written there, and what is written is written
// once. Then nothing races, and who accessed which word need not be known: 16 bytes for an access
// of a warp are enough to find it out later, in place of 8 for each word. So a region of which a
// launch has only read words has these reads in its backlog; one of which it has only written
// words, each of them once, has these writes, and a bit for each word that was. The first access
// that is different, or one that finds the backlog full, makes records of all that is in there, and
// from then on the launch keeps records of the region. They are the same as if they had been kept
// from the beginning, so nothing is found that would not have been, and nothing is missed.
//
// What whole warps do to groups of words is in the groups' records and not here, unless a part of
// the group has been written. See touch.h.
#include <sched.h>
#include <string.h>

#include "simt/observe/check/touch.h"

// So many lanes from `lane` on: words at `first`, `first + stride`, ..., 1 << `shift` of them each.
// No lanes: those of Scattered, behind it. No record: a BacklogContext is behind it.
typedef struct {
    Record base; // of the warp's first lane
    uint16_t first;
    int16_t stride;
    uint8_t lane, lanes, shift;
    bool parted;
} Entry;

typedef struct {
    uint64_t mask;
    uint16_t first[LANES];
} Scattered;

enum { FEW_ENTRIES = 4 };
// No access needs more.
enum { MOST_BYTES = 2 * sizeof(Entry) + sizeof(BacklogContext) + sizeof(Scattered) };
_Static_assert(FEW_ENTRIES * sizeof(Entry) < sizeof(Entry) + sizeof(Scattered), "few are less");

// --- one host thread at a time ---

static void hold(const Touch *at, Backlog *backlog) {
    if (at->checker->check->alone) return;
    while (__atomic_test_and_set(&backlog->locked, __ATOMIC_ACQUIRE)) sched_yield();
}

static void let_go(const Touch *at, Backlog *backlog) {
    if (!at->checker->check->alone) __atomic_clear(&backlog->locked, __ATOMIC_RELEASE);
}

// --- what is added ---

static void *append(Backlog *backlog, size_t bytes) {
    void *at = (uint8_t *)backlog->entries + backlog->used;
    backlog->used += (uint32_t)bytes;
    return at;
}

// Only what touch_known and touch_settled look at.
static BacklogContext context_of(const Touch *at) {
    return (BacklogContext){at->times, at->span, at->floor,
                            at->warp_floor > at->floor ? at->warp_floor : at->floor};
}

static void add_context(const Touch *at, Backlog *backlog) {
    const BacklogContext now = context_of(at), *last = &backlog->context;
    const uint64_t changed = (now.times ^ last->times) | (now.span ^ last->span) |
                             (now.floor ^ last->floor) | (now.warp_floor ^ last->warp_floor);
    if (!changed) return;
    backlog->context = now;
    *(Entry *)append(backlog, sizeof(Entry)) = (Entry){0};
    *(BacklogContext *)append(backlog, sizeof now) = now;
}

static bool begin(const Touch *at, Region *region) {
    Backlog *backlog = &region->backlog;
    backlog->used = 0;
    if (!backlog->room && !shadow_grow_backlog(backlog)) return false;
    if (at->writes) memset(backlog->written, 0, sizeof backlog->written);
    backlog->context = (BacklogContext){0};
    backlog->writes = at->writes;
    backlog->launch = at->checker->check->launch;
    return true;
}

// Whether there is room for this access, and what groups have and what is there already is no
// hindrance.
static inline bool ready(const Touch *at, Region *region) {
    const uint64_t launch = at->checker->check->launch;
    Backlog *backlog = &region->backlog;
    if (region->direct == launch) return false;
    if ((at->reads ? region->group_written : region->group_read) == launch) return false;
    if (backlog->launch != launch) return begin(at, region);
    if (backlog->writes != at->writes) return false;
    return backlog->used + MOST_BYTES <= backlog->room || shadow_grow_backlog(backlog);
}

// Whether nobody has written these words of a group in this launch; from now on somebody has.
static inline bool claim(const Touch *at, Region *region, uint32_t group, uint32_t words) {
    const bool grouped = region->group_written == at->checker->check->launch;
    if (region->backlog.written[group] & words) return false;
    if (grouped && region->groups[group].write >= at->launch) return false;
    region->backlog.written[group] |= words;
    return true;
}

static bool claim_run(const Touch *at, Region *region, uint32_t word, uint32_t words) {
    const uint32_t end = word + words;
    while (word < end) {
        const uint32_t from = word % REGION_GROUP, next = word - from + REGION_GROUP;
        const uint32_t to = next < end ? REGION_GROUP : end - word + from;
        const uint32_t below_end = to == REGION_GROUP ? ALL_LANES : (1u << to) - 1;
        if (!claim(at, region, word / REGION_GROUP, below_end & ~((1u << from) - 1))) return false;
        word = next;
    }
    return true;
}

static inline uint32_t word_of(const Touch *at, uint32_t lane) {
    return (uint32_t)(at->address[lane] - memory_base) % REGION_BYTES / 4;
}

static bool claim_lanes(const Touch *at, Region *region, uint32_t lanes) {
    const uint32_t words = (1u << at->size / 4) - 1;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t word = word_of(at, (uint32_t)__builtin_ctz(m));
        if (!claim(at, region, word / REGION_GROUP, words << word % REGION_GROUP)) return false;
    }
    return true;
}

static inline void add_entry(const Touch *at, Backlog *backlog, uint32_t word, int32_t stride,
                             uint32_t lane, uint32_t lanes) {
    *(Entry *)append(backlog, sizeof(Entry)) =
        (Entry){at->base,      (uint16_t)word, (int16_t)stride,
                (uint8_t)lane, (uint8_t)lanes, (uint8_t)__builtin_ctz(at->size / 4),
                at->parted};
}

static void add_scattered(const Touch *at, Backlog *backlog, uint32_t lanes) {
    add_entry(at, backlog, 0, 0, 0, 0);
    Scattered *scattered = append(backlog, sizeof *scattered);
    scattered->mask = lanes;
    LANE_LOOP scattered->first[l] = (uint16_t)((at->address[l] - memory_base) / 4);
}

// Lanes that form few runs, each one behind the other or at the same place, one entry for each.
// False: they are many, or one place is nowhere behind another.
static bool add_runs(const Touch *at, Backlog *backlog, uint32_t lanes) {
    const uint32_t on = at->shape->on & lanes & lanes >> 1;
    const uint32_t same = at->shape->same & lanes & lanes >> 1;
    const uint32_t next = __builtin_popcount(on) >= __builtin_popcount(same) ? on : same;
    const int32_t stride = next == on ? (int32_t)(at->size / 4) : 0;
    if (__builtin_popcount(lanes & ~(next << 1)) > FEW_ENTRIES) return false;
    while (lanes) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        const uint32_t count = 1 + (uint32_t)__builtin_ctz(~(next >> lane));
        add_entry(at, backlog, word_of(at, lane), stride, lane, count);
        lanes &= count == LANES ? 0 : ~(((1u << count) - 1) << lane);
    }
    return true;
}

// Lanes that all lie in the region.
static bool add_lanes(const Touch *at, Region *region, uint32_t lanes) {
    Backlog *backlog = &region->backlog;
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes),
                   count = (uint32_t)__builtin_popcount(lanes);
    if (!ready(at, region)) return false;
    if (at->writes && !claim_lanes(at, region, lanes)) return false;
    if (at->reads) add_context(at, backlog);
    if (count == 1)
        add_entry(at, backlog, word_of(at, lane), 0, lane, 1);
    else if (at->shape->even) // so a region's lanes are neighbours
        add_entry(at, backlog, word_of(at, lane), (int32_t)(at->shape->stride / 4), lane, count);
    else if (!add_runs(at, backlog, lanes))
        add_scattered(at, backlog, lanes);
    return true;
}

static bool add_near(const Touch *at, uint32_t lanes) {
    Region *region = shadow_region(at->address[__builtin_ctz(lanes)]);
    if (!region || region->direct == at->checker->check->launch) return false;
    hold(at, &region->backlog);
    const bool added = add_lanes(at, region, lanes);
    let_go(at, &region->backlog);
    return added;
}

uint32_t backlog_add(const Touch *at, uint32_t mask) {
    enum { FEW = 8 };
    uint32_t left = 0;
    if (at->strong || at->size < 4 || !at->checker->check->backlogs) return mask;
    while (mask) {
        uint32_t lanes = touch_same_region(at, mask);
        if (lanes != mask && __builtin_popcount(lanes) <= FEW && !at->shape->even)
            lanes = mask & (0 - mask);
        if (!add_near(at, lanes)) left |= lanes;
        mask &= ~lanes;
    }
    return left;
}

bool backlog_add_run(const Touch *at, Region *region, Record base, uint32_t word, uint32_t lanes) {
    const uint32_t each = at->size / 4, lane = record_thread(base) % LANES;
    Backlog *backlog = &region->backlog;
    if (at->strong || !at->checker->check->backlogs) return false;
    if (region->direct == at->checker->check->launch) return false;
    hold(at, backlog);
    const bool good = ready(at, region) && (at->reads || claim_run(at, region, word, each * lanes));
    if (good && at->reads) add_context(at, backlog);
    if (good) add_entry(at, backlog, word, (int32_t)each, lane, lanes);
    let_go(at, backlog);
    return good;
}

// --- what becomes of it ---

// Records of so many words of the region from `first` on.
typedef struct {
    Cells cells;
    uint32_t first, count;
    bool more; // some words have a second read
} Target;

static void put(const Touch *at, Target *to, uint32_t word) {
    const uint32_t k = word - to->first;
    if (k >= to->count) return;
    if (at->writes) {
        to->cells.write[k] = at->mine;
        return;
    }
    const Record old = to->cells.read[k];
    if (!touch_known(at, old)) {
        to->more = true;
        if (!touch_stays(at, to->cells.read_2[k], old)) to->cells.read_2[k] = old;
    }
    to->cells.read[k] = touch_read(at, old, at->mine);
}

static void put_lane(Touch *at, Target *to, uint32_t lane, uint32_t word, uint32_t shift) {
    at->mine = at->base + ((Record)lane << RECORD_THREAD);
    for (uint32_t k = 0; k < 1u << shift; k++) put(at, to, word + k);
}

static void put_scattered(Touch *at, Target *to, const Scattered *scattered, uint32_t shift) {
    for (uint64_t m = scattered->mask; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(m);
        put_lane(at, to, lane, scattered->first[lane] % REGION_WORDS, shift);
    }
}

static void put_even(Touch *at, Target *to, const Entry *entry) {
    int32_t word = entry->first;
    for (uint32_t k = 0; k < entry->lanes; k++, word += entry->stride)
        put_lane(at, to, entry->lane + k, (uint32_t)word, entry->shift);
}

static const uint8_t *put_context(Touch *at, const uint8_t *from) {
    const BacklogContext *context = (const BacklogContext *)(const void *)from;
    at->times = context->times;
    at->span = context->span;
    at->floor = context->floor;
    at->warp_floor = context->warp_floor;
    return from + sizeof *context;
}

// Makes records of all that is in the backlog.
static void put_all(const Backlog *backlog, Target *to) {
    Touch at = {.reads = !backlog->writes, .writes = backlog->writes};
    const uint8_t *from = backlog->entries, *end = from + backlog->used;
    at.launch = at.done = backlog->launch << RECORD_TIME;
    while (from < end) {
        const Entry *entry = (const Entry *)(const void *)from;
        from += sizeof *entry;
        at.base = entry->base;
        at.parted = entry->parted;
        if (!entry->base) {
            from = put_context(&at, from);
        } else if (entry->lanes) {
            put_even(&at, to, entry);
        } else {
            put_scattered(&at, to, (const Scattered *)(const void *)from, entry->shift);
            from += sizeof(Scattered);
        }
    }
}

static bool room_for(Cells *cells, bool writes) {
    if (writes) return shadow_room(&cells->write, REGION_WORDS);
    return shadow_room(&cells->read, REGION_WORDS) && shadow_room(&cells->read_2, REGION_WORDS) &&
           shadow_room(&cells->write_2, REGION_WORDS);
}

// This launch's, or that of one before.
static bool enter(Region *region) {
    const Backlog *backlog = &region->backlog;
    if (!room_for(&region->words, backlog->writes)) return false;
    Target to = {region->words, 0, REGION_WORDS, false};
    put_all(backlog, &to);
    if (backlog->writes)
        region->written = backlog->launch;
    else
        region->read = backlog->launch;
    if (to.more) region->more = backlog->launch;
    return true;
}

void backlog_enter(const Touch *at, Region *region) {
    const uint64_t launch = at->checker->check->launch;
    Backlog *backlog = &region->backlog;
    hold(at, backlog);
    if (region->direct != launch && backlog->launch == launch) {
        at->checker->lost |= !enter(region);
        backlog->launch = 0;
    }
    __atomic_store_n(&region->direct, launch, __ATOMIC_RELEASE);
    let_go(at, backlog);
}

void backlog_look(const Region *region, uint64_t word, Record found[BACKLOG_FOUND]) {
    Target to = {{&found[0], NULL, &found[1], &found[2]}, (uint32_t)word, 1, false};
    if (region->backlog.launch) put_all(&region->backlog, &to);
}
