// Runs the clusters of a launch on host threads and adds up their counters. In most launches a
// cluster is a single block.
//
// Order. In some kernels what a block does can depend on what other blocks have done: atomic
// operations on global memory whose old value is used or whose rounding depends on order (floats),
// volatile or acquiring global loads, printf, cooperative launches, clusters of several blocks. The
// clusters of such a kernel run on one host thread in order of their number, each to its end before
// the next starts; one that only spins lets later ones start. If their time is predicted, as many
// as a device holds run side by side, so that work which they take from a queue spreads over them:
// each ends its turn after a spin read, and the one that has run least is next. A checked kernel
// also runs on one thread, see observe/race/checker.h. All others use all host threads. So results,
// counters and findings never depend on the number of threads or on their timing.
//
// Failures. A launch reports the failure of the first cluster in its order that fails. The clusters
// before it run to their end; later ones may or may not have run. So a failed launch counts
// nothing, unless it had to run on one thread, or the watchdog or the user ended it.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/base/host.h"
#include "simt/exec/block.h"
#include "simt/exec/cluster.h"

#define THREADS_LIMIT      256
#define RESIDENT_BYTES     ((uint64_t)64 << 20) // of clusters that stay resident because they spin
#define SIDE_BY_SIDE_BYTES ((uint64_t)2 << 30)  // of those that run side by side
#define WAITS_MOST         100                  // turns in which a cluster only waits, on average
#define WORTH_A_THREAD     16384                // CUDA threads that justify one more host thread

typedef struct {
    Machine *machine;
    Tally *tally;
    uint64_t *next; // cluster to start, shared by all workers
    bool failed;
    pthread_t thread;
} Worker;

__extension__ typedef unsigned __int128 Uint128;

// The k-th cluster to run: in order, in reverse, or permuted by a seed.
static uint64_t cluster_at(const Machine *machine, uint64_t k) {
    uint64_t seed = machine->order, count = machine->cluster_count;
    if (!seed) return k;
    if (seed == ORDER_REVERSED) return count - 1 - k;
    uint64_t step = (seed * 0x9E3779B97F4A7C15u >> 20) % count | 1;
    for (;; step += 2) { // a step coprime to the count visits all
        uint64_t a = step, b = count;
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) break;
    }
    return (uint64_t)(((Uint128)k * step + seed) % count);
}

static void *run_worker(void *argument) {
    Worker *worker = argument;
    Machine *machine = worker->machine;
    Cluster *cluster = cluster_new(machine, worker->tally);
    if (!cluster) {
        worker->failed = true;
        return NULL;
    }
    for (;;) {
        uint64_t k = __atomic_fetch_add(worker->next, 1, __ATOMIC_RELAXED);
        if (k >= machine->cluster_count || machine_failed_before(machine, k)) break;
        cluster_start(cluster, k, cluster_at(machine, k));
        if (cluster_run(cluster, false) == BLOCK_FAILED) break;
    }
    cluster_free(cluster);
    return NULL;
}

// Clusters that run in order on one host thread; those that spin take turns.
typedef struct {
    Machine *machine;
    Tally *tally;
    Cluster **resident;
    uint64_t limit, count; // of residents
    uint64_t started, live;
    uint64_t turn;   // the resident that runs next
    uint64_t waits;  // turns in which they only waited
    uint64_t *clock; // if they run side by side: what each resident has run; UINT64_MAX: it is done
} Ordered;

static void start_next(Ordered *ordered, Cluster *cluster) {
    const uint64_t place = ordered->started++;
    cluster_start(cluster, place, cluster_at(ordered->machine, place));
    cluster->running = true;
    ordered->live++;
}

// Makes the next cluster of the grid resident. False: out of memory.
static bool admit(Ordered *ordered) {
    ordered->turn = ordered->live == 0 ? 0 : ordered->count;
    if (ordered->turn == ordered->count) {
        Cluster *cluster = cluster_new(ordered->machine, ordered->tally);
        if (!cluster) return false;
        ordered->resident[ordered->count++] = cluster;
    }
    start_next(ordered, ordered->resident[ordered->turn]);
    if (ordered->clock) ordered->clock[ordered->turn] = 0;
    return true;
}

// The resident that has run least.
static uint64_t least_run(const Ordered *ordered) {
    uint64_t least = 0;
    for (uint64_t k = 1; k < ordered->count; k++)
        if (ordered->clock[k] < ordered->clock[least]) least = k;
    return least;
}

// A resident that only waited runs after all others. If they wait too often, each advances the
// next: they no longer run side by side.
static void advance(Ordered *ordered, BlockResult result, uint64_t ran, bool moved) {
    uint64_t *clock = &ordered->clock[ordered->turn];
    *clock += ran;
    for (uint64_t k = 0; result == BLOCK_YIELDS && !moved && k < ordered->count; k++)
        if (ordered->clock[k] != UINT64_MAX && ordered->clock[k] > *clock)
            *clock = ordered->clock[k];
    if (result == BLOCK_DONE && ordered->started == ordered->machine->cluster_count)
        *clock = UINT64_MAX;
    ordered->waits += result == BLOCK_YIELDS && !moved;
    if (ordered->waits / WAITS_MOST < ordered->count) return;
    ordered->machine->turns = 0;
    free(ordered->clock);
    ordered->clock = NULL;
}

