// The backlog of a region: weak accesses to words that the region's records do not have yet, one
// behind the other.
//
// In most launches what is read somewhere is not written there, and what is written is written
// once. Then nothing races, and who accessed which word need not be known: 16 bytes for an access
// of a warp are enough to find it out later, in place of 8 for each word. So the backlog has reads
// of pages of which the launch has written nothing, and writes of words, each of them once, to
// pages of which it has read nothing. The first access that is different makes records of all that
// is in there, and from then on the launch keeps records of the region. They are the same as if
// they had been kept from the beginning, so nothing is found that would not have been, and nothing
// is missed. A full backlog is emptied into records; where these need most of what it has, nothing
// is gained by it, and who read there last does without.
//
// What whole warps do to groups of words is in the groups' records and not here, unless a part of
// the group has been written. See touch.h.
#include "simt/observe/check/backlog.h"

#include <string.h>

enum { FEW_ENTRIES = 4 };
enum { LOOKED_AT = 2 }; // of the last entries, whether they tell of an access already
// No access needs more.
enum { WORDS_BYTES = LANES * sizeof(uint16_t) };
enum { MOST_BYTES = 2 * sizeof(BacklogEntry) + sizeof(BacklogContext) + WORDS_BYTES };
_Static_assert(FEW_ENTRIES * sizeof(BacklogEntry) <= sizeof(BacklogEntry) + WORDS_BYTES,
               "few are less");

// --- what is added ---

// An entry of so many bytes, of which all but `before` is left to the caller.
static inline BacklogEntry *append(Backlog *backlog, uint32_t bytes) {
    BacklogEntry *entry = backlog_entry(backlog, backlog->used);
    entry->before = (uint8_t)(backlog->last / 8);
    backlog->used += bytes;
    backlog->last = bytes;
    return entry;
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
    BacklogEntry *entry = append(backlog, sizeof *entry + sizeof now);
    entry->base = 0;
    entry->lane = now.times != last->times;
    *(BacklogContext *)(void *)(entry + 1) = now;
    backlog->context = now;
}

// Words read by lanes anywhere: what is more is read again and again, of which each entry tells
// something that no other does.
enum { MOST_SCATTERED = REGION_WORDS * 16 };

static bool begin(const Touch *at, Region *region) {
    Backlog *backlog = &region->backlog;
    if (at->checker->check->early && backlog->launch) at->checker->lost |= !backlog_put(region);
    backlog->used = backlog->scattered = backlog->last = 0;
    if (!backlog->room && !shadow_grow_backlog(backlog)) return false;
    memset(backlog->written, 0, sizeof backlog->written);
    backlog->context = (BacklogContext){0};
    backlog->read_pages = backlog->written_pages = 0;
    backlog->launch = at->checker->check->launch;
    return true;
}

static inline Site *site_of(const Touch *at) {
    return &at->checker->check->sites[record_site(at->base)];
}

// Whether nothing that a backlog of the launch knows of these pages hinders an access to them.
static inline bool is_clear(const Region *region, uint64_t launch, bool reads, uint32_t pages) {
    const Backlog *backlog = &region->backlog;
    if (pages & (reads ? backlog->written_pages : backlog->read_pages)) return false;
    return region->grouped != launch ||
           !(pages & (reads ? region->group_written_pages : region->group_read_pages));
}

// The same, and whether there is room.
static inline bool ready(const Touch *at, Region *region, uint32_t pages) {
    const uint64_t launch = at->checker->check->launch;
    Backlog *backlog = &region->backlog;
    if (region->direct == launch) return false;
    if (backlog->launch != launch && !begin(at, region)) return false;
    if (!is_clear(region, launch, at->reads, pages)) return false;
    const bool room = backlog->used + MOST_BYTES <= backlog->room || shadow_grow_backlog(backlog);
    if (room && backlog->scattered <= MOST_SCATTERED) return true;
    if (!at->checker->machine->ordered && backlog_condense(region)) return true;
    if (at->reads) site_of(at)->alone = true;
    return false;
}

