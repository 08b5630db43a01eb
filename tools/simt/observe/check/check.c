// Hazards: see check.h. This file dispatches accesses by space, and collects and orders findings.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/observe/check/inside.h"

// --- findings ---

PtxPlace check_place(const Checker *checker, const Inst *inst) {
    const PtxInst *ptx = machine_instruction(checker->machine, inst);
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
        if (!grown) {
            checker->lost = true;
            return;
        }
        checker->findings = grown;
        checker->finding_capacity = capacity;
    }
    checker->findings[checker->finding_count++] = *finding;
}

void check_found(Checker *checker, const Warp *warp, HazardKind kind, PtxSpace space,
                 const Inst *inst, uint32_t thread, const Inst *other, uint32_t other_thread,
                 uint64_t address, const char *format, ...) {
    Finding finding = {.kind = kind,
                       .space = space,
                       .place = check_place(checker, inst),
                       .thread = thread,
                       .other_thread = other_thread,
                       .block = warp->block->number,
                       .address = address,
                       .occurrences = 1};
    if (other) finding.other = check_place(checker, other);
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

static void free_checker(Checker *checker) {
    free(checker->lane_known);
    free(checker->words);
    free(checker->bytes);
    free(checker->split);
    free(checker->sync);
    free(checker->unwritten);
    free(checker->findings);
    free(checker);
}

static bool attach(Block *block) {
    Checker *checker = calloc(1, sizeof *checker);
    if (!checker) return false;
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
        checker->sync && checker->unwritten) {
        block->watch = checker;
        return true;
    }
    free_checker(checker);
    return false;
}

// Hands what a Block's checker found to the launch.
static void hand_over(Check *check, const Checker *checker) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (checker->finding_count == 0 && !checker->lost) return;
    pthread_mutex_lock(&lock);
    size_t count = check->found_count + checker->finding_count;
    Finding *grown = realloc(check->found, (count ? count : 1) * sizeof *grown);
    if (grown) {
        size_t bytes = checker->finding_count * sizeof *grown;
        if (bytes) memcpy(grown + check->found_count, checker->findings, bytes);
        check->found = grown;
        check->found_count = count;
    }
    check->lost |= !grown || checker->lost;
    pthread_mutex_unlock(&lock);
}

static void detach(Block *block) {
    if (!block->watch) return;
    hand_over((Check *)(void *)block->machine->observer, block->watch);
    free_checker(block->watch);
    block->watch = NULL;
}

static void begin(Block *block) {
    Checker *checker = block->watch;
    checker->block_start = checker->block_floor = ++checker->now;
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
            check_found(checker, warp, KIND_MASK, PTX_REG_SPACE, path->pc, thread, NULL, 0, 0,
                        "the mask 0x%08x names lanes 0x%08x, which do not get here: name "
                        "exactly the lanes that do",
                        path->sync, missing);
        }
    }
    for (uint32_t i = 0; i < BARRIERS && !masks; i++) {
        const Arrival *arrival = &checker->arrivals[i];
        if (!arrival->open) continue;
        check_found(checker, &block->warps[arrival->thread / LANES], KIND_BARRIER, PTX_REG_SPACE,
                    arrival->inst, arrival->thread, NULL, 0, 0,
                    "%u of %u threads wait at this barrier for ever: let every thread reach it",
                    arrival->threads, block->threads);
    }
}

static void end(Block *block) {
    Checker *checker = block->watch;
    check_unwritten(checker, &block->warps[0]);
    if (checker->machine->status == SIMT_DEADLOCK && block->live_threads)
        find_stuck(checker, block);
}

// --- accesses ---

const char *check_verb(const Inst *inst) {
    static const char *const verbs[] = {[ACCESS_LOAD] = "reads",
                                        [ACCESS_STORE] = "writes",
                                        [ACCESS_ATOMIC] = "updates",
                                        [ACCESS_COPY] = "writes"};
    return verbs[inst->access];
}

static void outside_space(Checker *checker, Warp *warp, const Access *access, uint32_t lane,
                          uint64_t address, uint64_t limit) {
    static const char *const names[] = {[PTX_SHARED] = "shared", [PTX_LOCAL] = "local"};
    uint32_t thread = warp->index * LANES + lane, size = address_bytes(access);
    bool fits = address < limit && limit - address >= size;
    check_found(checker, warp, fits ? KIND_MISALIGNED : KIND_BOUNDS, (PtxSpace)access->space,
                access->inst, thread, NULL, 0, address,
                fits ? "thread %u %s %u bytes at %s address %llu, of %llu: align it to its size"
                     : "thread %u %s %u bytes at %s address %llu, of %llu: guard the index",
                thread, check_verb(access->inst), size, names[access->space],
                (unsigned long long)address, (unsigned long long)limit);
}

// The lanes whose access lies in [0, limit) and is aligned; the others are reported.
static uint32_t within(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                       const uint64_t address[LANES], uint64_t limit) {
    uint64_t size = address_bytes(access);
    uint32_t good = 0;
    if (size <= limit)
        LANE_LOOP good |= (uint32_t)(address[l] <= limit - size && address[l] % size == 0) << l;
    for (uint32_t m = mask & ~good; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        outside_space(checker, warp, access, lane, address[lane], limit);
    }
    return mask & good;
}

static void access_memory(Warp *warp, const Access *access, uint32_t lanes,
                          const uint64_t address[LANES]) {
    Checker *checker = check_of(warp);
    const Block *block = warp->block;
    if (access->space == PTX_GLOBAL) check_global(checker, warp, access, lanes, address);
    if (access->space == PTX_LOCAL)
        within(checker, warp, access, lanes, address, block->local_stride);
    if (access->space != PTX_SHARED) return;
    lanes = within(checker, warp, access, lanes, address, block->shared_bytes);
    check_shared(checker, warp, access, lanes, address);
}

Observer *check_open(const Machine *machine) {
    static const Observer observer = {.attach = attach,
                                      .detach = detach,
                                      .begin = begin,
                                      .end = end,
                                      .access = access_memory,
                                      .fence = check_fence,
                                      .arrive = check_arrive,
                                      .complete = check_complete,
                                      .meet = check_meet,
                                      .join = check_join};
    Check *check = calloc(1, sizeof *check);
    if (!check) return NULL;
    check->observer = observer;
    check->machine = machine;
    return &check->observer;
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

size_t check_report(const Observer *observer, Arena *arena, Hazard **hazards) {
    const Check *check = (const Check *)(const void *)observer;
    const Machine *machine = check->machine;
    if (check->found_count) qsort(check->found, check->found_count, sizeof *check->found, compare);
    *hazards = check->found_count ? ARENA_NEW(arena, check->found_count, Hazard) : NULL;
    size_t count = 0;
    const Finding *last = NULL;
    for (size_t i = 0; i < check->found_count; i++) {
        const Finding *finding = &check->found[i];
        if (!certain(machine, finding)) continue;
        if (last && same_finding(last, finding)) {
            (*hazards)[count - 1].occurrences += finding->occurrences;
            continue;
        }
        describe(machine, finding, &(*hazards)[count++]);
        last = finding;
    }
    for (size_t i = 0; machine->status != SIMT_OK && i < count; i++) (*hazards)[i].occurrences = 0;
    return count;
}

bool check_close(Observer *observer) {
    Check *check = (Check *)(void *)observer;
    bool whole = !check->lost;
    free(check->found);
    free(check);
    return whole;
}
