// Clusters: blocks that run at the same time, synchronize at a barrier and access each other's
// shared memory. PTX ISA, "Cluster of Cooperative Thread Arrays". A launch without clusters has
// clusters of one block.
#ifndef CLUSTER_H
#define CLUSTER_H

#include "simt/exec/block.h"

struct Cluster {
    Block **blocks; // by rank
    uint32_t count;
    uint64_t place; // position in the launch's order of clusters
    uint32_t live_threads;
    uint32_t arrived; // live threads at the barrier
    uint64_t phases;  // barriers completed
    bool running;     // started and not yet done
};

// NULL: out of memory. `tally` as for block_new().
Cluster *cluster_new(Machine *machine, Tally *tally);
void cluster_free(Cluster *cluster);
// Starts the cluster of the grid with this number.
void cluster_start(Cluster *cluster, uint64_t place, uint64_t number);
// As block_run(), for all its blocks.
BlockResult cluster_run(Cluster *cluster, bool may_yield);

// The index of a block's cluster, and the shape of the grid in clusters.
Dim3 cluster_index(const Block *block);
Dim3 cluster_grid(const Machine *machine);

// The block of that rank; NULL: there is none.
static inline Block *cluster_block(const Block *block, uint64_t rank) {
    const Cluster *cluster = block->cluster;
    return rank < cluster->count ? cluster->blocks[rank] : NULL;
}

// The lanes in warp->exec arrive at the cluster's barrier.
void cluster_arrive(Warp *warp);
// Lanes of a block exit, which may complete the barrier.
void cluster_exited(Warp *warp, uint32_t lanes);

#endif