static inline void note_pages(const Touch *at, Backlog *backlog, uint32_t pages) {
    if (at->reads)
        backlog->read_pages |= pages;
    else
        backlog->written_pages |= pages;
}

// Whether nobody has written these words of a group in this launch; from now on somebody has.
static inline bool claim(const Touch *at, Region *region, uint32_t group, uint32_t words) {
    const bool grouped = region->grouped == at->checker->check->launch;
    if (region->backlog.written[group] & words) return false;
    if (grouped && shadow_group_bit(region->group_written, group)) return false;
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

// With room for so many words.
static inline BacklogEntry *add_entry(const Touch *at, Backlog *backlog, uint32_t words,
                                      uint32_t fold) {
    BacklogEntry *entry = append(backlog, (uint32_t)sizeof *entry + backlog_words_bytes(words));
    entry->base = at->base;
    entry->form = (BacklogForm){.shift = (uint32_t)__builtin_ctz(at->size / 4) & 3,
                                .fold = fold & 3,
                                .parted = at->parted,
                                .write = at->writes};
    return entry;
}

static inline void add_even(const Touch *at, Backlog *backlog, uint32_t word, int32_t stride,
                            uint32_t lane, uint32_t lanes) {
    BacklogEntry *entry = add_entry(at, backlog, 0, 0);
    entry->first = (uint16_t)word;
    entry->stride = (int16_t)stride;
    entry->lane = (uint8_t)lane;
    entry->lanes = (uint8_t)lanes;
}

// How often all lanes can be folded in two of which one does what the other does, at most twice.
static uint32_t fold_of(const Touch *at) {
    enum { HALF = LANES / 2, QUARTER = LANES / 4 };
    const uint64_t *address = at->address;
    uint64_t halves = 0, quarters = 0;
    for (int l = 0; l < HALF; l++) halves |= address[l] ^ address[l + HALF];
    for (int l = 0; l < QUARTER; l++) quarters |= address[l] ^ address[l + QUARTER];
    return halves ? 0 : quarters ? 1 : 2;
}

static void add_scattered(const Touch *at, Backlog *backlog, uint32_t lanes) {
    const uint32_t fold = lanes == ALL_LANES ? fold_of(at) : 0;
    const uint32_t count = (uint32_t)__builtin_popcount(lanes) >> fold;
    BacklogEntry *entry = add_entry(at, backlog, count, fold);
    uint16_t *words = (uint16_t *)(void *)(entry + 1);
    entry->lanes = 0;
    entry->mask = lanes;
    if (at->reads) backlog->scattered += count * at->size / 4;
    if (count == LANES)
        LANE_LOOP words[l] = (uint16_t)((at->address[l] - memory_base) % REGION_BYTES / 4);
    else
        for (uint32_t k = 0; k < count; k++, lanes &= lanes - 1)
            *words++ = (uint16_t)word_of(at, (uint32_t)__builtin_ctz(lanes));
}

// Lanes that form runs, each one behind the other or at the same place: a bit for each that has
// the next one behind it, and where that lies.
typedef struct {
    uint32_t next;
    int32_t stride;
} Runs;

static inline Runs runs_of(const Touch *at, uint32_t lanes) {
    const uint32_t on = at->shape->on & lanes & lanes >> 1;
    const uint32_t same = at->shape->same & lanes & lanes >> 1;
    const bool behind = __builtin_popcount(on) >= __builtin_popcount(same);
    return (Runs){behind ? on : same, behind ? (int32_t)(at->size / 4) : 0};
}

static inline bool few_runs(const Touch *at, uint32_t lanes) {
    return __builtin_popcount(lanes & ~(runs_of(at, lanes).next << 1)) <= FEW_ENTRIES;
}

// If they are few, one entry for each.
static void add_runs(const Touch *at, Backlog *backlog, uint32_t lanes) {
    const Runs runs = runs_of(at, lanes);
    while (lanes) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        const uint32_t count = 1 + (uint32_t)__builtin_ctz(~(runs.next >> lane));
        add_even(at, backlog, word_of(at, lane), runs.stride, lane, count);
        lanes &= count == LANES ? 0 : ~(((1u << count) - 1) << lane);
    }
}

