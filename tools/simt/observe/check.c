// Hazards: see check.h. This file dispatches accesses by space, and collects and orders findings.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/observe/check_inside.h"
#include "simt/ops/ops.h"

// --- findings ---

PtxPlace checker_place(const Checker *checker, const Inst *inst) {
    const PtxInst *ptx = machine_instruction(checker->machine, inst);
    if (!ptx && checker->part_of) ptx = machine_instruction(checker->machine, checker->part_of);
    return ptx ? ptx->place : (PtxPlace){0, 0};
}

static bool same_place(PtxPlace a, PtxPlace b) { return a.file == b.file && a.line == b.line; }

static bool same_finding(const Finding *a, const Finding *b) {
    return a->kind == b->kind && a->space == b->space && same_place(a->place, b->place) &&
           same_place(a->other, b->other);
}

static Finding *find(Checker *checker, const Finding *key) {
    for (size_t i = checker->finding_count; i > 0; i--)
        if (same_finding(&checker->findings[i - 1], key)) return &checker->findings[i - 1];
    return NULL;
}

static void add_finding(Checker *checker, const Finding *finding) {
    if (checker->finding_count == checker->finding_capacity) {
        size_t capacity = checker->finding_capacity ? checker->finding_capacity * 2 : 16;
        Finding *grown = realloc(checker->findings, capacity * sizeof *grown);
        if (!grown) return;
        checker->findings = grown;
        checker->finding_capacity = capacity;
    }
    checker->findings[checker->finding_count++] = *finding;
}

void checker_found(Checker *checker, const Warp *warp, HazardKind kind, PtxSpace space,
                   const Inst *inst, uint32_t thread, const Inst *other, uint32_t other_thread,
                   uint64_t address, const char *format, ...) {
    Finding finding = {.kind = kind,
                       .space = space,
                       .place = checker_place(checker, inst),
                       .thread = thread,
                       .other_thread = other_thread,
                       .block = warp->block->number,
                       .address = address,
                       .occurrences = 1};
    if (other) finding.other = checker_place(checker, other);
    Finding *known = find(checker, &finding);
    if (known) {
        known->occurrences++;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding.text, sizeof finding.text, format, arguments);
    va_end(arguments);
    add_finding(checker, &finding);
}

// --- one checker ---

Checker *checker_new(const Block *block) {
    Checker *checker = calloc(1, sizeof *checker);
    if (!checker) return NULL;
    size_t words = block->shared_bytes / 4 + 1;
    checker->machine = block->machine;
    checker->now = 1;
    checker->lane_known = calloc(block->warp_count, sizeof *checker->lane_known);
    checker->words = calloc(words, sizeof *checker->words);
    checker->bytes = calloc(words * 4, sizeof *checker->bytes);
    checker->split = calloc(words, sizeof *checker->split);
    checker->sync = calloc(SYNC_WORDS, sizeof *checker->sync);
    checker->unwritten = malloc(MAX_UNWRITTEN * sizeof *checker->unwritten);
    if (checker->lane_known && checker->words && checker->bytes && checker->split &&
        checker->sync && checker->unwritten)
        return checker;
    checker_free(checker);
    return NULL;
}

// What the blocks of a launch found that are done with.
typedef struct {
    Finding *all;
    size_t count;
} Found;

static void hand_over(const Checker *checker) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (checker->finding_count == 0) return;
    pthread_mutex_lock(&lock);
    Machine *machine = checker->machine;
    Found *found = machine->found ? machine->found : calloc(1, sizeof *found);
    machine->found = found;
    size_t count = found ? found->count + checker->finding_count : 0;
    Finding *grown = found ? realloc(found->all, count * sizeof *grown) : NULL;
    if (grown) {
        memcpy(grown + found->count, checker->findings, checker->finding_count * sizeof *grown);
        *found = (Found){grown, count};
    }
    pthread_mutex_unlock(&lock);
}

