// Executes warp-wide instructions (shfl, vote, match, redux, bar.warp) and barriers of blocks and
// clusters. PTX ISA, "Parallel Synchronization and Communication Instructions".
#include "simt/exec/address.h"
#include "simt/exec/barrier.h"
#include "simt/exec/cluster.h"
#include "simt/ops/meeting.h"
#include "simt/ops/ops.h"

// The lanes that this instruction waits for, which its masks name.
static uint32_t lanes_named(const Warp *warp, const Inst *inst) {
    const LaneU32 *named = REG(warp, LaneU32, inst->sync.mask);
    const uint32_t exec = warp->exec;
    uint32_t all = 0;
    LANE_LOOP all |= (exec >> l) & 1 ? named[l] : 0;
    return all;
}

bool meeting_of(Warp *warp, const Inst *inst, uint32_t named, Meeting *meeting) {
    meeting->count = 1;
    meeting->lanes = warp->exec;
    meeting->party[0].inst = inst;
    meeting->party[0].frame = warp->frame;
    meeting->party[0].lanes = warp->exec;
    meeting->party[0].path = -1;
    if ((named & warp->live & ~warp->exec) == 0) {
        observer_met(warp, inst, named, meeting->lanes);
        return true;
    }
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (k == warp->current || path->state != PATH_SYNC || path->pc->plain != inst->plain ||
            !(path->sync & named))
            continue;
        uint32_t n = meeting->count++;
        meeting->party[n].inst = path->pc;
        meeting->party[n].frame = path->frame;
        meeting->party[n].lanes = path->mask;
        meeting->party[n].path = k;
        meeting->lanes |= path->mask;
    }
    if (named & warp->live & ~meeting->lanes) return false;
    for (uint32_t n = 1; n < meeting->count; n++) {
        Path *path = &warp->paths[meeting->party[n].path];
        path->state = PATH_READY;
        path->pc++;
    }
    observer_met(warp, inst, named, meeting->lanes);
    return true;
}

// The register at `offset` of a party's frame.
static LaneU32 *register_of(const Meeting *meeting, uint32_t n, uint32_t offset) {
    return (LaneU32 *)(void *)(meeting->party[n].frame + offset);
}

// The masks of all lanes that have arrived.
static void gather_masks(const Meeting *meeting, uint32_t named[LANES]) {
    for (uint32_t n = 0; n < meeting->count; n++) {
        const LaneU32 *from = register_of(meeting, n, meeting->party[n].inst->sync.mask);
        for (uint32_t m = meeting->party[n].lanes; m; m &= m - 1)
            named[__builtin_ctz(m)] = from[__builtin_ctz(m)];
    }
}

// The k-th operand of all lanes that have arrived, of 32 or 64 bits.
static void gather(const Meeting *meeting, int k, uint64_t value[LANES]) {
    for (uint32_t n = 0; n < meeting->count; n++) {
        const InstSync *sync = &meeting->party[n].inst->sync;
        const LaneU32 *from = register_of(meeting, n, sync->value[k]);
        for (uint32_t m = meeting->party[n].lanes; m; m &= m - 1) {
            int l = __builtin_ctz(m);
            value[l] =
                sync->class == REGISTER_64 ? ((const LaneU64 *)(const void *)from)[l] : from[l];
        }
    }
}

static uint32_t gather_predicate(const Meeting *meeting) {
    uint32_t value = 0;
    for (uint32_t n = 0; n < meeting->count; n++)
        value |= *register_of(meeting, n, meeting->party[n].inst->sync.value[0]) &
                 meeting->party[n].lanes;
    return value;
}

// Writes the results. An instruction may have a value, a predicate, or both.
static void scatter(const Meeting *meeting, const uint32_t value[LANES]) {
    for (uint32_t n = 0; n < meeting->count; n++) {
        uint32_t d = meeting->party[n].inst->sync.d;
        if (d == PTX_NONE) continue;
        LaneU32 *at = register_of(meeting, n, d);
        for (uint32_t m = meeting->party[n].lanes; m; m &= m - 1)
            at[__builtin_ctz(m)] = value[__builtin_ctz(m)];
    }
}

static void scatter_predicate(const Meeting *meeting, uint32_t value) {
    for (uint32_t n = 0; n < meeting->count; n++) {
        uint32_t predicate = meeting->party[n].inst->sync.predicate;
        if (predicate == PTX_NONE) continue;
        LaneU32 *at = register_of(meeting, n, predicate);
        *at = (*at & ~meeting->party[n].lanes) | (value & meeting->party[n].lanes);
    }
}

// Lanes whose masks differ form separate groups. Removes the next group from *left.
static uint32_t next_group(const LaneU32 named[LANES], uint32_t *left) {
    const uint32_t first = named[__builtin_ctz(*left)];
    uint32_t group = 0;
    LANE_LOOP group |= (uint32_t)(named[l] == first) << l;
    group &= *left;
    *left &= ~group;
    return group;
}

