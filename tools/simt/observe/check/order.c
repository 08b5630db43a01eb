// Order through memory. PTX ISA, "Memory Consistency Model": a release pattern synchronizes with an
// acquire pattern that reads what it wrote, or what atomic operations made of that.
//
//   releases: .release; a fence, then a strong write (relaxed, volatile, atomic)
//   acquires: .acquire; a strong read, then a fence
//
// Both must be strong at a scope that covers the other thread. What a thread has acquired it passes
// on: order is transitive, through barriers too. None of this looks at values, and blocks run one
// after another here, so a missing fence is found although nothing ever went wrong.
//
// A fence counts for its own thread, and for those that a barrier lets go behind it: where all
// threads write and call __threadfence(), and behind __syncthreads() one of them takes a ticket,
// the fences (fence.sc) order what all wrote. Which of two fences comes first in the order of all
// fence.sc is otherwise left to chance, and orders nothing here.
//
// Wide: at the scope of the device or the system. Clusters do not run here, so .cluster is .cta.
#include <stdlib.h>
#include <string.h>

#include "simt/observe/check/inside.h"

static bool wide(Scope scope) { return scope == SCOPE_DEVICE; }

// Every step below may run out of memory; then what was found may be too much.
static void must(Checker *checker, bool good) { checker->lost |= !good; }

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

// Twice the slots. False: out of memory.
static bool widen(SyncTable *table) {
    SyncTable wider = {.slots = table->slots ? table->slots * 2 : 64, .count = table->count};
    wider.at = calloc(wider.slots, sizeof *wider.at);
    if (!wider.at) return false;
    for (uint32_t i = 0; i < table->slots; i++)
        if (table->at[i].address) wider.at[slot_of(&wider, table->at[i].address)] = table->at[i];
    free(table->at);
    *table = wider;
    return true;
}

// NULL: out of memory.
static SyncWord *make_word(SyncTable *table, uint64_t address) {
    SyncWord *word = find_word(table, address);
    if (word) return word;
    if (table->count * 2 >= table->slots && !widen(table)) return NULL;
    table->count++;
    word = &table->at[slot_of(table, address)];
    word->address = address;
    return word;
}

// --- reads ---

// A log that the lanes have read from, at a scope.
static void read_log(Checker *checker, Knowledge *warp, Log *log, const Access *access,
                     uint32_t lanes) {
    bool far = wide(access->scope);
    if (!log || !log_count(log) || (!far && !log_only(log, checker->block))) return;
    Seen seen = {log, log_count(log), lanes, far};
    bool acquires = access->order & ORDER_ACQUIRE;
    must(checker, seen_add(acquires ? &warp->acquired : &warp->pending, seen));
    checker->orders = true;
}

static void acquire(Checker *checker, Knowledge *to, const SeenList *from, uint32_t lanes,
                    bool far) {
    for (uint32_t i = 0; i < from->count; i++) {
        Seen seen = from->at[i];
        seen.lanes &= lanes;
        bool near = log_only(seen.log, checker->block);
        if (seen.lanes && (near || (far && seen.wide)))
            must(checker, seen_add(&to->acquired, seen));
    }
}

// --- writes ---

static uint64_t *later_than(uint64_t *times, uint64_t floor) {
    for (uint32_t k = 0; k < LANES; k++)
        if (times[k] > floor) return times;
    return NULL;
}

// What lanes of a warp release now.
static Release *release_now(Checker *checker, const Warp *warp, uint32_t lanes, bool far) {
    uint32_t index = warp->index;
    uint64_t others[LANES] = {0}, floor = checker->block_floor;
    uint64_t(*known)[LANES] = checker->lane_known[index];
    for (uint32_t m = lanes; m; m &= m - 1)
        for (uint32_t k = 0; k < LANES; k++)
            if (known[__builtin_ctz(m)][k] > others[k]) others[k] = known[__builtin_ctz(m)][k];
    uint64_t warp_floor = checker->warp_floor[index];
    if (warp_floor < floor) warp_floor = floor;
    Release facts = {.block = checker->block,
                     .floor = floor,
                     .warp_floor = warp_floor,
                     .time = check_tick(checker),
                     .warps = later_than(checker->warp_known[index], floor),
                     .others = later_than(others, warp_floor),
                     .warp = index,
                     .lanes = lanes,
                     .wide = far};
    Release *release = release_new(checker->room, &facts, &checker->warps[index].acquired,
                                   &checker->common.acquired);
    must(checker, release != NULL);
    checker->orders = true;
    return release;
}

static void write_log(Checker *checker, SyncWord *word, const Release *release, bool far) {
    far = far && release->wide;
    if (!far && word->narrow_block != checker->block) word->narrow = NULL;
    if (!far) word->narrow_block = checker->block;
    Log **log = far ? &word->wide : &word->narrow;
    if (!*log) *log = log_new(checker->room);
    must(checker, *log && log_add(*log, release));
}

