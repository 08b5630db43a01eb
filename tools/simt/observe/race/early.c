// Checks launches that may start before the previous launch has ended. A thread that has not
// waited for that launch must not touch what it accesses (CUDA C++ Programming Guide, "Programmatic
// Dependent Launch"; PTX ISA, "griddepcontrol").
//
// The shadow of global memory still has the records of the earlier launch. This file saves its
// times and sites.
#include "simt/observe/race/checker.h"

enum { REMEMBERED = 8 };

typedef struct {
    uint64_t serial, first, end; // times [first, end)
    const Site *sites;
    Arena arena; // holds the sites
} Earlier;

static Earlier earlier[REMEMBERED]; // launches run one at a time

void early_remember(Check *check) {
    static uint32_t next;
    Earlier *slot = &earlier[next++ % REMEMBERED];
    arena_free(&slot->arena);
    *slot = (Earlier){check->machine->grid_id, check->launch, shadow_next_time(), check->sites,
                      check->arena};
    check->arena = (Arena){0};
}

static const Earlier *find(uint64_t serial) {
    for (int k = 0; k < REMEMBERED; k++)
        if (serial && earlier[k].serial == serial) return &earlier[k];
    return NULL;
}

void early_waited(Warp *warp) {
    Checker *checker = check_of(warp);
    checker->early.waited[warp->index] |= warp->exec;
    checker->early.any = true;
}

// After a barrier, the wait of one thread happens before what all threads do.
void early_barrier(Checker *checker) { checker->early.all |= checker->early.any; }

// Checks an access of a thread against a record of the earlier launch.
static void against(Checker *checker, const Access *access, uint32_t thread, uint64_t address,
                    const Earlier *launch, Record record) {
    const uint64_t time = record_time(record);
    if (time < launch->first || time >= launch->end) return;
    const Site *other = &launch->sites[record_site(record)];
    if (other->kind == access->kind && other->kind != ACCESS_STORE) return; // two reads, or updates
    finding_add(checker, KIND_EARLY, PTX_GLOBAL, access->inst, thread, other->inst,
                record_thread(record), address,
                ", which the kernel before this one %s and may still run\n"
                "call cudaGridDependencySynchronize() (griddepcontrol.wait) before this access",
                advice_verb(other->kind));
}

void early_access(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]) {
    const Earlier *before = find(checker->machine->after);
    if (!before || checker->early.all) return;
    for (uint32_t m = mask & ~checker->early.waited[warp->index]; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        const uint64_t end = address[lane] + address_bytes(access);
        for (uint64_t byte = address[lane]; byte < end; byte += byte % 4 ? 1 : 4) {
            const Shadow *region = shadow_regions[(byte - memory_base) >> REGION_SHIFT];
            for (int slot = 0; region && slot < SLOTS; slot++) {
                const Record *words = region->words.at[slot], *bytes = region->bytes.at[slot];
                const uint64_t at = byte - region->low;
                if (words) against(checker, access, thread, byte, before, words[at / 4]);
                if (bytes) against(checker, access, thread, byte, before, bytes[at]);
            }
        }
    }
}