static void report_join(Warp *warp, const Inst *inst, const Meeting *meeting) {
    uint32_t copies[LANES] = {0};
    const LaneU32 *named = copies;
    if (meeting->count == 1)
        named = REG(warp, LaneU32, inst->sync.mask);
    else
        gather_masks(meeting, copies);
    for (uint32_t left = meeting->lanes; left;) {
        const uint32_t group = named[__builtin_ctz(left)];
        observer_join(warp, inst, next_group(named, &left) | group);
    }
}

const Inst *op_warp_barrier(Warp *warp, const Inst *inst) {
    Meeting meeting;
    uint32_t wanted = lanes_named(warp, inst);
    if (!meeting_of(warp, inst, wanted, &meeting)) return path_wait_sync(warp, inst, wanted);
    if (observer_of(warp->block) || warp->block->machine->trace) report_join(warp, inst, &meeting);
    return inst + 1;
}

// The operands of a shuffle. They are copied only if lanes are on several paths.
typedef struct {
    const LaneU32 *value[3];
    uint32_t copies[3][LANES];
} Shuffled;

static void shuffle_read(const Warp *warp, const InstSync *sync, const Meeting *meeting,
                         Shuffled *shuffled) {
    for (int k = 0; k < 3; k++) {
        shuffled->value[k] = REG(warp, LaneU32, sync->value[k]);
        if (meeting->count == 1) continue;
        uint64_t wide[LANES] = {0};
        gather(meeting, k, wide);
        for (int l = 0; l < LANES; l++) shuffled->copies[k][l] = (uint32_t)wide[l];
        shuffled->value[k] = shuffled->copies[k];
    }
}

// Sets the source lane of each lane, and whether it is inside the segment; if not, the lane reads
// itself. PTX ISA, "shfl.sync". Inlined for each mode so that the loop has no branch on it.
static inline __attribute__((always_inline)) void shuffle_from(ShuffleMode mode, const LaneU32 *by,
                                                               const LaneU32 *bounds,
                                                               int32_t *source, uint32_t *inside) {
    LANE_LOOP {
        int32_t lane = (int32_t)l, offset = (int32_t)(by[l] & 31);
        int32_t clamp = (int32_t)(bounds[l] & 31), segment = (int32_t)(bounds[l] >> 8 & 31);
        int32_t low = lane & segment, high = low | (clamp & ~segment);
        int32_t from = mode == SHUFFLE_UP     ? lane - offset
                       : mode == SHUFFLE_DOWN ? lane + offset
                       : mode == SHUFFLE_BFLY ? (lane ^ offset)
                                              : (low | (offset & ~segment));
        uint32_t good = mode == SHUFFLE_UP ? from >= high : from <= high;
        inside[l] = good;
        source[l] = good ? from & 31 : lane;
    }
}

static void shuffle_sources(ShuffleMode mode, const LaneU32 *by, const LaneU32 *bounds,
                            int32_t *source, uint32_t *inside) {
    switch (mode) {
    case SHUFFLE_UP:
        shuffle_from(SHUFFLE_UP, by, bounds, source, inside);
        break;
    case SHUFFLE_DOWN:
        shuffle_from(SHUFFLE_DOWN, by, bounds, source, inside);
        break;
    case SHUFFLE_BFLY:
        shuffle_from(SHUFFLE_BFLY, by, bounds, source, inside);
        break;
    case SHUFFLE_IDX:
        shuffle_from(SHUFFLE_IDX, by, bounds, source, inside);
        break;
    }
}

// In a partial warp the lanes that do not exist give a value as implausible as that of fresh
// memory.
static void poison_absent(const Warp *warp, const int32_t source[LANES], uint32_t result[LANES]) {
    const uint32_t lanes = warp->block->threads - warp->index * (uint32_t)LANES;
    if (lanes >= LANES) return;
    LANE_LOOP result[l] = (uint32_t)source[l] < lanes ? result[l] : MEMORY_POISON * 0x01010101u;
}

const Inst *op_shuffle(Warp *warp, const Inst *inst) {
    const InstSync *sync = &inst->sync;
    Meeting meeting;
    Shuffled shuffled;
    uint32_t named = lanes_named(warp, inst);
    if (!meeting_of(warp, inst, named, &meeting)) return path_wait_sync(warp, inst, named);
    shuffle_read(warp, sync, &meeting, &shuffled);
    const LaneU32 *a = shuffled.value[0];
    int32_t source[LANES];
    uint32_t inside[LANES], result[LANES], predicate = 0;
    shuffle_sources(sync->shuffle, shuffled.value[1], shuffled.value[2], source, inside);
    observer_shuffle(warp, inst, meeting.lanes, source, a);
    LANE_LOOP result[l] = a[source[l]];
    poison_absent(warp, source, result);
    if (meeting.count == 1) {
        LaneU32 *d = REG(warp, LaneU32, sync->d);
        const uint32_t exec = warp->exec;
        LANE_LOOP d[l] = (exec >> l) & 1 ? result[l] : d[l];
        if (sync->predicate == PTX_NONE) return inst + 1;
    } else {
        scatter(&meeting, result);
    }
    LANE_LOOP predicate |= inside[l] << l;
    scatter_predicate(&meeting, predicate);
    return inst + 1;
}

