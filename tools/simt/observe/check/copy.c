// Asynchronous copies. They are done at once here; so that what relies on it is seen, what a copy
// does to shared memory is recorded as later than all else (RECORD_COPY) until somebody may rely on
// it. Groups are waited for by the thread that made them: then it is as if that thread had accessed
// the memory just now. Copies that count at an mbarrier are acquired by who waits there (order.c).
//
// Two copies that bring the same to the same place are no race, as two stores of the same value are
// none: cooperative groups let lanes that have nothing left to copy repeat what the last one
// copies. Who reads it has to wait for both.
//
// Copies in bulk are of the async proxy: what threads wrote before, it sees only behind a
// fence.proxy.async. PTX ISA, "Async proxy"; mbarriers that they use likewise, where
// fence.mbarrier_init is enough.
#include <stdlib.h>
#include <string.h>

#include "simt/observe/check/shared.h"

void copy_begin(Checker *checker) {
    check_forget_copies(checker);
    checker->copy_count = checker->counted_count = 0;
    checker->stores = (Stores){0};
    const size_t warps = (checker->machine->threads_per_block + LANES - 1) / LANES;
    if (checker->proxy_fences)
        memset(checker->proxy_fences, 0, warps * sizeof *checker->proxy_fences);
    if (checker->copy_groups) memset(checker->copy_groups, 0, warps * sizeof *checker->copy_groups);
}

// A time for a copy that no other has until very many have come.
static uint64_t copy_time(void) {
    static uint64_t copies;
    const uint64_t number = __atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED);
    return RECORD_COPY + 1 + number % (RECORD_COPIES - 1);
}

// --- copies that are waited for in groups ---

// Of a warp's lanes. NULL: out of memory.
static uint32_t *groups_of(Checker *checker, uint32_t warp, bool bulk) {
    if (!checker->copy_groups)
        checker->copy_groups = calloc(MAX_WARPS, sizeof *checker->copy_groups);
    checker->lost |= !checker->copy_groups;
    return checker->copy_groups ? checker->copy_groups[warp][bulk] : NULL;
}

// Adds a copy at the end of a list.
static void add_copy(Checker *checker, PendingCopy **at, uint32_t *count, uint32_t *capacity,
                     const PendingCopy *copy) {
    if (*count == *capacity) {
        const uint32_t wanted = *capacity ? *capacity * 2 : 64;
        PendingCopy *grown = realloc(*at, wanted * sizeof *grown);
        checker->lost |= !grown;
        if (!grown) return;
        *at = grown;
        *capacity = wanted;
    }
    (*at)[(*count)++] = *copy;
}

static void add_pending(Checker *checker, PendingCopy copy) {
    const uint32_t *groups = groups_of(checker, copy.thread / LANES, copy.bulk);
    if (!groups) return;
    copy.group = groups[copy.thread % LANES];
    add_copy(checker, &checker->copies, &checker->copy_count, &checker->copy_capacity, &copy);
}

// Of a CopiedRow of which several lanes copy so many bytes each.
static uint32_t shift_of(uint32_t bytes) { return (uint32_t)__builtin_ctz(bytes / 4); }

// The words that so many of the copies' lanes copy, from one of theirs on.
static CopiedRow row_of(const PendingCopy *copy, uint32_t lane, uint32_t count) {
    const uint32_t behind = lane - copy->thread % LANES, words = copy->bytes / 4 * count;
    return (CopiedRow){.lanes = (count == LANES ? ALL_LANES : (1u << count) - 1) << lane,
                       .address = copy->address + behind * (uint64_t)copy->bytes,
                       .words = words,
                       .shift = count == 1 ? COPIED_BY_ONE : shift_of(copy->bytes)};
}

// What these of the copies' lanes did counts as done at this time. Copies in bulk that are waited
// for in groups read the block's memory, and all others write there.
static void settle_lanes(const PendingCopy *copy, uint32_t lanes, uint64_t time) {
    const uint32_t first = copy->thread % LANES;
    while (lanes) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes), rest = ~(lanes >> lane);
        const uint32_t count = rest ? (uint32_t)__builtin_ctz(rest) : LANES;
        const CopiedRow row = row_of(copy, lane, count);
        const Record of_lane = copy->copy + ((Record)(lane - first) << RECORD_THREAD);
        const Record mine =
            record_make(time, record_site(copy->copy), copy->thread - first + lane, 0);
        check_settle(copy->owner, &row, of_lane, mine, copy->bulk);
        lanes &= ~row.lanes;
    }
}

