// Counts accesses to shared memory by instruction. Each block that runs at the same time as others
// fills its own table, which is added to the launch's at its end.
#include "simt/observe/count/banks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simt/exec/block.h"
#include "simt/observe/observed.h"

typedef struct {
    Observer observer; // first, so that a pointer to it is one to the Banks
    uint32_t *site_of_slot;
    BankAccesses *sites;
    uint32_t site_count;
    pthread_mutex_t lock;
} Banks;

static Banks *banks_of(const Block *block) { return (Banks *)(void *)block->machine->profile; }

// Blocks that take turns on one host thread share one table.
static bool attach(Block *block) {
    Banks *banks = banks_of(block);
    block->profile = block->machine->ordered ? banks->sites
                                             : calloc(banks->site_count + 1u, sizeof *banks->sites);
    return block->profile;
}

// Whether access `a` is worse than `b`. If they are of one block, `a` was later.
static bool worse(const BankAccesses *a, const BankAccesses *b) {
    if (a->wavefronts != b->wavefronts) return a->wavefronts > b->wavefronts;
    int lanes = __builtin_popcount(a->lanes) - __builtin_popcount(b->lanes);
    return lanes ? lanes > 0 : a->block < b->block;
}

static void take_worst(BankAccesses *to, const BankAccesses *from) {
    to->load = from->load;
    to->bytes = from->bytes;
    to->wavefronts = from->wavefronts;
    to->lanes = from->lanes;
    memcpy(to->address, from->address, sizeof to->address);
    to->warp = from->warp;
    to->block = from->block;
}

static void detach(Block *block) {
    Banks *banks = banks_of(block);
    const BankAccesses *own = block->profile;
    block->profile = NULL;
    if (!own || own == banks->sites) return;
    pthread_mutex_lock(&banks->lock);
    for (uint32_t k = 0; k < banks->site_count; k++) {
        BankAccesses *site = &banks->sites[k];
        for (uint32_t w = 0; w <= BANK_WAVEFRONTS; w++) site->accesses[w] += own[k].accesses[w];
        if (worse(&own[k], site)) take_worst(site, &own[k]);
    }
    pthread_mutex_unlock(&banks->lock);
    free((void *)(uintptr_t)own);
}

// An access that fails is not counted.
static bool succeeds(const Block *block, uint64_t address, uint32_t bytes) {
    return address % bytes == 0 && address < block->shared_bytes &&
           block->shared_bytes - address >= bytes;
}

static void see_access(Warp *warp, const Access *access, uint32_t lanes,
                       const uint64_t address[LANES]) {
    const Block *block = warp->block;
    const Banks *banks = banks_of(block);
    if (access->space != PTX_SHARED || access->kind == ACCESS_ATOMIC || !lanes) return;
    if (access->inst->access == ACCESS_COPY) return; // its store is not counted
    BankAccesses now = {.load = access->kind == ACCESS_LOAD,
                        .bytes = address_bytes(access),
                        .lanes = lanes,
                        .block = block->number,
                        .warp = warp->index};
    for (uint32_t m = lanes; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        if (!succeeds(block, address[lane], now.bytes)) return;
        now.address[lane] = (uint32_t)address[lane];
    }
    const bool generic = access->inst->memory.space == PTX_GENERIC;
    BankAccesses *site = block->profile;
    site += banks->site_of_slot[access->slot + generic];
    now.wavefronts = bank_count(now.address, lanes, now.bytes, now.load).wavefronts;
    site->accesses[now.wavefronts]++;
    if (worse(&now, site)) take_worst(site, &now);
}

static bool is_shared(const Slot *slot) {
    return slot->kind == SLOT_SHARED_LD || slot->kind == SLOT_SHARED_ST ||
           slot->kind == SLOT_LDMATRIX || slot->kind == SLOT_STMATRIX;
}

static void report(Observer *self, Observed *of) {
    const Banks *banks = (const Banks *)(const void *)self;
    LaunchReport *to = of->report;
    if (!schedule_counts(of->machine)) return;
    to->banks = ARENA_NEW(&to->arena, banks->site_count + 1u, BankAccesses);
    for (uint32_t k = 0; k < banks->site_count; k++)
        if (banks->sites[k].wavefronts) to->banks[to->bank_count++] = banks->sites[k];
}

static void close_banks(Observer *self, Observed *of) {
    Banks *banks = (Banks *)(void *)self;
    (void)of;
    pthread_mutex_destroy(&banks->lock);
    free(banks->site_of_slot);
    free(banks->sites);
    free(banks);
}

void banks_open(Observed *of) {
    static const char what[] = "the report by instruction";
    static const Observer functions = {.report = report,
                                       .close = close_banks,
                                       .attach = attach,
                                       .detach = detach,
                                       .access = see_access};
    const uint32_t count = of->machine->slot_count;
    if (!of->options->instructions) return;
    Banks *banks = observed_open(of, &of->machine->profile, &functions, sizeof *banks, what);
    if (!banks) return;
    pthread_mutex_init(&banks->lock, NULL);
    banks->site_of_slot = calloc(count + 1u, sizeof *banks->site_of_slot);
    banks->sites = calloc(count + 1u, sizeof *banks->sites);
    if (!banks->site_of_slot || !banks->sites) {
        observed_fail(of, SIMT_OUT_OF_MEMORY, "no host memory for %s", what);
        return;
    }
    for (uint32_t s = 0; s < count; s++) {
        const Slot *slot = &of->slots->slots[s];
        if (!is_shared(slot)) continue;
        banks->site_of_slot[s] = banks->site_count;
        banks->sites[banks->site_count].function = slot->function;
        banks->sites[banks->site_count++].ptx = slot->ptx;
    }
}
