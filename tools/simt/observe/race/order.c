// Order through words of memory (PTX ISA, "Memory Consistency Model"). A release pattern
// synchronizes with an acquire pattern that reads what it wrote, or what atomic operations made of
// that.
//
//   releases: .release; a fence, then a strong write (relaxed, volatile, atomic)
//   acquires: .acquire; a strong read, then a fence
//
// Both must be strong with a scope that includes the other thread. Order is transitive, also
// through barriers. The checker does not examine values, and blocks run one after another here, so
// it finds a missing fence even if all values are right.
//
// A fence covers its own thread, and the threads that a later barrier releases if they have
// executed a fence of its scope too. So in the usual pattern (all threads write and call
// __threadfence(), and after __syncthreads() one of them takes a ticket) the fences order all
// writes. Without a barrier, a ticket does not order the writes of other lanes, even though they
// executed the same fence. Beyond that, the order among all fence.sc is not determined, and orders
// nothing here.
//
// A message is a relaxed store of eight bytes or more, which can carry data itself, as in scans
// that look back from tile to tile (Merrill and Garland, 2016). The memory model orders nothing
// before it. But its value depends on what its thread has read, so those reads are complete: a
// thread that has read the message may overwrite what was read. It orders nothing else.
//
// Volatile accesses need less (race.c): a strong read that observes a release acquires eagerly,
// without a later fence, as the last block does in the CUDA C++ Programming Guide. A
// compare-and-swap does not: it takes a lock, and the fence after it is part of the lock.
//
// "Wide" means a scope that includes other blocks: the device, the system and, in launches with
// clusters, the cluster (even if the two blocks are of different clusters).
#include <string.h>

#include "simt/observe/race/checker.h"
#include "simt/ops/ops.h"

static bool is_wide(const Checker *checker, Scope scope) {
    return scope == SCOPE_DEVICE || (scope == SCOPE_CLUSTER && check_clusters(checker->machine));
}

static bool is_message(const Access *access) {
    return access->order == ORDER_RELAXED && access->kind != ACCESS_ATOMIC &&
           access->space == PTX_GLOBAL && address_bytes(access) >= 8;
}

// --- words ---

static uint32_t slot_of(const SyncTable *table, uint64_t address) {
    uint32_t at = (uint32_t)(address * 0x9E3779B97F4A7C15u >> 40) & (table->slots - 1);
    while (table->at[at].address && table->at[at].address != address)
        at = (at + 1) & (table->slots - 1);
    return at;
}

static SyncWord *find_word(const SyncTable *table, uint64_t address) {
    if (!table->count) return NULL;
    SyncWord *word = &table->at[slot_of(table, address)];
    return word->address ? word : NULL;
}

// Doubles the slots.
static void widen(ReleasePool *pool, SyncTable *table) {
    SyncTable wider = *table;
    wider.slots = table->slots ? table->slots * 2 : 16;
    wider.at = ARENA_NEW(&pool->arena, wider.slots, SyncWord);
    for (uint32_t i = 0; i < table->slots; i++)
        if (table->at[i].address) wider.at[slot_of(&wider, table->at[i].address)] = table->at[i];
    *table = wider;
}

static SyncWord *make_word(ReleasePool *pool, SyncTable *table, uint64_t address) {
    SyncWord *word = find_word(table, address);
    if (word) return word;
    if (table->count * 2 >= table->slots) widen(pool, table);
    if (!table->count || address < table->low) table->low = address;
    if (!table->count || address > table->high) table->high = address;
    table->count++;
    word = &table->at[slot_of(table, address)];
    word->address = address;
    return word;
}

// --- reads ---

// Adds that lanes have read a word with this log.
static void read_log(Checker *checker, Knowledge *warp, Log *log, const Access *access,
                     uint32_t lanes) {
    bool wide = is_wide(checker, access->scope);
    if (!log || !log_count(log) || (!wide && !log_only(log, checker->block))) return;
    const bool swap = access->kind == ACCESS_ATOMIC && access->inst->plain == op_atomic &&
                      access->inst->atomic.mode == ATOMIC_CAS;
    Seen seen = {log, log_count(log), lanes, wide, false, swap};
    bool acquires = access->order & ORDER_ACQUIRE;
    if (acquires) seen.swap = false;
    seen_add(checker->pool, acquires ? &warp->acquired : &warp->pending, seen);
    seen.message = true;
    seen.swap = false;
    if (!acquires && is_message(access)) seen_add(checker->pool, &warp->acquired, seen);
    checker->order.any = true;
}

