// Executes control flow: basic blocks and their counters, branches, calls, returns, exits, traps.
#include <stdio.h>
#include <string.h>

#include "simt/base/align.h"
#include "simt/exec/observer.h"
#include "simt/exec/path_join.h"
#include "simt/exec/spin.h"
#include "simt/ops/ops.h"

// The first instruction of every basic block. It counts all instructions of the block.
const Inst *op_enter(Warp *warp, const Inst *inst) {
    Tally *tally = &warp->tally[inst->slot];
    tally->a++;
    tally->b += (uint32_t)__builtin_popcount(warp->mask);
    if (__builtin_expect(--warp->budget <= 0, 0)) return spin_slice_ends(warp, inst + 1);
    return inst + 1;
}

// The same for a block that may be a merge point.
const Inst *op_enter_join(Warp *warp, const Inst *inst) {
    if (inst == warp->rpc) return path_join_arrive(warp);
    return op_enter(warp, inst);
}

// The same for a block from which lanes cannot reach some merge point where others wait for them.
const Inst *op_enter_outside(Warp *warp, const Inst *inst) {
    path_join_leave(warp, inst);
    return op_enter_join(warp, inst);
}

const Inst *op_jump(Warp *warp, const Inst *inst) {
    (void)warp;
    return inst->branch.target;
}

const Inst *op_branch(Warp *warp, const Inst *inst) {
    const InstBranch *branch = &inst->branch;
    uint32_t predicate = *REG(warp, LaneU32, branch->predicate);
    if (branch->negated) predicate = ~predicate;
    const uint32_t taken = predicate & warp->mask;
    if (!taken) return inst + 1;
    if (taken == warp->mask) return branch->target;
    if (!branch->synthetic) warp->tally[inst->slot].a++;
    return path_join_split(warp, inst, taken, branch->target, &branch->merges);
}

// brx.idx. Lanes with the same target as the lowest lane go there; the others repeat the
// instruction.
const Inst *op_table_branch(Warp *warp, const Inst *inst) {
    const InstTable *table = &inst->table;
    const LaneU32 *index = REG(warp, LaneU32, table->index);
    int first = __builtin_ctz(warp->mask);
    if (index[first] >= table->count) {
        return warp_fail(warp, inst, first, SIMT_TRAP, "branch index %u, but there are %u targets",
                         index[first], table->count);
    }
    uint32_t same = 0;
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (index[l] == index[first]) same |= 1u << l;
    }
    const Inst *target = table->targets[index[first]];
    if (same == warp->mask) return target;
    warp->tally[inst->slot].a++;
    // The other lanes continue after the instruction, where a jump leads back to it.
    return path_join_split(warp, inst, same, target, &table->merges);
}

const Inst *op_guard(Warp *warp, const Inst *inst) {
    const InstGuard *guard = &inst->guard;
    uint32_t predicate = *REG(warp, LaneU32, guard->predicate);
    if (guard->negated) predicate = ~predicate;
    warp->exec = predicate & warp->mask;
    if (warp->exec) return inst + 1;
    warp->exec = warp->mask;
    return inst + guard->skip;
}

const Inst *op_unguard(Warp *warp, const Inst *inst) {
    warp->exec = warp->mask;
    return inst + 1;
}

const Inst *op_exit(Warp *warp, const Inst *inst) { return path_exit(warp, warp->exec, inst + 1); }

const Inst *op_leave(Warp *warp, const Inst *inst) {
    warp->left |= warp->exec;
    return op_exit(warp, inst);
}

const Inst *op_trap(Warp *warp, const Inst *inst) {
    return warp_fail(warp, inst, __builtin_ctz(warp->exec), SIMT_TRAP, "trap");
}

const Inst *op_nothing(Warp *warp, const Inst *inst) {
    (void)warp;
    return inst + 1;
}

const Inst *op_fence(Warp *warp, const Inst *inst) {
    observer_fence(warp, inst);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return inst + 1;
}

// griddepcontrol.wait. griddepcontrol.launch_dependents has no Op: the next kernel starts as if it
// were executed immediately or at the end, see machine.h.
const Inst *op_grid_wait(Warp *warp, const Inst *inst) {
    machine_await_prerequisite(warp->block->machine);
    observer_grid_waited(warp);
    return inst + 1;
}

const Inst *op_nanosleep(Warp *warp, const Inst *inst) { return spin_sleep(warp, inst + 1); }

// Calls. Every function has a frame of its own, which stores the return state of each lane, since
// lanes of a warp may come from different calls. A recursive function has a list of further frames.

typedef struct {
    LaneU64 pc[LANES], rpc[LANES], frame[LANES], local[LANES];
    const Code *code;
    uint8_t *deeper; // the frame of a recursive call in this one, or NULL
} Saved;
_Static_assert(sizeof(Saved) <= FRAME_SAVED, "it fits before a function's registers");

// Whether the sizes of parameters and results agree. A call may ignore results.
static bool same_signature(const CallSite *site, const PtxFunction *function) {
    bool same = site->argument_count == function->param_count &&
                site->result_count <= function->result_count;
    for (uint32_t k = 0; same && k < site->argument_count; k++)
        same = site->passed[k]->bytes == function->params[k].bytes;
    for (uint32_t k = 0; same && k < site->result_count; k++)
        same = site->received[k]->bytes == function->results[k].bytes;
    return same;
}

