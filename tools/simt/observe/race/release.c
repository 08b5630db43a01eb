// Adds releases to logs, and finds whether the releases that a thread has seen order an access. See
// release.h.
#include "simt/observe/race/release.h"

#include <string.h>

// An entry of a log: the part of a release that belongs to some lanes. before: the previous entry
// of the same block (-1: none). Neither this entry nor those before it order an access at `latest`
// or later. jump, depth: see jump_of.
typedef struct {
    const Release *release;
    uint32_t lanes;
    int64_t before, jump;
    uint32_t depth;
    uint64_t latest;
} Entry;

// What the first `at` + 1 releases had seen of another log.
typedef struct {
    Seen seen;
    uint32_t at;
} Carried;

struct Log {
    Entry *entries;
    size_t count, capacity;
    Carried *carried;
    size_t carried_count, carried_capacity;
    uint32_t *last; // hash table of blocks: their last entries + 1, 0: free
    uint32_t slots;
    uint64_t query;    // the last query that examined this log,
    uint32_t examined; // and how many releases it examined
};

// --- what was seen ---

// Whether b orders no more than a does.
static bool includes(const Seen *a, const Seen *b) {
    return a->log == b->log && a->count >= b->count && a->wide >= b->wide &&
           a->message <= b->message && a->swap <= b->swap && (b->lanes & ~a->lanes) == 0;
}

static const Release *first_of(const Log *log) { return log->entries[0].release; }

// Whether a log with one release is older than another of the same warp that includes it.
static bool outdated(const Seen *old, const Seen *new) {
    const Log *a = old->log, *b = new->log;
    if (a->count != 1 || b->count != 1 || old->lanes & ~new->lanes || old->wide > new->wide ||
        old->message < new->message || old->swap < new->swap)
        return false;
    const Release *x = first_of(a), *y = first_of(b);
    return x->block == y->block && x->warp == y->warp && x->time <= y->time &&
           (a->entries[0].lanes & ~b->entries[0].lanes) == 0 && x->seen <= y->seen &&
           x->wide <= y->wide && x->message >= y->message;
}

void seen_add(ReleasePool *pool, SeenList *list, Seen seen) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const Seen *old = &list->at[i];
        if (includes(old, &seen)) return;
        if (!includes(&seen, old) && !outdated(old, &seen)) list->at[kept++] = *old;
    }
    list->count = kept;
    ARENA_GROW(&pool->arena, list->at, list->count, list->capacity);
    list->at[list->count++] = seen;
}

void seen_spread(SeenList *list, uint32_t lanes) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i].lanes & lanes) list->at[i].lanes |= lanes;
}

// --- logs ---

uint32_t log_count(const Log *log) { return (uint32_t)log->count; }

bool log_only(const Log *log, uint64_t block) {
    return log->count > 0 && !log->slots && first_of(log)->block == block;
}

// The slot of a block in the table, which is free if the block has no entry.
static uint32_t slot_of(const Log *log, uint64_t block) {
    uint32_t at = (uint32_t)(block * 0x9E3779B97F4A7C15u >> 40) & (log->slots - 1);
    while (log->last[at] && log->entries[log->last[at] - 1].release->block != block)
        at = (at + 1) & (log->slots - 1);
    return at;
}

// The last entry of a block, -1: none. A log of one block has no table.
static int64_t last_of(const Log *log, uint64_t block) {
    if (log->count == 0) return -1;
    if (log->slots) return (int64_t)log->last[slot_of(log, block)] - 1;
    return first_of(log)->block == block ? (int64_t)log->count - 1 : -1;
}

// Rebuilds the hash table with room for twice as many entries.
static void index_entries(ReleasePool *pool, Log *log) {
    uint32_t slots = 16;
    while (slots < log->count * 4) slots *= 2;
    log->last = ARENA_NEW(&pool->arena, slots, uint32_t);
    log->slots = slots;
    for (uint32_t i = 0; i < log->count; i++)
        log->last[slot_of(log, log->entries[i].release->block)] = i + 1;
}