static bool is_fenced(const Knowledge *knowledge, uint32_t lanes) {
    for (uint32_t i = 0; i < knowledge->fenced_count; i++)
        if (knowledge->fenced[i].lanes & lanes) return true;
    return false;
}

static void write_fenced(Checker *checker, SyncWord *word, const Knowledge *knowledge,
                         uint32_t lanes, bool far) {
    for (uint32_t i = 0; i < knowledge->fenced_count; i++)
        if (knowledge->fenced[i].lanes & lanes)
            write_log(checker, word, knowledge->fenced[i].release, far);
}

// Takes what a fence made ready, in place of what the same lanes' earlier fences did.
static void add_fenced(Checker *checker, Knowledge *to, Fenced fenced) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < to->fenced_count; i++) {
        const Release *old = to->fenced[i].release, *new = fenced.release;
        bool outdated = old->warp == new->warp && !(old->lanes & ~new->lanes) &&
                        old->time <= new->time && old->wide <= new->wide &&
                        !(to->fenced[i].lanes & ~fenced.lanes);
        if (!outdated) to->fenced[kept++] = to->fenced[i];
    }
    to->fenced_count = kept;
    if (kept == to->fenced_capacity) {
        uint32_t capacity = kept ? kept * 2 : 2;
        Fenced *grown = realloc(to->fenced, capacity * sizeof *grown);
        must(checker, grown != NULL);
        if (!grown) return;
        to->fenced = grown;
        to->fenced_capacity = capacity;
    }
    to->fenced[to->fenced_count++] = fenced;
}

// --- accesses and fences ---

static void write_word(Checker *checker, const Warp *warp, const Access *access, SyncTable *table,
                       uint64_t address, uint32_t lanes) {
    Knowledge *own = &checker->warps[warp->index];
    SyncWord *word = find_word(table, address);
    bool far = wide(access->scope);
    if (word && access->kind == ACCESS_STORE) word->wide = word->narrow = NULL;
    bool releases = access->order & ORDER_RELEASE;
    bool after_fence = access->order & (ORDER_RELAXED | ORDER_VOLATILE) &&
                       (is_fenced(own, lanes) || is_fenced(&checker->common, lanes));
    if (!releases && !after_fence) return;
    if (access->space == PTX_GLOBAL) {
        Region *region = shadow_region(address);
        if (region) region->synchronized = checker->check->launch;
    }
    word = make_word(table, address);
    must(checker, word != NULL);
    if (!word) return;
    Release *release = releases ? release_now(checker, warp, lanes, far) : NULL;
    if (release) write_log(checker, word, release, far);
    if (after_fence) {
        write_fenced(checker, word, &checker->common, lanes, far);
        write_fenced(checker, word, own, lanes, far);
    }
}

// The address by which a word is found; not 0.
static uint64_t key_of(uint64_t address) { return (address & ~(uint64_t)3) + 4; }

// A weak store: whoever reads it reads nothing that was released.
static void overwrite(Checker *checker, const Access *access, uint32_t mask,
                      const uint64_t address[LANES]) {
    bool global = access->space == PTX_GLOBAL;
    const SyncTable *table = global ? &checker->check->words : &checker->words;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t at = address[__builtin_ctz(m)];
        const Region *region = global ? shadow_region(at) : NULL;
        if (region && region->synchronized != checker->check->launch) continue;
        SyncWord *word = find_word(table, key_of(at));
        if (word) word->wide = word->narrow = NULL;
    }
}

static uint32_t same_word(const uint64_t address[LANES], uint32_t mask) {
    uint64_t key = key_of(address[__builtin_ctz(mask)]);
    uint32_t same = 0;
    LANE_LOOP same |= (uint32_t)(key_of(address[l]) == key) << l;
    return same & mask;
}

// Blocks that run at the same time never wait for each other: only those that run one at a time
// can order anything through global memory.
void check_order(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                 const uint64_t address[LANES]) {
    bool global = access->space == PTX_GLOBAL;
    if (global && !checker->machine->ordered) return;
    SyncTable *table = global ? &checker->check->words : &checker->words;
    if (!table->count && !(access->order & ORDER_RELEASE) && !checker->orders) return;
    if (!access->order) {
        if (table->count && access->kind != ACCESS_LOAD) overwrite(checker, access, mask, address);
        return;
    }
    while (mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask), same = same_word(address, mask);
        const uint64_t key = key_of(address[lane]);
        mask &= ~same;
        const SyncWord *word = access->kind == ACCESS_STORE ? NULL : find_word(table, key);
        if (word) {
            Knowledge *own = &checker->warps[warp->index];
            read_log(checker, own, word->wide, access, same);
            if (word->narrow_block == checker->block)
                read_log(checker, own, word->narrow, access, same);
        }
        if (access->kind == ACCESS_LOAD) continue;
        if (access->kind == ACCESS_ATOMIC && address_swap_fails(warp, access, lane, address[lane]))
            continue;
        write_word(checker, warp, access, table, key, same);
    }
}

