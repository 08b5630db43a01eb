// Receives the events of a launch, and passes accesses to the checks of their memory space. See
// checker.h.
#include <stdlib.h>
#include <string.h>

#include "simt/exec/cluster.h"
#include "simt/observe/observed.h"
#include "simt/observe/race/global.h"
#include "simt/observe/race/race.h"

// --- one checker ---

static bool attach(Block *block) {
    Checker *checker = calloc(1, sizeof *checker);
    if (!checker) return false;
    Check *check = (Check *)(void *)block->machine->observer;
    Arena *arena = &checker->arena;
    const size_t sites = check->site_capacity;
    checker->check = check;
    checker->machine = block->machine;
    checker->arena.leave = check->arena.leave;
    checker->pool = &check->pool;
    checker->rest.arena = arena;
    checker->order.warps = ARENA_NEW(arena, MAX_WARPS, Knowledge);
    checker->sync.waiting = arena_alloc(arena, block->warp_count, sizeof *checker->sync.waiting);
    checker->unwritten.of_site = ARENA_NEW(arena, sites, uint16_t);
    checker->finding.races = ARENA_NEW(arena, sites, uint16_t);
    checker->shadow.word_count = block->shared_bytes / 4 + 1;
    block->watch = checker;
    return true;
}

static void detach(Block *block) {
    Checker *checker = block->watch;
    if (!checker) return;
    checker->check->lost |= checker->lost;
    race_forget_copies(&checker->shadow, checker->copy.where);
    shadow_free(&checker->shadow);
    arena_free(&checker->arena);
    free(checker);
    block->watch = NULL;
}

static void begin(Block *block) {
    Checker *checker = block->watch;
    sync_times(checker, block->number);
    checker->sync.block_start = checker->sync.block_floor = checker->sync.now;
    for (int i = 0; i < BARRIERS; i++) checker->sync.arrivals[i].open = false;
    memset(checker->sync.arrived, 0, sizeof checker->sync.arrived);
    memset(checker->sync.apart, 0, sizeof checker->sync.apart);
    checker->sync.parted = 0;
    if (checker->check->findings.count)
        memset(checker->finding.races, 0,
               checker->check->site_count * sizeof *checker->finding.races);
    order_begin(checker);
    undefined_begin(checker);
    unwritten_begin(checker);
    cluster_begin(checker, block);
    copy_begin(checker);
    checker->shared = block->shared;
    memset(checker->early.waited, 0, sizeof checker->early.waited);
    checker->early.any = checker->early.all = false;
    rest_forget(&checker->rest);
    if (!checker->machine->ordered) rest_forget(&checker->check->rest);
}

// Reports why a block is stuck: lanes wait in an instruction for others that do not come or, if
// there are none, threads wait at a barrier.
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
            if (path->state == PATH_CLUSTER)
                finding_add(checker, KIND_BARRIER, PTX_REG_SPACE, path->pc, thread, NULL, 0, 0,
                            ", where %u of %u threads wait at the barrier of their cluster for "
                            "ever\nlet every thread of all its blocks reach it",
                            block->cluster->arrived, block->cluster->count * block->threads);
            uint32_t missing = path->sync & warp->live & ~together;
            if (path->state != PATH_SYNC || !missing) continue;
            masks = true;
            finding_add(checker, KIND_MASK, PTX_REG_SPACE, path->pc, thread, NULL, 0, 0,
                        ", where the mask 0x%08x names lanes 0x%08x, which do not get here\n%s",
                        path->sync, missing,
                        advice_take_part(checker->machine, path->pc, advice_whole_warp));
        }
    }
    for (uint32_t i = 0; i < BARRIERS && !masks; i++) {
        const Arrival *arrival = &checker->sync.arrivals[i];
        if (!arrival->open) continue;
        finding_add(checker, KIND_BARRIER, PTX_REG_SPACE, arrival->inst, arrival->thread, NULL, 0,
                    0, ", where %u of %u threads wait at this barrier for ever\n%s",
                    arrival->threads, block->threads,
                    advice_take_part(checker->machine, arrival->inst, advice_every_thread));
    }
}

static void end(Block *block) {
    Checker *checker = block->watch;
    unwritten_report(checker);
    cluster_end(checker, block);
    copy_end(checker);
    if (checker->machine->status == SIMT_DEADLOCK && block->live_threads)
        find_stuck(checker, block);
}

// --- accesses ---

static void shared_access(Checker *checker, Block *of, Warp *warp, const Access *access,
                          uint32_t lanes, const uint64_t address[LANES]) {
    Race at;
    race_begin(&at, checker, of, warp, access, lanes, address, 0);
    race_lanes(&at, lanes);
}

static void access_memory(Warp *warp, const Access *access, uint32_t lanes,
                          const uint64_t address[LANES]) {
    Checker *checker = check_of(warp);
    const bool global =
        access->space == PTX_GLOBAL || (access->space == PTX_CONST && checker->check->streams);
    if (global) global_access(checker, warp, access, lanes, address);
    if (access->space == PTX_LOCAL)
        bounds_within(checker, warp, access, lanes, address, warp->local_reached);
    if (access->space != PTX_SHARED) return;
    lanes = bounds_inside(checker, warp, access, lanes, address);
    if (!lanes) return;
    // An mbarrier cannot order its own initialization before its use.
    const bool mbarrier = access->kind == ACCESS_ATOMIC && !(access->order & ORDER_RELAXED);
    if (!mbarrier) order_access(checker, warp, access, lanes, address, &checker->order.words);
    if (access->inst->access == ACCESS_COPY)
        copy_issued(checker, warp, access, lanes, address);
    else
        shared_access(checker, warp->block, warp, access, lanes, address);
    if (mbarrier) order_access(checker, warp, access, lanes, address, &checker->order.words);
}

