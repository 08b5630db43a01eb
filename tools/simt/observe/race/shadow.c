// Allocates shadow memory, and finds the block to which a time belongs. See shadow.h.
#define _GNU_SOURCE
#include "simt/observe/race/shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// The block of each chunk of SHADOW_TIMES times, in leaves that are allocated when needed.
enum { LEAF_SHIFT = 14, LEAF_CHUNKS = 1 << LEAF_SHIFT };
#define LEAVES ((RECORD_TIMES_LIMIT * 2 / SHADOW_TIMES) >> LEAF_SHIFT)

Shadow **shadow_regions;
static uint32_t **leaves; // by time
static uint64_t next_time;

static size_t region_slots(void) { return memory_range() >> REGION_SHIFT; }

static void *reserve(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

// --- memory for records: freed memory is reused, by sizes that are powers of two ---

typedef struct Spare {
    struct Spare *next;
} Spare;

static Spare *spares[64];
static size_t taken; // bytes, since the last reclaim
static uint8_t *large;
static size_t left; // free bytes at its beginning

static int power_of(size_t count) { return count > 1 ? 64 - __builtin_clzll(count - 1) : 0; }

// Zeroed memory, cut from large chunks, for which the host may use huge pages. NULL: out of memory.
static void *allocate(size_t bytes) {
    enum { CHUNK = 1 << 25, ALIGN = 64 };
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes > CHUNK) return reserve(bytes);
    if (left < bytes) {
        large = reserve(CHUNK);
        left = large ? CHUNK : 0;
        if (large) madvise(large, CHUNK, MADV_HUGEPAGE); // a hint
        if (large) madvise(large, CHUNK, MADV_DONTFORK);
    }
    if (!large) return NULL;
    left -= bytes;
    taken += bytes;
    return large + left;
}

// Reused memory is not cleared: its old records are smaller than the first time of this launch.
static Record *allocate_records(size_t count) {
    Spare **list = &spares[power_of(count)];
    Spare *spare = *list;
    if (!spare) return allocate(sizeof(Record) << power_of(count));
    *list = spare->next;
    memset(spare, 0, sizeof *spare);
    return (Record *)spare;
}

static void free_records(Record *records, size_t count) {
    Spare *spare = (Spare *)(void *)records, **list = &spares[power_of(count)];
    if (!spare) return;
    spare->next = *list;
    *list = spare;
}

bool shadow_allocate(const Shadow *shadow, Cells *cells, int slot) {
    const bool bytes = cells == &shadow->bytes;
    cells->at[slot] = allocate_records(shadow->word_count * (bytes ? (size_t)4 : 1));
    return cells->at[slot] != NULL;
}

void shadow_free(Shadow *shadow) {
    for (int slot = 0; slot < SLOTS; slot++) {
        free_records(shadow->words.at[slot], shadow->word_count);
        free_records(shadow->bytes.at[slot], shadow->word_count * (size_t)4);
    }
    free(shadow->split);
    *shadow = (Shadow){0};
}

// --- bytes ---

bool shadow_split(Shadow *shadow, uint32_t word) {
    if (shadow_is_split(shadow, word)) return true;
    if (!shadow->split) shadow->split = calloc(shadow->word_count / 32 + 1, sizeof(uint32_t));
    if (!shadow->split) return false;
    for (int slot = 0; slot < SLOTS; slot++) {
        const Record *words = shadow->words.at[slot];
        const Record record = words ? words[word] : 0;
        if (!record && !shadow->bytes.at[slot]) continue;
        if (!shadow_ensure(shadow, &shadow->bytes, slot)) return false;
        for (uint32_t k = 0; k < 4; k++) shadow->bytes.at[slot][word * 4 + k] = record;
    }
    shadow->split[word / 32] |= 1u << word % 32;
    shadow->split_words++;
    return true;
}

// Whether all four records mean the same.
static bool alike(const Record bytes[4], Record start, Record all_before) {
    bool same = true;
    for (int k = 1; k < 4; k++) {
        const bool both_before = bytes[k] < all_before && bytes[0] < all_before;
        same &= bytes[k] == bytes[0] || (both_before && (bytes[k] < start) == (bytes[0] < start));
    }
    return same;
}

bool shadow_join(Shadow *shadow, uint32_t word, Record start, Record all_before) {
    for (int slot = 0; slot < SLOTS; slot++) {
        const Record *bytes = shadow->bytes.at[slot];
        if (!bytes) continue;
        bytes += (size_t)word * 4;
        if (!alike(bytes, start, all_before)) return false;
        if (bytes[0] && !shadow_ensure(shadow, &shadow->words, slot)) return false;
    }
    for (int slot = 0; slot < SLOTS; slot++) {
        const Record *bytes = shadow->bytes.at[slot];
        if (shadow->words.at[slot])
            shadow->words.at[slot][word] = bytes ? bytes[(size_t)word * 4] : 0;
    }
    shadow->split[word / 32] &= ~(1u << word % 32);
    shadow->split_words--;
    return true;
}