static void acquire(Checker *checker, Knowledge *to, const SeenList *from, uint32_t lanes,
                    bool wide) {
    for (uint32_t i = 0; i < from->count; i++) {
        Seen seen = from->at[i];
        seen.lanes &= lanes;
        seen.swap = false;
        bool near = log_only(seen.log, checker->block);
        if (seen.lanes && (near || (wide && seen.wide)))
            seen_add(checker->pool, &to->acquired, seen);
    }
}

// --- writes ---

static uint64_t *later_than(uint64_t *times, uint64_t floor) {
    uint32_t any = 0;
    LANE_LOOP any |= (uint32_t)(times[l] > floor);
    return any ? times : NULL;
}

// Makes a release of everything that happens before what lanes of a warp do now.
static const Release *release_now(Checker *checker, const Warp *warp, uint32_t lanes, bool wide,
                                  bool message) {
    uint32_t index = warp->index;
    uint64_t others[LANES] = {0}, floor = checker->sync.block_floor;
    uint64_t(*known)[LANES] = checker->sync.lane_known ? checker->sync.lane_known[index] : NULL;
    for (uint32_t m = checker->sync.parted >> index & 1 ? lanes : 0; m; m &= m - 1)
        for (uint32_t k = 0; k < LANES; k++)
            if (known[__builtin_ctz(m)][k] > others[k]) others[k] = known[__builtin_ctz(m)][k];
    uint64_t warp_floor = checker->sync.warp_floor[index];
    if (warp_floor < floor) warp_floor = floor;
    Release facts = {.block = checker->block,
                     .floor = floor,
                     .warp_floor = warp_floor,
                     .time = sync_tick(checker),
                     .warps = later_than(checker->sync.warp_known[index], floor),
                     .others = later_than(others, warp_floor),
                     .warp = index,
                     .lanes = lanes,
                     .wide = wide,
                     .message = message};
    checker->order.any = true;
    return release_new(checker->pool, &facts, &checker->order.warps[index].acquired,
                       &checker->order.common.acquired);
}

// Adds the part of a release that belongs to the lanes `of` to a word's log.
static void write_log(Checker *checker, SyncWord *word, const Release *release, uint32_t of,
                      bool wide) {
    wide = wide && release->wide;
    if (!wide && word->narrow_block != checker->block) word->narrow = NULL;
    if (!wide) word->narrow_block = checker->block;
    log_add(checker->pool, wide ? &word->wide : &word->narrow, release, of);
}

static bool is_fenced(const Knowledge *knowledge, uint32_t lanes) {
    for (uint32_t i = 0; i < knowledge->fenced_count; i++)
        if (knowledge->fenced[i].lanes & lanes) return true;
    return false;
}

static void append(Checker *checker, Knowledge *to, Fenced fenced) {
    ARENA_GROW(&checker->pool->arena, to->fenced, to->fenced_count, to->fenced_capacity);
    to->fenced[to->fenced_count++] = fenced;
}

// Adds a fence, which replaces earlier fences of the same lanes.
static void add_fenced(Checker *checker, Knowledge *to, Fenced fenced) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < to->fenced_count; i++) {
        Fenced before = to->fenced[i];
        const Release *old = before.release, *new = fenced.release;
        const bool newer =
            old->warp == new->warp && old->time <= new->time && old->wide <= new->wide;
        if (newer && before.apart && fenced.apart) before.of = before.lanes &= ~fenced.lanes;
        const bool outdated = newer && !(before.of & ~fenced.of) && !(before.lanes & ~fenced.lanes);
        if (before.lanes && !outdated) to->fenced[kept++] = before;
    }
    to->fenced_count = kept;
    append(checker, to, fenced);
}

// Releases the fences of `lanes` to a word; visible to other blocks for the lanes in `wide`.
static void write_fenced(Checker *checker, SyncWord *word, const Knowledge *knowledge,
                         uint32_t lanes, uint32_t wide) {
    for (uint32_t i = 0; i < knowledge->fenced_count; i++) {
        const Fenced *one = &knowledge->fenced[i];
        const uint32_t with = one->lanes & lanes;
        if (with) write_log(checker, word, one->release, one->apart ? with : one->of, with & wide);
    }
}

// --- accesses and fences ---