// Stores by lanes anywhere: claims what they write, and notes it. False: some of it was written
// before.
static bool claim_scattered(const Touch *at, Region *region, uint32_t lanes) {
    Backlog *backlog = &region->backlog;
    BacklogEntry *entry = backlog_entry(backlog, backlog->used);
    uint16_t *words = (uint16_t *)(void *)(entry + 1);
    const bool grouped = region->grouped == at->checker->check->launch;
    const uint32_t all = (1u << at->size / 4) - 1;
    uint32_t clash = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t word = word_of(at, (uint32_t)__builtin_ctz(m)), group = word / REGION_GROUP;
        const uint32_t mine = all << word % REGION_GROUP, written = backlog->written[group];
        *words++ = (uint16_t)word;
        clash |= written & mine;
        backlog->written[group] = written | mine;
        if (grouped) clash |= (uint32_t)shadow_group_bit(region->group_written, group);
    }
    if (clash) return false;
    entry = add_entry(at, backlog, (uint32_t)__builtin_popcount(lanes), 0);
    entry->lanes = 0;
    entry->mask = lanes;
    return true;
}

// Lanes that all lie in the region.
static bool add_lanes(const Touch *at, Region *region, uint32_t lanes) {
    Backlog *backlog = &region->backlog;
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes), pages = touch_pages(at, region->low);
    const uint32_t count = (uint32_t)__builtin_popcount(lanes);
    const bool runs = count == 1 || at->shape->even || few_runs(at, lanes);
    if (!ready(at, region, pages)) return false;
    if (at->writes && !(runs ? claim_lanes(at, region, lanes) : claim_scattered(at, region, lanes)))
        return false;
    note_pages(at, backlog, pages);
    if (at->reads) add_context(at, backlog);
    if (count == 1)
        add_even(at, backlog, word_of(at, lane), 0, lane, 1);
    else if (at->shape->even) // so a region's lanes are neighbours
        add_even(at, backlog, word_of(at, lane), (int32_t)(at->shape->stride / 4), lane, count);
    else if (runs)
        add_runs(at, backlog, lanes);
    else if (at->reads)
        add_scattered(at, backlog, lanes);
    return true;
}

static bool add_near(const Touch *at, uint32_t lanes) {
    Region *region = shadow_region(at->address[__builtin_ctz(lanes)]);
    if (!region || region->direct == at->checker->check->launch) return false;
    return add_lanes(at, region, lanes);
}

// Whether backlogs are for this access.
static inline bool suits(const Touch *at) {
    return at->checker->check->backlogs && !site_of(at)->alone;
}

// Where they took nothing for long, they are not asked any more.
static inline void learn(const Touch *at, bool added) {
    enum { ENOUGH = 64 };
    Site *site = site_of(at);
    const uint32_t failed = site->failed;
    if (added && !failed) return;
    site->failed = added ? 0 : failed + 1;
    if (!added && failed >= ENOUGH) site->alone = true;
}

// Whether an entry of the same access tells that the lane was at this word.
static inline bool tells_lane(const BacklogEntry *entry, uint32_t lane, uint32_t word) {
    const uint32_t below = entry->mask & ((1u << lane) - 1);
    if (entry->lanes) return entry->lanes == 1 && entry->lane == lane && entry->first == word;
    if (entry->form.fold || !(entry->mask >> lane & 1)) return false;
    return backlog_words(entry)[__builtin_popcount(below)] == word;
}

