// Follows the barriers of a block and its warps, and reports barriers that not every thread reaches
// and masks that name the wrong lanes. See sync.h.
#include "simt/observe/race/checker.h"
#include "simt/ops/ops.h"
#include "simt/ptx/nearby.h"

// --- times ---

enum { AT_FIRST = 64, THEN = 1024 }; // times that a block reserves at once

static void reserve_times(Checker *checker, uint64_t count) {
    checker->sync.now = shadow_times(count, checker->block);
    // Consecutive times show quickly that a record is the block's own.
    if (checker->sync.now != checker->sync.times_end) checker->sync.times = checker->sync.now;
    checker->sync.times_end = checker->sync.now + count;
}

void sync_times(Checker *checker, uint64_t block) {
    checker->block = block;
    checker->sync.times_end = 0;
    reserve_times(checker, AT_FIRST);
}

uint64_t sync_tick(Checker *checker) {
    if (++checker->sync.now == checker->sync.times_end) reserve_times(checker, THEN);
    return checker->sync.now;
}

bool sync_unordered(const Checker *checker, uint64_t time, uint32_t other, uint32_t thread) {
    uint32_t warp = thread / LANES, other_warp = other / LANES;
    if (warp != other_warp) return time >= checker->sync.warp_known[warp][other_warp];
    return time >= checker->sync.warp_floor[warp] &&
           !(checker->sync.lane_known &&
             time < checker->sync.lane_known[warp][thread % LANES][other % LANES]);
}

// --- barriers of the block ---

static void add_known(uint64_t known[MAX_WARPS], const uint64_t times[MAX_WARPS]) {
    for (int k = 0; k < MAX_WARPS; k++)
        if (times[k] > known[k]) known[k] = times[k];
}

// The warps that waited have seen what each participant had seen and done until now or, if it did
// not wait, until it arrived.
static void join_warps(Checker *checker, uint32_t barrier) {
    const Arrival *arrival = &checker->sync.arrivals[barrier];
    const uint64_t now = sync_tick(checker);
    uint64_t known[MAX_WARPS] = {0};
    add_known(known, arrival->known);
    for (uint32_t m = arrival->waiting; m; m &= m - 1)
        add_known(known, checker->sync.warp_known[__builtin_ctz(m)]);
    for (uint32_t m = arrival->waiting; m; m &= m - 1) known[__builtin_ctz(m)] = now;
    for (uint32_t m = arrival->waiting; m; m &= m - 1) {
        const int warp = __builtin_ctz(m);
        add_known(checker->sync.warp_known[warp], known);
        checker->sync.warp_floor[warp] = now;
    }
    order_join_warps(checker, barrier, arrival->waiting);
}

// A warp that arrives without waiting (bar.arrive) releases what it did, and acquires nothing.
static void arrive_only(Checker *checker, uint32_t barrier, uint32_t warp) {
    Arrival *arrival = &checker->sync.arrivals[barrier];
    order_arrive(checker, barrier, warp);
    add_known(arrival->known, checker->sync.warp_known[warp]);
    arrival->known[warp] = sync_tick(checker);
}

bool sync_all_left(const Block *block) {
    const Checker *checker = block->watch;
    uint32_t left = 0;
    for (uint32_t w = 0; w < block->warp_count; w++)
        left += (uint32_t)__builtin_popcount(block->warps[w].left & ~checker->sync.arrived[w]);
    return left == block->threads - block->live_threads;
}

static bool elsewhere(const Checker *checker, const Inst *a, const Inst *b) {
    PtxPlace here = finding_place(checker->machine, a), there = finding_place(checker->machine, b);
    return here.line != there.line || here.file != there.file;
}

// Whether threads of the block were already out of step, which explains further reports.
static bool explained(Checker *checker, const Inst *inst, const Inst *other) {
    const Inst **apart = checker->sync.apart;
    if (!apart[0]) apart[0] = inst, apart[1] = other;
    return elsewhere(checker, apart[0], inst) || elsewhere(checker, apart[1], other);
}

// What to do if threads wait at two barriers: of a loop that some have left, or of two branches.
static const char *same_barrier(const Checker *checker, const Inst *inst, const Inst *other) {
    const PtxInst *a = machine_instruction(checker->machine, inst);
    const PtxInst *b = machine_instruction(checker->machine, other);
    const Code *code = machine_code(checker->machine, inst);
    return a && b && machine_code(checker->machine, other) == code &&
                   ptx_leaves_loop(code->source, a, b)
               ? "the threads do not all make the same number of rounds of the loop: let every "
                 "thread make every round, and let one without data use a neutral element (0 for "
                 "a sum)"
               : "let all threads of the block reach the same one: put it after the if, not into "
                 "its branches";
}

static void missed_barrier(Checker *checker, const Block *block, const Arrival *arrival) {
    const bool left = sync_all_left(block);
    if (!left && explained(checker, arrival->inst, NULL)) return;
    finding_add(checker, left ? KIND_ENDED : KIND_BARRIER, PTX_REG_SPACE, arrival->inst,
                arrival->thread, NULL, 0, 0,
                ", where %u of %u threads reach this barrier and the others have ended\n%s",
                arrival->threads, block->threads,
                advice_take_part(checker->machine, arrival->inst,
                                 left ? "this is allowed from Volta (sm_70) on; for older devices "
                                        "let every thread reach the barrier before it returns"
                                      : advice_every_thread));
}

