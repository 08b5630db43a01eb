// Synchronization: what it orders, barriers that not every thread reaches, masks that name the
// wrong lanes.
#include "simt/observe/check/inside.h"

bool check_unordered(const Checker *checker, uint64_t stamp, uint32_t thread) {
    uint64_t time = stamp >> STAMP_SHIFT;
    uint32_t other = (uint32_t)(stamp & STAMP_THREAD);
    uint32_t warp = thread / LANES, other_warp = other / LANES;
    if (warp != other_warp) return time >= checker->warp_known[warp][other_warp];
    return time >= checker->warp_floor[warp] &&
           time >= checker->lane_known[warp][thread % LANES][other % LANES];
}

// --- barriers of the block ---

// All warps that took part know what each of them knew, and what each did until now.
static void join_warps(Checker *checker, uint32_t warps) {
    uint64_t now = ++checker->now;
    uint64_t known[MAX_WARPS] = {0};
    for (uint32_t m = warps; m; m &= m - 1) {
        const uint64_t *row = checker->warp_known[__builtin_ctz(m)];
        for (int k = 0; k < MAX_WARPS; k++)
            if (row[k] > known[k]) known[k] = row[k];
    }
    for (uint32_t m = warps; m; m &= m - 1) known[__builtin_ctz(m)] = now;
    for (uint32_t m = warps; m; m &= m - 1) {
        int warp = __builtin_ctz(m);
        for (int k = 0; k < MAX_WARPS; k++) checker->warp_known[warp][k] = known[k];
        checker->warp_floor[warp] = now;
    }
}

void check_complete(Block *block, uint32_t barrier) {
    Checker *checker = block->watch;
    Arrival *arrival = &checker->arrivals[barrier];
    const Warp *warp = &block->warps[0];
    arrival->open = false;
    if (arrival->counted) {
        join_warps(checker, arrival->warps);
        return;
    }
    check_unwritten(checker, warp);
    checker->block_floor = ++checker->now;
    if (arrival->threads < block->threads)
        check_found(checker, warp, KIND_BARRIER, PTX_REG_SPACE, arrival->inst, arrival->thread,
                    NULL, 0, 0,
                    "%u of %u threads reached this barrier and the others had ended: let every "
                    "thread reach it",
                    arrival->threads, block->threads);
    else if (arrival->other)
        check_found(checker, warp, KIND_BARRIER, PTX_REG_SPACE, arrival->inst, arrival->thread,
                    arrival->other, arrival->other_thread, 0,
                    "some threads wait at this barrier and others at another one: let all threads "
                    "of the block reach the same one");
}

void check_arrive(Warp *warp, const Inst *inst, uint32_t barrier, bool counted) {
    Checker *checker = check_of(warp);
    Arrival *arrival = &checker->arrivals[barrier];
    uint32_t thread = warp->index * LANES + (uint32_t)__builtin_ctz(warp->exec);
    if (!arrival->open)
        *arrival = (Arrival){.open = true, .inst = inst, .thread = thread, .counted = counted};
    PtxPlace first = check_place(checker, arrival->inst);
    PtxPlace here = check_place(checker, inst);
    if (!arrival->other && (first.line != here.line || first.file != here.file)) {
        arrival->other = inst;
        arrival->other_thread = thread;
    }
    arrival->warps |= 1u << warp->index;
    arrival->threads += (uint32_t)__builtin_popcount(warp->exec);
}

// --- lanes of a warp ---

void check_join(Warp *warp, uint32_t lanes) {
    Checker *checker = check_of(warp);
    uint64_t now = ++checker->now;
    if ((lanes & warp->live) == warp->live) {
        checker->warp_floor[warp->index] = now;
        return;
    }
    uint64_t(*known)[LANES] = checker->lane_known[warp->index];
    uint64_t joined[LANES] = {0};
    for (uint32_t m = lanes; m; m &= m - 1)
        for (int k = 0; k < LANES; k++)
            if (known[__builtin_ctz(m)][k] > joined[k]) joined[k] = known[__builtin_ctz(m)][k];
    for (uint32_t m = lanes; m; m &= m - 1) joined[__builtin_ctz(m)] = now;
    for (uint32_t m = lanes; m; m &= m - 1)
        for (int k = 0; k < LANES; k++) known[__builtin_ctz(m)][k] = joined[k];
}

static void caller_unnamed(Checker *checker, const Warp *warp, const Inst *inst, uint32_t lane,
                           uint32_t mask) {
    check_found(checker, warp, KIND_MASK, PTX_REG_SPACE, inst, warp->index * LANES + lane, NULL, 0,
                0,
                "lane %u takes part but the mask 0x%08x does not name it: name exactly the lanes "
                "that get here",
                lane, mask);
}

// Lanes of one instruction may name different groups; each must name the lane that gives it.
void check_meet(Warp *warp, const Inst *inst, const LaneU32 named[LANES]) {
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!(named[lane] >> lane & 1))
            caller_unnamed(check_of(warp), warp, inst, lane, named[lane]);
    }
}
