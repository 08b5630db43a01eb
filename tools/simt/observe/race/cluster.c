// Checks that a block exists while another one accesses its shared memory, and the barrier of a
// cluster. order.c orders blocks of a cluster; race.c finds races in their shared memory.
//
// For a thread, another block has started once the thread has waited at a barrier of the cluster or
// has acquired something that the block released, as through an mbarrier. The block has not ended
// yet if the access happens before something that one of its threads does.
#include "simt/exec/cluster.h"

#include <string.h>

#include "simt/observe/race/checker.h"

static Checker *first_of(const Block *block) { return block->cluster->blocks[0]->watch; }

static uint64_t index_of(const Machine *machine, uint64_t block) {
    const Dim3 at = dim3_at(block, machine->grid);
    return dim3_number(dim3_in_parts(at, machine->cluster), cluster_grid(machine));
}

bool cluster_same(const Checker *checker, uint64_t block) {
    const Machine *machine = checker->machine;
    return check_clusters(machine) && index_of(machine, block) == index_of(machine, checker->block);
}

// Other blocks may write to a block's memory from the start of the cluster's first block on.
void cluster_begin(Checker *checker, const Block *block) {
    checker->cluster.log = NULL; // release_forget_all may have freed it
    checker->cluster.seen = checker->cluster.arrived = 0;
    memset(checker->cluster.waited, 0, sizeof checker->cluster.waited);
    if (!check_clusters(checker->machine)) return;
    const size_t bytes = (size_t)block->cluster->count * DEVICE_MAX_THREADS * sizeof(Record);
    if (checker->cluster.remote) memset(checker->cluster.remote, 0, bytes);
    if (block->rank) checker->sync.block_start = first_of(block)->sync.block_start;
}

// --- accesses ---

static void absent(Checker *checker, const Access *access, uint32_t thread, uint64_t of,
                   bool ended) {
    finding_add(checker, KIND_CLUSTER, PTX_SHARED, access->inst, thread, NULL, 0, 0,
                ended ? ", of block %llu of its cluster, which may have ended\n"
                        "put cluster.sync() after the last access"
                      : ", of block %llu of its cluster, which may not have started\n"
                        "put cluster.sync() before the first access",
                (unsigned long long)of);
}

void cluster_note(Checker *checker, Checker *owner, const Block *of, const Access *access,
                  const Warp *warp, uint32_t lanes) {
    const size_t threads = (size_t)of->cluster->count * DEVICE_MAX_THREADS;
    if (!owner->cluster.remote) owner->cluster.remote = ARENA_NEW(&owner->arena, threads, Record);
    const uint32_t first = warp->index * (uint32_t)LANES;
    const Record base = record_make(checker->sync.now, check_site(checker, access), first, 0);
    Record *noted = owner->cluster.remote + warp->block->rank * DEVICE_MAX_THREADS + first;
    LANE_LOOP {
        const Record mine = base + ((Record)l << RECORD_THREAD);
        noted[l] = lanes >> l & 1 ? mine : noted[l];
    }
}

void cluster_find_absent(Checker *checker, const Warp *warp, const Access *access, uint32_t lanes,
                         const Block *of) {
    const uint32_t waited = checker->cluster.waited[warp->index];
    if (!(lanes & ~waited) && of->running) return;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        const Event any = {.block = of->number, .thread = ANY_THREAD, .read = true};
        if (!(waited >> lane & 1) && !order_acquired(checker, thread, &any))
            absent(checker, access, thread, of->number, false);
        if (!of->running) absent(checker, access, thread, of->number, true);
    }
}

// Every access of another block must happen before the end of this one.
void cluster_end(Checker *checker, Block *block) {
    if (!checker->cluster.remote || checker->machine->status != SIMT_OK) return;
    for (uint32_t rank = 0; rank < block->cluster->count; rank++) {
        const Block *from = block->cluster->blocks[rank];
        for (uint32_t thread = 0; thread < from->threads; thread++) {
            const Record record = checker->cluster.remote[rank * DEVICE_MAX_THREADS + thread];
            if (!record || order_reached(checker, from->number, thread, record_time(record)))
                continue;
            const Site *site = check_site_of(checker, record);
            const Access access = {.inst = site->inst, .kind = site->kind};
            absent(from->watch, &access, thread, block->number, true);
        }
    }
}

// --- the barrier ---

void cluster_watch_arrive(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp), *first = first_of(warp->block);
    first->cluster.arrived += (uint32_t)__builtin_popcount(warp->exec);
    first->cluster.inst = inst;
    checker->sync.arrived[warp->index] |= warp->exec;
    if (inst->order & ORDER_RELEASE) order_cluster_arrive(checker, first, warp);
}

void cluster_watch_waited(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp), *first = first_of(warp->block);
    checker->cluster.waited[warp->index] |= warp->exec;
    if (inst->order & ORDER_ACQUIRE) order_cluster_waited(checker, first, warp);
}

static void missed_barrier(Checker *first, const Cluster *cluster, uint32_t all) {
    bool left = true;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        left &= sync_all_left(cluster->blocks[rank]);
    finding_add(first, left ? KIND_ENDED : KIND_BARRIER, PTX_REG_SPACE, first->cluster.inst, 0,
                NULL, 0, 0,
                ", where %u of %u threads of the cluster reach this barrier and the others have "
                "ended\n%s",
                first->cluster.arrived, all,
                left ? "this is allowed, since the barrier does not wait for them"
                     : "let every thread of all the cluster's blocks reach it");
}

void cluster_watch_complete(Block *block) {
    Checker *first = first_of(block);
    const uint32_t all = block->cluster->count * block->threads;
    first->cluster.seen = first->cluster.log ? log_count(first->cluster.log) : 0;
    if (first->cluster.arrived < all) missed_barrier(first, block->cluster, all);
    first->cluster.arrived = 0;
}