// The result is a predicate, or a value for ballot.
const Inst *op_vote(Warp *warp, const Inst *inst) {
    Meeting meeting;
    uint32_t wanted = lanes_named(warp, inst);
    if (!meeting_of(warp, inst, wanted, &meeting)) return path_wait_sync(warp, inst, wanted);
    const VoteMode mode = inst->sync.vote;
    uint32_t named[LANES], result[LANES] = {0};
    gather_masks(&meeting, named);
    uint32_t votes = gather_predicate(&meeting), left = meeting.lanes, predicate = 0;
    while (left) {
        uint32_t group = next_group(named, &left), yes = votes & group;
        bool value = mode == VOTE_ALL   ? yes == group
                     : mode == VOTE_ANY ? yes != 0
                                        : yes == 0 || yes == group;
        if (value) predicate |= group;
        for (uint32_t m = group; m; m &= m - 1) result[__builtin_ctz(m)] = yes;
    }
    scatter(&meeting, result);
    scatter_predicate(&meeting, predicate);
    return inst + 1;
}

// The predicate, which only match.all has, tells whether all lanes have the same value.
const Inst *op_match(Warp *warp, const Inst *inst) {
    Meeting meeting;
    uint32_t wanted = lanes_named(warp, inst);
    if (!meeting_of(warp, inst, wanted, &meeting)) return path_wait_sync(warp, inst, wanted);
    uint64_t value[LANES];
    uint32_t named[LANES], result[LANES], predicate = 0, left = meeting.lanes;
    gather_masks(&meeting, named);
    gather(&meeting, 0, value);
    while (left) {
        uint32_t group = next_group(named, &left);
        for (uint32_t m = group; m; m &= m - 1) {
            int l = __builtin_ctz(m);
            uint32_t equal = 0;
            for (uint32_t k = group; k; k &= k - 1) {
                int other = __builtin_ctz(k);
                if (value[other] == value[l]) equal |= 1u << other;
            }
            bool all = equal == group;
            if (all) predicate |= 1u << l;
            result[l] = inst->sync.match == MATCH_ALL && !all ? 0 : equal;
        }
    }
    scatter(&meeting, result);
    scatter_predicate(&meeting, predicate);
    return inst + 1;
}

static uint32_t reduce(ReduceMode mode, uint32_t x, uint32_t y) {
    switch (mode) {
    case REDUCE_ADD:
        return x + y;
    case REDUCE_MIN_U:
        return x < y ? x : y;
    case REDUCE_MIN_S:
        return (int32_t)x < (int32_t)y ? x : y;
    case REDUCE_MAX_U:
        return x > y ? x : y;
    case REDUCE_MAX_S:
        return (int32_t)x > (int32_t)y ? x : y;
    case REDUCE_AND:
        return x & y;
    case REDUCE_OR:
        return x | y;
    case REDUCE_XOR:
        return x ^ y;
    }
    return x;
}

const Inst *op_reduce(Warp *warp, const Inst *inst) {
    Meeting meeting;
    uint32_t wanted = lanes_named(warp, inst);
    if (!meeting_of(warp, inst, wanted, &meeting)) return path_wait_sync(warp, inst, wanted);
    uint64_t value[LANES];
    uint32_t named[LANES], result[LANES], left = meeting.lanes;
    gather_masks(&meeting, named);
    gather(&meeting, 0, value);
    while (left) {
        uint32_t group = next_group(named, &left);
        uint32_t total = (uint32_t)value[__builtin_ctz(group)];
        for (uint32_t m = group & (group - 1); m; m &= m - 1)
            total = reduce(inst->sync.reduce, total, (uint32_t)value[__builtin_ctz(m)]);
        for (uint32_t m = group; m; m &= m - 1) result[__builtin_ctz(m)] = total;
    }
    scatter(&meeting, result);
    return inst + 1;
}

const Inst *op_activemask(Warp *warp, const Inst *inst) {
    const uint32_t lanes = warp->exec;
    LANE_RESULT(LaneU32, lanes);
}

