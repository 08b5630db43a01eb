// Writes the advice on a race, which fits all threads that the checker saw.
#include <stdio.h>

#include "simt/observe/race/checker.h"

const char *advice_verb(AccessKind kind) {
    static const char *const verbs[] = {[ACCESS_LOAD] = "reads",
                                        [ACCESS_STORE] = "writes",
                                        [ACCESS_ATOMIC] = "updates",
                                        [ACCESS_COPY] = "writes"};
    return verbs[kind];
}

static const PtxOperand *address_of(const PtxInst *inst) {
    if (!inst) return NULL;
    if (ptx_is_load(inst)) return &inst->operands[1];
    return inst->opcode == OPCODE_ST ? &inst->operands[0] : NULL;
}

static bool same_address(const PtxInst *one, const PtxInst *other) {
    const PtxOperand *a = address_of(one), *b = address_of(other);
    return a && b && a->kind == PTX_OPERAND_ADDRESS && b->kind == PTX_OPERAND_ADDRESS &&
           a->reg == b->reg && a->addend == b->addend && str_equal(a->name, b->name);
}

// Whether the statement updates the word, as in `n++`: it loads and stores at one address.
static bool updates(const Machine *machine, const Finding *finding) {
    const PtxInst *one = machine_instruction(machine, finding->at.inst);
    const PtxInst *other = machine_instruction(machine, finding->other.inst);
    if (!same_address(one, other)) return false;
    const PtxInst *at = machine_code(machine, finding->at.inst)->source->insts;
    for (; at < one || at < other; at++)
        if (at->place.line == one->place.line && at->place.file == one->place.file &&
            ptx_is_load(at) && same_address(at, one))
            return true;
    return false;
}

// For two accesses in one block; one_statement: on one source line.
static const char *within_block(const Machine *machine, const Finding *finding,
                                bool one_statement) {
    bool warps = finding->between & BETWEEN_WARPS;
    if (!one_statement) return warps ? "put __syncthreads() between" : "put __syncwarp() between";
    if (updates(machine, finding)) return "updates get lost: use atomicAdd() or its like";
    if (finding->at.kind == ACCESS_STORE && finding->other.kind == ACCESS_STORE)
        return "let one thread write it, or each its own element";
    return warps ? "read into a variable, then __syncthreads(), then write"
                 : "read into a variable, then __syncwarp(), then write";
}

static const char *between_blocks(const Finding *finding, bool one_statement) {
    if (finding->between & BETWEEN_NARROW)
        return "the scope is too narrow for threads of another block: make it the device's";
    bool atomic = finding->at.kind == ACCESS_ATOMIC || finding->other.kind == ACCESS_ATOMIC;
    if (atomic)
        return "make both atomic, or order them: __threadfence() on both sides of a flag or "
               "ticket, or a second kernel";
    if (one_statement)
        return "give each block its own element, update it with atomics, or use a second kernel";
    return "no barrier orders blocks: use __threadfence() on both sides of an atomic flag or "
           "ticket, or a second kernel";
}

static const char within_cluster[] =
    "put cluster.sync() between, or give each block its own element";

static const char guessed[] = "atomicCAS() tells if it was old, so no result depends on it; a "
                              "relaxed read (cuda::atomic_ref) is not a race";

static const char constant[] = "a read by __ldg() or through const __restrict__ (ld.global.nc) may "
                               "be stale where the kernel writes: read it without either";

// For two volatile accesses, or a volatile and an atomic one.
static const char *for_volatile(const Machine *machine, const Finding *finding,
                                bool one_statement) {
    if (one_statement && updates(machine, finding))
        return "volatile orders nothing and updates may get lost: use atomicAdd() or its like; in "
               "a lock put __threadfence() after taking it and before releasing it";
    if (finding->between & BETWEEN_BLOCKS)
        return "volatile orders nothing: use __threadfence() on both sides of a flag or ticket, or "
               "an atomic";
    return finding->between & BETWEEN_WARPS
               ? "volatile orders nothing: put __syncthreads() between, or __threadfence_block() "
                 "on both sides of a flag"
               : "volatile orders nothing: put __syncwarp() between";
}

// The earlier access is a copy for which no thread has waited.
static const char *after_copy(const Finding *finding) {
    const Inst *copy = finding->other.inst;
    if (copy->access == ACCESS_COPY)
        return "wait for the copy first (cp.async.wait_group), then __syncthreads()";
    if (copy->bulk.barrier.space != PTX_REG_SPACE)
        return "wait at the copy's mbarrier first (mbarrier.try_wait)";
    return "wait for the copy first (cp.async.bulk.wait_group.read), then __syncthreads()";
}

void advice_write(const Machine *machine, const Finding *finding, char *to, size_t room) {
    bool one = finding->place.line == finding->other_place.line &&
               finding->place.file == finding->other_place.file;
    bool blocks = finding->between & BETWEEN_BLOCKS;
    const char *advice = finding->kind == KIND_GUESS       ? guessed
                         : finding->kind == KIND_CONSTANT  ? constant
                         : finding->kind == KIND_VOLATILE  ? for_volatile(machine, finding, one)
                         : finding->between & BETWEEN_COPY ? after_copy(finding)
                         : !blocks                         ? within_block(machine, finding, one)
                         : finding->space == PTX_SHARED    ? within_cluster
                                                           : between_blocks(finding, one);
    snprintf(to, room, "%s", advice);
}