// A thread that sees this release in the log has also seen what the releasing lanes had seen.
static void carry(ReleasePool *pool, Log *log, const Release *release, uint32_t lanes) {
    for (uint32_t i = 0; i < release->seen; i++) {
        const Seen *seen = &release->logs[i];
        const bool message = seen->message || release->message;
        bool known = seen->log == log || !(seen->lanes & lanes);
        for (uint32_t k = 0; !known && k < log->carried_count; k++)
            known = log->carried[k].seen.log == seen->log &&
                    log->carried[k].seen.count >= seen->count &&
                    log->carried[k].seen.wide >= seen->wide &&
                    log->carried[k].seen.message <= message;
        if (known) continue;
        ARENA_GROW(&pool->arena, log->carried, log->carried_count, log->carried_capacity);
        log->carried[log->carried_count] = (Carried){*seen, log_count(log)};
        log->carried[log->carried_count++].seen.message = message;
    }
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t latest_of(const Release *release) {
    uint64_t latest = later(later(release->floor, release->warp_floor), release->time);
    for (uint32_t k = 0; k < DEVICE_WARP; k++) {
        if (release->warps) latest = later(latest, release->warps[k]);
        if (release->others) latest = later(latest, release->others[k]);
    }
    return latest;
}

// The number of entries of a block up to entry `at`, which is -1 if there is none.
static uint32_t depth_of(const Log *log, int64_t at) { return at < 0 ? 0 : log->entries[at].depth; }

static int64_t jump_from(const Log *log, int64_t at) { return at < 0 ? -1 : log->entries[at].jump; }

// The target of the jump of the entry after this one: if the last two jumps are equally long, as
// far as both together, else this entry. Any entry is then a logarithmic number of jumps away
// (Myers, "An applicative random-access stack", 1983).
static int64_t jump_of(const Log *log, int64_t at) {
    const int64_t once = jump_from(log, at), twice = jump_from(log, once);
    const bool equal =
        depth_of(log, at) - depth_of(log, once) == depth_of(log, once) - depth_of(log, twice);
    return at >= 0 && equal ? twice : at;
}

void log_add(ReleasePool *pool, Log **at, const Release *release, uint32_t lanes) {
    if (!*at) *at = ARENA_NEW(&pool->arena, 1, Log);
    Log *log = *at;
    const Entry *end = log->count ? &log->entries[log->count - 1] : NULL;
    if (end && end->release == release) {
        if (!(lanes & ~end->lanes)) return;
        lanes |= end->lanes;
    }
    carry(pool, log, release, lanes);
    ARENA_GROW(&pool->arena, log->entries, log->count, log->capacity);
    int64_t before = last_of(log, release->block);
    bool alone = log->count == 0 || (!log->slots && before >= 0);
    const uint64_t latest = latest_of(release);
    log->entries[log->count++] =
        (Entry){release,
                lanes,
                before,
                jump_of(log, before),
                depth_of(log, before) + 1,
                before < 0 ? latest : later(latest, log->entries[before].latest)};
    if (alone) return;
    if (log->count * 2 > log->slots)
        index_entries(pool, log);
    else
        log->last[slot_of(log, release->block)] = log_count(log);
}

// --- releases ---

static uint64_t *copy_times(ReleasePool *pool, const uint64_t *times) {
    uint64_t *copy = times ? ARENA_NEW(&pool->arena, DEVICE_WARP, uint64_t) : NULL;
    if (copy) memcpy(copy, times, DEVICE_WARP * sizeof *copy);
    return copy;
}

static void add_seen(Release *release, const SeenList *list) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i].lanes & release->lanes) release->logs[release->seen++] = list->at[i];
}

const Release *release_new(ReleasePool *pool, const Release *facts, const SeenList *seen,
                           const SeenList *more) {
    Release *release = ARENA_NEW(&pool->arena, 1, Release);
    *release = *facts;
    release->warps = copy_times(pool, facts->warps);
    release->others = copy_times(pool, facts->others);
    release->logs = ARENA_NEW(&pool->arena, seen->count + (size_t)more->count, Seen);
    release->seen = 0;
    add_seen(release, seen);
    add_seen(release, more);
    return release;
}

void release_forget_all(ReleasePool *pool) {
    arena_free(&pool->arena);
    pool->stack = (SeenList){0};
}

// --- order ---

static bool covers(const Release *release, uint32_t lanes, uint32_t thread, uint64_t time) {
    if (thread == ANY_THREAD || time < release->floor) return true;
    uint32_t warp = thread / DEVICE_WARP, lane = thread % DEVICE_WARP;
    if (warp != release->warp) return release->warps && time < release->warps[warp];
    if (time < release->warp_floor) return true;
    if (lanes >> lane & 1) return time < release->time;
    return release->others && time < release->others[lane];
}

// Whether the releases that were seen of a log order the access. If not, pushes what they had seen
// onto the stack.
static bool log_orders(ReleasePool *pool, const Event *event, const Seen *seen) {
    Log *log = seen->log;
    if (log->query == pool->queries && log->examined >= seen->count) return false;
    log->query = pool->queries;
    log->examined = seen->count;
    int64_t at = last_of(log, event->block);
    for (; at >= (int64_t)seen->count; pool->steps++) {
        const Entry *entry = &log->entries[at];
        at = entry->jump >= (int64_t)seen->count ? entry->jump : entry->before;
    }
    for (; at >= 0; at = log->entries[at].before) {
        const Entry *entry = &log->entries[at];
        if (event->thread != ANY_THREAD && event->time >= entry->latest) break;
        pool->steps++;
        if (entry->release->message && !event->read) continue;
        if (covers(entry->release, entry->lanes, event->thread, event->time)) return true;
    }
    SeenList *stack = &pool->stack;
    for (uint32_t i = 0; i < log->carried_count && log->carried[i].at < seen->count; i++) {
        if (log->carried[i].seen.message && !event->read) continue;
        ARENA_GROW(&pool->arena, stack->at, stack->count, stack->capacity);
        stack->at[stack->count++] = log->carried[i].seen;
    }
    return false;
}

bool seen_orders(ReleasePool *pool, const SeenList *list, uint32_t lane, const Event *event) {
    pool->queries++;
    for (size_t i = list->count; i > 0; i--) {
        const Seen *seen = &list->at[i - 1];
        if (!(seen->lanes >> lane & 1) || seen->swap || (seen->message && !event->read)) continue;
        pool->stack.count = 0;
        bool answer = log_orders(pool, event, seen);
        while (!answer && pool->stack.count) {
            Seen next = pool->stack.at[--pool->stack.count];
            answer = log_orders(pool, event, &next);
        }
        if (answer) return true;
    }
    return false;
}

bool release_covers(const Release *release, uint32_t thread, uint64_t time) {
    return covers(release, release->lanes, thread, time);
}
