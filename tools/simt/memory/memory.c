// Allocates device memory and records which bytes were written.
//
// Addresses are handed out upwards and not reused until the range is used up, so that a use after
// free still finds its allocation. Freed pages go back to the system.
#define _GNU_SOURCE
#include "simt/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simt/memory/range.h"

// A gap of GUARD bytes between allocations makes the first address past the end invalid. cudaMalloc
// aligns to 256 bytes (CUDA C++ Programming Guide, "Device Memory Accesses").
enum { ALIGN = 256, GUARD = 256, PAGE = RANGE_PAGE };

enum { WORD = 4 }; // bytes per byte of the shadow

uint64_t memory_low, memory_high, memory_base, memory_frees;
uint8_t *memory_shadow;
ptrdiff_t memory_delta;
size_t memory_of_host_count;

static Range range;
static uint64_t range_end;
static uint64_t next_address;
static size_t limit, used;
static uint64_t serial;
static size_t untouched; // live allocations with Allocation.untouched

static Allocation *allocations; // sorted by address
static size_t allocation_count, allocation_capacity;

static uint64_t align_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

bool memory_open(size_t limit_bytes) {
    if (!range_open(&range, limit_bytes)) return false;
    limit = limit_bytes;
    memory_low = memory_high = memory_base = next_address = range.base;
    range_end = range.base + range.bytes;
    memory_delta = range.delta;
    return true;
}

bool memory_make_private(void) { return range_make_private(&range); }

