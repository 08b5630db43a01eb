// Hazards: see check.h. This file follows blocks, and sends accesses on by space.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simt/exec/cluster.h"
#include "simt/observe/check/inside.h"

// --- one checker ---

static void free_checker(Checker *checker) {
    order_free(checker);
    undefined_free(checker);
    check_forget_copies(checker);
    shadow_give_cells(&checker->cells, checker->shared_words);
    shadow_give_cells(&checker->byte_cells, checker->shared_words * 4);
    free(checker->lane_known);
    free(checker->waiting);
    free(checker->split);
    rest_free(&checker->rest);
    rest_free(&checker->own_rest);
    free(checker->group_write);
    free(checker->unwritten);
    free(checker->unwritten_at);
    free(checker->kept);
    free(checker->kept_at);
    free(checker->met);
    free(checker->variables);
    free(checker->races);
    free(checker->remote);
    free(checker->proxy_fences);
    free(checker->copy_groups);
    free(checker->copies);
    free(checker->counted);
    findings_free(&checker->findings);
    free(checker);
}

static bool attach(Block *block) {
    Checker *checker = calloc(1, sizeof *checker);
    if (!checker) return false;
    Check *check = (Check *)(void *)block->machine->observer;
    const size_t words = block->shared_bytes / 4 + 1, sites = check_sites_limit(block->machine);
    checker->check = check;
    checker->shared_words = (uint32_t)words;
    checker->machine = block->machine;
    checker->seen_frees = memory_frees;
    checker->room = block->machine->ordered ? &check->room : &checker->own_room;
    checker->far_rest = block->machine->ordered ? &check->rest : &checker->own_rest;
    checker->warps = calloc(MAX_WARPS, sizeof *checker->warps);
    checker->waiting = calloc(block->warp_count, sizeof *checker->waiting);
    checker->split = calloc(words, sizeof *checker->split);
    checker->unwritten_at = calloc(sites, sizeof *checker->unwritten_at);
    checker->kept_at = calloc(sites, sizeof *checker->kept_at);
    checker->met = calloc(sites, sizeof *checker->met);
    checker->variables = calloc(sites, sizeof *checker->variables);
    checker->races = calloc(sites, sizeof *checker->races);
    if (shadow_take_cells(&checker->cells, words) &&
        shadow_take_cells(&checker->byte_cells, words * 4) && checker->warps && checker->waiting &&
        checker->split && checker->met && checker->unwritten_at && checker->kept_at &&
        checker->variables && checker->races) {
        block->watch = checker;
        return true;
    }
    free_checker(checker);
    return false;
}

// Hands what a Block's checker found to the launch.
static void hand_over(Check *check, const Checker *checker) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const Findings *findings = &checker->findings;
    if (findings->count == 0 && !checker->lost) return;
    pthread_mutex_lock(&lock);
    size_t count = check->found_count + findings->count;
    Finding *grown = realloc(check->found, (count ? count : 1) * sizeof *grown);
    if (grown) {
        size_t bytes = findings->count * sizeof *grown;
        if (bytes) memcpy(grown + check->found_count, findings->at, bytes);
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
    check_times(checker, block->number);
    checker->block_start = checker->block_floor = checker->now;
    for (int i = 0; i < BARRIERS; i++) checker->arrivals[i].open = false;
    memset(checker->arrived, 0, sizeof checker->arrived);
    checker->known = (Known){0};
    checker->parted = 0;
    if (checker->findings.count)
        memset(checker->races, 0, (checker->check->site_count + 1u) * sizeof *checker->races);
    order_begin(checker);
    undefined_begin(checker);
    unwritten_begin(checker);
    cluster_begin(checker, block);
    copy_begin(checker);
    checker->latest_write = checker->latest_read = 0;
    checker->latest_write_2 = checker->latest_read_2 = 0;
    checker->second_writes = (Extent){0, 0};
    memset(checker->waited, 0, sizeof checker->waited);
    checker->any_waited = checker->all_waited = false;
    shared_forget_bytes(checker);
    rest_forget(&checker->rest);
    rest_forget(&checker->own_rest);
    checker->latest_bytes = 0;
    checker->bytes_written = (Extent){0, 0};
}

