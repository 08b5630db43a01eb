// Detects paths that spin. See spin.h.
//
// Later spin reads are compared with a marked one: the 31st since the path was resumed, then the
// 63rd, the 127th, ..., so that a loop with any number of reads is found eventually (R. P. Brent,
// "An improved Monte Carlo factorization algorithm", 1980). After LAST_MARK as many reads again fit
// in a slice.
#include "simt/exec/spin.h"

#include <string.h>

#include "simt/exec/block.h"
#include "simt/exec/path.h"

#define FIRST_MARK 31
#define LAST_MARK  16383
#define TRIES      8    // comparisons of all registers with those at the marked read
#define LONG_WAIT  1000 // reads like the marked one in one slice

static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

// Frames of recursive calls are not compared, so that reads in them never match.
static bool same_registers(Warp *warp) {
    Spin *spin = &warp->spin;
    const size_t bytes = warp->block->machine->stack_bytes;
    if (!warp->extra_frames && memcmp(warp->stack, warp->block->copy, bytes) == 0) return true;
    spin->copied = --spin->tries > 0;
    return false;
}

static void mark(Warp *warp) {
    Spin *spin = &warp->spin;
    memcpy(warp->block->copy, warp->stack, warp->block->machine->stack_bytes);
    spin->marked = spin->latest;
    spin->again = 0;
    spin->tries = TRIES;
    spin->copied = true;
}

const Inst *spin_read(Warp *warp, const Inst *inst, uint64_t value) {
    Spin *spin = &warp->spin;
    const int first = __builtin_ctz(warp->exec);
    const uint32_t base = inst->memory.base;
    uint64_t address =
        inst->memory.wide ? REG(warp, LaneU64, base)[first] : REG(warp, LaneU32, base)[first];
    uint64_t hash = mixed(mixed((uintptr_t)inst, warp->exec), (uintptr_t)warp->frame);
    spin->latest = mixed(mixed(hash, address), value);
    const uint32_t reads = ++spin->reads;
    if (warp->block->machine->turns && inst->memory.space != PTX_SHARED)
        return spin_sleep(warp, inst + 1);
    if (reads > FIRST_MARK && spin->latest == spin->marked) {
        spin->again++;
        if (spin->copied && same_registers(warp)) return path_yield(warp, inst + 1, STOP_SPIN);
    }
    if (reads >= FIRST_MARK && reads <= LAST_MARK && (reads & (reads + 1)) == 0) mark(warp);
    return inst + 1;
}

const Inst *spin_slice_ends(Warp *warp, const Inst *next) {
    if (warp->spin.again < LONG_WAIT) return path_yield(warp, next, STOP_SLICE);
    warp->spin.moved = false;
    return path_yield(warp, next, STOP_SPIN);
}

// A sleeping path lets others run first. It counts as waiting if its last spin read matches the one
// before its previous sleep.
const Inst *spin_sleep(Warp *warp, const Inst *next) {
    Path *path = &warp->paths[warp->current];
    const bool read = warp->spin.reads > 0;
    if (!read || path->seen != warp->spin.latest) warp->spin.moved = true;
    path->seen = read ? warp->spin.latest : 0;
    warp->spin.ended = true;
    warp->spin.waits = !warp->spin.moved;
    return path_yield(warp, next, STOP_SPIN);
}
