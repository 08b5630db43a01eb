// Hazards: see check.h. This file follows blocks, and sends accesses on by space.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simt/observe/check/inside.h"

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

static void outside_space(Checker *checker, Warp *warp, const Access *access, uint32_t lane,
                          uint64_t address, uint64_t limit) {
    static const char *const names[] = {[PTX_SHARED] = "shared", [PTX_LOCAL] = "local"};
    uint32_t thread = warp->index * LANES + lane, size = address_bytes(access);
    bool fits = address < limit && limit - address >= size;
    check_found(checker, warp, fits ? KIND_MISALIGNED : KIND_BOUNDS, access->space, access->inst,
                thread, NULL, 0, address,
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
                                      .bad_free = check_free,
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

bool check_close(Observer *observer) {
    Check *check = (Check *)(void *)observer;
    bool whole = !check->lost;
    free(check->found);
    free(check);
    return whole;
}