static void write_word(Checker *checker, const Warp *warp, const Access *access, SyncTable *table,
                       uint64_t address, uint32_t lanes) {
    Knowledge *own = &checker->order.warps[warp->index];
    bool wide = is_wide(checker, access->scope);
    bool releases = access->order & ORDER_RELEASE;
    const uint32_t fenced = lanes & checker->order.fenced[warp->index];
    bool after_fence = access->order & (ORDER_RELAXED | ORDER_VOLATILE) &&
                       (is_fenced(own, fenced) || is_fenced(&checker->order.common, fenced));
    const bool message = is_message(access);
    if (!releases && !after_fence && !message) return;
    SyncWord *word = make_word(checker->pool, table, address);
    if (message)
        write_log(checker, word, release_now(checker, warp, lanes, wide, true), lanes, wide);
    if (releases)
        write_log(checker, word, release_now(checker, warp, lanes, wide, false), lanes, wide);
    if (after_fence) {
        const uint32_t fenced_wide = wide ? checker->order.fenced_wide[warp->index] : 0;
        write_fenced(checker, word, &checker->order.common, fenced, fenced_wide);
        write_fenced(checker, word, own, fenced, fenced_wide);
    }
}

// The key of a word in its table; not 0.
static uint64_t key_of(uint64_t address) { return (address & ~(uint64_t)3) + 4; }

bool order_words(const SyncTable *table, uint64_t first, uint64_t bytes) {
    return table->count && key_of(first) <= table->high && key_of(first + bytes - 1) >= table->low;
}

// A store replaces what was released: a thread that reads it acquires nothing older.
static void overwrite(const Access *access, uint32_t mask, const uint64_t address[LANES],
                      const SyncTable *table) {
    const uint64_t bytes = address_bytes(access);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t at = address[__builtin_ctz(m)];
        if (!order_words(table, at, bytes)) continue;
        for (uint64_t key = key_of(at); key <= key_of(at + bytes - 1); key += 4) {
            SyncWord *word = find_word(table, key);
            if (word) word->wide = word->narrow = word->copies = NULL;
        }
    }
}

static uint32_t same_word(const uint64_t address[LANES], uint32_t mask) {
    uint64_t key = key_of(address[__builtin_ctz(mask)]);
    uint32_t same = 0;
    LANE_LOOP same |= (uint32_t)(key_of(address[l]) == key) << l;
    return same & mask;
}

// The lanes, of those that access one word, whose writes can be read: the last one of several
// stores to one address, and the compare-and-swaps that succeed.
static uint32_t seen_writes(const Warp *warp, const Access *access, uint32_t lanes,
                            const uint64_t address[LANES]) {
    uint32_t seen = 0;
    if (access->kind != ACCESS_STORE) return address_swaps(warp, access, lanes, address);
    while (lanes) {
        const int last = 31 - __builtin_clz(lanes);
        seen |= 1u << last;
        LANE_LOOP lanes &= ~((uint32_t)(address[l] == address[last]) << l);
    }
    return seen;
}

// Whether a strong access may release something, by itself or after a fence.
static bool releases(const Checker *checker, const Warp *warp, const Access *access) {
    if (access->kind == ACCESS_LOAD) return false;
    return access->order & ORDER_RELEASE || is_message(access) ||
           checker->order.warps[warp->index].fenced_count || checker->order.common.fenced_count;
}

// Marks words for which a thread waits. Such a word need not have released anything.
static void note_waits(Checker *checker, const Access *access, uint32_t mask,
                       const uint64_t address[LANES], SyncTable *table) {
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t first = address[__builtin_ctz(m)], end = first + address_bytes(access);
        for (uint64_t at = first; at < end; at += 4)
            make_word(checker->pool, table, key_of(at))->waited = true;
    }
}

bool order_waited(const SyncTable *table, uint64_t address) {
    const SyncWord *word = find_word(table, key_of(address));
    return word && word->waited;
}

