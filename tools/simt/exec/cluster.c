// Starts the blocks of a cluster, runs them in turns and completes the cluster's barrier. See
// cluster.h.
#include "simt/exec/cluster.h"

#include <stdlib.h>

#include "simt/exec/observer.h"
#include "simt/exec/path.h"

Cluster *cluster_new(Machine *machine, Tally *tally) {
    Cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster) return NULL;
    const Dim3 shape = machine->cluster;
    const uint32_t count = shape.x * shape.y * shape.z;
    cluster->blocks = calloc(count, sizeof *cluster->blocks);
    bool good = cluster->blocks != NULL;
    for (uint32_t rank = 0; good && rank < count; rank++) {
        Block *block = block_new(machine, tally);
        good = block != NULL;
        if (!good) break;
        block->cluster = cluster;
        block->rank = rank;
        cluster->blocks[cluster->count++] = block;
    }
    if (good) return cluster;
    cluster_free(cluster);
    return NULL;
}

void cluster_free(Cluster *cluster) {
    if (!cluster) return;
    for (uint32_t rank = 0; rank < cluster->count; rank++) block_free(cluster->blocks[rank]);
    free(cluster->blocks);
    free(cluster);
}

Dim3 cluster_grid(const Machine *machine) { return dim3_in_parts(machine->grid, machine->cluster); }

Dim3 cluster_index(const Block *block) {
    return dim3_in_parts(block->index, block->machine->cluster);
}

// Resets all blocks before any observer learns that one begins.
void cluster_start(Cluster *cluster, uint64_t place, uint64_t number) {
    const Machine *machine = cluster->blocks[0]->machine;
    const Dim3 each = machine->cluster, grid = machine->grid;
    const Dim3 at = dim3_at(number, cluster_grid(machine));
    cluster->place = place;
    cluster->arrived = 0;
    cluster->live_threads = cluster->count * machine->threads_per_block;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        const Dim3 in = dim3_at(rank, each);
        const Dim3 block = {at.x * each.x + in.x, at.y * each.y + in.y, at.z * each.z + in.z};
        block_start(cluster->blocks[rank], dim3_number(block, grid));
    }
    for (uint32_t rank = 0; rank < cluster->count; rank++) observer_begin(cluster->blocks[rank]);
}

// --- the barrier ---

static void complete(Cluster *cluster) {
    cluster->arrived = 0;
    cluster->phases++;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        Block *block = cluster->blocks[rank];
        for (uint32_t k = 0; k < block->warp_count; k++) path_release_cluster(&block->warps[k]);
    }
    observer_cluster_complete(cluster->blocks[0]);
}

void cluster_arrive(Warp *warp) {
    Cluster *cluster = warp->block->cluster;
    warp->cluster_arrived |= warp->exec;
    cluster->arrived += (uint32_t)__builtin_popcount(warp->exec);
    if (cluster->arrived >= cluster->live_threads) complete(cluster);
}

void cluster_exited(Warp *warp, uint32_t lanes) {
    Cluster *cluster = warp->block->cluster;
    cluster->live_threads -= (uint32_t)__builtin_popcount(lanes);
    cluster->arrived -= (uint32_t)__builtin_popcount(lanes & warp->cluster_arrived);
    warp->cluster_arrived &= ~lanes;
    if (cluster->arrived && cluster->arrived >= cluster->live_threads) complete(cluster);
}

// --- running the blocks in turns ---

// All blocks wait for each other: each reports its line.
static BlockResult deadlock(Cluster *cluster) {
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        if (cluster->blocks[rank]->running) block_deadlock(cluster->blocks[rank]);
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        if (cluster->blocks[rank]->running) observer_end(cluster->blocks[rank]);
    return BLOCK_FAILED;
}

typedef struct {
    bool live, advanced, spun, failed;
} Round;

static Round run_round(Cluster *cluster, uint64_t turn) {
    const uint64_t seed = cluster->blocks[0]->machine->order, phases = cluster->phases;
    const uint32_t start = seed ? (uint32_t)((seed + turn) % cluster->count) : 0;
    Round round = {0};
    for (uint32_t k = 0; k < cluster->count && !round.failed; k++) {
        const uint32_t rank = seed == ORDER_REVERSED ? cluster->count - 1 - k : start + k;
        Block *block = cluster->blocks[rank % cluster->count];
        if (!block->running) continue;
        const uint64_t before = block->progress;
        const BlockResult result = block_run(block, true);
        round.failed = result == BLOCK_FAILED;
        round.spun |= result == BLOCK_YIELDS;
        round.live |= block->running;
        round.advanced |= !block->running || block->progress != before;
    }
    round.advanced |= cluster->phases != phases;
    return round;
}

BlockResult cluster_run(Cluster *cluster, bool may_yield) {
    if (cluster->count == 1) return block_run(cluster->blocks[0], may_yield);
    for (uint64_t turn = 0;; turn++) {
        const Round round = run_round(cluster, turn);
        if (round.failed) return BLOCK_FAILED;
        if (!round.live) return BLOCK_DONE;
        if (round.advanced) continue;
        if (!round.spun) return deadlock(cluster);
        if (may_yield) return BLOCK_YIELDS;
    }
}
