// Releases, logs, what was seen of them: see release.h.
#include "simt/observe/check/release.h"

#include <stdlib.h>
#include <string.h>

// The part of some lanes in a release in a log, and the entry before it of the same block (-1:
// none). Neither it nor any of those orders an access that is not before `latest`.
typedef struct {
    const Release *release;
    uint32_t lanes;
    int64_t before;
    uint64_t latest;
} Entry;

// What the first `at` + 1 releases had seen of another log.
typedef struct {
    Seen seen;
    uint32_t at;
} Carried;

struct Log {
    Log *next; // of all
    Entry *entries;
    uint32_t count, capacity;
    Carried *carried;
    uint32_t carried_count, carried_capacity;
    uint32_t *last; // hash table of blocks: their last entries + 1, 0: free
    uint32_t slots;
    uint64_t query; // the last one that came here,
    uint32_t asked; // and how many of its releases that one asked
};

// Room for one more of `size` bytes in an array. False: out of memory.
static bool grow(void *array, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 4;
    void **at = array, *grown = realloc(*at, wanted * size);
    if (!grown) return false;
    *at = grown;
    *capacity = wanted;
    return true;
}

// --- what was seen ---

// Whether b orders no more than a does.
static bool includes(const Seen *a, const Seen *b) {
    return a->log == b->log && a->count >= b->count && a->wide >= b->wide &&
           (b->lanes & ~a->lanes) == 0;
}

static const Release *first_of(const Log *log) { return log->entries[0].release; }

// Whether a log with one release is older than another of the same warp, whose lanes had already
// seen all that the older one says.
static bool outdated(const Seen *old, const Seen *new) {
    const Log *a = old->log, *b = new->log;
    if (a->count != 1 || b->count != 1 || old->lanes & ~new->lanes || old->wide > new->wide)
        return false;
    const Release *x = first_of(a), *y = first_of(b);
    return x->block == y->block && x->warp == y->warp && x->time <= y->time &&
           (a->entries[0].lanes & ~b->entries[0].lanes) == 0 && x->seen <= y->seen &&
           x->wide <= y->wide;
}

bool seen_add(SeenList *list, Seen seen) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const Seen *old = &list->at[i];
        if (includes(old, &seen)) return true;
        if (!includes(&seen, old) && !outdated(old, &seen)) list->at[kept++] = *old;
    }
    list->count = kept;
    if (!grow(&list->at, list->count, &list->capacity, sizeof *list->at)) return false;
    list->at[list->count++] = seen;
    return true;
}

void seen_free(SeenList *list) {
    free(list->at);
    *list = (SeenList){0};
}

void seen_spread(SeenList *list, uint32_t lanes) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i].lanes & lanes) list->at[i].lanes |= lanes;
}

// --- logs ---

Log *log_new(ReleaseRoom *room) {
    Log *log = room->spare_logs;
    if (log) room->spare_logs = log->next;
    if (!log) log = calloc(1, sizeof *log);
    if (!log) return NULL;
    log->next = room->logs;
    room->logs = log;
    return log;
}

uint32_t log_count(const Log *log) { return log->count; }

bool log_only(const Log *log, uint64_t block) {
    return log->count > 0 && !log->slots && first_of(log)->block == block;
}

// Where a block's last entry is kept in the table, or belongs.
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

// All entries again, in a table with room for as many more.
static bool index_entries(Log *log) {
    uint32_t slots = 16;
    while (slots < log->count * 4) slots *= 2;
    uint32_t *last = calloc(slots, sizeof *last);
    if (!last) return false;
    free(log->last);
    log->last = last;
    log->slots = slots;
    for (uint32_t i = 0; i < log->count; i++)
        last[slot_of(log, log->entries[i].release->block)] = i + 1;
    return true;
}

