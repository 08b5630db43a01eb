// Clusters: blocks that run side by side, meet at a barrier and reach each other's shared memory.
// PTX ISA, "Cluster of Cooperative Thread Arrays". A launch without clusters has clusters of one
// block.
#ifndef CLUSTER_H
#define CLUSTER_H

#include "simt/exec/block.h"

struct Cluster {
    Block **blocks; // by rank
    uint32_t count;
    uint64_t place; // in the order in which the launch runs its clusters
    uint32_t live_threads;
    uint32_t arrived; // threads at the barrier, of those that live
    uint64_t phases;  // barriers completed
    bool running;     // started and not yet done
};

// NULL: out of memory. `tally` as for block_new().
Cluster *cluster_new(Machine *machine, Tally *tally);
void cluster_free(Cluster *cluster);
// The cluster of the grid with this number.
void cluster_start(Cluster *cluster, uint64_t place, uint64_t number);
// As block_run(), of all its blocks.
BlockResult cluster_run(Cluster *cluster, bool may_yield);

// Index of the cluster that a block is of, and shape of the grid in clusters.
Dim3 cluster_index(const Block *block);
Dim3 cluster_grid(const Machine *machine);

// The block of that rank; NULL: there is none.
static inline Block *cluster_block(const Block *block, uint64_t rank) {
    const Cluster *cluster = block->cluster;
    return rank < cluster->count ? cluster->blocks[rank] : NULL;
}

// Its lanes in warp->exec arrive at the barrier of the cluster.
void cluster_arrive(Warp *warp);
// Lanes of a block end: the barrier may have waited only for them.
void cluster_exited(Warp *warp, uint32_t lanes);

#endif
