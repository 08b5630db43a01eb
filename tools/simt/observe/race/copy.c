// Checks asynchronous copies. See copy.h.
//
// The device completes a copy at once. To find accesses that do not wait for it, its accesses to
// shared memory are recorded as later than all others (RECORD_COPY) until a thread has waited. When
// the thread that made a group waits for it, the copies become accesses of that thread at that
// time. Threads that wait at an mbarrier acquire the copies that count there (order.c).
//
// Two copies of the same value to the same address are no race, like two stores of the same value:
// in cooperative groups, lanes without work repeat the last lane's copy. A reader has to wait for
// both.
//
// Bulk copies use the async proxy, which sees earlier writes of threads only after a
// fence.proxy.async (PTX ISA, "Async proxy"). For the mbarriers that they use, fence.mbarrier_init
// is enough.
#include <string.h>

#include "simt/observe/race/cluster.h"
#include "simt/observe/race/global.h"
#include "simt/observe/race/race.h"

void copy_begin(Checker *checker) {
    race_forget_copies(&checker->shadow, checker->copy.where);
    checker->copy.where = (Extent){0, 0};
    checker->copy.count = 0;
    const size_t warps = (checker->machine->threads_per_block + LANES - 1) / LANES;
    if (checker->copy.fences) memset(checker->copy.fences, 0, warps * sizeof *checker->copy.fences);
    if (checker->copy.groups) memset(checker->copy.groups, 0, warps * sizeof *checker->copy.groups);
}

// A time for a copy. It is unique until RECORD_COPIES further copies have been made.
static uint64_t copy_time(void) {
    static uint64_t copies;
    const uint64_t number = copies++;
    return RECORD_COPY + 1 + number % (RECORD_COPIES - 1);
}

// --- copies for which a kernel waits in groups ---

// The number of groups that each lane of a warp has closed.
static uint32_t *groups_of(Checker *checker, uint32_t warp, bool bulk) {
    if (!checker->copy.groups)
        checker->copy.groups =
            arena_alloc(&checker->arena, MAX_WARPS, sizeof *checker->copy.groups);
    return checker->copy.groups[warp][bulk];
}

static void add_pending(Checker *checker, PendingCopy copy) {
    copy.group = groups_of(checker, copy.thread / LANES, copy.bulk)[copy.thread % LANES];
    ARENA_GROW(&checker->arena, checker->copy.pending, checker->copy.count, checker->copy.capacity);
    checker->copy.pending[checker->copy.count++] = copy;
}

// The copies of these lanes become accesses at this time.
static void complete_lanes(const PendingCopy *copy, uint32_t lanes, uint64_t time) {
    const uint32_t first = copy->thread % LANES;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = copy->thread - first + lane;
        const Record of_lane = copy->copy + ((Record)(lane - first) << RECORD_THREAD);
        race_complete_copy(&copy->owner->shadow,
                           copy->address + (lane - first) * (uint64_t)copy->bytes, copy->bytes,
                           of_lane, record_make(time, record_site(copy->copy), thread, 0));
    }
}

// Extends CopyState.where by these bytes.
static void widen(Checker *owner, uint64_t first, uint64_t bytes) {
    Extent *copied = &owner->copy.where;
    if (!copied->high || first < copied->low) copied->low = first;
    if (first + bytes > copied->high) copied->high = first + bytes;
}

// Completes the copies of these lanes of a warp for which the instruction waits: all, or all except
// those of the last `pending` groups.
static void wait_for(Checker *checker, uint32_t warp, uint32_t lanes, const InstGroup *group) {
    const uint32_t *closed = groups_of(checker, warp, group->bulk);
    uint32_t kept = 0;
    for (size_t i = 0; i < checker->copy.count; i++) {
        PendingCopy copy = checker->copy.pending[i];
        const bool mine = copy.bulk == group->bulk && copy.thread / LANES == warp;
        uint32_t done = 0;
        if (mine)
            LANE_LOOP done |= (uint32_t)(group->all | (copy.group + group->pending < closed[l]))
                              << l;
        done &= copy.lanes & lanes;
        complete_lanes(&copy, done, checker->sync.now);
        copy.lanes &= ~done;
        if (copy.lanes) checker->copy.pending[kept++] = copy;
    }
    checker->copy.count = kept;
}