// --- regions of global memory ---

static Shadow **regions; // all that are in use
static size_t region_count, region_capacity;

static bool is_live(uint64_t low, uint64_t high) {
    const Allocation *allocation = memory_before(high - 1);
    while (allocation && allocation->address + allocation->bytes > low) {
        if (allocation->live) return true;
        allocation = memory_before(allocation->address - 1);
    }
    return false;
}

static Shadow **slot_of(uint64_t address) {
    return &shadow_regions[(address - memory_base) >> REGION_SHIFT];
}

static void drop(Shadow *region) {
    *slot_of(region->low) = NULL;
    shadow_free(region);
    free(region);
}

// Reuses the records of freed memory, whose addresses stay unused for long. It searches only after
// so much memory was taken that the search pays.
static void reclaim(void) {
    enum { WORTH_LOOKING = 4096 }; // bytes a region
    static uint64_t seen_frees;
    size_t kept = 0;
    if (seen_frees == memory_frees || taken < region_count * WORTH_LOOKING) return;
    seen_frees = memory_frees;
    taken = 0;
    for (size_t k = 0; k < region_count; k++) {
        Shadow *region = regions[k];
        if (is_live(region->low, region->low + REGION_BYTES))
            regions[kept++] = region;
        else
            drop(region);
    }
    region_count = kept;
}

Shadow *shadow_new_region(uint64_t address) {
    if (region_count == region_capacity) {
        const size_t wanted = region_capacity ? region_capacity * 2 : 64;
        Shadow **grown = realloc(regions, wanted * sizeof(Shadow *));
        if (!grown) return NULL;
        regions = grown;
        region_capacity = wanted;
    }
    Shadow *region = calloc(1, sizeof *region);
    if (!region) return NULL;
    region->low = memory_base + ((address - memory_base) & ~(uint64_t)(REGION_BYTES - 1));
    region->word_count = REGION_WORDS;
    return regions[region_count++] = *slot_of(address) = region;
}

Record shadow_last_store(uint64_t address) {
    const Shadow *region = *slot_of(address);
    return region ? shadow_record(region, WRITE, address - region->low) : 0;
}

// --- times ---

// Restarts the times before they run out, and drops all records, which would be later than these.
static void forget(void) {
    while (region_count) drop(regions[--region_count]);
    memset(spares, 0, sizeof spares);
    memset(leaves, 0, LEAVES * sizeof *leaves);
    next_time = SHADOW_TIMES;
}

void shadow_reset(void) {
    for (size_t k = 0; k < region_count; k++) *slot_of(regions[k]->low) = NULL;
    region_count = 0;
    memset(spares, 0, sizeof spares);
    for (uint64_t k = 0; k <= next_time / SHADOW_TIMES >> LEAF_SHIFT; k++) leaves[k] = NULL;
    left = 0;
}

uint64_t shadow_launch(void) {
    if (next_time == 0) next_time = SHADOW_TIMES;
    if (!shadow_regions) shadow_regions = reserve(region_slots() * sizeof(Shadow *));
    if (!leaves) leaves = reserve(LEAVES * sizeof *leaves);
    if (!shadow_regions || !leaves) return 0;
    if (next_time >= RECORD_TIMES_LIMIT) forget();
    reclaim();
    return next_time;
}

Shadow *const *shadow_all(size_t *count) {
    *count = region_count;
    return regions;
}

static uint32_t *leaf_of(uint64_t chunk) {
    uint32_t **slot = &leaves[(chunk >> LEAF_SHIFT) % LEAVES];
    if (!*slot) *slot = allocate(LEAF_CHUNKS * sizeof **slot);
    return *slot;
}

uint64_t shadow_times(uint64_t count, uint64_t block) {
    const uint64_t first = next_time;
    next_time += count;
    for (uint64_t chunk = first / SHADOW_TIMES; chunk < next_time / SHADOW_TIMES; chunk++) {
        uint32_t *leaf = leaf_of(chunk);
        if (leaf) leaf[chunk % LEAF_CHUNKS] = (uint32_t)block;
    }
    return first;
}

uint64_t shadow_next_time(void) { return next_time; }

uint64_t shadow_block(uint64_t time) {
    const uint32_t *leaf = leaf_of(time / SHADOW_TIMES);
    return leaf ? leaf[time / SHADOW_TIMES % LEAF_CHUNKS] : 0;
}