void checker_free(Checker *checker) {
    if (!checker) return;
    hand_over(checker);
    free(checker->lane_known);
    free(checker->words);
    free(checker->bytes);
    free(checker->split);
    free(checker->sync);
    free(checker->unwritten);
    free(checker->findings);
    free(checker);
}

void checker_begin_block(Block *block) {
    Checker *checker = block->check;
    checker->block_start = checker->block_floor = ++checker->now;
    checker->progress = block->progress;
    memset(checker->arrivals, 0, sizeof checker->arrivals);
    memset(checker->pending, 0, sizeof checker->pending);
    checker->sync_count = 0;
    if (checker->any_split) memset(checker->split, 0, block->shared_bytes / 4 + 1);
    checker->any_split = false;
}

// A block that is stuck: lanes wait in an instruction for others that do not come, or threads at a
// barrier. Lanes that do not come because they wait at a barrier are no fault of the barrier.
static void find_stuck(Checker *checker, Block *block) {
    bool masks = false;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        Warp *warp = &block->warps[w];
        uint32_t together = 0;
        for (int k = 0; k < warp->path_count; k++)
            if (warp->paths[k].state == PATH_SYNC) together |= warp->paths[k].mask;
        for (int k = 0; k < warp->path_count; k++) {
            const Path *path = &warp->paths[k];
            uint32_t thread = w * LANES + (path->mask ? (uint32_t)__builtin_ctz(path->mask) : 0);
            uint32_t missing = path->sync & warp->live & ~together;
            if (path->state != PATH_SYNC || !missing) continue;
            masks = true;
            checker_found(checker, warp, KIND_MASK, PTX_REG_SPACE, path->pc, thread, NULL, 0, 0,
                          "the mask 0x%08x names lanes 0x%08x, which do not get here: name "
                          "exactly the lanes that do",
                          path->sync, missing);
        }
    }
    for (uint32_t i = 0; i < BARRIERS && !masks; i++) {
        const Arrival *arrival = &checker->arrivals[i];
        if (!arrival->open) continue;
        checker_found(checker, &block->warps[arrival->thread / LANES], KIND_BARRIER, PTX_REG_SPACE,
                      arrival->inst, arrival->thread, NULL, 0, 0,
                      "%u of %u threads wait at this barrier for ever: let every thread reach it",
                      arrival->threads, block->threads);
    }
}

void checker_end_block(Block *block) {
    Checker *checker = block->check;
    check_barriers(checker, &block->warps[0]);
    check_unwritten(checker, &block->warps[0]);
    if (checker->machine->status == SIMT_DEADLOCK && block->live_threads)
        find_stuck(checker, block);
}

// --- accesses ---

static void outside_space(Checker *checker, Warp *warp, const Inst *inst, PtxSpace space,
                          uint32_t lane, uint64_t address, uint64_t limit) {
    static const char *const names[] = {[PTX_SHARED] = "shared", [PTX_LOCAL] = "local"};
    static const char *const verbs[] = {"accesses", "reads", "writes", "updates"};
    uint32_t thread = warp->index * LANES + lane;
    unsigned size = (unsigned)inst->bytes * inst->elements;
    bool fits = address < limit && limit - address >= size;
    checker_found(checker, warp, fits ? KIND_MISALIGNED : KIND_BOUNDS, space, inst, thread, NULL, 0,
                  address,
                  fits ? "thread %u %s %u bytes at %s address %llu, of %llu: align it to its size"
                       : "thread %u %s %u bytes at %s address %llu, of %llu: guard the index",
                  thread, verbs[inst->access <= ACCESS_ATOMIC ? inst->access : 0], size,
                  names[space], (unsigned long long)address, (unsigned long long)limit);
}