void copy_group(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp);
    const InstGroup *group = &inst->group;
    const uint32_t exec = warp->exec;
    if (group->waits) {
        wait_for(checker, warp->index, exec, group);
        return;
    }
    uint32_t *const open = groups_of(checker, warp->index, group->bulk);
    LANE_LOOP open[l] += exec >> l & 1;
}

// A thread that waits at the mbarrier acquires the lanes' copies.
void copy_arrive(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp);
    const Access access = address_access(inst);
    uint64_t address[LANES];
    address_lanes(warp, &access, address);
    wait_for(checker, warp->index, warp->exec, &(InstGroup){.all = true});
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        order_copies_arrive(checker, warp, address[lane] & ADDRESS_IN_BLOCK, 1u << lane);
    }
}

// The lanes of `lanes`, from this one on, that copy to consecutive addresses in the same group.
static uint32_t run_of(const uint32_t *groups, uint32_t lanes, uint32_t lane, uint32_t bytes,
                       const uint64_t address[LANES]) {
    uint32_t run = 1u << lane;
    for (uint32_t l = lane + 1; l < LANES && lanes >> l & 1; l++) {
        if (address[l] != address[l - 1] + bytes || groups[l] != groups[lane]) break;
        run |= 1u << l;
    }
    return run;
}

// The shift of race_range for this number of bytes per lane.
static uint32_t shift_of(uint32_t bytes) { return (uint32_t)__builtin_ctz(bytes / 4); }

void copy_issued(Checker *checker, Warp *warp, const Access *access, uint32_t lanes,
                 const uint64_t address[LANES]) {
    const uint32_t site = check_site(checker, access), first = warp->index * (uint32_t)LANES;
    const uint32_t *groups = groups_of(checker, warp->index, false);
    while (lanes) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        const uint32_t run = run_of(groups, lanes, lane, address_bytes(access), address);
        const PendingCopy copy = {.inst = access->inst,
                                  .owner = checker,
                                  .address = address[lane],
                                  .bytes = address_bytes(access),
                                  .thread = first + lane,
                                  .lanes = run,
                                  .copy = record_make(RECORD_COPY, site, first + lane, 0)};
        const uint64_t bytes = copy.bytes * (uint64_t)__builtin_popcount(run);
        widen(checker, copy.address, bytes);
        Race at;
        race_begin(&at, checker, warp->block, warp, access, run, address, RECORD_COPY);
        if (!race_range(&at, lane, copy.address, bytes, shift_of(copy.bytes))) race_lanes(&at, run);
        add_pending(checker, copy);
        lanes &= ~run;
    }
}

// Reports copies that still read shared memory when the block ends: another block may reuse it.
void copy_end(Checker *checker) {
    for (size_t i = 0; i < checker->copy.count; i++) {
        const PendingCopy *copy = &checker->copy.pending[i];
        complete_lanes(copy, copy->lanes, checker->sync.now);
        if (!copy->bulk || checker->machine->status != SIMT_OK) continue;
        finding_add(checker, KIND_COPY, PTX_SHARED, copy->inst, copy->thread, NULL, 0,
                    copy->address,
                    " in a copy that may still run when the block ends\n"
                    "put cp.async.bulk.commit_group and wait_group.read before the end");
    }
    checker->copy.count = 0;
}

// --- proxies ---

// A fence makes visible what happened before it. Each warp saves its latest ones.
void copy_fence(Checker *checker, const Warp *warp, const Inst *inst) {
    if (!checker->copy.fences)
        checker->copy.fences =
            arena_alloc(&checker->arena, MAX_WARPS, sizeof *checker->copy.fences);
    ProxyFence *fences = checker->copy.fences[warp->index];
    memmove(fences + 1, fences, (PROXY_FENCES - 1) * sizeof *fences);
    fences[0] = (ProxyFence){checker->sync.now, order_now(checker, warp), warp->exec,
                             inst->fence == FENCE_MBARRIER_INIT};
    sync_tick(checker);
}