// The index of the first allocation that starts after `address`.
static size_t upper_bound(uint64_t address) {
    size_t low = 0, high = allocation_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (allocations[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Called when the range is used up: forgets freed allocations, then takes the first gap that is
// large enough.
static uint64_t reuse_address(size_t bytes, uint64_t align) {
    size_t live = 0;
    for (size_t i = 0; i < allocation_count; i++)
        if (allocations[i].live) allocations[live++] = allocations[i];
    allocation_count = live;
    uint64_t start = memory_low;
    for (size_t i = 0; i <= allocation_count; i++) {
        uint64_t end = i < allocation_count ? allocations[i].address : range_end;
        if (end >= start && end - start >= bytes) return start;
        if (i < allocation_count)
            start = align_up(allocations[i].address + allocations[i].bytes + GUARD, align);
    }
    return 0;
}

static bool insert(Allocation allocation) {
    if (allocation_count == allocation_capacity) {
        size_t capacity = allocation_capacity ? allocation_capacity * 2 : 64;
        Allocation *grown = realloc(allocations, capacity * sizeof *grown);
        if (!grown) return false;
        allocations = grown;
        allocation_capacity = capacity;
    }
    size_t at = upper_bound(allocation.address);
    memmove(allocations + at + 1, allocations + at, (allocation_count - at) * sizeof *allocations);
    allocations[at] = allocation;
    allocation_count++;
    return true;
}

uint64_t memory_alloc(size_t bytes) { return memory_alloc_kind(bytes, MEMORY_MODULE); }

// Memory that host code may touch has pages of its own, since access rights belong to pages.
uint64_t memory_alloc_kind(size_t bytes, MemoryKind kind) {
    if (bytes == 0 || bytes > limit - used) return 0;
    bool pages = memory_of_host(kind);
    uint64_t align = pages || bytes >= PAGE ? PAGE : ALIGN;
    size_t whole = pages ? align_up(bytes, PAGE) : bytes;
    uint64_t address = align_up(next_address, align);
    bool fresh = address <= range_end && range_end - address >= whole + GUARD;
    if (!fresh) address = reuse_address(whole + GUARD, align);
    if (address == 0) return 0;
    if (pages && !range_open_to_host(address, address + whole, true)) return 0;
    const bool managed = kind == MEMORY_MANAGED;
    const Allocation made = {.address = address,
                             .bytes = bytes,
                             .live = true,
                             .kind = kind,
                             .untouched = managed,
                             .serial = serial + 1};
    if (!insert(made)) return 0;
    serial++;
    memory_of_host_count += pages;
    used += bytes;
    untouched += managed;
    const size_t guard = pages ? 0 : GUARD;
    if (fresh) { // what aligning has skipped is past the end of the allocation before
        memset(memory_at(next_address), MEMORY_POISON, address - next_address);
        next_address = address + whole + guard;
    }
    if (address + whole > memory_high) memory_high = address + whole;
    memset(memory_at(address), managed ? 0 : MEMORY_POISON, whole);
    memset(memory_at(address + whole), MEMORY_POISON, guard);
    if (kind != MEMORY_DEVICE && kind != MEMORY_HEAP && !managed) memory_written(address, whole);
    return address;
}

bool memory_track(void) {
    void *shadow = mmap(NULL, (range_end - memory_base) / WORD, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shadow == MAP_FAILED) return false;
    memory_shadow = shadow;
    return true;
}

// Atomic because another block may write other bytes of the word at the same time.
static void mark_part(uint64_t word, unsigned first, unsigned end) {
    uint8_t mask = (uint8_t)((1u << end) - (1u << first));
    __atomic_fetch_or(&memory_shadow[word], mask, __ATOMIC_RELAXED);
}

void memory_written(uint64_t address, size_t bytes) {
    if (!memory_shadow || bytes == 0) return;
    uint64_t first = address - memory_base, end = first + bytes;
    uint64_t word = first / WORD, last = end / WORD;
    if (word == last) {
        mark_part(word, first % WORD, end % WORD);
        return;
    }
    if (first % WORD) mark_part(word++, first % WORD, WORD);
    memset(memory_shadow + word, (1 << WORD) - 1, last - word);
    if (end % WORD) mark_part(last, 0, end % WORD);
}

void memory_find_touched(void) {
    if (!memory_shadow) return;
    for (size_t i = 0; untouched && i < allocation_count; i++) {
        Allocation *allocation = &allocations[i];
        const uint64_t first = allocation->address;
        if (!allocation->live || !allocation->untouched) continue;
        if (!range_touched(first, align_up(first + allocation->bytes, PAGE))) continue;
        allocation->untouched = false;
        untouched--;
        memory_written(first, allocation->bytes);
    }
}

static bool byte_written(uint64_t byte) { return memory_shadow[byte / WORD] >> byte % WORD & 1; }

uint64_t memory_seek(uint64_t address, uint64_t end, bool written) {
    enum { WORDS = 8 };
    const uint64_t none = written ? 0 : 0x0F0F0F0F0F0F0F0Fu; // shadow of WORDS words with no match
    uint64_t at = address - memory_base, last = end - memory_base;
    while (at < last && byte_written(at) != written) {
        const bool many = at % WORD == 0 && last - at >= WORDS * WORD;
        at += many && !memcmp(&memory_shadow[at / WORD], &none, WORDS) ? WORDS * WORD : 1;
    }
    return at < last ? at + memory_base : end;
}

void memory_copied(uint64_t to, uint64_t from, size_t bytes) {
    if (!memory_shadow) return;
    uint64_t target = to - memory_base, source = from - memory_base;
    size_t whole = target % WORD || source % WORD ? 0 : bytes / WORD;
    bool down = target <= source; // regions may overlap
    if (down) memmove(memory_shadow + target / WORD, memory_shadow + source / WORD, whole);
    for (size_t i = whole * WORD; i < bytes; i++) {
        size_t at = down ? i : bytes - 1 - (i - whole * WORD);
        uint64_t byte = target + at;
        uint8_t mask = (uint8_t)(1 << byte % WORD), *shadow = &memory_shadow[byte / WORD];
        *shadow = byte_written(source + at) ? *shadow | mask : *shadow & (uint8_t)~mask;
    }
    if (!down) memmove(memory_shadow + target / WORD, memory_shadow + source / WORD, whole);
}

// Clears whole words: allocations are aligned to words and do not share the last one.
static void forget_written(uint64_t address, size_t bytes) {
    memset(memory_shadow + (address - memory_base) / WORD, 0, (bytes + WORD - 1) / WORD);
}

static void release(Allocation *allocation) {
    allocation->live = false;
    untouched -= allocation->untouched;
    memory_frees++;
    used -= allocation->bytes;
    if (memory_shadow) forget_written(allocation->address, allocation->bytes);
    bool pages = memory_of_host(allocation->kind);
    memory_of_host_count -= pages;
    uint64_t first = align_up(allocation->address, PAGE);
    uint64_t last = allocation->address + allocation->bytes;
    last = pages ? align_up(last, PAGE) : last / PAGE * PAGE;
    if (first >= last) return;
    range_discard(&range, first, last);
    if (pages) range_open_to_host(first, last, false);
}

bool memory_free(uint64_t address) {
    if (address == 0) return true;
    size_t at = upper_bound(address);
    if (at == 0) return false;
    Allocation *allocation = &allocations[at - 1];
    if (allocation->address != address || !allocation->live) return false;
    release(allocation);
    return true;
}

void memory_free_all(void) {
    for (size_t i = 0; i < allocation_count; i++)
        if (allocations[i].live && !memory_of_module(allocations[i].kind)) release(&allocations[i]);
}

const Allocation *memory_before(uint64_t address) {
    size_t at = upper_bound(address);
    return at ? &allocations[at - 1] : NULL;
}

const Allocation *memory_find(uint64_t address) {
    const Allocation *allocation = memory_before(address);
    return allocation && address - allocation->address < allocation->bytes ? allocation : NULL;
}

bool memory_reserved(uint64_t address) { return address >= memory_base && address < range_end; }
size_t memory_range(void) { return range_end - memory_base; }
size_t memory_limit(void) { return limit; }
size_t memory_used(void) { return used; }