// Those of the lanes of a warp that are in no later groups than all but the `pending` last ones.
static void wait_for(Checker *checker, uint32_t warp, uint32_t lanes, const InstGroup *group) {
    const uint32_t *closed = groups_of(checker, warp, group->bulk);
    uint32_t kept = 0;
    for (uint32_t i = 0; closed && i < checker->copy_count; i++) {
        PendingCopy copy = checker->copies[i];
        const bool mine = copy.bulk == group->bulk && copy.thread / LANES == warp;
        uint32_t done = 0;
        if (mine)
            LANE_LOOP done |= (uint32_t)(group->all | (copy.group + group->pending < closed[l]))
                              << l;
        done &= copy.lanes & lanes;
        settle_lanes(&copy, done, checker->now);
        copy.lanes &= ~done;
        if (copy.lanes) checker->copies[kept++] = copy;
    }
    if (closed) checker->copy_count = kept;
}

void check_group(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp);
    const InstGroup *group = &inst->group;
    const uint32_t exec = warp->exec;
    if (group->waits) {
        wait_for(checker, warp->index, exec, group);
        return;
    }
    uint32_t *const open = groups_of(checker, warp->index, group->bulk);
    if (open) LANE_LOOP open[l] += exec >> l & 1;
}

// They count as done from here on for who waits at the mbarrier.
void check_copies_arrive(Warp *warp, const Inst *inst) {
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

// The lanes from this one on, of those given, each of which copies to behind where the one before
// it does, into the same group.
static uint32_t run_of(const uint32_t *groups, uint32_t lanes, uint32_t lane, uint32_t bytes,
                       const uint64_t address[LANES]) {
    uint32_t run = 1u << lane;
    for (uint32_t l = lane + 1; l < LANES && lanes >> l & 1; l++) {
        if (address[l] != address[l - 1] + bytes || groups[l] != groups[lane]) break;
        run |= 1u << l;
    }
    return run;
}

void copy_made(Checker *checker, Warp *warp, const Access *access, uint32_t lanes,
               const uint64_t address[LANES]) {
    const uint32_t site = check_site(checker, access), first = warp->index * (uint32_t)LANES;
    const uint32_t *groups = groups_of(checker, warp->index, false);
    while (groups && lanes) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        const uint32_t run = run_of(groups, lanes, lane, address_bytes(access), address);
        const PendingCopy copy = {.inst = access->inst,
                                  .owner = checker,
                                  .address = address[lane],
                                  .bytes = address_bytes(access),
                                  .thread = first + lane,
                                  .lanes = run,
                                  .copy = record_make(RECORD_COPY, site, first + lane, 0)};
        const CopiedRow row = row_of(&copy, lane, (uint32_t)__builtin_popcount(run));
        if (!check_shared_row(checker, warp->block, warp, access, &row, RECORD_COPY))
            check_shared(checker, warp->block, warp, access, run, address, RECORD_COPY);
        add_pending(checker, copy);
        lanes &= ~run;
    }
}

// A block's memory is not there any more for what still reads it.
void copy_end(Checker *checker) {
    for (uint32_t i = 0; i < checker->copy_count; i++) {
        const PendingCopy *copy = &checker->copies[i];
        settle_lanes(copy, copy->lanes, checker->now);
        if (!copy->bulk || checker->machine->status != SIMT_OK) continue;
        check_found(checker, KIND_COPY, PTX_SHARED, copy->inst, copy->thread, NULL, 0,
                    copy->address,
                    "the block may end while the copy of thread %u still reads its shared memory: "
                    "cp.async.bulk.commit_group and wait_group.read before the end",
                    copy->thread);
    }
    checker->copy_count = 0;
}

// --- proxies ---

void copy_fence(Checker *checker, const Warp *warp, const Inst *inst) {
    if (!checker->proxy_fences)
        checker->proxy_fences = calloc(MAX_WARPS, sizeof *checker->proxy_fences);
    checker->lost |= !checker->proxy_fences;
    if (!checker->proxy_fences) return;
    ProxyFence *fences = checker->proxy_fences[warp->index];
    memmove(fences + 1, fences, (PROXY_FENCES - 1) * sizeof *fences);
    fences[0] = (ProxyFence){checker->now, warp->exec, inst->fence == FENCE_MBARRIER_INIT};
    if (inst->fence == FENCE_PROXY_ASYNC) order_proxy_fence(checker, warp);
    check_tick(checker);
}

