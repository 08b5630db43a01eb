// Calls observers from instructions, and picks the instructions that call them. See observer.h.
#include "simt/exec/observer.h"

// --- accesses ---

static void report_all(Warp *warp, const Access *access, uint32_t lanes,
                       const uint64_t address[LANES]) {
    const Machine *machine = warp->block->machine;
    if (machine->trace) machine->trace->access(warp, access, lanes, address);
    if (machine->observer && machine->observer->access)
        machine->observer->access(warp, access, lanes, address);
    if (machine->profile) machine->profile->access(warp, access, lanes, address);
}

// Reports an access to shared memory, block by block of the cluster.
static void report_cluster(Warp *warp, const Access *access, uint32_t lanes,
                           const uint64_t address[LANES]) {
    const Observer *observer = observer_of(warp->block);
    Access part = *access;
    uint64_t within[LANES];
    part.space = PTX_SHARED;
    LANE_LOOP within[l] = address[l] & ADDRESS_IN_BLOCK;
    while (lanes) {
        Block *of;
        const uint32_t same = address_same_block(warp->block, address, lanes, &of);
        if (of == warp->block)
            report_all(warp, &part, same, within);
        else if (observer && observer->remote)
            observer->remote(warp, &part, same, of, within);
        lanes &= ~same;
    }
}

static void report_access(Warp *warp, const Access *access, uint32_t lanes) {
    uint64_t address[LANES];
    address_lanes(warp, access, address);
    if (access->space == PTX_SHARED_CLUSTER) {
        report_cluster(warp, access, lanes, address);
        return;
    }
    if (access->space != PTX_GENERIC) {
        report_all(warp, access, lanes, address);
        return;
    }
    Access part = *access;
    while (lanes) {
        uint64_t within[LANES];
        PtxSpace space;
        uint32_t same = address_same_space(address, lanes, &space, within);
        part.space = space;
        if (space == PTX_SHARED)
            report_cluster(warp, &part, same, within);
        else if (space != PTX_GENERIC)
            report_all(warp, &part, same, within);
        lanes &= ~same;
    }
}

// Executes the instruction, and the following ones if the observer has begun to follow the warp.
static const Inst *run_plain(Warp *warp, const Inst *inst, bool followed) {
    inst = inst->plain(warp, inst);
    return warp->followed && !followed ? observer_follow(warp, inst) : inst;
}

static const Inst *watch_access(Warp *warp, const Inst *inst) {
    const bool followed = warp->followed;
    Access access = address_access(inst);
    report_access(warp, &access, warp->exec);
    return run_plain(warp, inst, followed);
}

// No trace or profile is active here: see wanted().
static const Inst *watch_global(Warp *warp, const Inst *inst) {
    const InstMemory *memory = &inst->memory;
    const LaneU64 *base = REG(warp, LaneU64, memory->base);
    const Observer *observer = observer_of(warp->block);
    const uint64_t size = (uint64_t)memory->bytes * memory->elements, offset = memory->offset;
    const Access access = address_access(inst);
    uint64_t address[LANES];
    if (warp->exec == ALL_LANES && address_consecutive64(base, size) &&
        observer->whole(warp, inst, base[0] + offset))
        return inst->plain(warp, inst);
    LANE_LOOP address[l] = base[l] + offset;
    observer->access(warp, &access, warp->exec, address);
    return inst->plain(warp, inst);
}

static const Inst *watch_shared(Warp *warp, const Inst *inst) {
    const bool followed = warp->followed;
    const InstMemory *memory = &inst->memory;
    const Observer *observer = observer_of(warp->block);
    const LaneU32 *base = REG(warp, LaneU32, memory->base);
    const uint32_t size = (uint32_t)memory->bytes * memory->elements;
    const uint32_t offset = (uint32_t)memory->offset;
    const Access access = address_access(inst);
    uint64_t address[LANES];
    if (warp->exec == ALL_LANES && address_consecutive32(base, size) &&
        observer->whole(warp, inst, base[0] + offset))
        return inst->plain(warp, inst);
    LANE_LOOP address[l] = base[l] + offset;
    observer->access(warp, &access, warp->exec, address);
    return run_plain(warp, inst, followed);
}

