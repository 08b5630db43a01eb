// Runs the warps of a block in turns. See block.h.
#include "simt/exec/block.h"

#include <stdlib.h>
#include <string.h>

#include "simt/exec/cluster.h"
#include "simt/exec/observer.h"
#include "simt/exec/path_join.h"

#define SLICE           65536 // basic blocks that a warp runs per turn
#define STUCK_ROUNDS    2     // times each path spins before lanes that wait at joins are released
#define WATCHDOG_ROUNDS 64    // rounds between checks of the watchdog while warps only wait

static void *alloc_aligned(size_t bytes) { return aligned_alloc(64, (bytes + 63) & ~(size_t)63); }

Block *block_new(Machine *machine, Tally *tally) {
    Block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    block->machine = machine;
    block->tally = tally;
    block->threads = machine->threads_per_block;
    block->plain_ranks = machine->plain_ranks;
    block->warp_count = machine->warps_per_block;
    block->shared_bytes = machine->shared_bytes;
    block->local_stride = machine->local_limit;
    size_t threads = (size_t)block->warp_count * LANES;
    block->warps = calloc(block->warp_count, sizeof *block->warps);
    block->shared = alloc_aligned(block->shared_bytes + 64u);
    block->local = alloc_aligned(threads * block->local_stride + 64);
    uint8_t *stacks = alloc_aligned(((size_t)block->warp_count + 1) * machine->stack_bytes);
    block->stacks = stacks;
    if (!block->warps || !block->shared || !block->local || !stacks) {
        block_free(block);
        return NULL;
    }
    block->copy = stacks + (size_t)block->warp_count * machine->stack_bytes;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        Warp *warp = &block->warps[k];
        warp->index = (uint16_t)k;
        warp->block = block;
        warp->tally = tally;
        warp->stack = stacks + (size_t)k * machine->stack_bytes;
        warp_prepare(warp);
    }
    if ((!machine->longest_of || longest_attach(block)) && observer_attach(block)) return block;
    block_free(block);
    return NULL;
}

void block_free(Block *block) {
    if (!block) return;
    observer_detach(block);
    longest_detach(block);
    for (uint32_t k = 0; block->warps && k < block->warp_count; k++)
        warp_free_frames(&block->warps[k]);
    free(block->warps);
    free(block->shared);
    free(block->local);
    free(block->stacks);
    free(block);
}

void block_start(Block *block, uint64_t number) {
    const Machine *machine = block->machine;
    block->number = number;
    block->index = dim3_at(number, machine->grid);
    block->live_threads = block->threads;
    block->done_warps = 0;
    block->progress = 0;
    block->stuck = 0;
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->shared, MEMORY_POISON, block->shared_bytes);
    memset(block->shared + machine->reserved_base, 0, machine->reserved_bytes);
    for (uint32_t k = 0; k < block->warp_count; k++) {
        uint32_t left = block->threads - k * LANES;
        path_start(&block->warps[k], machine->entry, left >= LANES ? ALL_LANES : (1u << left) - 1);
        block->warps[k].local_reached = 0;
        warp_reach_local(&block->warps[k], machine->local_bytes);
    }
    block->running = true;
}

// Releases lanes that wait for others of their warp, so that a stuck block may continue.
static bool release_all(Block *block) {
    bool released = false;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        Warp *warp = &block->warps[k];
        if (warp->live) released |= path_join_release(warp);
    }
    return released;
}

BlockResult block_deadlock(Block *block) {
    static const char *const where[] = {[PATH_BARRIER] = "a barrier",
                                        [PATH_SYNC] = "a warp-wide instruction",
                                        [PATH_CLUSTER] = "the barrier of its cluster"};
    for (uint32_t k = 0; k < block->warp_count; k++) {
        Warp *warp = &block->warps[k];
        for (int p = 0; warp->live && p < warp->path_count; p++) {
            const Path *path = &warp->paths[p];
            if (path->state < PATH_SYNC) continue;
            warp_fail(warp, path->pc - (path->state == PATH_BARRIER), __builtin_ctz(path->mask),
                      SIMT_DEADLOCK, "deadlock: waits at %s for threads that never arrive",
                      where[path->state]);
            return BLOCK_FAILED;
        }
    }
    return BLOCK_FAILED;
}

// Whether some of its threads wait at the cluster's barrier, which other blocks may complete.
static bool waits_for_cluster(const Block *block) {
    for (uint32_t k = 0; block->cluster->count > 1 && k < block->warp_count; k++) {
        const Warp *warp = &block->warps[k];
        for (int p = 0; warp->live && p < warp->path_count; p++)
            if (warp->paths[p].state == PATH_CLUSTER) return true;
    }
    return false;
}

