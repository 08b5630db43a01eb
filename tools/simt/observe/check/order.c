// Order through words of shared memory: a thread that acquires what another released has seen what
// that one did before. Locks and hand-made barriers, as cooperative groups have them for tiles of
// several warps, rest on this. PTX ISA, "Memory Consistency Model": an operation with .release or
// .acquire, or an atomic one behind or in front of a fence. What a warp released counts for all of
// its lanes when another warp acquires it.
#include <string.h>

#include "simt/observe/check/inside.h"

// The record of a word; of more words than there is room for, the last one stands for the rest.
static SyncWord *find_word(Checker *checker, uint32_t byte) {
    for (uint32_t i = 0; i < checker->sync_count; i++)
        if (checker->sync[i].byte == byte) return &checker->sync[i];
    if (checker->sync_count == SYNC_WORDS) return &checker->sync[SYNC_WORDS - 1];
    SyncWord *word = &checker->sync[checker->sync_count++];
    memset(word, 0, sizeof *word);
    word->byte = byte;
    return word;
}

static void grow(uint64_t *to, uint64_t value) {
    if (value > *to) *to = value;
}

static void acquire(Checker *checker, uint32_t warp, uint32_t lane, const SyncWord *word) {
    for (uint32_t k = 0; k < MAX_WARPS; k++)
        if (k != warp) grow(&checker->warp_known[warp][k], word->warp[k]);
    for (uint32_t k = 0; k < LANES; k++)
        grow(&checker->lane_known[warp][lane][k], word->lane[warp][k]);
}

// `time`: accesses before it are released.
static void release(Checker *checker, uint32_t warp, uint32_t lane, SyncWord *word, uint64_t time) {
    for (uint32_t k = 0; k < MAX_WARPS; k++) grow(&word->warp[k], checker->warp_known[warp][k]);
    for (uint32_t k = 0; k < LANES; k++) {
        grow(&word->lane[warp][k], checker->lane_known[warp][lane][k]);
        grow(&word->lane[warp][k], checker->warp_floor[warp]);
    }
    grow(&word->warp[warp], time);
    grow(&word->lane[warp][lane], time);
}

void check_order(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                 const uint64_t address[LANES]) {
    const uint32_t index = warp->index, order = access->order;
    bool reads = access->kind != ACCESS_STORE, writes = access->kind != ACCESS_LOAD;
    uint64_t fence = checker->fence[index];
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        SyncWord *word = find_word(checker, (uint32_t)address[lane]);
        if (reads && order & ORDER_ACQUIRE) acquire(checker, index, lane, word);
        if (reads && order & ORDER_RELAXED)
            checker->pending[index] |= (uint64_t)1 << (word - checker->sync);
        if (writes && order & ORDER_RELEASE)
            release(checker, index, lane, word, ++checker->now);
        else if (writes && order & ORDER_RELAXED && fence >= checker->block_start)
            release(checker, index, lane, word, fence);
    }
}

// What came before is released by later atomics, and what earlier ones read is acquired.
void check_fence(Warp *warp) {
    Checker *checker = check_of(warp);
    uint32_t index = warp->index;
    checker->fence[index] = ++checker->now;
    for (uint64_t words = checker->pending[index]; words; words &= words - 1) {
        const SyncWord *word = &checker->sync[__builtin_ctzll(words)];
        for (uint32_t m = warp->exec; m; m &= m - 1)
            acquire(checker, index, (uint32_t)__builtin_ctz(m), word);
    }
    checker->pending[index] = 0;
}