// Threads that wait at the barrier of the cluster.
static void find_stuck_in_cluster(Checker *checker, const Block *block, const Warp *warp) {
    const Cluster *cluster = block->cluster;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (path->state != PATH_CLUSTER) continue;
        const uint32_t lane = (uint32_t)__builtin_ctz(path->mask);
        check_found(checker, KIND_BARRIER, PTX_REG_SPACE, path->pc, warp->index * LANES + lane,
                    NULL, 0, 0,
                    "%u of %u threads wait at the barrier of their cluster for ever: let every "
                    "thread of all its blocks reach it",
                    cluster->arrived, cluster->count * block->threads);
    }
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
        find_stuck_in_cluster(checker, block, warp);
        for (int k = 0; k < warp->path_count; k++) {
            const Path *path = &warp->paths[k];
            uint32_t thread = w * LANES + (path->mask ? (uint32_t)__builtin_ctz(path->mask) : 0);
            uint32_t missing = path->sync & warp->live & ~together;
            if (path->state != PATH_SYNC || !missing) continue;
            masks = true;
            check_found(checker, KIND_MASK, PTX_REG_SPACE, path->pc, thread, NULL, 0, 0,
                        "the mask 0x%08x names lanes 0x%08x, which do not get here: name "
                        "exactly the lanes that do",
                        path->sync, missing);
        }
    }
    for (uint32_t i = 0; i < BARRIERS && !masks; i++) {
        const Arrival *arrival = &checker->arrivals[i];
        if (!arrival->open) continue;
        check_found(checker, KIND_BARRIER, PTX_REG_SPACE, arrival->inst, arrival->thread, NULL, 0,
                    0, "%u of %u threads wait at this barrier for ever: let every thread reach it",
                    arrival->threads, block->threads);
    }
}

static void end(Block *block) {
    Checker *checker = block->watch;
    check_unwritten(checker);
    cluster_end(checker, block);
    copy_end(checker);
    if (checker->machine->status == SIMT_DEADLOCK && block->live_threads)
        find_stuck(checker, block);
}

// --- accesses ---

static void outside_space(Checker *checker, Warp *warp, const Access *access, uint32_t lane,
                          uint64_t address, uint64_t limit) {
    static const char *const names[] = {[PTX_SHARED] = "shared", [PTX_LOCAL] = "local"};
    uint32_t thread = warp->index * LANES + lane, size = address_bytes(access);
    bool fits = address < limit && limit - address >= size;
    check_found(checker, fits ? KIND_MISALIGNED : KIND_BOUNDS, access->space, access->inst, thread,
                NULL, 0, address,
                fits ? "thread %u %s %u bytes at %s address %llu, of %llu: align it to its size"
                     : "thread %u %s %u bytes at %s address %llu, of %llu: guard the index",
                thread, check_verb(access->kind), size, names[access->space],
                (unsigned long long)address, (unsigned long long)limit);
}

uint32_t check_between(const Access *access, const uint64_t address[LANES], uint64_t low,
                       uint64_t high) {
    uint64_t size = address_bytes(access);
    uint64_t wrong = 0;
    uint32_t good = 0;
    if (low > high || size > high - low) return 0;
    LANE_LOOP wrong |= (uint64_t)(address[l] - low > high - low - size) | (address[l] & (size - 1));
    if (!wrong) return ALL_LANES;
    LANE_LOOP good |=
        (uint32_t)((address[l] - low <= high - low - size) & !(address[l] & (size - 1))) << l;
    return good;
}

// The same in [0, limit); the others are reported.
static uint32_t within(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                       const uint64_t address[LANES], uint64_t limit) {
    uint32_t good = check_between(access, address, 0, limit);
    for (uint32_t m = mask & ~good; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        outside_space(checker, warp, access, lane, address[lane], limit);
    }
    return mask & good;
}

uint32_t check_inside(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                      const uint64_t address[LANES]) {
    Extent *extent = &checker->variables[check_site(checker, access)];
    const uint64_t limit = warp->block->shared_bytes;
    if (!extent->high) *extent = variable_extent(checker->machine, access->inst, limit);
    const uint32_t good = mask & check_between(access, address, extent->low, extent->high);
    if (good == mask) return mask;
    const uint32_t inside = within(checker, warp, access, mask & ~good, address, limit);
    for (uint32_t m = inside; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        char text[160];
        variable_outside(checker->machine, access->inst, address[lane], text, sizeof text);
        check_found(checker, KIND_BOUNDS, PTX_SHARED, access->inst, thread, NULL, 0, address[lane],
                    "thread %u %s %u bytes %s: guard the index", thread, check_verb(access->kind),
                    address_bytes(access), text);
    }
    return good;
}

