// Launches that may start before the one in front of them has ended (programmatic dependent
// launch): what a thread does before it has waited for that one must not touch what that one does.
// CUDA C++ Programming Guide, "Programmatic Dependent Launch"; PTX ISA, "griddepcontrol".
//
// The records of the earlier launch are still in the shadow of global memory. Its times and its
// instructions are remembered here.
#include <stdlib.h>
#include <string.h>

#include "simt/observe/check/inside.h"

enum { REMEMBERED = 8 };

typedef struct {
    uint64_t serial, first, end; // times [first, end)
    Site *sites;
    uint32_t site_count;
} Past;

static Past past[REMEMBERED]; // launches run one at a time

void early_remember(const Check *check) {
    static uint32_t next;
    Past *slot = &past[next++ % REMEMBERED];
    free(slot->sites);
    const size_t count = check->site_count;
    *slot = (Past){.serial = check->machine->grid_id,
                   .first = check->launch,
                   .end = shadow_next_time(),
                   .sites = malloc(count * sizeof *slot->sites),
                   .site_count = (uint32_t)count};
    if (slot->sites)
        memcpy(slot->sites, check->sites, count * sizeof *slot->sites);
    else
        slot->site_count = 0;
}

static const Past *find(uint64_t serial) {
    for (int k = 0; k < REMEMBERED; k++)
        if (serial && past[k].serial == serial) return &past[k];
    return NULL;
}

void early_waited(Warp *warp) {
    Checker *checker = check_of(warp);
    checker->waited[warp->index] |= warp->exec;
    checker->any_waited = true;
}

// Behind a barrier all threads are behind what one of them has waited for.
void early_barrier(Checker *checker) { checker->all_waited |= checker->any_waited; }

// An access of a lane now, against one launch.
typedef struct {
    Checker *checker;
    const Access *access;
    const Past *past;
    uint32_t thread;
    uint64_t address;
} Early;

static void against(const Early *at, Record record, bool read) {
    const uint64_t time = record_time(record);
    if (time < at->past->first || time >= at->past->end) return;
    if (read && at->access->kind == ACCESS_LOAD) return;
    const uint32_t site = record_site(record);
    const Site *other = site < at->past->site_count ? &at->past->sites[site] : NULL;
    if (!other) return;
    if (other->kind == ACCESS_ATOMIC && at->access->kind == ACCESS_ATOMIC) return;
    check_found(at->checker, KIND_EARLY, PTX_GLOBAL, at->access->inst, at->thread, other->inst,
                record_thread(record), at->address,
                "thread %u %s what the kernel in front of this one %s, which may still run: "
                "griddepcontrol.wait (cudaGridDependencySynchronize()) first",
                at->thread, check_verb(at->access->kind), check_verb(other->kind));
}

static void against_cells(const Early *at, const Cells *cells, uint64_t k) {
    for (int slot = 0; slot < SLOTS; slot++)
        if (cells->at[slot]) against(at, cells->at[slot][k], slot >= READ);
}

void early_check(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                 const uint64_t address[LANES]) {
    const Past *before = find(checker->machine->after);
    if (!before || checker->all_waited) return;
    mask &= ~checker->waited[warp->index];
    for (uint32_t m = mask; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        const uint64_t end = address[lane] + address_bytes(access);
        for (uint64_t byte = address[lane]; byte < end; byte += byte % 4 ? 1 : 4) {
            const Shadow *region = shadow_regions[(byte - memory_base) >> REGION_SHIFT];
            const Early at = {checker, access, before, warp->index * LANES + (uint32_t)lane, byte};
            if (!region) continue;
            against_cells(&at, &region->words, (byte - region->low) / 4);
            against_cells(&at, &region->bytes, byte - region->low);
        }
    }
}