static bool timed_out(Block *block) {
    Machine *machine = block->machine;
    if (machine_failed_before(machine, block->cluster->place)) return true;
    bool interrupted = machine_interrupted;
    if (!interrupted && !machine_expired(machine)) return false;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        Warp *warp = &block->warps[k];
        for (int p = 0; warp->live && p < warp->path_count; p++) {
            const Path *path = &warp->paths[p];
            if (path->state != PATH_READY) continue;
            int lane = __builtin_ctz(path->mask);
            if (interrupted) {
                warp_fail(warp, path->pc, lane, SIMT_INTERRUPTED, "interrupted");
            } else {
                warp_fail(warp, path->pc, lane, SIMT_TIMEOUT,
                          "no progress for %g s: no warp has ended", machine->watchdog_seconds);
            }
            return true;
        }
    }
    return false;
}

// The result of one round of all warps.
typedef struct {
    bool ran;       // some warp ran
    bool only_spun; // and each of these only spun
    bool moved;     // some warp did something else first
    bool long_run;  // some slice was used up
    bool turn_ends; // some warp has ended the block's turn
    bool failed;
} Round;

static void spend(Machine *machine, uint64_t work) {
    if (!machine->work_left) return;
    if (work >= machine->work_left)
        machine->spent = true;
    else
        machine->work_left -= work;
}

static void run_warp(Block *block, Warp *warp, Round *round) {
    warp->budget = SLICE;
    const Inst *inst = path_resume(warp);
    if (!inst) {
        if (warp->stop == STOP_FAILED) round->failed = true;
        return;
    }
    round->ran = true;
    if (warp->followed) inst = observer_follow(warp, inst);
    while (inst) inst = inst->run(warp, inst);
    spend(block->machine, (uint64_t)(SLICE - warp->budget));
    if (block->machine->turns) {
        block->machine->ran += (uint64_t)(SLICE - warp->budget);
        round->turn_ends |= warp->stop == STOP_SPIN;
    }
    if (warp->stop == STOP_DONE) {
        block->done_warps++;
        block->progress++;
        machine_progress(block->machine);
    }
    if (warp->stop != STOP_SPIN)
        round->only_spun = false;
    else if (!block->machine->turns || warp->spin.waits)
        __atomic_store_n(&block->machine->spun, true, __ATOMIC_RELAXED);
    if (warp->stop != STOP_SPIN || warp->spin.moved) round->moved = true;
    if (warp->stop == STOP_SLICE || warp->stop == STOP_SPIN) round->long_run = true;
    if (warp->stop == STOP_FAILED) round->failed = true;
}

// The largest number of ready paths in one warp: paths of a warp also take turns.
static uint32_t most_ready(const Block *block) {
    uint32_t most = 0;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        const Warp *warp = &block->warps[k];
        uint32_t ready = 0;
        for (int p = 0; warp->live && p < warp->path_count; p++)
            ready += warp->paths[p].state == PATH_READY;
        if (ready > most) most = ready;
    }
    return most;
}

// If every path of the block only spins, and no other block has done anything meanwhile, releases
// lanes that wait for others of their warp.
static void end_round(Block *block, const Round *round) {
    Machine *machine = block->machine;
    if (round->moved) {
        block->stuck = 0;
        if (machine->ordered) block->seen = ++machine->moves;
    } else if (++block->stuck >= STUCK_ROUNDS * most_ready(block)) {
        release_all(block);
        block->stuck = 0;
    }
}

static BlockResult take_turns(Block *block, bool may_yield) {
    const Machine *machine = block->machine;
    const uint64_t seed = machine->order;
    for (uint64_t turn = 1;; turn++) {
        Round round = {.only_spun = true};
        uint32_t count = block->warp_count, start = 0;
        if (seed && seed != ORDER_REVERSED) {
            uint64_t mixed = (seed + turn + block->number * 31) * 0x9E3779B97F4A7C15u;
            start = (uint32_t)(mixed >> 33) % count;
        }
        uint64_t before = block->progress;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t index = (start + (seed & 1 ? count - 1 - k : k)) % count;
            Warp *warp = &block->warps[index];
            if (!warp->live) continue;
            run_warp(block, warp, &round);
            if (round.failed) return BLOCK_FAILED;
        }
        if (block->done_warps == count) return BLOCK_DONE;
        if (!round.ran) {
            if (release_all(block)) continue;
            return waits_for_cluster(block) ? BLOCK_WAITS : block_deadlock(block);
        }
        end_round(block, &round);
        bool check = round.long_run || machine->spent || turn % WATCHDOG_ROUNDS == 0;
        if (check && timed_out(block)) return BLOCK_FAILED;
        const bool waits = round.only_spun && block->progress == before;
        if (may_yield && (waits || round.turn_ends)) return BLOCK_YIELDS;
    }
}

BlockResult block_run(Block *block, bool may_yield) {
    if (block->seen != block->machine->moves) block->stuck = 0;
    block->seen = block->machine->moves;
    bool stop = machine_interrupted && timed_out(block);
    BlockResult result = stop ? BLOCK_FAILED : take_turns(block, may_yield);
    if (result == BLOCK_DONE) block->running = false;
    if (result == BLOCK_DONE || result == BLOCK_FAILED) {
        if (block->own) longest_end(block);
        observer_end(block);
    }
    return result;
}