// The lanes whose access lies in [0, limit) and is aligned; the others are reported.
static uint32_t within(Checker *checker, Warp *warp, const Inst *inst, PtxSpace space,
                       uint32_t mask, const uint64_t address[LANES], uint64_t limit) {
    uint64_t size = (uint64_t)inst->bytes * inst->elements;
    uint32_t good = 0;
    if (size <= limit)
        LANE_LOOP good |= (uint32_t)(address[l] <= limit - size && address[l] % size == 0) << l;
    for (uint32_t m = mask & ~good; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        outside_space(checker, warp, inst, space, lane, address[lane], limit);
    }
    return mask & good;
}

static void access_space(Checker *checker, Warp *warp, const Inst *inst, PtxSpace space,
                         uint32_t mask, const uint64_t address[LANES]) {
    if (space == PTX_GLOBAL) check_global(checker, warp, inst, mask, address);
    if (space == PTX_LOCAL)
        within(checker, warp, inst, space, mask, address, warp->block->local_stride);
    if (space != PTX_SHARED) return;
    mask = within(checker, warp, inst, space, mask, address, warp->block->shared_bytes);
    check_shared(checker, warp, inst, mask, address);
}

static void access_generic(Checker *checker, Warp *warp, const Inst *inst, uint32_t mask,
                           const uint64_t address[LANES]) {
    static const struct {
        uint64_t window;
        PtxSpace space;
    } windows[] = {{0, PTX_GLOBAL},
                   {WINDOW_SHARED >> WINDOW_SHIFT, PTX_SHARED},
                   {WINDOW_LOCAL >> WINDOW_SHIFT, PTX_LOCAL}};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        uint32_t lanes = 0;
        LANE_LOOP lanes |= (uint32_t)(address[l] >> WINDOW_SHIFT == windows[i].window) << l;
        if (!(lanes & mask)) continue;
        uint64_t inner[LANES];
        LANE_LOOP inner[l] = address[l] & WINDOW_MASK;
        access_space(checker, warp, inst, windows[i].space, lanes & mask, inner);
    }
}

// The half of cp.async that reads global memory, see op_copy_async. Lanes that read less than a
// whole element leave the rest zero and are not looked at.
static void check_copy_source(Checker *checker, Warp *warp, const Inst *inst) {
    uint32_t reading = warp->exec, size = (uint32_t)inst->bytes * inst->elements;
    if (inst->r[3] != PTX_NONE) reading &= ~*REG(warp, LaneU32, inst->r[3]);
    for (uint32_t m = inst->r[2] == PTX_NONE ? 0 : reading; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        if (REG(warp, LaneU32, inst->r[2])[lane] < size) reading &= ~(1u << lane);
    }
    Inst load = *inst;
    load.r[0] = inst->r[1];
    load.imm = (uint64_t)(uintptr_t)inst->extra;
    load.wide = 1;
    load.access = ACCESS_LOAD;
    uint64_t address[LANES];
    warp_addresses(warp, &load, address);
    checker->part_of = inst;
    if (reading) check_global(checker, warp, &load, reading, address);
    checker->part_of = NULL;
}

static void check_access(Warp *warp, const Inst *inst) {
    Checker *checker = warp->block->check;
    check_barriers(checker, warp);
    bool parameter = inst->space == PTX_PARAM || inst->space == PTX_CONST;
    if (parameter || inst->space == PTX_REG_SPACE) return;
    uint64_t address[LANES];
    warp_addresses(warp, inst, address);
    if (inst->space == PTX_GENERIC)
        access_generic(checker, warp, inst, warp->exec, address);
    else
        access_space(checker, warp, inst, (PtxSpace)inst->space, warp->exec, address);
    if (inst->plain == op_copy_async) check_copy_source(checker, warp, inst);
}