static void access_memory(Warp *warp, const Access *access, uint32_t lanes,
                          const uint64_t address[LANES]) {
    Checker *checker = check_of(warp);
    if (access->space == PTX_GLOBAL) check_global(checker, warp, access, lanes, address);
    if (access->space == PTX_LOCAL)
        within(checker, warp, access, lanes, address, warp->local_reached);
    if (access->space != PTX_SHARED) return;
    lanes = check_inside(checker, warp, access, lanes, address);
    if (!lanes) return;
    // That an mbarrier was made must be known from elsewhere than the mbarrier itself.
    const bool mbarrier = access->kind == ACCESS_ATOMIC && !(access->order & ORDER_RELAXED);
    if (!mbarrier) check_order(checker, warp, access, lanes, address, &checker->words);
    if (access->inst->access == ACCESS_COPY)
        copy_made(checker, warp, access, lanes, address);
    else
        check_shared(checker, warp->block, warp, access, lanes, address, 0);
    if (mbarrier) check_order(checker, warp, access, lanes, address, &checker->words);
}

static bool whole_access(Warp *warp, const Inst *inst, uint64_t first) {
    return inst->memory.space == PTX_GLOBAL ? check_whole_global(check_of(warp), warp, inst, first)
                                            : check_whole_shared(check_of(warp), warp, inst, first);
}

static bool lanes_access(Warp *warp, const Inst *inst, const uint64_t address[LANES]) {
    return inst->memory.space == PTX_GLOBAL ? check_lanes_global(warp, inst, address)
                                            : check_shared_lanes(warp, inst, address);
}

// Whether blocks pass on, from tile to tile, what depends on all that they have read: CUB's scans
// do, and selections, which may lie where they read from (`thrust::unique`, `thrust::remove`). They
// do so by relaxed accesses without a fence. Who learns of it and writes there is in a race, by the
// letter; but a read whose value was passed on is done with.
static bool hands_on(Str kernel) {
    const bool library =
        str_starts(kernel, STR("_ZN3cub")) || str_starts(kernel, STR("_ZN6thrust"));
    return library && str_find(kernel, STR("ScanTileState")) != SIZE_MAX;
}

Observer *check_open(const Machine *machine) {
    static const Observer observer = {.attach = attach,
                                      .detach = detach,
                                      .begin = begin,
                                      .end = end,
                                      .access = access_memory,
                                      .whole = whole_access,
                                      .lanes = lanes_access,
                                      .lane = check_lane_global,
                                      .remote = check_remote,
                                      .cluster_arrive = check_cluster_arrive,
                                      .cluster_waited = check_cluster_waited,
                                      .cluster_complete = check_cluster_complete,
                                      .grid_waited = early_waited,
                                      .bulk = check_bulk,
                                      .group = check_group,
                                      .copies_arrive = check_copies_arrive,
                                      .bad_free = check_free,
                                      .fence = check_fence,
                                      .arrive = check_arrive,
                                      .complete = check_complete,
                                      .meet = check_meet,
                                      .met = check_met,
                                      .shuffle = check_shuffle,
                                      .join = check_join,
                                      .step = undefined_step};
    static bool early; // some launch of the program did not wait for the one in front of it
    Check *check = calloc(1, sizeof *check);
    if (!check) return NULL;
    check->observer = observer;
    check->machine = machine;
    memory_meet_host();
    check->launch = shadow_launch();
    check->partial = machine->partial;
    early |= machine->after != 0;
    check->early = early;
    check->backlogs = !machine->after && !machine->run_prerequisite && !machine->partial;
    check->in_turn = check->backlogs && !machine->ordered;
    check->in_place = hands_on(machine->code->source->name);
    check->sites = calloc(check_sites_limit(machine), sizeof *check->sites);
    check->site_of_slot = calloc(machine->slot_count + 1u, sizeof *check->site_of_slot);
    if (check->launch && check->sites && check->site_of_slot) return &check->observer;
    check_close(&check->observer);
    return NULL;
}

void check_listen(Observer *observer, CheckListener listener) {
    ((Check *)(void *)observer)->listener = listener;
}

bool check_close(Observer *observer) {
    Check *check = (Check *)(void *)observer;
    bool whole = !check->lost;
    if (check->launch && check->sites) early_remember(check);
    release_free_all(&check->room);
    rest_free(&check->rest);
    free(check->words.at);
    free(check->sites);
    free(check->site_of_slot);
    free(check->found);
    free(check);
    return whole;
}
