// What a launch has touched, read off the records that it leaves behind: see touched.h. While it
// runs that costs nothing.
#include <stdlib.h>

#include "simt/observe/check/backlog.h"

typedef struct {
    Arena *arena;
    const Check *check;
    Record first; // of the launch; it is the last one
    Touched *at;
    size_t count, capacity;
} Gathered;

enum { TOUCHED_MOST = 1 << 20 }; // what is more is left out

// Whether host code may touch some of it.
static bool hosts(const Region *region) {
    const uint64_t end = region->low + REGION_BYTES;
    const Allocation *at = memory_before(end - 1);
    for (; at && at->address + at->bytes > region->low; at = memory_before(at->address - 1))
        if (at->live && memory_of_host(at->kind)) return true;
    return false;
}

// Bytes from an address on, by accesses of which the latest has this record.
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
    const PtxPlace place = check_place(machine, to->check->sites[record_site(record)].inst);
    const char *file = place.file < module->file_count ? module->file_short[place.file] : NULL;
    ARENA_GROW(to->arena, to->at, to->count, to->capacity);
    to->at[to->count++] = (Touched){low, low + bytes, write, strong, file, place.line};
}

// Of the region's words, or bytes, those between two bytes.
static void add_cells(Gathered *to, const Region *region, bool split, bool write, bool more,
                      uint32_t from, uint32_t end) {
    const Cells *cells = split ? &region->bytes : &region->words;
    const Record *const first = write ? cells->write : cells->read;
    const Record *const second = write ? cells->write_2 : cells->read_2;
    const uint32_t unit = split ? 1 : 4;
    for (uint32_t byte = from; byte < end; byte += unit) {
        const Record own = first ? first[byte / unit] : 0;
        const Record other = more && second ? second[byte / unit] : 0;
        const Record latest = own >= to->first ? own : other;
        if (latest < to->first) continue;
        const bool strong =
            (own < to->first || record_scope(own)) && (other < to->first || record_scope(other));
        add(to, region->low + byte, unit, write, strong, latest);
    }
}

// What was read, or written, in pages and in groups of words that the launch has marked.
static void gather(Gathered *to, const Region *region, bool write) {
    enum { PAGE_BYTES = REGION_PAGE * 4, GROUP_BYTES = REGION_GROUP * 4 };
    const uint64_t launch = to->check->launch;
    const bool split = region->split == launch, more = region->more == launch;
    const uint32_t pages = shadow_pages(write ? region->written : region->read, launch);
    const uint64_t *const groups = write ? region->group_written : region->group_read;
    for (uint32_t g = 0; g < REGION_GROUPS; g++) {
        const uint32_t from = g * GROUP_BYTES;
        const bool page = pages >> from / PAGE_BYTES & 1;
        const bool group = region->grouped == launch && shadow_group_bit(groups, g);
        const GroupRecords *of = group ? &region->groups[g] : NULL;
        const Record whole = !group ? 0 : write ? of->write : of->read;
        if (whole >= to->first)
            add(to, region->low + from, GROUP_BYTES, write, false, whole);
        else if (page)
            add_cells(to, region, split, write, more, from, from + GROUP_BYTES);
    }
}

static int by_address(const void *left, const void *right) {
    const Region *const *a = left, *const *b = right;
    return ((*a)->low > (*b)->low) - ((*a)->low < (*b)->low);
}

static bool is_of_launch(const Region *region, uint64_t launch) {
    return region->grouped == launch || shadow_pages(region->written, launch) ||
           shadow_pages(region->read, launch);
}

static bool has_modifier(Str opcode, Str modifier) {
    const size_t at = str_find(opcode, modifier);
    return at != SIZE_MAX &&
           (at + modifier.len == opcode.len || opcode.at[at + modifier.len] == '.');
}

// What the modifiers of an access or a fence promise.
static void read_modifiers(const Machine *machine, const Inst *inst, Promises *to) {
    const PtxInst *ptx = inst ? machine_instruction(machine, inst) : NULL;
    if (!ptx) return;
    const bool apart = has_modifier(ptx->opcode, STR(".shared"));
    to->releases |= inst->order & ORDER_RELEASE && inst->scope >= SCOPE_DEVICE;
    to->tells_host |= has_modifier(ptx->opcode, STR(".sys")) ||
                      (has_modifier(ptx->opcode, STR(".volatile")) && !apart);
}

// A barrier's fences come again and again: the last one is known.
void touched_fence(Check *check, const Inst *inst) {
    if (check->last_fence == inst) return;
    check->last_fence = inst;
    read_modifiers(check->machine, inst, &check->promises);
}

static Promises promises_of(const Check *check) {
    Promises all = check->promises;
    for (uint32_t k = 1; k <= check->site_count; k++)
        read_modifiers(check->machine, check->sites[k].inst, &all);
    return all;
}

void check_touched(const Observer *observer, Arena *arena, TouchedWhere where, TouchedList *list) {
    const Check *check = (const Check *)(const void *)observer;
    Gathered to = {.arena = arena, .check = check, .first = check->launch << RECORD_TIME};
    Region **found = NULL;
    size_t count = 0, capacity = 0;
    for (Region *region = shadow_first_region(); region; region = region->next) {
        if (where == TOUCHED_BY_HOST && !hosts(region)) continue;
        if (region->backlog.launch == check->launch && region->direct != check->launch) {
            backlog_put(region);
            region->backlog.launch = 0;
        }
        if (!is_of_launch(region, check->launch)) continue;
        ARENA_GROW(arena, found, count, capacity);
        found[count++] = region;
    }
    if (count) qsort(found, count, sizeof *found, by_address);
    for (int write = 0; write < 2; write++)
        for (size_t k = 0; k < count; k++) gather(&to, found[k], write);
    *list = (TouchedList){to.at, to.count, promises_of(check)};
}
