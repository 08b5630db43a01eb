// Asynchronous copies: cp.async and bulk copies.
#ifndef RACE_COPY_H
#define RACE_COPY_H

#include "simt/observe/race/bounds.h"
#include "simt/observe/race/release.h"

// Fences that make earlier writes visible to bulk copies: fence.proxy.async. fence.mbarrier_init
// makes only the initialization of an mbarrier visible.
enum { PROXY_FENCES = 8 };
typedef struct {
    uint64_t time;
    const Release *release; // NULL: there was none
    uint32_t lanes;
    bool init;
} ProxyFence;

// Asynchronous copies of consecutive lanes for which no thread has waited.
typedef struct {
    const Inst *inst;
    Checker *owner;   // of their shared memory
    uint64_t address; // of the first lane's bytes there; the other lanes' bytes follow
    uint32_t bytes;   // of each lane
    uint32_t thread;  // of the first lane
    uint32_t lanes;   // of its warp: those whose copies are still in flight
    uint32_t group;   // the number of the group in each of these lanes
    Record copy;      // of the first lane
    bool bulk;        // a bulk copy, whose groups are counted apart; it reads shared memory
} PendingCopy;

// The copies of a block.
typedef struct {
    ProxyFence (*fences)[PROXY_FENCES]; // per warp, the latest first; NULL: there was none
    uint32_t (*groups)[2][LANES];       // per warp: groups of cp.async and of bulk copies
    PendingCopy *pending;
    size_t count, capacity; // of pending
    Extent where;           // the part of shared memory that has records of copies
} CopyState;

void copy_begin(Checker *checker);
void copy_end(Checker *checker);
// cp.async of these lanes.
void copy_issued(Checker *checker, Warp *warp, const Access *access, uint32_t lanes,
                 const uint64_t address[LANES]);
void copy_fence(Checker *checker, const Warp *warp, const Inst *inst);

// Events: see Observer.
void copy_bulk(Warp *warp, const Bulk *bulk);
void copy_group(Warp *warp, const Inst *inst);
void copy_arrive(Warp *warp, const Inst *inst);

#endif