// Whether the thread that wrote has called a fence behind it, before `thread` now.
static bool fenced(Checker *checker, Record write, uint32_t thread, bool init) {
    const uint32_t other = record_thread(write);
    for (int k = 0; checker->proxy_fences && k < PROXY_FENCES; k++) {
        const ProxyFence *fence = &checker->proxy_fences[other / LANES][k];
        if (fence->time < record_time(write) || !(fence->lanes >> other % LANES & 1)) continue;
        if (fence->init && !init) continue;
        if (other == thread || fence->time < checker->block_floor ||
            !check_unordered(checker, fence->time, other, thread) ||
            check_acquired(checker, thread, checker->block, other, fence->time))
            return true;
    }
    return false;
}

// Of writes by this block that are ordered before the copy; others are races, or another block's.
static bool hidden(Checker *checker, Record write, uint32_t thread, bool init) {
    if (write < checker->block_start << RECORD_TIME || record_is_copy(write)) return false;
    if (shadow_block(record_time(write)) != checker->block) return false;
    return !fenced(checker, write, thread, init) && !order_proxied(checker, thread, write);
}

// Where the last write to a byte is kept.
static const Cells *cells_of(const Checker *owner, uint64_t byte, uint64_t *at) {
    const bool apart = shared_written_apart(owner, (uint32_t)byte);
    *at = apart ? byte : byte / 4;
    return apart ? &owner->byte_cells : &owner->cells;
}

// Up to when writes by all lanes of each warp are known to be visible to a copy, and a stretch of
// times that are the block's.
typedef struct {
    uint64_t until[MAX_WARPS];
    uint64_t stretch;
} Visible;

static bool known_visible(const Visible *visible, Record write) {
    const uint64_t time = record_time(write);
    return time / SHADOW_TIMES == visible->stretch &&
           time < visible->until[record_thread(write) / LANES];
}

// Of a write by the block that is: before a fence that all lanes of its warp have called, and that
// lies before the copy of `thread` whichever of the lanes is asked about, all of them are.
static void note_visible(Checker *checker, Visible *visible, Record write, uint32_t thread) {
    const uint32_t other = record_thread(write), warp = other / LANES;
    const Known *known = &checker->known;
    if (write < checker->block_start << RECORD_TIME || record_is_copy(write)) return;
    if (shadow_block(record_time(write)) != checker->block) return;
    visible->stretch = record_time(write) / SHADOW_TIMES;
    for (int k = 0; checker->proxy_fences && k < PROXY_FENCES; k++) {
        const ProxyFence *fence = &checker->proxy_fences[warp][k];
        const uint64_t time = fence->time;
        if (fence->init || fence->lanes != ALL_LANES || time < visible->until[warp]) continue;
        const bool acquired = time >= checker->block_floor &&
                              check_acquired(checker, thread, checker->block, other, time) &&
                              known->time == time && known->other == warp &&
                              known->warp == thread / LANES;
        if (acquired || time < checker->block_floor) visible->until[warp] = time + 1;
    }
}

static void check_source(Checker *checker, const Bulk *bulk, uint32_t thread) {
    Checker *owner = bulk->from.block->watch;
    Visible visible = {0};
    if (owner != checker) return;
    shared_expand(owner, (uint32_t)bulk->from.address / 4, bulk->bytes / 4);
    for (uint64_t byte = bulk->from.address; byte < bulk->from.address + bulk->bytes; byte += 4) {
        uint64_t at;
        const Cells *cells = cells_of(owner, byte, &at);
        const Record write = cells->write[at];
        if (known_visible(&visible, write)) continue;
        if (!hidden(checker, write, thread, false)) {
            note_visible(checker, &visible, write, thread);
            continue;
        }
        check_found(checker, KIND_COPY, PTX_SHARED, bulk->inst, thread,
                    checker->check->sites[record_site(write)].inst, record_thread(write), byte,
                    "the copy of thread %u may not see what thread %u wrote: fence.proxy.async "
                    "behind the write, before the barrier",
                    thread, record_thread(write));
        return;
    }
}

static bool makes_mbarrier(const Checker *checker, Record record) {
    const Site *site = &checker->check->sites[record_site(record)];
    return record && site->kind == ACCESS_ATOMIC && !site->inst->order;
}

static void check_mbarrier(Checker *checker, const Bulk *bulk, uint32_t thread) {
    Checker *owner = bulk->barrier.block->watch;
    uint64_t at;
    shared_expand(owner, (uint32_t)bulk->barrier.address / 4, 1);
    const Cells *cells = cells_of(owner, bulk->barrier.address, &at);
    const Record writes[] = {cells->write[at], cells->write_2[at]};
    for (int k = 0; k < 2; k++) {
        const Record write = writes[k];
        if (owner != checker || !makes_mbarrier(checker, write)) continue;
        if (!hidden(checker, write, thread, true)) continue;
        check_found(checker, KIND_COPY, PTX_SHARED, bulk->inst, thread,
                    checker->check->sites[record_site(write)].inst, record_thread(write),
                    bulk->barrier.address,
                    "the copy of thread %u may not see the mbarrier that thread %u has made: "
                    "fence.mbarrier_init or fence.proxy.async behind mbarrier.init",
                    thread, record_thread(write));
        return;
    }
}

