// Finds what a launch has accessed from the records that it leaves in the shadow of global memory,
// so that it costs nothing while the launch runs.
#include <stdlib.h>

#include "simt/observe/race/checker.h"

typedef struct {
    Arena *arena;
    const Check *check;
    Record first; // of the launch, which is the latest one
    Touched *at;
    size_t count, capacity;
} Gathered;

enum { TOUCHED_MOST = 1 << 20 }; // further ranges are omitted

// Whether host code may access some of a region.
static bool hosts(const Shadow *region) {
    const uint64_t end = region->low + REGION_BYTES;
    const Allocation *at = memory_before(end - 1);
    for (; at && at->address + at->bytes > region->low; at = memory_before(at->address - 1))
        if (at->live && memory_of_host(at->kind)) return true;
    return false;
}

// Adds a range of bytes, of which `record` is the latest access.
static void add(Gathered *to, uint64_t low, uint32_t bytes, bool write, bool strong,
                Record record) {
    Touched *last = to->count ? &to->at[to->count - 1] : NULL;
    if (last && last->high == low && last->write == write && last->strong == strong) {
        last->high = low + bytes;
        return;
    }
    if (to->count == TOUCHED_MOST) return;
    const Machine *machine = to->check->machine;
    const PtxModule *module = machine->module;
    const PtxPlace place = finding_place(machine, to->check->sites[record_site(record)].inst);
    const char *file = place.file < module->file_count ? module->file_short[place.file] : NULL;
    ARENA_GROW(to->arena, to->at, to->count, to->capacity);
    to->at[to->count++] = (Touched){low, low + bytes, write, strong, file, place.line};
}

// Adds a word, or byte, that the launch has read (write: written). It is strong if both recorded
// accesses are.
static void add_cell(Gathered *to, const Shadow *region, const Cells *cells, uint32_t k,
                     uint32_t unit, bool write) {
    const int slot = write ? WRITE : READ;
    const Record own = cells->at[slot] ? cells->at[slot][k] : 0;
    const Record other = cells->at[slot + 1] ? cells->at[slot + 1][k] : 0;
    const Record latest = own >= to->first ? own : other;
    if (latest < to->first) return;
    const bool strong =
        (own < to->first || record_scope(own)) && (other < to->first || record_scope(other));
    add(to, region->low + (uint64_t)k * unit, unit, write, strong, latest);
}

// Whether the launch has accessed the region.
static bool any(const Gathered *to, const Shadow *region, bool write) {
    const Record *latest = &region->latest[write ? WRITE : READ];
    return latest[0] >= to->first || latest[1] >= to->first;
}

enum { MANY = 32 };

// Adds MANY words at once. False: only some were accessed, or not all by weak accesses.
static bool add_many(Gathered *to, const Shadow *region, uint32_t first, bool write) {
    static const Record none[MANY];
    const Record *const *at = (const Record *const *)&region->words.at[write ? WRITE : READ];
    const Record *own = at[0] ? at[0] + first : none, *other = at[1] ? at[1] + first : none;
    uint64_t some = 0, all = 1;
    if (region->split_words) return false;
    for (uint32_t k = 0; k < MANY; k++) {
        some |= (own[k] >= to->first) | (other[k] >= to->first);
        all &= (own[k] >= to->first) & !record_scope(own[k]);
    }
    if (all) add(to, region->low + first * 4, MANY * 4, write, false, own[0]);
    return all || !some;
}

static void gather(Gathered *to, const Shadow *region, bool write) {
    if (!any(to, region, write)) return;
    for (uint32_t word = 0; word < region->word_count; word++)
        if (word % MANY == 0 && add_many(to, region, word, write))
            word += MANY - 1;
        else if (!shadow_is_split(region, word))
            add_cell(to, region, &region->words, word, 4, write);
        else
            for (uint32_t k = 0; k < 4; k++)
                add_cell(to, region, &region->bytes, word * 4 + k, 1, write);
}

static int by_address(const void *left, const void *right) {
    const Shadow *const *a = left, *const *b = right;
    return ((*a)->low > (*b)->low) - ((*a)->low < (*b)->low);
}

// Adds what the modifiers of an access or a fence promise.
static void read_modifiers(const Machine *machine, const Inst *inst, Promises *to) {
    const PtxInst *ptx = inst ? machine_instruction(machine, inst) : NULL;
    if (!ptx) return;
    const bool shared = ptx_has(ptx, PTX_MOD_SHARED) || ptx_has(ptx, PTX_MOD_SHARED_CTA);
    to->releases |= inst->order & ORDER_RELEASE && inst->scope >= SCOPE_DEVICE;
    to->tells_host |= ptx_has(ptx, PTX_MOD_SYS) || (ptx_has(ptx, PTX_MOD_VOLATILE) && !shared);
}

// The same fence may be executed many times: the last one is remembered.
void touched_fence(Check *check, const Inst *inst) {
    if (check->touched.last_fence == inst) return;
    check->touched.last_fence = inst;
    read_modifiers(check->machine, inst, &check->touched.promises);
}

static Promises promises_of(const Check *check) {
    Promises all = check->touched.promises;
    for (uint32_t k = 1; k < check->site_count; k++)
        read_modifiers(check->machine, check->sites[k].inst, &all);
    return all;
}

void touched_list(const Check *check, Arena *arena, TouchedWhere where, TouchedList *list) {
    Gathered to = {.arena = arena, .check = check, .first = check->launch << RECORD_TIME};
    size_t count = 0, all;
    Shadow *const *regions = shadow_all(&all);
    const Shadow **found = ARENA_NEW(arena, all, const Shadow *);
    for (size_t k = 0; k < all; k++) {
        if (!any(&to, regions[k], false) && !any(&to, regions[k], true)) continue;
        if (where == TOUCHED_ALL || hosts(regions[k])) found[count++] = regions[k];
    }
    if (count) qsort(found, count, sizeof *found, by_address);
    for (int write = 0; write < 2; write++)
        for (size_t k = 0; k < count; k++) gather(&to, found[k], write);
    *list = (TouchedList){to.at, to.count, promises_of(check)};
}

void touched_fill(Observer *self, Image *image) {
    const Check *check = (const Check *)(const void *)self;
    size_t count;
    Shadow *const *regions = shadow_all(&count);
    for (size_t k = 0; k < count; k++)
        if (regions[k]->latest[WRITE] >= check->launch << RECORD_TIME)
            image_fill(image, regions[k]->low);
    image_fill_small(image);
}

const Inst *touched_store(const Observer *self, Record record) {
    const Check *check = (const Check *)(const void *)self;
    return record >= check->launch << RECORD_TIME ? check->sites[record_site(record)].inst : NULL;
}
