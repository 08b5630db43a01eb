// The records of global memory: see shadow.h. Blocks on several host threads come here at a time.
#define _GNU_SOURCE
#include "simt/observe/check/shadow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Which block a piece of SHADOW_TIMES times belongs to, in leaves that are made when needed.
enum { LEAF_SHIFT = 14, LEAF_PIECES = 1 << LEAF_SHIFT };
#define LEAVES ((RECORD_TIMES_LIMIT * 2 / SHADOW_TIMES) >> LEAF_SHIFT)

Region **shadow_regions;
static uint32_t **leaves; // by time
static uint64_t next_time;

static size_t regions_bytes(void) {
    return (memory_range() >> REGION_SHIFT) * sizeof *shadow_regions;
}

static void *reserve(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

// --- memory for records, in large pages where the host has them ---

enum { SLAB_BYTES = 1 << 25 };

typedef struct Slab {
    struct Slab *next;
    uint8_t *at;
    size_t used;
} Slab;

static Slab *slabs;
static pthread_mutex_t slabs_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t taken; // bytes from slabs, since freed memory was last looked for

static Slab *new_slab(void) {
    Slab *slab = malloc(sizeof *slab);
    uint8_t *at = slab ? reserve(SLAB_BYTES) : NULL;
    if (!at) {
        free(slab);
        return NULL;
    }
    madvise(at, SLAB_BYTES, MADV_HUGEPAGE); // a wish
    *slab = (Slab){slabs, at, 0};
    slabs = slab;
    return slab;
}

// Zeroed. NULL: the host refuses memory.
static void *room(size_t bytes) {
    enum { ALIGN = 64 };
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_lock(&slabs_lock);
    Slab *slab = slabs && SLAB_BYTES - slabs->used >= bytes ? slabs : new_slab();
    void *at = slab ? slab->at + slab->used : NULL;
    if (slab) slab->used += bytes;
    taken += bytes;
    pthread_mutex_unlock(&slabs_lock);
    return at;
}

// --- records that were given back, by the power of two that they have room for, and backlogs ---

typedef struct Spare {
    struct Spare *next;
} Spare;

static Spare *spares[64], *spare_backlogs[64];
static size_t large_backlogs; // bytes of those that have much

static int power_of(size_t count) { return count > 1 ? 64 - __builtin_clzll(count - 1) : 0; }

// NULL: there is none.
static void *pop(Spare **list) {
    pthread_mutex_lock(&slabs_lock);
    Spare *spare = *list;
    if (spare) *list = spare->next;
    pthread_mutex_unlock(&slabs_lock);
    return spare;
}

static void push(Spare **list, void *at) {
    Spare *spare = at;
    if (!at) return;
    pthread_mutex_lock(&slabs_lock);
    spare->next = *list;
    *list = spare;
    pthread_mutex_unlock(&slabs_lock);
}

// What is not cleared costs nothing: old records count as none.
static Record *take(size_t count) {
    Record *records = pop(&spares[power_of(count)]);
    if (!records) return room(sizeof(Record) << power_of(count));
    memset(records, 0, sizeof(Spare));
    return records;
}

static void give(Record *records, size_t count) { push(&spares[power_of(count)], records); }

bool shadow_take_cells(Cells *cells, size_t count) {
    *cells = (Cells){take(count), take(count), take(count), take(count)};
    return cells->write && cells->write_2 && cells->read && cells->read_2;
}

void shadow_give_cells(Cells *cells, size_t count) {
    give(cells->write, count);
    give(cells->write_2, count);
    give(cells->read, count);
    give(cells->read_2, count);
    *cells = (Cells){0};
}

static uint32_t of_large_backlogs(uint32_t bytes) { return bytes > BACKLOG_BYTES / 4 ? bytes : 0; }

static void give_entries(const Backlog *backlog) {
    push(&spare_backlogs[power_of(backlog->room)], backlog->entries);
    __atomic_fetch_sub(&large_backlogs, of_large_backlogs(backlog->room), __ATOMIC_RELAXED);
}

void shadow_give_backlog(Backlog *backlog) {
    give_entries(backlog);
    backlog->entries = NULL;
    backlog->launch = 0;
    backlog->room = 0;
}

bool shadow_grow_backlog(Backlog *backlog) {
    enum { FIRST_BYTES = 1 << 13 };
    const uint32_t bytes = backlog->room ? backlog->room * 2 : FIRST_BYTES;
    const uint32_t large = of_large_backlogs(bytes);
    if (bytes > BACKLOG_BYTES) return false;
    if (large && __atomic_load_n(&large_backlogs, __ATOMIC_RELAXED) > BACKLOGS_BYTES) return false;
    void *grown = pop(&spare_backlogs[power_of(bytes)]);
    if (!grown) grown = room(bytes);
    if (!grown) return false;
    if (backlog->used) memcpy(grown, backlog->entries, backlog->used);
    give_entries(backlog);
    __atomic_fetch_add(&large_backlogs, large, __ATOMIC_RELAXED);
    backlog->entries = grown;
    backlog->room = bytes;
    return true;
}

// --- regions ---

static Region *regions, *retired; // all that are in use; others
static size_t region_count;       // in use

static bool is_live(uint64_t low, uint64_t high) {
    const Allocation *allocation = memory_before(high - 1);
    while (allocation && allocation->address + allocation->bytes > low) {
        if (allocation->live) return true;
        allocation = memory_before(allocation->address - 1);
    }
    return false;
}

// A region of freed memory may be any other's: all that it has is of launches that are over.
static void retire(Region *region) {
    shadow_give_cells(&region->words, REGION_WORDS);
    shadow_give_cells(&region->bytes, REGION_BYTES);
    shadow_give_backlog(&region->backlog);
    shadow_regions[(region->low - memory_base) >> REGION_SHIFT] = NULL;
    region->next = retired;
    retired = region;
    region_count--;
}

// Addresses are not used again for long: the records of freed memory are of use elsewhere. Looked
// for where much was taken since, beside what looking costs.
static void reclaim(void) {
    enum { WORTH_LOOKING = 4096 }; // bytes a region
    static uint64_t seen_frees;
    if (seen_frees == memory_frees || taken < region_count * WORTH_LOOKING) return;
    seen_frees = memory_frees;
    taken = 0;
    for (Region **at = &regions; *at;) {
        Region *region = *at;
        if (is_live(region->low, region->low + REGION_BYTES)) {
            at = &region->next;
        } else {
            *at = region->next;
            retire(region);
        }
    }
}

// Puts `made` where nothing is yet. What is there then; where another host thread was quicker,
// `made` is left over.
static void *install(void *slot, void *made) {
    void **at = slot, *there = NULL;
    if (!made ||
        __atomic_compare_exchange_n(at, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    return there;
}

static void free_slabs(void) {
    memset(spares, 0, sizeof spares);
    memset(spare_backlogs, 0, sizeof spare_backlogs);
    regions = retired = NULL;
    large_backlogs = 0;
    region_count = taken = 0;
    while (slabs) {
        Slab *slab = slabs;
        slabs = slab->next;
        munmap(slab->at, SLAB_BYTES);
        free(slab);
    }
}

// Times would run out: everything starts again.
static void forget(void) {
    munmap(shadow_regions, regions_bytes());
    munmap(leaves, LEAVES * sizeof *leaves);
    shadow_regions = NULL;
    leaves = NULL;
    free_slabs();
    next_time = SHADOW_TIMES;
}

uint64_t shadow_launch(void) {
    if (next_time == 0) next_time = SHADOW_TIMES;
    if (next_time >= RECORD_TIMES_LIMIT) forget();
    if (!shadow_regions) shadow_regions = reserve(regions_bytes());
    if (!leaves) leaves = reserve(LEAVES * sizeof *leaves);
    if (!shadow_regions || !leaves) return 0;
    reclaim();
    return next_time;
}

Region *shadow_first_region(void) { return regions; }

static uint32_t *leaf_of(uint64_t piece) {
    uint32_t **slot = &leaves[(piece >> LEAF_SHIFT) % LEAVES];
    uint32_t *leaf = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    return leaf ? leaf : install(slot, room(LEAF_PIECES * sizeof *leaf));
}

uint64_t shadow_times(uint64_t count, uint64_t block) {
    uint64_t first = __atomic_fetch_add(&next_time, count, __ATOMIC_RELAXED);
    for (uint64_t k = 0; k < count / SHADOW_TIMES; k++) {
        uint64_t piece = first / SHADOW_TIMES + k;
        uint32_t *leaf = leaf_of(piece);
        if (leaf) leaf[piece % LEAF_PIECES] = (uint32_t)block;
    }
    return first;
}

uint64_t shadow_next_time(void) { return next_time; }

uint64_t shadow_block(uint64_t time) {
    const uint32_t *leaf = leaf_of(time / SHADOW_TIMES);
    return leaf ? leaf[time / SHADOW_TIMES % LEAF_PIECES] : 0;
}

static Region *take_region(void) {
    pthread_mutex_lock(&slabs_lock);
    Region *region = retired;
    if (region) retired = region->next;
    pthread_mutex_unlock(&slabs_lock);
    return region ? region : room(sizeof *region);
}

Region *shadow_new_region(Region **slot) {
    Region *made = take_region(), *there = install(slot, made);
    if (!made || there != made) return there;
    made->low = memory_base + ((uint64_t)(slot - shadow_regions) << REGION_SHIFT);
    pthread_mutex_lock(&slabs_lock);
    made->next = regions;
    regions = made;
    region_count++;
    pthread_mutex_unlock(&slabs_lock);
    return made;
}

bool shadow_new_room(Record **records, uint32_t count) {
    return install(records, take(count)) != NULL;
}