// --- copies in bulk ---

static uint32_t bulk_lanes(const Bulk *bulk) { return (uint32_t)__builtin_popcount(bulk->lanes); }

enum { STEP = 16, GROUP_BYTES = REGION_GROUP * 4 }; // looked at as one access

// The memory of a block has records of the copy in these bytes.
static void widen(const Piece *piece, uint64_t bytes, bool from) {
    Checker *owner = piece->block->watch;
    Extent *copied = from ? &owner->copied_from : &owner->copied;
    const uint64_t first = piece->address, end = first + bytes;
    if (!copied->high || first < copied->low) copied->low = first;
    if (end > copied->high) copied->high = end;
}

// What a copy does on one side, as accesses of its thread.
typedef struct {
    Checker *checker;
    Warp *warp;
    const Bulk *bulk;
    Block *block; // NULL: global memory
    Access access;
    uint64_t copy; // its time
} CopySide;

// Looks at so many bytes at once: in global memory at whole groups of words. How many of them are
// done with.
static uint64_t quick_range(const CopySide *side, uint64_t at, uint64_t bytes) {
    const uint32_t lane = (uint32_t)side->bulk->lane;
    if (side->access.kind == ACCESS_ATOMIC) return 0;
    if (!side->block)
        return check_global_range(side->checker, side->warp, &side->access, lane, at, bytes);
    const bool one = bulk_lanes(side->bulk) == 1;
    const CopiedRow row = {side->bulk->lanes, at, (uint32_t)bytes / 4,
                           one ? COPIED_BY_ONE : shift_of(side->bulk->bytes)};
    return check_shared_row(side->checker, side->block, side->warp, &side->access, &row, side->copy)
               ? bytes
               : 0;
}

static void step(const CopySide *side, int of_lane, uint64_t at) {
    uint64_t address[LANES] = {0};
    const uint32_t lane = 1u << of_lane;
    address[of_lane] = at;
    if (side->block)
        check_shared(side->checker, side->block, side->warp, &side->access, lane, address,
                     side->copy);
    else
        check_global(side->checker, side->warp, &side->access, lane, address);
}

// What lanes store one behind the other.
static void look_at_stores(const CopySide *side, uint64_t first, uint64_t bytes) {
    uint64_t at = first;
    if (quick_range(side, first, bytes)) return;
    for (uint32_t m = side->bulk->lanes; m; m &= m - 1, at += side->bulk->bytes)
        step(side, __builtin_ctz(m), at);
}

// One side of a copy. `kind`: what it does there.
static void look_at(Checker *checker, Warp *warp, const Bulk *bulk, const Piece *piece,
                    AccessKind kind, uint64_t copy) {
    const uint8_t each = bulk->stores ? (uint8_t)bulk->bytes : STEP;
    CopySide side = {.checker = checker,
                     .warp = warp,
                     .bulk = bulk,
                     .block = piece->block,
                     .access = {.inst = bulk->inst,
                                .space = piece->block ? PTX_SHARED : PTX_GLOBAL,
                                .bytes = each > 4 ? 4 : each,
                                .elements = each > 4 ? each / 4 : 1,
                                .slot = bulk->inst->slot + (piece == &bulk->from),
                                .kind = kind},
                     .copy = copy};
    if (kind == ACCESS_ATOMIC) side.access.order = ORDER_RELAXED, side.access.scope = SCOPE_DEVICE;
    const uint64_t all = bulk->bytes * (uint64_t)bulk_lanes(bulk), end = piece->address + all;
    if (piece->block && bulk->barrier.block) widen(piece, all, kind == ACCESS_LOAD);
    if (bulk->stores) {
        look_at_stores(&side, piece->address, all);
        return;
    }
    uint64_t most = UINT64_MAX; // to try at once: once that failed, a group
    for (uint64_t at = piece->address; at < end;) {
        const uint64_t next = (at / GROUP_BYTES + 1) * GROUP_BYTES;
        const uint64_t groups = (end - at) / GROUP_BYTES * GROUP_BYTES;
        const uint64_t bytes = groups < most ? groups : most;
        const uint64_t done = at % GROUP_BYTES || !bytes ? 0 : quick_range(&side, at, bytes);
        at += done;
        if (done == bytes && done) continue;
        if (bytes > GROUP_BYTES && at % GROUP_BYTES == 0)
            most = GROUP_BYTES;
        else
            for (; at < next && at < end; at += each) step(&side, bulk->lane, at);
    }
}