// Lanes that load less than a whole element store zeros for the rest: they do not count as loads.
static const Inst *watch_copy(Warp *warp, const Inst *inst) {
    Access store = address_copy_store(inst), load = address_copy_load(inst);
    uint32_t lanes = 0;
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        if (address_copy_bytes(warp, inst, lane) == address_bytes(&load)) lanes |= 1u << lane;
    }
    report_access(warp, &store, warp->exec);
    if (lanes) report_access(warp, &load, lanes);
    return inst->plain(warp, inst);
}

// --- warp-wide instructions ---

static const Inst *watch_sync(Warp *warp, const Inst *inst) {
    const bool followed = warp->followed;
    observer_of(warp->block)->meet(warp, inst, REG(warp, LaneU32, inst->sync.mask));
    return run_plain(warp, inst, followed);
}

const Inst *observer_follow(Warp *warp, const Inst *inst) {
    while (inst && warp->followed) {
        observer_of(warp->block)->step(warp, inst);
        inst = inst->run(warp, inst);
    }
    return inst;
}

// --- installation ---

// The events that a machine's observers need: CODE_*.
static uint8_t wanted(const Machine *machine) {
    const Observer *observer = machine->observer;
    const bool all = machine->trace || (observer && observer->access);
    const bool syncs = observer && observer->meet;
    const bool whole = observer && observer->whole && !machine->trace && !machine->profile;
    return (uint8_t)((all ? CODE_ACCESSES : 0) | (machine->profile ? CODE_SHARED : 0) |
                     (syncs ? CODE_SYNCS : 0) | (whole ? CODE_WHOLE : 0));
}

// Uses `whole` for weak loads and stores, and for volatile ones of shared memory.
static Op *watching_whole(const Inst *inst) {
    const InstMemory *memory = &inst->memory;
    const bool weak = !(inst->order & ~ORDER_VOLATILE);
    if (memory->space == PTX_GLOBAL && memory->wide && !inst->order) return watch_global;
    if (memory->space == PTX_SHARED && !memory->wide && weak) return watch_shared;
    return watch_access;
}

static Op *watching(uint8_t wanted, const Inst *inst) {
    const PtxSpace space = inst->memory.space;
    const bool shared = space == PTX_SHARED || space == PTX_GENERIC;
    const bool accesses = wanted & CODE_ACCESSES || (wanted & CODE_SHARED && shared);
    switch (inst->access) {
    case ACCESS_LOAD:
    case ACCESS_STORE:
        if (wanted & CODE_WHOLE) return watching_whole(inst);
        return accesses ? watch_access : NULL;
    case ACCESS_ATOMIC:
        return accesses ? watch_access : NULL;
    case ACCESS_COPY:
        return accesses ? watch_copy : NULL;
    case ACCESS_SYNC:
        return wanted & CODE_SYNCS ? watch_sync : NULL;
    case ACCESS_NONE:
        break;
    }
    return NULL;
}

void observer_watch(const Machine *machine) {
    const uint8_t now = wanted(machine);
    for (uint32_t k = 0; k < machine->code_count; k++) {
        Code *code = machine->codes[k];
        if (!code || !code->lowered || code->watched == now) continue;
        code->watched = now;
        for (uint32_t i = 0; i < code->count; i++) {
            Inst *inst = &code->insts[i];
            Op *op = watching(now, inst);
            inst->run = op ? op : inst->plain;
        }
    }
}

// --- events of blocks ---

bool observer_attach(Block *block) {
    const Observer *observer = observer_of(block), *profile = block->machine->profile;
    if (observer && observer->attach && !observer->attach(block)) return false;
    return !profile || profile->attach(block);
}

void observer_detach(Block *block) {
    const Observer *observer = observer_of(block), *profile = block->machine->profile;
    if (observer && observer->detach) observer->detach(block);
    if (profile) profile->detach(block);
}

void observer_begin(Block *block) {
    const Observer *observer = observer_of(block);
    if (observer && observer->begin) observer->begin(block);
}

void observer_end(Block *block) {
    const Observer *observer = observer_of(block);
    if (observer && observer->end) observer->end(block);
}