// What the release had seen is ordered for those too who see this log from here on.
static bool carry(Log *log, const Release *release, uint32_t lanes) {
    for (uint32_t i = 0; i < release->seen; i++) {
        const Seen *seen = &release->logs[i];
        bool known = seen->log == log || !(seen->lanes & lanes);
        for (uint32_t k = 0; !known && k < log->carried_count; k++)
            known = log->carried[k].seen.log == seen->log &&
                    log->carried[k].seen.count >= seen->count &&
                    log->carried[k].seen.wide >= seen->wide;
        if (known) continue;
        if (!grow(&log->carried, log->carried_count, &log->carried_capacity, sizeof(Carried)))
            return false;
        log->carried[log->carried_count++] = (Carried){*seen, log->count};
    }
    return true;
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

bool log_add(Log *log, const Release *release, uint32_t lanes) {
    const Entry *end = log->count ? &log->entries[log->count - 1] : NULL;
    if (end && end->release == release) {
        if (!(lanes & ~end->lanes)) return true;
        lanes |= end->lanes;
    }
    if (!carry(log, release, lanes)) return false;
    if (!grow(&log->entries, log->count, &log->capacity, sizeof(Entry))) return false;
    int64_t before = last_of(log, release->block);
    bool alone = log->count == 0 || (!log->slots && before >= 0);
    const uint64_t latest = latest_of(release);
    log->entries[log->count++] = (Entry){
        release, lanes, before, before < 0 ? latest : later(latest, log->entries[before].latest)};
    if (alone) return true;
    if (log->count * 2 > log->slots) return index_entries(log);
    log->last[slot_of(log, release->block)] = log->count;
    return true;
}

// --- releases ---

// Memory for releases and what they point to, handed out from its beginning on.
struct ReleasePiece {
    ReleasePiece *next;
    size_t used, capacity; // of words
    uint64_t at[];
};

enum { PIECE_WORDS = 2048 };

// One with room for so many words, in front of the others. NULL: out of memory.
static ReleasePiece *add_piece(ReleaseRoom *room, size_t words) {
    ReleasePiece *piece = room->spare_pieces;
    const size_t capacity = words > PIECE_WORDS ? words : PIECE_WORDS;
    if (piece && piece->capacity >= words) {
        room->spare_pieces = piece->next;
    } else {
        piece = malloc(sizeof *piece + capacity * sizeof *piece->at);
        if (!piece) return NULL;
        piece->capacity = capacity;
    }
    piece->next = room->pieces;
    piece->used = 0;
    room->pieces = piece;
    return piece;
}

// NULL: out of memory.
static void *take(ReleaseRoom *room, size_t bytes) {
    const size_t words = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    ReleasePiece *piece = room->pieces;
    if (!piece || piece->capacity - piece->used < words) piece = add_piece(room, words);
    if (!piece) return NULL;
    piece->used += words;
    return piece->at + piece->used - words;
}

static uint64_t *copy_times(ReleaseRoom *room, const uint64_t *times) {
    uint64_t *copy = take(room, DEVICE_WARP * sizeof *copy);
    if (copy) memcpy(copy, times, DEVICE_WARP * sizeof *copy);
    return copy;
}

static void add_seen(Release *release, const SeenList *list) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i].lanes & release->lanes) release->logs[release->seen++] = list->at[i];
}

Release *release_new(ReleaseRoom *room, const Release *facts, const SeenList *seen,
                     const SeenList *more) {
    Release *release = take(room, sizeof *release);
    if (!release) return NULL;
    *release = *facts;
    release->seen = 0;
    release->logs = NULL;
    const uint32_t logs = seen->count + more->count;
    if (facts->warps) release->warps = copy_times(room, facts->warps);
    if (facts->others) release->others = copy_times(room, facts->others);
    if (logs) release->logs = take(room, logs * sizeof *release->logs);
    if ((facts->warps && !release->warps) || (facts->others && !release->others) ||
        (logs && !release->logs))
        return NULL;
    add_seen(release, seen);
    add_seen(release, more);
    return release;
}

// The log as a new one.
static void clear(Log *log) {
    free(log->last);
    *log = (Log){.entries = log->entries,
                 .capacity = log->capacity,
                 .carried = log->carried,
                 .carried_capacity = log->carried_capacity};
}