const Inst *check_hook(Warp *warp, const Inst *inst) {
    switch (inst->access) {
    case ACCESS_LOAD:
    case ACCESS_STORE:
    case ACCESS_ATOMIC:
        check_access(warp, inst);
        break;
    case ACCESS_BARRIER:
        if (inst->plain == op_barrier || inst->plain == op_barrier_arrive)
            return check_barrier(warp, inst);
        break;
    case ACCESS_SYNC:
        if (inst->plain == op_fence) {
            check_fence(warp->block->check, warp);
            break;
        }
        if (inst->plain == op_warp_barrier) return check_warp_barrier(warp, inst);
        if (inst->plain != op_activemask) return check_meeting(warp, inst);
        break;
    default:
        break;
    }
    return inst->plain(warp, inst);
}

// --- the report ---

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare(const void *left, const void *right) {
    const Finding *a = left, *b = right;
    const uint64_t keys[][2] = {
        {a->place.file, b->place.file},
        {a->place.line, b->place.line},
        {a->other.file, b->other.file},
        {a->other.line, b->other.line},
        {a->kind, b->kind},
        {a->space, b->space},
        {a->block, b->block},
    };
    int order = 0;
    for (size_t i = 0; !order && i < sizeof keys / sizeof *keys; i++)
        order = compare_numbers(keys[i][0], keys[i][1]);
    return order;
}

static Dim3 unlinear(uint64_t number, Dim3 shape) {
    return (Dim3){(uint32_t)(number % shape.x), (uint32_t)(number / shape.x % shape.y),
                  (uint32_t)(number / shape.x / shape.y)};
}

static const char *file_name(const PtxModule *module, uint32_t file) {
    return file < module->file_count ? module->file_short[file] : NULL;
}

static void describe(const Machine *machine, const Finding *finding, Hazard *hazard) {
    static const char *const kinds[] = {
        [KIND_RACE] = "race",
        [KIND_BARRIER] = "divergent barrier",
        [KIND_MASK] = "mask of lanes",
        [KIND_BOUNDS] = "out of bounds",
        [KIND_MISALIGNED] = "misaligned access",
        [KIND_FREED] = "use after free",
        [KIND_UNWRITTEN] = "uninitialized read",
    };
    static const char *const spaces[] = {
        [PTX_GLOBAL] = "global", [PTX_SHARED] = "shared", [PTX_LOCAL] = "local"};
    bool space =
        finding->space == PTX_GLOBAL || finding->space == PTX_SHARED || finding->space == PTX_LOCAL;
    *hazard = (Hazard){.kind = kinds[finding->kind],
                       .file = file_name(machine->module, finding->place.file),
                       .line = finding->place.line,
                       .block = unlinear(finding->block, machine->grid),
                       .thread = unlinear(finding->thread, machine->block),
                       .address = finding->address,
                       .space = space ? spaces[finding->space] : NULL,
                       .occurrences = finding->occurrences};
    if (finding->other.line) {
        hazard->other_file = file_name(machine->module, finding->other.file);
        hazard->other_line = finding->other.line;
        hazard->other_thread = unlinear(finding->other_thread, machine->block);
    }
    snprintf(hazard->advice, sizeof hazard->advice, "%s", finding->text);
}

// When a kernel failed, blocks behind the one that did may or may not have run: what only they
// found is left out, and so are the numbers of findings.
static bool certain(const Machine *machine, const Finding *finding) {
    return machine->status == SIMT_OK || finding->block <= machine->failed_block;
}

void checker_report(Machine *machine, LaunchReport *report) {
    Found *found = machine->found;
    if (!found) return;
    qsort(found->all, found->count, sizeof *found->all, compare);
    report->hazards = ARENA_NEW(&report->arena, found->count, Hazard);
    const Finding *last = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const Finding *finding = &found->all[i];
        if (!certain(machine, finding)) continue;
        if (last && same_finding(last, finding)) {
            report->hazards[report->hazard_count - 1].occurrences += finding->occurrences;
            continue;
        }
        describe(machine, finding, &report->hazards[report->hazard_count++]);
        last = finding;
    }
    for (size_t i = 0; machine->status != SIMT_OK && i < report->hazard_count; i++)
        report->hazards[i].occurrences = 0;
    free(found->all);
    free(found);
    machine->found = NULL;
}