// Blocks that run at the same time never wait for each other, so nothing orders them through global
// memory: only blocks that run one at a time have to be checked.
void order_access(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES], SyncTable *table) {
    if (access->space == PTX_GLOBAL && !checker->machine->ordered) return;
    if (access->inst->use == SPIN_READ && checker->machine->volatiles)
        note_waits(checker, access, mask, address, table);
    if (!table->count && !(access->order & ORDER_RELEASE) && !checker->order.any &&
        !is_message(access))
        return;
    if (access->kind == ACCESS_STORE || (!access->order && access->kind != ACCESS_LOAD))
        overwrite(access, mask, address, table);
    if (!access->order || (!table->count && !releases(checker, warp, access))) return;
    while (mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask), same = same_word(address, mask);
        const uint64_t key = key_of(address[lane]);
        mask &= ~same;
        const SyncWord *word = access->kind == ACCESS_STORE ? NULL : find_word(table, key);
        if (word) {
            Knowledge *own = &checker->order.warps[warp->index];
            read_log(checker, own, word->wide, access, same);
            if (word->narrow_block == checker->block)
                read_log(checker, own, word->narrow, access, same);
            // A thread that waits here acquires completed copies at any scope.
            if (word->copies && access->order & ORDER_ACQUIRE)
                seen_add(checker->pool, &own->acquired,
                         (Seen){word->copies, log_count(word->copies), same, true, false, false});
            checker->order.any |= word->copies != NULL;
        }
        if (access->kind == ACCESS_LOAD) continue;
        const uint32_t writes = seen_writes(warp, access, same, address);
        if (writes) write_word(checker, warp, access, table, key, writes);
    }
}

bool order_released(const SyncTable *table, uint64_t address) {
    const SyncWord *word = find_word(table, key_of(address));
    return word && (word->wide || word->narrow);
}

// The lanes whose knowledge of every other lane equals that of the first one.
static uint32_t alike(const Checker *checker, uint32_t warp, uint32_t lanes) {
    if (!(checker->sync.parted >> warp & 1)) return lanes;
    const uint64_t(*known)[LANES] = (const uint64_t(*)[LANES])checker->sync.lane_known[warp];
    const uint64_t *first = known[__builtin_ctz(lanes)];
    const uint64_t floor = checker->sync.warp_floor[warp];
    uint32_t same = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint64_t *own = known[__builtin_ctz(m)];
        bool differs = false;
        LANE_LOOP differs |= own[l] != first[l] && (own[l] > floor || first[l] > floor);
        if (!differs) same |= m & -m;
    }
    return same;
}

void order_fence(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp);
    Knowledge *own = &checker->order.warps[warp->index];
    if (inst->order & ORDER_ACQUIRE) {
        acquire(checker, own, &own->pending, warp->exec, is_wide(checker, inst->scope));
        acquire(checker, own, &checker->order.common.pending, warp->exec,
                is_wide(checker, inst->scope));
    }
    if (!(inst->order & ORDER_RELEASE)) return;
    const bool wide = is_wide(checker, inst->scope);
    checker->order.fenced[warp->index] |= warp->exec;
    if (wide) checker->order.fenced_wide[warp->index] |= warp->exec;
    for (uint32_t left = warp->exec; left;) {
        const uint32_t lanes = alike(checker, warp->index, left);
        const Release *release = release_now(checker, warp, lanes, wide, false);
        add_fenced(checker, own, (Fenced){release, lanes, lanes, true});
        left &= ~lanes;
    }
}

// --- barriers ---

static void add_all(Checker *checker, SeenList *to, const SeenList *from) {
    for (uint32_t i = 0; i < from->count; i++) {
        Seen seen = from->at[i];
        seen.lanes = ALL_LANES;
        seen_add(checker->pool, to, seen);
    }
}

static void add_knowledge(Checker *checker, Knowledge *to, const Knowledge *from) {
    add_all(checker, &to->acquired, &from->acquired);
    add_all(checker, &to->pending, &from->pending);
    for (uint32_t i = 0; i < from->fenced_count; i++) {
        const Fenced one = from->fenced[i];
        add_fenced(checker, to, (Fenced){one.release, one.of, ALL_LANES, false});
    }
}

static void clear_knowledge(Knowledge *knowledge) {
    knowledge->acquired.count = knowledge->pending.count = 0;
    knowledge->fenced_count = 0;
}

static uint32_t warps_of(const Checker *checker) {
    return (checker->machine->threads_per_block + LANES - 1) / LANES;
}

void order_begin(Checker *checker) {
    if (!checker->machine->ordered) release_forget_all(checker->pool);
    checker->order.words = (SyncTable){0};
    memset(checker->order.fenced, 0, sizeof checker->order.fenced);
    memset(checker->order.fenced_wide, 0, sizeof checker->order.fenced_wide);
    if (!checker->order.any) return;
    checker->order.any = false;
    checker->order.common = (Knowledge){0};
    memset(checker->order.warps, 0, MAX_WARPS * sizeof *checker->order.warps);
    memset(checker->order.arrived, 0, sizeof checker->order.arrived);
}