// Whether a fence of a warp happens before what `thread` does now.
static bool fence_before(Checker *checker, const ProxyFence *fence, uint32_t warp,
                         uint32_t thread) {
    for (uint32_t m = fence->lanes; m; m &= m - 1) {
        const uint32_t other = warp * LANES + (uint32_t)__builtin_ctz(m);
        if (other == thread || fence->time < checker->sync.block_floor ||
            !sync_unordered(checker, fence->time, other, thread) ||
            order_acquired(checker, thread,
                           &(Event){checker->block, fence->time, other, false, false}))
            return true;
    }
    return false;
}

// A fence after a write and before what `thread` does now; init: fence.mbarrier_init is enough.
// NULL: there is none.
static const ProxyFence *find_fence(Checker *checker, Record write, uint32_t thread, bool init) {
    const uint32_t other = record_thread(write);
    for (uint32_t w = 0; checker->copy.fences && w < checker->machine->warps_per_block; w++) {
        const ProxyFence *fence = checker->copy.fences[w];
        for (int k = 0; k < PROXY_FENCES && fence[k].release; k++)
            if ((init || !fence[k].init) &&
                release_covers(fence[k].release, other, record_time(write)) &&
                fence_before(checker, &fence[k], w, thread))
                return &fence[k];
    }
    return NULL;
}

// Whether a thread of this block made the write, and not by a copy.
static bool is_own(const Checker *checker, Record write) {
    return write >= checker->sync.block_start << RECORD_TIME && !record_is_copy(write) &&
           shadow_block(record_time(write)) == checker->block;
}

static void check_source(Checker *checker, const Bulk *bulk, uint32_t thread) {
    const ProxyFence *fence = NULL; // the last one that was found
    if (bulk->from.block->watch != checker) return;
    for (uint64_t byte = bulk->from.address; byte < bulk->from.address + bulk->bytes; byte += 4) {
        const Record write = shadow_record(&checker->shadow, WRITE, byte);
        const uint32_t other = record_thread(write);
        if (!is_own(checker, write)) continue;
        if (fence && release_covers(fence->release, other, record_time(write))) continue;
        fence = find_fence(checker, write, thread, false);
        if (fence) continue;
        finding_add(checker, KIND_COPY, PTX_SHARED, bulk->inst, thread,
                    check_site_of(checker, write)->inst, other, byte,
                    " in a copy that may not see what thread %u wrote\n"
                    "put fence.proxy.async after the write, before the barrier",
                    other);
        return;
    }
}

static bool makes_mbarrier(const Checker *checker, Record record) {
    const Site *site = check_site_of(checker, record);
    return record && site->kind == ACCESS_ATOMIC && !site->inst->order;
}

// A copy sees the mbarrier that its own thread has initialized. The memory model says so only since
// a version after PTX 8.0, but it holds for all compilers and devices with bulk copies
// (NVIDIA/cccl, pull request 5102).
static void check_mbarrier(Checker *checker, const Bulk *bulk, uint32_t thread) {
    if (bulk->barrier.block->watch != checker) return;
    for (int slot = WRITE; slot <= WRITE_2; slot++) {
        const Record write = shadow_record(&checker->shadow, slot, bulk->barrier.address);
        if (!makes_mbarrier(checker, write) || !is_own(checker, write)) continue;
        if (record_thread(write) == thread) continue;
        if (find_fence(checker, write, thread, true)) continue;
        finding_add(checker, KIND_COPY, PTX_SHARED, bulk->inst, thread,
                    check_site_of(checker, write)->inst, record_thread(write),
                    bulk->barrier.address,
                    " in a copy that may not see the mbarrier that thread %u initialized\n"
                    "put fence.mbarrier_init or fence.proxy.async after mbarrier.init",
                    record_thread(write));
        return;
    }
}

// --- copies in bulk ---

static uint32_t bulk_lanes(const Bulk *bulk) { return (uint32_t)__builtin_popcount(bulk->lanes); }

enum { STEP = 16, AT_ONCE = 128 }; // bytes that are checked as one access, and in one range

// The source or the destination of a copy, as accesses of its thread.
typedef struct {
    Checker *checker;
    Warp *warp;
    const Bulk *bulk;
    Block *block; // NULL: global memory
    Access access;
    uint64_t copy; // its time
} CopySide;

