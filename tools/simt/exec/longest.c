// Counts instructions per warp, to find the longest warp of a launch. See block.h.
#include <stdlib.h>

#include "simt/exec/block.h"

bool longest_attach(Block *block) {
    const uint32_t slots = block->machine->slot_count;
    block->own = calloc((size_t)block->warp_count * slots + 1, sizeof *block->own);
    for (uint32_t k = 0; block->own && k < block->warp_count; k++)
        block->warps[k].tally = block->own + (size_t)k * slots;
    return block->own != NULL;
}

// Moves a warp's counters to the block's. Returns the number of instructions that the warp has
// executed.
static uint64_t collect(Block *block, Tally *own) {
    const SlotTable *table = block->machine->longest_of;
    uint64_t insts = 0;
    for (uint32_t s = 0; s < block->machine->slot_count; s++) {
        const Slot *slot = &table->slots[s];
        if (slot->kind == SLOT_BLOCK) insts += own[s].a * (slot->ptx_end - slot->ptx);
        block->tally[s].a += own[s].a;
        block->tally[s].b += own[s].b;
        block->tally[s].c += own[s].c;
        own[s] = (Tally){0};
    }
    return insts;
}

void longest_end(Block *block) {
    uint64_t most = 0;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        uint64_t insts = collect(block, block->warps[k].tally);
        if (insts > most) most = insts;
    }
    uint64_t *longest = &block->machine->longest_warp;
    uint64_t known = __atomic_load_n(longest, __ATOMIC_RELAXED);
    while (most > known && !__atomic_compare_exchange_n(longest, &known, most, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

void longest_detach(Block *block) {
    if (block->own) longest_end(block); // for a block that did not run to its end
    free(block->own);
}