static void add_group(Checker *checker, const Bulk *bulk, const Piece *piece, uint32_t thread,
                      Record copy) {
    add_pending(checker, (PendingCopy){.inst = bulk->inst,
                                       .owner = piece->block->watch,
                                       .address = piece->address,
                                       .bytes = bulk->bytes,
                                       .thread = thread,
                                       .lanes = bulk->lanes,
                                       .copy = copy,
                                       .bulk = true});
}

// What an mbarrier counts, of the memory that it writes.
static void add_counted(Checker *checker, const Bulk *bulk, uint32_t thread, uint64_t time) {
    const Access to = {.inst = bulk->inst, .slot = bulk->inst->slot};
    if (!bulk->to.block) return;
    Checker *owner = bulk->to.block->watch;
    const PendingCopy copy = {.inst = bulk->inst,
                              .owner = owner,
                              .address = bulk->to.address,
                              .bytes = bulk->bytes,
                              .thread = thread,
                              .lanes = bulk->lanes,
                              .copy = record_make(time, check_site(checker, &to), thread, 0)};
    add_copy(checker, &owner->counted, &owner->counted_count, &owner->counted_capacity, &copy);
}

// What another block knows of a copy by a barrier of the cluster it must go on knowing: as an
// access of this block, at a later time, it would not.
static bool settled(const Block *block, const PendingCopy *copy) {
    Checker *checker = block->watch;
    const uint64_t of = record_copy_block(copy->copy), time = record_time(copy->copy);
    return order_all_acquired(checker, of, copy->thread, time) &&
           !cluster_knows(block, of, copy->thread, time);
}

void copy_settle(const Block *block, uint64_t time) {
    Checker *checker = block->watch;
    uint32_t kept = 0;
    uint64_t last = 0;
    bool done = false; // those of the last time that was asked about
    if (!checker->counted_count) return;
    for (uint32_t i = 0; i < checker->counted_count; i++) {
        const PendingCopy *copy = &checker->counted[i];
        const uint64_t of = record_time(copy->copy);
        if (of != last) done = settled(block, copy);
        last = of;
        if (done)
            settle_lanes(copy, copy->lanes, time);
        else
            checker->counted[kept++] = *copy;
    }
    checker->counted_count = kept;
    if (!kept) checker->copied = (Extent){0, 0};
}

// Whether the last copy was made by a lane before this one of the same execution of the
// instruction, and is counted at the same mbarrier. Nobody can see one of them done and the other
// not.
static bool goes_on(const Checker *checker, const Warp *warp, const Bulk *bulk) {
    const Stores *last = &checker->stores;
    return bulk->lane != __builtin_ctz(warp->exec) && last->inst == bulk->inst &&
           last->warp == warp->index && bulk->barrier.block &&
           last->of == bulk->barrier.block->watch && last->barrier == bulk->barrier.address;
}

void check_bulk(Warp *warp, const Bulk *bulk) {
    Checker *checker = check_of(warp);
    const uint32_t thread = warp->index * LANES + (uint32_t)bulk->lane;
    const bool again = bulk->stores && goes_on(checker, warp, bulk);
    const uint64_t time = again ? checker->stores.time : copy_time();
    const AccessKind writes = bulk->reduces ? ACCESS_ATOMIC : ACCESS_STORE;
    const Access source = {.inst = bulk->inst, .slot = bulk->inst->slot + 1, .kind = ACCESS_LOAD};
    if (bulk->from.block && !bulk->stores) check_source(checker, bulk, thread);
    if (bulk->barrier.block && !bulk->stores) check_mbarrier(checker, bulk, thread);
    if (!bulk->stores) look_at(checker, warp, bulk, &bulk->from, ACCESS_LOAD, time);
    look_at(checker, warp, bulk, &bulk->to, writes, time);
    if (bulk->barrier.block) {
        Checker *of = bulk->barrier.block->watch;
        add_counted(checker, bulk, thread, time);
        if (!again)
            order_copy_counted(checker, &of->words, bulk->barrier.address,
                               record_make(time, 0, thread, 0));
        checker->stores = (Stores){bulk->inst, of, bulk->barrier.address, time, warp->index};
    } else if (bulk->from.block) {
        add_group(checker, bulk, &bulk->from, thread,
                  record_make(time, check_site(checker, &source), thread, 0));
    }
}