// Checks these bytes at once. False: each access has to be checked.
static bool check_range(const CopySide *side, uint64_t first, uint64_t bytes, uint32_t shift) {
    const uint32_t lane = (uint32_t)side->bulk->lane;
    if (!side->block)
        return global_range(side->checker, side->warp, &side->access, lane, first, bytes, shift);
    Race at;
    race_begin(&at, side->checker, side->block, side->warp, &side->access, side->bulk->lanes, NULL,
               side->copy);
    return race_range(&at, lane, first, bytes, shift);
}

static void step(const CopySide *side, int of_lane, uint64_t first) {
    uint64_t address[LANES] = {0};
    const uint32_t lane = 1u << of_lane;
    address[of_lane] = first;
    if (!side->block) {
        global_access(side->checker, side->warp, &side->access, lane, address);
        return;
    }
    Race at;
    race_begin(&at, side->checker, side->block, side->warp, &side->access, lane, address,
               side->copy);
    race_lanes(&at, lane);
}

// Checks one side of a copy. `kind`: how it accesses memory there.
static void access_side(Checker *checker, Warp *warp, const Bulk *bulk, const Location *where,
                        AccessKind kind, uint64_t copy) {
    const uint8_t each = bulk->stores ? (uint8_t)bulk->bytes : STEP;
    CopySide side = {.checker = checker,
                     .warp = warp,
                     .bulk = bulk,
                     .block = where->block,
                     .access = {.inst = bulk->inst,
                                .space = where->block ? PTX_SHARED : PTX_GLOBAL,
                                .bytes = each > 4 ? 4 : each,
                                .elements = each > 4 ? each / 4 : 1,
                                .slot = bulk->inst->slot + (where == &bulk->from),
                                .kind = kind},
                     .copy = copy};
    if (kind == ACCESS_ATOMIC) side.access.order = ORDER_RELAXED, side.access.scope = SCOPE_DEVICE;
    const uint64_t all = bulk->bytes * (uint64_t)bulk_lanes(bulk), end = where->address + all;
    if (where->block) widen(where->block->watch, where->address, all);
    if (bulk->stores && !check_range(&side, where->address, all, shift_of(bulk->bytes)))
        for (uint32_t m = bulk->lanes, k = 0; m; m &= m - 1, k++)
            step(&side, __builtin_ctz(m), where->address + k * (uint64_t)bulk->bytes);
    if (bulk->stores) return;
    for (uint64_t at = where->address, next; at < end; at = next) {
        next = at + AT_ONCE - at % AT_ONCE;
        if (next > end) next = end;
        if (check_range(&side, at, next - at, RANGE_OF_ONE)) continue;
        for (; at < next; at += each) step(&side, bulk->lane, at);
    }
}

void copy_bulk(Warp *warp, const Bulk *bulk) {
    Checker *checker = check_of(warp);
    const uint32_t thread = warp->index * LANES + (uint32_t)bulk->lane;
    const uint64_t time = copy_time();
    const AccessKind writes = bulk->reduces ? ACCESS_ATOMIC : ACCESS_STORE;
    const Access source = {.inst = bulk->inst, .slot = bulk->inst->slot + 1, .kind = ACCESS_LOAD};
    if (bulk->from.block && !bulk->stores) check_source(checker, bulk, thread);
    if (bulk->barrier.block && !bulk->stores) check_mbarrier(checker, bulk, thread);
    if (!bulk->stores) access_side(checker, warp, bulk, &bulk->from, ACCESS_LOAD, time);
    const Block *to = bulk->to.block;
    if (to && to != warp->block) cluster_find_absent(checker, warp, &source, bulk->lanes, to);
    access_side(checker, warp, bulk, &bulk->to, writes, time);
    if (bulk->barrier.block) {
        Checker *of = bulk->barrier.block->watch;
        order_copy_counted(checker, &of->order.words, bulk->barrier.address,
                           record_make(time, 0, thread, 0));
    } else if (bulk->from.block) {
        add_pending(checker, (PendingCopy){
                                 .inst = bulk->inst,
                                 .owner = bulk->from.block->watch,
                                 .address = bulk->from.address,
                                 .bytes = bulk->bytes,
                                 .thread = thread,
                                 .lanes = bulk->lanes,
                                 .copy = record_make(time, check_site(checker, &source), thread, 0),
                                 .bulk = true});
    }
}
