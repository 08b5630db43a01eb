// Clusters: whether the block whose distributed shared memory is accessed exists, and the barrier.
#ifndef RACE_CLUSTER_H
#define RACE_CLUSTER_H

#include "simt/observe/race/release.h"
#include "simt/observe/race/sync.h"

// Of a block. The members without a comment about threads are used in the cluster's first block.
typedef struct {
    Log *log;                   // releases at the barrier of the cluster,
    uint32_t seen;              // how many of them the threads have seen that waited last,
    uint32_t arrived;           // and threads that have arrived since
    const Inst *inst;           // of the last arrival
    uint32_t waited[MAX_WARPS]; // of every block: lanes that have waited at the cluster's barrier
    Record *remote; // of every block: the last access of another block's thread to its shared
                    // memory, by rank and thread
} ClusterState;

// Whether blocks of the launch share clusters.
static inline bool check_clusters(const Machine *machine) {
    return machine->cluster_count < machine->block_count;
}
bool cluster_same(const Checker *checker, uint64_t block); // whether it is in the same cluster
void cluster_begin(Checker *checker, const Block *block);
void cluster_end(Checker *checker, Block *block);
// An access to another block's shared memory: records which lanes did it last, and reports lanes
// for which that block may not have started or may have ended.
void cluster_note(Checker *checker, Checker *owner, const Block *of, const Access *access,
                  const Warp *warp, uint32_t lanes);
void cluster_find_absent(Checker *checker, const Warp *warp, const Access *access, uint32_t lanes,
                         const Block *of);

// Events: see Observer.
void cluster_watch_arrive(Warp *warp, const Inst *inst);
void cluster_watch_waited(Warp *warp, const Inst *inst);
void cluster_watch_complete(Block *block);

#endif
