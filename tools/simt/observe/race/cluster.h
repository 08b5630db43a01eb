// Checks accesses to distributed shared memory, and the barrier of a cluster.
#ifndef RACE_CLUSTER_H
#define RACE_CLUSTER_H

#include "simt/observe/race/release.h"
#include "simt/observe/race/sync.h"

typedef struct {
    // Of the barrier, in the cluster's first block only:
    Log *log;         // releases by threads that have arrived
    uint32_t seen;    // number of releases that the threads that waited last have seen
    uint32_t arrived; // threads that have arrived since
    const Inst *inst; // of the last arrival
    // Of every block:
    uint32_t waited[MAX_WARPS]; // lanes that have waited at the cluster's barrier
    Record *remote; // by rank and thread of another block: its last access to this shared memory
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