// Whether an entry tells the same of these lanes.
static inline bool tells(const Touch *at, const BacklogEntry *entry, uint32_t lanes) {
    if (entry->base != at->base) return false;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!tells_lane(entry, lane, word_of(at, lane))) return false;
    }
    return true;
}

// Whether one of the last entries does: loops read again what they have read.
static inline bool is_told(const Touch *at, const Backlog *backlog, uint32_t lanes) {
    uint32_t offset = backlog->used, before = backlog->last;
    for (int k = 0; k < LOOKED_AT && before; k++) {
        offset -= before;
        const BacklogEntry *entry = backlog_entry(backlog, offset);
        if (tells(at, entry, lanes)) return true;
        before = entry->before * 8u;
    }
    return false;
}

// The same of a single lane's read, before more is known of it than its record.
static inline bool is_told_one(const One *one, Record base, uint32_t word) {
    const uint64_t launch = one->checker->check->launch;
    const Backlog *backlog = &one->region->backlog;
    const uint32_t pages = shadow_pages_between(word, word + one->size / 4 - 1);
    uint32_t offset = backlog->used, before = backlog->last;
    if (backlog->launch != launch || one->region->direct == launch) return false;
    if (!is_clear(one->region, launch, true, pages)) return false;
    for (int k = 0; k < LOOKED_AT && before; k++) {
        offset -= before;
        const BacklogEntry *entry = backlog_entry(backlog, offset);
        if (entry->base == base && tells_lane(entry, one->lane, word)) return true;
        before = entry->before * 8u;
    }
    return false;
}

// A lane that accesses this word of the region, and what is behind it.
static inline bool add_one(const Touch *at, Region *region, uint32_t lane, uint32_t word) {
    Backlog *backlog = &region->backlog;
    const uint32_t words = at->size / 4;
    const uint32_t pages = shadow_pages_between(word, word + words - 1);
    if (!ready(at, region, pages)) return false;
    if (at->writes &&
        !claim(at, region, word / REGION_GROUP, ((1u << words) - 1) << word % REGION_GROUP))
        return false;
    note_pages(at, backlog, pages);
    if (at->reads) add_context(at, backlog);
    add_even(at, backlog, word, 0, lane, 1);
    return true;
}

bool backlog_add_one(const One *one) {
    Touch at;
    Region *region = one->region;
    const uint32_t word = (uint32_t)(one->address - memory_base) % REGION_BYTES / 4;
    const Record base = record_make(one->checker->now, one->site, one->warp->index * LANES, 0);
    if (one->size < 4) return false;
    bool added = one->inst->access == ACCESS_LOAD && is_told_one(one, base, word);
    if (!added) {
        touch_one(&at, one);
        added = suits(&at) && add_one(&at, region, one->lane, word);
        if (added) learn(&at, true);
    }
    return added;
}

// A few lanes in a region, from one of these words to another.
static bool add_few(const Touch *at, Region *region, uint32_t lanes, uint32_t low, uint32_t high) {
    Backlog *backlog = &region->backlog;
    const uint32_t pages = shadow_pages_between(low, high + at->size / 4 - 1);
    if (!ready(at, region, pages)) return false;
    if (at->reads && is_told(at, backlog, lanes)) return true;
    if (!(lanes & (lanes - 1))) return add_one(at, region, (uint32_t)__builtin_ctz(lanes), low);
    if (at->writes && !claim_scattered(at, region, lanes)) return false;
    note_pages(at, backlog, pages);
    if (at->reads) add_context(at, backlog);
    if (at->reads) add_scattered(at, backlog, lanes);
    return true;
}