// The frame for a call of `callee`. NULL if there is no space for another one.
static uint8_t *callee_frame(Warp *warp, const Code *callee) {
    uint8_t *const base = warp->stack + callee->frame_base;
    if (!callee->recursive) return base;
    const int first = __builtin_ctz(warp->exec);
    for (uint8_t *at = warp->frame; at != warp->stack;) {
        Saved *saved = (Saved *)(void *)at;
        if (saved->code == callee) {
            if (!saved->deeper) saved->deeper = warp_extra_frame(warp, callee);
            return saved->deeper;
        }
        at = (uint8_t *)(uintptr_t)saved->frame[first];
    }
    return base;
}

static const Inst *enter_function(Warp *warp, const Inst *inst, const Code *caller,
                                  const Code *callee) {
    const CallSite *site = inst->call.site;
    if (!same_signature(site, callee->source)) {
        return warp_fail(warp, inst, __builtin_ctz(warp->exec), SIMT_INVALID_PTX,
                         "calls `%.*s` with parameters of other sizes than it declares",
                         STR_ARG(callee->source->name));
    }
    uint8_t *frame = callee_frame(warp, callee);
    uint32_t local = warp->local + (uint32_t)align_up(caller->source->local_bytes, LOCAL_ALIGN);
    const Machine *machine = warp->block->machine;
    const uint64_t reached = (uint64_t)local + callee->source->local_bytes;
    if (!frame || reached > machine->local_limit) {
        return warp_fail(warp, inst, __builtin_ctz(warp->exec), SIMT_STACK_OVERFLOW,
                         "call stack overflow in `%.*s`", STR_ARG(callee->source->name));
    }
    warp_reach_local(warp, (uint32_t)reached);
    Saved *saved = (Saved *)(void *)frame;
    saved->code = callee;
    const uint32_t exec = warp->exec;
    for (uint32_t m = exec; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        saved->pc[l] = (uint64_t)(uintptr_t)(inst + 1);
        saved->rpc[l] = (uint64_t)(uintptr_t)warp->rpc;
        saved->frame[l] = (uint64_t)(uintptr_t)warp->frame;
        saved->local[l] = warp->local;
    }
    for (uint32_t k = 0; k < site->argument_count; k++) {
        const PtxVariable *param = &callee->source->params[k];
        warp_copy_lanes(exec, frame + callee->param_offset + param->offset, callee->param_stride,
                        warp->frame + site->arguments[k], site->stride, param->bytes);
    }
    warp->frame = frame;
    warp->local = local;
    warp->rpc = NULL;
    return callee->insts;
}

const Inst *op_call(Warp *warp, const Inst *inst) {
    const CallSite *site = inst->call.site;
    return enter_function(warp, inst, site->caller, site->callee);
}

const Inst *op_call_pointer(Warp *warp, const Inst *inst) {
    const CallSite *site = inst->call.site;
    const LaneU64 *pointer = REG(warp, LaneU64, inst->call.pointer);
    int first = __builtin_ctz(warp->exec);
    uint32_t same = 0;
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (pointer[l] == pointer[first]) same |= 1u << l;
    }
    if (same != warp->exec) {
        // Calls the first lane's function now; the others repeat the instruction on their own path.
        const Inst *next =
            path_join_split(warp, inst, warp->mask & ~same, inst, &inst->call.merges);
        if (!next) return NULL;
        warp->exec = warp->mask;
    }
    const Code *callee = NULL;
    for (uint32_t k = 0; k < site->caller->callee_count; k++) {
        const Code *code = site->caller->callees[k];
        if (code->address == pointer[first]) callee = code;
    }
    if (!callee || !callee->insts) {
        return warp_fail(warp, inst, first, SIMT_ILLEGAL_ADDRESS,
                         "calls 0x%llx, where no function starts",
                         (unsigned long long)pointer[first]);
    }
    return enter_function(warp, inst, site->caller, callee);
}

// The single end of a function. Copies the results to the caller's area.
const Inst *op_return(Warp *warp, const Inst *inst) {
    const Saved *saved = (const Saved *)(const void *)warp->frame;
    const Code *callee = inst->returns_from;
    int first = __builtin_ctz(warp->mask);
    const Inst *next = (const Inst *)(uintptr_t)saved->pc[first];
    const CallSite *site = next[-1].call.site;
    uint8_t *frame = (uint8_t *)(uintptr_t)saved->frame[first];
    for (uint32_t k = 0; k < site->result_count; k++) {
        const PtxVariable *result = &callee->source->results[k];
        warp_copy_lanes(warp->mask, frame + site->results[k], site->stride,
                        warp->frame + callee->result_offset + result->offset, callee->result_bytes,
                        result->bytes);
    }
    warp->rpc = (const Inst *)(uintptr_t)saved->rpc[first];
    warp->local = (uint32_t)saved->local[first];
    warp->frame = frame;
    return next;
}