void sync_complete(Block *block, uint32_t barrier) {
    Checker *checker = block->watch;
    Arrival *arrival = &checker->sync.arrivals[barrier];
    arrival->open = false;
    if (arrival->counted) {
        join_warps(checker, barrier);
        return;
    }
    unwritten_report(checker);
    checker->sync.block_floor = sync_tick(checker);
    order_barrier(checker);
    if (!check_clusters(checker->machine)) rest_forget(&checker->rest);
    if (!checker->machine->ordered) rest_forget(&checker->check->rest);
    early_barrier(checker);
    if (arrival->threads < block->threads)
        missed_barrier(checker, block, arrival);
    else if (arrival->other && !arrival->split &&
             !explained(checker, arrival->inst, arrival->other))
        finding_add(checker, KIND_BARRIER, PTX_REG_SPACE, arrival->inst, arrival->thread,
                    arrival->other, arrival->other_thread, 0,
                    " waits at this barrier while other threads of the block wait at another\n%s",
                    same_barrier(checker, arrival->inst, arrival->other));
}

// Reports parts of a warp at two barriers: bar.sync is barrier.sync.aligned, for whole warps.
static void split_warp(Checker *checker, const Arrival *arrival, const Warp *warp,
                       const Inst *inst) {
    const uint32_t first = warp->index * (uint32_t)LANES;
    const uint32_t thread = first + (uint32_t)__builtin_ctz(warp->exec);
    const uint32_t others = warp->live & ~warp->exec;
    const uint32_t other = first + (others ? (uint32_t)__builtin_ctz(others) : 0);
    const Inst *there = arrival->of_warp[warp->index];
    if (explained(checker, inst, there)) return;
    finding_add(
        checker, KIND_BARRIER, PTX_REG_SPACE, inst, thread, there, other, 0,
        " and its warp's lanes 0x%08x wait at this barrier, others of the warp at another\n%s",
        warp->exec, same_barrier(checker, inst, there));
}

void sync_arrive(Warp *warp, const Inst *inst, uint32_t barrier, bool counted) {
    Checker *checker = check_of(warp);
    Arrival *arrival = &checker->sync.arrivals[barrier];
    uint32_t thread = warp->index * LANES + (uint32_t)__builtin_ctz(warp->exec);
    if (!arrival->open)
        *arrival = (Arrival){.open = true, .inst = inst, .thread = thread, .counted = counted};
    if (!arrival->other && arrival->inst != inst && elsewhere(checker, inst, arrival->inst)) {
        arrival->other = inst;
        arrival->other_thread = thread;
    }
    const Inst **first = &arrival->of_warp[warp->index];
    if (!*first) *first = inst;
    if (*first != inst) {
        arrival->split = true;
        split_warp(checker, arrival, warp, inst);
    }
    checker->sync.arrived[warp->index] |= warp->exec;
    if (inst->plain == op_barrier_arrive)
        arrive_only(checker, barrier, warp->index);
    else
        arrival->waiting |= 1u << warp->index;
    arrival->threads += (uint32_t)__builtin_popcount(warp->exec);
}

// --- lanes of a warp ---

// The lanes with which the warp began.
static uint32_t first_lanes(const Warp *warp) {
    const uint32_t left = warp->block->threads - warp->index * LANES;
    return left >= LANES ? ALL_LANES : (1u << left) - 1;
}

// Some lanes of a warp have synchronized: each has seen what all had seen and done until now.
static void join_lanes(Checker *checker, uint32_t warp, uint32_t lanes, uint64_t now) {
    if (!checker->sync.lane_known)
        checker->sync.lane_known = arena_alloc(&checker->arena, checker->machine->warps_per_block,
                                               sizeof *checker->sync.lane_known);
    checker->sync.parted |= 1u << warp;
    uint64_t(*known)[LANES] = checker->sync.lane_known[warp];
    uint64_t joined[LANES] = {0};
    for (uint32_t m = lanes; m; m &= m - 1)
        for (int k = 0; k < LANES; k++)
            if (known[__builtin_ctz(m)][k] > joined[k]) joined[k] = known[__builtin_ctz(m)][k];
    for (uint32_t m = lanes; m; m &= m - 1) joined[__builtin_ctz(m)] = now;
    for (uint32_t m = lanes; m; m &= m - 1)
        for (int k = 0; k < LANES; k++) known[__builtin_ctz(m)][k] = joined[k];
}

// Lanes that are named but have ended count as present; lanes that are not named do not.
void sync_join(Warp *warp, const Inst *inst, uint32_t lanes) {
    (void)inst;
    Checker *checker = check_of(warp);
    uint64_t now = sync_tick(checker);
    order_join_lanes(checker, warp->index, lanes);
    if (first_lanes(warp) & ~lanes)
        join_lanes(checker, warp->index, lanes, now);
    else
        checker->sync.warp_floor[warp->index] = now;
}