// Of the lanes those in the region of the first, which are added. *left: these, if they are not.
static uint32_t add_some(const Touch *at, uint32_t mask, uint32_t *left) {
    Region *region = shadow_region(at->address[__builtin_ctz(mask)]);
    uint32_t lanes = 0, low = REGION_WORDS, high = 0;
    if (!region) return *left |= mask, mask;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t word = (at->address[lane] - region->low) / 4;
        if (word >= REGION_WORDS) continue;
        lanes |= 1u << lane;
        low = word < low ? (uint32_t)word : low;
        high = word > high ? (uint32_t)word : high;
    }
    if (region->direct == at->checker->check->launch) return *left |= lanes, lanes;
    if (!add_few(at, region, lanes, low, high)) *left |= lanes;
    return lanes;
}

uint32_t backlog_add_few(const Touch *at, uint32_t mask) {
    const uint32_t all = mask;
    uint32_t left = 0;
    if (at->size < 4 || !suits(at)) return mask;
    while (mask) mask &= ~add_some(at, mask, &left);
    learn(at, left != all);
    return left;
}

// Lanes in several regions. Those that are left.
static uint32_t add_far(const Touch *at, uint32_t mask) {
    enum { FEW = 2 };
    uint32_t region[LANES], left = 0;
    const uint64_t base = memory_base;
    LANE_LOOP region[l] = (uint32_t)((at->address[l] - base) >> REGION_SHIFT);
    while (mask) {
        const uint32_t first = region[__builtin_ctz(mask)];
        uint32_t lanes = 0;
        LANE_LOOP lanes |= (uint32_t)(region[l] == first) << l;
        lanes &= mask;
        if (lanes != mask && __builtin_popcount(lanes) <= FEW && !at->shape->even)
            lanes = mask & (0 - mask);
        if (!add_near(at, lanes)) left |= lanes;
        mask &= ~lanes;
    }
    return left;
}

uint32_t backlog_add(const Touch *at, uint32_t mask) {
    if (at->strong || at->size < 4 || !suits(at)) return mask;
    const uint32_t left = !at->shape->near ? add_far(at, mask) : add_near(at, mask) ? 0 : mask;
    learn(at, left != mask);
    return left;
}

bool backlog_add_run(const Touch *at, Region *region, Record base, uint32_t word, uint32_t lanes) {
    const uint32_t each = at->size / 4, lane = record_thread(base) % LANES;
    Backlog *backlog = &region->backlog;
    if (at->strong || !suits(at)) return false;
    if (region->direct == at->checker->check->launch) return false;
    const uint32_t pages = shadow_pages_between(word, word + each * lanes - 1);
    const bool good =
        ready(at, region, pages) && (at->reads || claim_run(at, region, word, each * lanes));
    if (good) note_pages(at, backlog, pages);
    if (good && at->reads) add_context(at, backlog);
    if (good) add_even(at, backlog, word, (int32_t)each, lane, lanes);
    return good;
}

// Nobody has any yet in this launch.
static void begin_groups(const Touch *at, Region *region) {
    const uint64_t launch = at->checker->check->launch;
    region->group_read_pages = region->group_written_pages = 0;
    memset(region->group_read, 0, sizeof region->group_read);
    memset(region->group_written, 0, sizeof region->group_written);
    region->grouped = launch;
}

void backlog_group(const Touch *at, Region *region, uint32_t group) {
    uint64_t *pieces = at->reads ? region->group_read : region->group_written;
    uint32_t *pages = at->reads ? &region->group_read_pages : &region->group_written_pages;
    const uint32_t page = 1u << group * REGION_GROUP / REGION_PAGE;
    const uint64_t bit = (uint64_t)1 << group % GROUP_PIECE;
    uint64_t *piece = &pieces[group / GROUP_PIECE];
    if (region->grouped != at->checker->check->launch) begin_groups(at, region);
    *piece |= bit;
    *pages |= page;
}

void backlog_enter(const Touch *at, Region *region) {
    const uint64_t launch = at->checker->check->launch;
    Backlog *backlog = &region->backlog;
    if (region->direct != launch && backlog->launch == launch) {
        at->checker->lost |= !backlog_put(region);
        backlog->launch = 0;
    }
    region->direct = launch;
}