// See Observer.whole.
static bool whole_access(Warp *warp, const Inst *inst, uint64_t first) {
    Checker *checker = check_of(warp);
    const Access access = address_access(inst);
    const uint32_t size = address_bytes(&access);
    const uint64_t bytes = (uint64_t)size * LANES;
    const uint32_t shift = size < 4 ? size / 2 : (uint32_t)__builtin_ctz(size / 4);
    if (access.space == PTX_GLOBAL)
        return global_range(checker, warp, &access, 0, first, bytes, shift);
    const Extent *extent = &checker->check->variables[check_site(checker, &access)];
    if (!extent_holds(extent, first, bytes) || first % size) return false;
    if (inst->order && (checker->order.words.count || checker->order.any)) return false;
    if (order_words(&checker->order.words, first, bytes)) return false;
    Race at;
    race_begin(&at, checker, warp->block, warp, &access, ALL_LANES, NULL, 0);
    return race_range(&at, 0, first, bytes, shift);
}

static void remote_access(Warp *warp, const Access *access, uint32_t lanes, Block *of,
                          const uint64_t address[LANES]) {
    if (!of) return; // the access fails
    Checker *checker = check_of(warp), *owner = of->watch;
    cluster_find_absent(checker, warp, access, lanes, of);
    cluster_note(checker, owner, of, access, warp, lanes);
    lanes = bounds_inside(checker, warp, access, lanes, address);
    if (!lanes) return;
    order_access(checker, warp, access, lanes, address, &owner->order.words);
    shared_access(checker, of, warp, access, lanes, address);
}

static void fence(Warp *warp, const Inst *inst) {
    touched_fence(check_of(warp)->check, inst);
    if (inst->fence == FENCE_PROXY_ASYNC || inst->fence == FENCE_MBARRIER_INIT)
        copy_fence(check_of(warp), warp, inst);
    else
        order_fence(warp, inst);
}

static void report(Observer *self, Observed *of) {
    Check *check = (Check *)(void *)self;
    LaunchReport *to = of->report;
    to->hazard_count = finding_report(check, &to->arena, &to->hazards);
    if (of->touched != TOUCHED_NONE) touched_list(check, &to->arena, of->touched, &to->touched);
}

static void close_check(Observer *self, Observed *of) {
    Check *check = (Check *)(void *)self;
    if (check->lost)
        observed_fail(of, SIMT_OUT_OF_MEMORY, "no host memory for what the checks found");
    if (check->sites) early_remember(check);
    release_forget_all(&check->pool);
    arena_free(&check->arena);
    free(check);
}

static void make_sites(Check *check, uint32_t slots) {
    check->site_capacity = slots < RECORD_SITES ? slots : RECORD_SITES;
    check->site_count = 1;
    check->sites = ARENA_NEW(&check->arena, check->site_capacity, Site);
    check->site_of_slot = ARENA_NEW(&check->arena, slots, uint16_t);
    check->variables = ARENA_NEW(&check->arena, check->site_capacity, Extent);
    check->allocations = ARENA_NEW(&check->arena, check->site_capacity, Extent);
}

void check_open(Observed *of) {
    static const Observer functions = {.report = report,
                                       .close = close_check,
                                       .forked = shadow_reset,
                                       .send = finding_send,
                                       .receive = finding_receive,
                                       .fill = touched_fill,
                                       .store = touched_store,
                                       .attach = attach,
                                       .detach = detach,
                                       .begin = begin,
                                       .end = end,
                                       .access = access_memory,
                                       .whole = whole_access,
                                       .remote = remote_access,
                                       .cluster_arrive = cluster_watch_arrive,
                                       .cluster_waited = cluster_watch_waited,
                                       .cluster_complete = cluster_watch_complete,
                                       .grid_waited = early_waited,
                                       .bulk = copy_bulk,
                                       .group = copy_group,
                                       .copies_arrive = copy_arrive,
                                       .bad_free = global_free,
                                       .fence = fence,
                                       .arrive = sync_arrive,
                                       .complete = sync_complete,
                                       .meet = sync_meet,
                                       .met = sync_met,
                                       .shuffle = sync_shuffle,
                                       .join = sync_join,
                                       .step = undefined_step};
    Machine *machine = of->machine;
    if (!of->options->check) return;
    Check *check = observed_open(of, &machine->observer, &functions, sizeof *check, "the checks");
    if (!check) return;
    check->machine = machine;
    memory_find_touched();
    check->arena.leave = check->pool.arena.leave = of->report->arena.leave;
    check->rest.arena = &check->arena;
    check->launch = shadow_launch();
    if (!check->launch) {
        observed_fail(of, SIMT_OUT_OF_MEMORY, "no host memory for the checks");
        return;
    }
    check->partial = machine->partial;
    check->library = str_starts(str_of(of->kernel), STR("_ZN6thrust")) ||
                     str_starts(str_of(of->kernel), STR("_ZN3cub"));
    check->streams = of->touched == TOUCHED_ALL;
    make_sites(check, machine->slot_count + 2); // greater than any slot's number
    check->seen_frees = memory_frees;
}