void release_forget_all(ReleaseRoom *room) {
    while (room->pieces) {
        ReleasePiece *piece = room->pieces;
        room->pieces = piece->next;
        piece->next = room->spare_pieces;
        room->spare_pieces = piece;
    }
    while (room->logs) {
        Log *log = room->logs;
        room->logs = log->next;
        clear(log);
        log->next = room->spare_logs;
        room->spare_logs = log;
    }
}

void release_free_all(ReleaseRoom *room) {
    release_forget_all(room);
    while (room->spare_pieces) {
        ReleasePiece *piece = room->spare_pieces;
        room->spare_pieces = piece->next;
        free(piece);
    }
    while (room->spare_logs) {
        Log *log = room->spare_logs;
        room->spare_logs = log->next;
        free(log->entries);
        free(log->carried);
        free(log);
    }
    seen_free(&room->stack);
}

// --- order ---

enum { ANY_THREAD = UINT32_MAX };

static Answer covers(const Release *release, uint32_t lanes, uint32_t thread, uint64_t time) {
    if (thread == ANY_THREAD) return ANSWER_YES;
    uint32_t warp = thread / DEVICE_WARP, lane = thread % DEVICE_WARP;
    if (time < release->floor) return ANSWER_ALL_LANES;
    if (warp != release->warp)
        return release->warps && time < release->warps[warp] ? ANSWER_ALL_LANES : ANSWER_NO;
    if (time < release->warp_floor) return ANSWER_ALL_LANES;
    if (lanes >> lane & 1) {
        if (time >= release->time) return ANSWER_NO;
        return lanes == ~(uint32_t)0 ? ANSWER_ALL_LANES : ANSWER_YES;
    }
    return release->others && time < release->others[lane] ? ANSWER_YES : ANSWER_NO;
}

// Who asks whether an access of a thread of a block at a time is ordered.
typedef struct {
    ReleaseRoom *room;
    uint64_t query, block, time;
    uint32_t thread;
} Question;

// Whether the releases of a log as far as it was seen order the access; if not, puts what they had
// seen on the stack.
static Answer log_orders(const Question *asked, const Seen *seen) {
    Log *log = seen->log;
    if (log->query == asked->query && log->asked >= seen->count) return ANSWER_NO;
    log->query = asked->query;
    log->asked = seen->count;
    int64_t at = last_of(log, asked->block);
    for (; at >= (int64_t)seen->count; asked->room->steps++) at = log->entries[at].before;
    for (; at >= 0; at = log->entries[at].before) {
        if (asked->thread != ANY_THREAD && asked->time >= log->entries[at].latest) break;
        asked->room->steps++;
        const Entry *entry = &log->entries[at];
        Answer answer = covers(entry->release, entry->lanes, asked->thread, asked->time);
        if (answer) return answer;
    }
    SeenList *stack = &asked->room->stack;
    for (uint32_t i = 0; i < log->carried_count && log->carried[i].at < seen->count; i++) {
        if (!grow(&stack->at, stack->count, &stack->capacity, sizeof *stack->at)) break;
        stack->at[stack->count++] = log->carried[i].seen;
    }
    return ANSWER_NO;
}

Answer seen_orders(ReleaseRoom *room, const SeenList *list, uint32_t lane, uint64_t block,
                   uint32_t thread, uint64_t time) {
    const Question asked = {room, ++room->queries, block, time, thread};
    for (uint32_t i = list->count; i > 0; i--) {
        const Seen *seen = &list->at[i - 1];
        if (!(seen->lanes >> lane & 1)) continue;
        room->stack.count = 0;
        Answer answer = log_orders(&asked, seen);
        while (!answer && room->stack.count) {
            Seen next = room->stack.at[--room->stack.count];
            answer = log_orders(&asked, &next);
        }
        if (answer) return seen->lanes == ~(uint32_t)0 ? answer : ANSWER_YES;
    }
    return ANSWER_NO;
}

bool seen_any(ReleaseRoom *room, const SeenList *list, uint32_t lane, uint64_t block) {
    return seen_orders(room, list, lane, block, ANY_THREAD, 0) != ANSWER_NO;
}

bool release_covers(const Release *release, uint32_t thread, uint64_t time) {
    return covers(release, release->lanes, thread, time) != ANSWER_NO;
}