// Runs one resident cluster until it is done or only spins. False: it failed.
static bool take_turn(Ordered *ordered) {
    const uint64_t ran = ordered->machine->ran, moves = ordered->machine->moves;
    if (ordered->clock) ordered->turn = least_run(ordered);
    if (ordered->turn >= ordered->count) ordered->turn = 0;
    Cluster *cluster = ordered->resident[ordered->turn];
    const uint64_t all = ordered->machine->cluster_count;
    const bool may_yield = all > 1 || ordered->machine->run_prerequisite;
    BlockResult result = cluster->running ? cluster_run(cluster, may_yield) : BLOCK_YIELDS;
    if (ordered->clock)
        advance(ordered, result, ordered->machine->ran - ran, ordered->machine->moves != moves);
    if (result == BLOCK_YIELDS) {
        machine_await_prerequisite(ordered->machine); // it may spin until the prerequisite writes
        ordered->turn++;
    }
    if (result != BLOCK_DONE) return result != BLOCK_FAILED;
    cluster->running = false;
    ordered->live--;
    if (ordered->started < all)
        start_next(ordered, cluster);
    else
        ordered->turn++;
    return true;
}

static bool run_ordered(Machine *machine, Tally *tally) {
    uint64_t bytes = (uint64_t)machine->warps_per_block * (machine->stack_bytes + sizeof(Warp)) +
                     machine->dynamic_base + machine->dynamic_shared +
                     (uint64_t)machine->threads_per_block * machine->local_bytes;
    const uint64_t all = machine->cluster_count;
    bytes *= machine->block_count / all;
    Ordered ordered = {.machine = machine, .tally = tally, .limit = RESIDENT_BYTES / bytes + 2};
    if (machine->turns) ordered.limit = SIDE_BY_SIDE_BYTES / bytes + 2;
    if (machine->turns && ordered.limit > machine->turns) ordered.limit = machine->turns;
    if (ordered.limit > all || machine->cooperative) ordered.limit = all;
    ordered.resident = calloc(ordered.limit, sizeof *ordered.resident);
    ordered.clock = machine->turns ? calloc(ordered.limit, sizeof *ordered.clock) : NULL;
    if (!ordered.resident || (machine->turns && !ordered.clock)) {
        free(ordered.resident);
        return false;
    }
    bool enough = true, good = true;
    while (enough && good && (ordered.live > 0 || ordered.started < all)) {
        bool room =
            (ordered.clock || ordered.turn == ordered.count) && ordered.count < ordered.limit;
        if (ordered.live == 0 || (room && ordered.started < all)) enough = admit(&ordered);
        if (enough) good = take_turn(&ordered);
    }
    for (uint64_t k = 0; k < ordered.count; k++) cluster_free(ordered.resident[k]);
    free(ordered.resident);
    free(ordered.clock);
    return enough;
}

static bool on_one_thread(const Machine *machine) { return machine->ordered || machine->observer; }

static uint32_t worker_count(const Machine *machine) {
    if (on_one_thread(machine)) return 1;
    uint64_t count = machine->host_threads;
    if (!count) {
        static uint32_t processors; // launches never run at the same time
        if (!processors) processors = host_processors();
        count = processors;
        uint64_t worth = machine->block_count * machine->threads_per_block / WORTH_A_THREAD + 1;
        if (count > worth) count = worth;
    }
    if (count > machine->cluster_count) count = machine->cluster_count;
    return (uint32_t)(count > THREADS_LIMIT ? THREADS_LIMIT : count);
}

bool schedule_counts(const Machine *machine) {
    return machine->status == SIMT_OK || machine->status == SIMT_TIMEOUT ||
           machine->status == SIMT_INTERRUPTED || on_one_thread(machine);
}

bool schedule_run(Machine *machine, Tally *tally, uint32_t slots) {
    machine_progress(machine);
    uint32_t count = worker_count(machine);
    if (machine->ordered) return run_ordered(machine, tally);
    Worker *workers = calloc(count, sizeof *workers);
    if (!workers) return false;
    uint64_t next = 0;
    bool enough = true;
    for (uint32_t k = 0; k < count; k++) {
        workers[k] = (Worker){.machine = machine, .tally = tally, .next = &next};
        if (k == 0) continue;
        workers[k].tally = calloc(slots ? slots : 1, sizeof(Tally));
        if (!workers[k].tally ||
            pthread_create(&workers[k].thread, NULL, run_worker, &workers[k]) != 0) {
            free(workers[k].tally); // fewer threads do all the work
            workers[k].tally = NULL;
            count = k;
        }
    }
    run_worker(&workers[0]);
    for (uint32_t k = 0; k < count; k++) {
        if (k > 0) pthread_join(workers[k].thread, NULL);
        enough = enough && !workers[k].failed;
        if (k == 0) continue;
        for (uint32_t s = 0; s < slots; s++) {
            tally[s].a += workers[k].tally[s].a;
            tally[s].b += workers[k].tally[s].b;
            tally[s].c += workers[k].tally[s].c;
        }
        free(workers[k].tally);
    }
    if (!schedule_counts(machine)) memset(tally, 0, slots * sizeof *tally);
    free(workers);
    return enough;
}