void check_fence(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp);
    Knowledge *own = &checker->warps[warp->index];
    if (inst->order & ORDER_ACQUIRE) {
        acquire(checker, own, &own->pending, warp->exec, wide(inst->scope));
        acquire(checker, own, &checker->common.pending, warp->exec, wide(inst->scope));
    }
    if (!(inst->order & ORDER_RELEASE)) return;
    Release *release = release_now(checker, warp, warp->exec, wide(inst->scope));
    if (release) add_fenced(checker, own, (Fenced){release, warp->exec});
}

// --- barriers ---

static void add_all(Checker *checker, SeenList *to, const SeenList *from) {
    for (uint32_t i = 0; i < from->count; i++) {
        Seen seen = from->at[i];
        seen.lanes = ALL_LANES;
        must(checker, seen_add(to, seen));
    }
}

static void add_knowledge(Checker *checker, Knowledge *to, const Knowledge *from) {
    add_all(checker, &to->acquired, &from->acquired);
    add_all(checker, &to->pending, &from->pending);
    for (uint32_t i = 0; i < from->fenced_count; i++)
        add_fenced(checker, to, (Fenced){from->fenced[i].release, ALL_LANES});
}

static void clear_knowledge(Knowledge *knowledge) {
    knowledge->acquired.count = knowledge->pending.count = knowledge->fenced_count = 0;
}

void order_begin(Checker *checker) {
    if (checker->room == &checker->own_room) release_free_all(checker->room);
    if (checker->words.count)
        memset(checker->words.at, 0, checker->words.slots * sizeof *checker->words.at);
    checker->words.count = 0;
    if (!checker->orders) return;
    checker->orders = false;
    clear_knowledge(&checker->common);
    for (uint32_t w = 0; w < MAX_WARPS; w++) clear_knowledge(&checker->warps[w]);
}

void order_barrier(Checker *checker) {
    if (!checker->orders) return;
    for (uint32_t w = 0; w < MAX_WARPS; w++) {
        add_knowledge(checker, &checker->common, &checker->warps[w]);
        clear_knowledge(&checker->warps[w]);
    }
}

void order_join_warps(Checker *checker, uint32_t warps) {
    if (!checker->orders) return;
    Knowledge all = {0};
    for (uint32_t m = warps; m; m &= m - 1)
        add_knowledge(checker, &all, &checker->warps[__builtin_ctz(m)]);
    for (uint32_t m = warps; m; m &= m - 1)
        add_knowledge(checker, &checker->warps[__builtin_ctz(m)], &all);
    seen_free(&all.acquired);
    seen_free(&all.pending);
    free(all.fenced);
}

void order_join_lanes(Checker *checker, uint32_t warp, uint32_t lanes) {
    if (!checker->orders) return;
    Knowledge *own = &checker->warps[warp];
    seen_spread(&own->acquired, lanes);
    seen_spread(&own->pending, lanes);
    for (uint32_t i = 0; i < own->fenced_count; i++)
        if (own->fenced[i].lanes & lanes) own->fenced[i].lanes |= lanes;
}

void order_free(Checker *checker) {
    for (uint32_t w = 0; w <= MAX_WARPS && checker->warps; w++) {
        Knowledge *knowledge = w < MAX_WARPS ? &checker->warps[w] : &checker->common;
        seen_free(&knowledge->acquired);
        seen_free(&knowledge->pending);
        free(knowledge->fenced);
    }
    release_free_all(&checker->own_room);
    free(checker->words.at);
    free(checker->warps);
}

bool check_acquired(Checker *checker, uint32_t thread, uint64_t block, uint32_t other,
                    uint64_t time) {
    if (!checker->orders) return false;
    const uint32_t lane = thread % LANES;
    const Known asked = {time, other / LANES, thread / LANES};
    Known *known = &checker->known;
    if (known->time == time && known->other == asked.other && known->warp == asked.warp)
        return true;
    const Knowledge *own = &checker->warps[thread / LANES];
    Answer answer = seen_orders(checker->room, &own->acquired, lane, block, other, time);
    if (answer == ANSWER_NO)
        answer = seen_orders(checker->room, &checker->common.acquired, lane, block, other, time);
    if (answer == ANSWER_ALL_LANES) *known = asked;
    return answer != ANSWER_NO;
}