// Elects the lowest lane: the predicate is true there.
const Inst *op_elect(Warp *warp, const Inst *inst) {
    Meeting meeting;
    uint32_t wanted = lanes_named(warp, inst);
    if (!meeting_of(warp, inst, wanted, &meeting)) return path_wait_sync(warp, inst, wanted);
    uint32_t named[LANES], result[LANES], left = meeting.lanes, predicate = 0;
    gather_masks(&meeting, named);
    while (left) {
        uint32_t group = next_group(named, &left);
        predicate |= group & (0 - group);
        for (uint32_t m = group; m; m &= m - 1)
            result[__builtin_ctz(m)] = (uint32_t)__builtin_ctz(group);
    }
    scatter(&meeting, result);
    scatter_predicate(&meeting, predicate);
    return inst + 1;
}

// --- barriers of a block ---

// True if the barrier is complete.
static bool arrive(Warp *warp, const Inst *inst, uint32_t number) {
    const InstBarrier *barrier = &inst->barrier;
    int64_t expected = BARRIER_ALL;
    uint32_t ones = 0;
    if (barrier->threads != PTX_NONE)
        expected = REG(warp, LaneU32, barrier->threads)[__builtin_ctz(warp->exec)];
    if (barrier->predicate != PTX_NONE) ones = *REG(warp, LaneU32, barrier->predicate) & warp->exec;
    return barrier_arrive(warp, inst, number, expected, ones);
}

static const Inst *no_barrier(Warp *warp, const Inst *inst, uint32_t number) {
    return warp_fail(warp, inst, __builtin_ctz(warp->exec), SIMT_TRAP,
                     "barrier %u does not exist: use 0 to %d", number, BARRIERS - 1);
}

const Inst *op_barrier(Warp *warp, const Inst *inst) {
    uint32_t number = REG(warp, LaneU32, inst->barrier.number)[__builtin_ctz(warp->exec)];
    if (number >= BARRIERS) return no_barrier(warp, inst, number);
    return arrive(warp, inst, number) ? inst + 1 : path_wait_barrier(warp, inst, number);
}

const Inst *op_barrier_arrive(Warp *warp, const Inst *inst) {
    uint32_t number = REG(warp, LaneU32, inst->barrier.number)[__builtin_ctz(warp->exec)];
    if (number >= BARRIERS) return no_barrier(warp, inst, number);
    arrive(warp, inst, number);
    return inst + 1;
}

const Inst *op_barrier_result(Warp *warp, const Inst *inst) {
    const InstBarrierResult *to = &inst->barrier_result;
    const BarrierResult result = warp->paths[warp->current].result;
    if (to->mode == BARRIER_POPC) LANE_RESULT_IN(to->d, LaneU32, result.ones);
    const bool value = to->mode == BARRIER_AND ? result.all : result.ones != 0;
    warp_write_predicate(warp, to->d, value ? ALL_LANES : 0);
    return inst + 1;
}

// --- the barrier of a cluster ---

const Inst *op_cluster_arrive(Warp *warp, const Inst *inst) {
    const uint32_t again = warp->exec & (warp->cluster_arrived | warp->cluster_open);
    if (again)
        return warp_fail(
            warp, inst, __builtin_ctz(again), SIMT_TRAP,
            "arrives twice at the barrier of its cluster: call barrier_wait() in between");
    observer_cluster_arrive(warp, inst);
    cluster_arrive(warp);
    return inst + 1;
}

const Inst *op_cluster_wait(Warp *warp, const Inst *inst) {
    const uint32_t missing = warp->exec & ~(warp->cluster_arrived | warp->cluster_open);
    if (missing)
        return warp_fail(warp, inst, __builtin_ctz(missing), SIMT_TRAP,
                         "waits at the barrier of its cluster before it has arrived: call "
                         "barrier_arrive() first");
    if (warp->exec & warp->cluster_arrived) return path_wait_cluster(warp, inst);
    warp->cluster_open &= ~warp->exec;
    observer_cluster_waited(warp, inst);
    return inst + 1;
}

// mapa and getctarank of shared addresses and of generic ones.
const Inst *op_map_rank(Warp *warp, const Inst *inst) {
    const LaneU32 *rank = REG(warp, LaneU32, inst->r[2]);
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);
    LANE_RESULT(LaneU32, address_map(a[l], rank[l]));
}

const Inst *op_map_rank_wide(Warp *warp, const Inst *inst) {
    const LaneU32 *rank = REG(warp, LaneU32, inst->r[2]);
    const LaneU64 *a = REG(warp, LaneU64, inst->r[1]);
    LANE_RESULT(LaneU64, address_map(a[l], rank[l]));
}

const Inst *op_get_rank(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);
    const Block *block = warp->block;
    LANE_RESULT(LaneU32, address_rank(block, a[l]));
}

const Inst *op_get_rank_wide(Warp *warp, const Inst *inst) {
    const LaneU64 *a = REG(warp, LaneU64, inst->r[1]);
    const Block *block = warp->block;
    LANE_RESULT(LaneU32, address_rank(block, a[l]));
}