void order_barrier(Checker *checker) {
    if (!checker->order.any) return;
    for (uint32_t w = 0; w < warps_of(checker); w++) {
        add_knowledge(checker, &checker->order.common, &checker->order.warps[w]);
        clear_knowledge(&checker->order.warps[w]);
    }
}

void order_arrive(Checker *checker, uint32_t barrier, uint32_t warp) {
    if (checker->order.any)
        add_knowledge(checker, &checker->order.arrived[barrier], &checker->order.warps[warp]);
}

void order_join_warps(Checker *checker, uint32_t barrier, uint32_t waiting) {
    if (!checker->order.any) return;
    Knowledge *all = &checker->order.arrived[barrier];
    for (uint32_t m = waiting; m; m &= m - 1)
        add_knowledge(checker, all, &checker->order.warps[__builtin_ctz(m)]);
    for (uint32_t m = waiting; m; m &= m - 1)
        add_knowledge(checker, &checker->order.warps[__builtin_ctz(m)], all);
    clear_knowledge(all);
}

void order_share_lanes(Checker *checker, uint32_t warp, uint32_t lanes) {
    if (!checker->order.any) return;
    Knowledge *own = &checker->order.warps[warp];
    seen_spread(&own->acquired, lanes);
    seen_spread(&own->pending, lanes);
}

void order_join_lanes(Checker *checker, uint32_t warp, uint32_t lanes) {
    if (!checker->order.any) return;
    Knowledge *own = &checker->order.warps[warp];
    const size_t count = own->fenced_count;
    order_share_lanes(checker, warp, lanes);
    for (uint32_t i = 0; i < count; i++) {
        Fenced *one = &own->fenced[i];
        const Fenced rest = {one->release, one->of & ~lanes, one->lanes & ~lanes, true};
        if (!(one->lanes & lanes)) continue;
        const bool divides = one->apart && rest.lanes;
        if (one->apart) one->of &= lanes, one->lanes &= lanes;
        one->lanes |= lanes;
        one->apart = false;
        if (divides) append(checker, own, rest);
    }
}

bool order_acquired(Checker *checker, uint32_t thread, const Event *event) {
    if (!checker->order.any) return false;
    const SeenList *own = &checker->order.warps[thread / LANES].acquired;
    const SeenList *pending = &checker->order.warps[thread / LANES].pending;
    const uint32_t lane = thread % LANES;
    return seen_orders(checker->pool, own, lane, event) ||
           seen_orders(checker->pool, &checker->order.common.acquired, lane, event) ||
           (event->eager &&
            (seen_orders(checker->pool, pending, lane, event) ||
             seen_orders(checker->pool, &checker->order.common.pending, lane, event)));
}

// --- clusters ---

void order_cluster_arrive(Checker *checker, Checker *first, const Warp *warp) {
    const Release *release = release_now(checker, warp, warp->exec, true, false);
    log_add(checker->pool, &first->cluster.log, release, release->lanes);
}

void order_cluster_waited(Checker *checker, const Checker *first, const Warp *warp) {
    if (!first->cluster.log) return;
    const Seen seen = {first->cluster.log, first->cluster.seen, warp->exec, true, false, false};
    seen_add(checker->pool, &checker->order.warps[warp->index].acquired, seen);
    checker->order.any = true;
}

bool order_reached(Checker *checker, uint64_t block, uint32_t other, uint64_t time) {
    for (uint32_t thread = 0; thread < checker->machine->threads_per_block; thread++)
        if (order_acquired(checker, thread, &(Event){block, time, other, false, false}))
            return true;
    return false;
}

// --- asynchronous copies ---

void order_copy_counted(Checker *checker, SyncTable *table, uint64_t address, Record copy) {
    const SeenList none = {0};
    const Release facts = {.block = record_copy_block(copy), .floor = UINT64_MAX, .wide = true};
    const Release *release = release_new(checker->pool, &facts, &none, &none);
    SyncWord *word = make_word(checker->pool, table, key_of(address));
    log_add(checker->pool, &word->copies, release, release->lanes);
}

void order_copies_arrive(Checker *checker, const Warp *warp, uint64_t address, uint32_t lanes) {
    const Release *release = release_now(checker, warp, lanes, false, false);
    SyncWord *word = make_word(checker->pool, &checker->order.words, key_of(address));
    write_log(checker, word, release, lanes, false);
}

const Release *order_now(Checker *checker, const Warp *warp) {
    return release_now(checker, warp, warp->exec, true, false);
}