// Lanes of one instruction may name different groups, but each must name itself. A lane that takes
// a value from another, such as the lane that polled a flag, also acquires what that lane has
// acquired: cooperative groups rely on it, although shfl.sync orders no memory accesses.
void sync_meet(Warp *warp, const Inst *inst, const LaneU32 named[LANES]) {
    Checker *checker = check_of(warp);
    const uint32_t exec = warp->exec, absent = warp->live & ~exec;
    uint32_t unnamed = 0, missing = 0;
    LANE_LOOP unnamed |= (~named[l] >> l & 1) << l;
    LANE_LOOP missing |= exec >> l & 1 ? named[l] & absent : 0;
    for (uint32_t m = exec & unnamed; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        finding_add(checker, KIND_MASK, PTX_REG_SPACE, inst, warp->index * LANES + lane, NULL, 0, 0,
                    ", lane %u, takes part, but the mask 0x%08x does not name it\n"
                    "let the whole warp get here with the mask 0xffffffff, or add this lane to the "
                    "mask",
                    lane, named[lane]);
    }
    if (!missing && !checker->order.any) return;
    for (uint32_t m = exec; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), awaited = named[lane] & absent;
        if (awaited) checker->sync.waiting[warp->index][lane] = (Waiting){inst, awaited};
        if (checker->order.any) order_share_lanes(checker, warp->index, named[lane]);
    }
}

// Notes a mask of which __ffs() chooses a lane that has ended.
static void find_leader(Checker *checker, const Warp *warp, const Inst *inst, uint32_t named,
                        uint32_t lanes) {
    const PtxInst *ptx = machine_instruction(checker->machine, inst);
    const PtxFunction *function = machine_code(checker->machine, inst)->source;
    const uint32_t mask = ptx->operands[ptx->operand_count - 1].reg;
    for (uint32_t k = 0; mask != PTX_NONE && k < function->inst_count; k++) {
        const PtxInst *find = &function->insts[k];
        if (find->opcode != OPCODE_BREV || find->operands[1].reg != mask) continue;
        finding_add(
            checker, KIND_LEADER, PTX_REG_SPACE, inst,
            warp->index * (uint32_t)LANES + (uint32_t)__builtin_ctz(lanes), NULL, 0, 0,
            ", where lane %d, the lowest in the mask 0x%08x, has ended; if it should act for the "
            "others, none does\n"
            "take as mask the lanes that stay, with __ballot_sync() of the condition "
            "before the branch",
            __builtin_ctz(named), named);
        return;
    }
}

// Lanes that have ended may be named (CUDA C++ Programming Guide: "all non-exited threads named in
// mask"). But it is a hazard if a lane ends while others wait for it.
void sync_met(Warp *warp, const Inst *inst, uint32_t named, uint32_t lanes) {
    const uint32_t ended = named & ~lanes & ~warp->live;
    if (!ended) return;
    Checker *checker = check_of(warp);
    if (ended & named & (0 - named)) find_leader(checker, warp, inst, named, lanes);
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const Waiting *waiting = &checker->sync.waiting[warp->index][lane];
        if (waiting->inst != inst || !(waiting->awaited & ended)) continue;
        finding_add(checker, KIND_MASK, PTX_REG_SPACE, inst, warp->index * LANES + lane, NULL, 0, 0,
                    ", lane %u, waits for lanes 0x%08x, which end without getting here\n%s", lane,
                    waiting->awaited & ended,
                    advice_take_part(checker->machine, inst, advice_whole_warp));
        return;
    }
}

// CUDA C++ Programming Guide, "Warp Shuffle Functions": the result is undefined unless the width is
// a power of two up to 32. The compiler passes 32 - width from bit 8 on, above 31 (.up: 0). PTX
// itself defines every value, so other ones, which are not from the functions, are right.
static void check_width(Warp *warp, const Inst *inst) {
    const uint32_t lane = (uint32_t)__builtin_ctz(warp->exec);
    const uint32_t bounds = REG(warp, LaneU32, inst->sync.value[2])[lane];
    const int32_t width = LANES - ((int32_t)bounds >> 8);
    const bool power = width > 0 && width <= LANES && !(width & (width - 1));
    if (power || (bounds & 255) != (inst->sync.shuffle == SHUFFLE_UP ? 0 : LANES - 1)) return;
    const int next = width > 16 || width <= 0 ? LANES : 2 << (31 - __builtin_clz((uint32_t)width));
    finding_add(
        check_of(warp), KIND_WIDTH, PTX_REG_SPACE, inst, warp->index * (uint32_t)LANES + lane, NULL,
        0, 0,
        " uses the width %d, which is not a power of two up to 32: the result is undefined\n"
        "use %d, and let lanes without data pass a neutral element (0 for a sum)",
        width, next);
}

void sync_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES],
                  const LaneU32 value[LANES]) {
    (void)value;
    uint32_t missing = 0;
    if (inst->plain == op_shuffle) check_width(warp, inst);
    LANE_LOOP missing |= (~lanes >> (source[l] & 31) & 1) << l;
    if ((missing & lanes) || warp->followed) undefined_shuffle(warp, inst, lanes, source);
}
