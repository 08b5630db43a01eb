// Finds the strong reads of global memory by which a program waits or decides. The checks use this
// to tell a word that is a flag from one that holds data, and it marks kernels that wait for
// others.
//
// - A spin read is in a loop, at an address that the loop does not change, and a branch that leaves
//   the loop depends on its value. If that loop stores nothing, it repeats until all its reads fit
//   together, as the reader of a sequence lock does: then all of them are spin reads. A read whose
//   value the function returns is one too, since the caller is not analysed.
// - A flag read decides a branch or a predicate, and its value goes nowhere else: it is not stored,
//   not used as an address and not passed on.
#include <string.h>

#include "simt/lower/loops.h"
#include "simt/lower/lower.h"

enum { DEPTH = 8, SLOTS = 64 }; // steps from an address to its origin; words of local memory

typedef struct {
    Lower *lower;
    const PtxInst *insts;
    uint32_t count;
    Edges out; // of the nodes
    Loops loops;
    bool *made;                     // by register: computed from the value of the read
    bool *local;                    // by register: an address of local memory
    bool changed;                   // in this iteration
    bool decides;                   // the value guards an instruction
    bool escapes;                   // it is used in any other way
    bool returned;                  // the function returns it
    const PtxOperand *slots[SLOTS]; // words of local memory that hold it
    uint32_t slot_count;
} Reads;

static bool any(const bool *of, const PtxOperand *operand) {
    bool found = (operand->reg != PTX_NONE && of[operand->reg]) ||
                 (operand->reg2 != PTX_NONE && of[operand->reg2]);
    for (uint32_t k = 0; !found && k < operand->count; k++) found = any(of, &operand->items[k]);
    return found;
}

static void mark_one(Reads *reads, bool *of, uint32_t reg) {
    if (reg == PTX_NONE || of[reg]) return;
    of[reg] = reads->changed = true;
}

static void mark(Reads *reads, bool *of, const PtxOperand *operand) {
    mark_one(reads, of, operand->reg);
    mark_one(reads, of, operand->reg2);
    for (uint32_t k = 0; k < operand->count; k++) mark(reads, of, &operand->items[k]);
}

// --- the uses of a value ---

static bool in_local(const Reads *reads, const PtxOperand *address) {
    return address->reg != PTX_NONE && reads->local[address->reg];
}

static bool holds(const Reads *reads, const PtxOperand *address) {
    for (uint32_t k = 0; k < reads->slot_count; k++)
        if (reads->slots[k]->reg == address->reg && reads->slots[k]->addend == address->addend)
            return true;
    return false;
}

static void store(Reads *reads, const PtxInst *inst, const PtxOperand *address) {
    const PtxFunction *function = reads->lower->function;
    const PtxVariable *to = address->variable;
    if (to && to >= function->results && to < function->results + function->result_count)
        reads->returned = true;
    else if (in_local(reads, address) && inst->operands[1].kind == PTX_OPERAND_REG &&
             reads->slot_count < SLOTS && !holds(reads, address))
        reads->slots[reads->slot_count++] = address, reads->changed = true;
    else if (!holds(reads, address))
        reads->escapes = true;
}

static void spread_over(Reads *reads, const PtxInst *inst) {
    const PtxOperand *address = ptx_address(inst);
    const bool result = ptx_has_result(inst);
    bool sources = false;
    for (uint32_t k = result ? 1 : 0; k < inst->operand_count; k++)
        sources |= any(reads->made, &inst->operands[k]);
    reads->decides |= inst->guard != PTX_NONE && reads->made[inst->guard];
    reads->decides |= sources && ptx_flow(inst) == FLOW_TABLE;
    if (result && address && in_local(reads, address)) sources |= holds(reads, address);
    if (!sources) return;
    if (result) mark(reads, reads->made, &inst->operands[0]);
    if (!address || (result && holds(reads, address))) return;
    if (inst->opcode == OPCODE_ST)
        store(reads, inst, address);
    else
        reads->escapes = true;
}

// Finds all registers and uses that depend on the value of a read.
static void spread(Reads *reads, const PtxInst *read) {
    memset(reads->made, 0, reads->lower->function->register_count * sizeof *reads->made);
    reads->decides = reads->escapes = reads->returned = false;
    reads->slot_count = 0;
    mark(reads, reads->made, &read->operands[0]);
    for (reads->changed = true; reads->changed;) {
        reads->changed = false;
        for (uint32_t k = 0; k < reads->count; k++) spread_over(reads, &reads->insts[k]);
    }
}

static void find_local(Reads *reads) {
    for (reads->changed = true; reads->changed;) {
        reads->changed = false;
        for (uint32_t k = 0; k < reads->count; k++) {
            const PtxInst *inst = &reads->insts[k];
            if (inst->operand_count < 2 || !ptx_has_result(inst)) continue;
            const bool moves = inst->opcode == OPCODE_MOV || inst->opcode == OPCODE_ADD;
            if ((inst->opcode == OPCODE_CVTA && ptx_has(inst, PTX_MOD_LOCAL)) ||
                (moves && any(reads->local, &inst->operands[1])))
                mark(reads, reads->local, &inst->operands[0]);
        }
    }
}

// --- loops ---

static void find_loops(Reads *reads) {
    Lower *lower = reads->lower;
    Edges *out = &reads->out;
    uint32_t edges = 0, used = 0;
    for (uint32_t n = 0; n < lower->ptx->node_count; n++) edges += lower->ptx->nodes[n].next_count;
    *out = (Edges){.count = lower->ptx->node_count,
                   .start = ARENA_NEW(lower->arena, lower->ptx->node_count + 2u, uint32_t),
                   .to = ARENA_NEW(lower->arena, edges + 1u, uint32_t)};
    for (uint32_t n = 0; n < lower->ptx->node_count; n++) {
        out->start[n] = used;
        for (uint32_t k = 0; k < lower->ptx->nodes[n].next_count; k++)
            out->to[used++] = lower->ptx->nodes[n].next[k];
    }
    out->start[lower->ptx->node_count] = used;
    const Edges in = edges_reversed(lower->arena, out);
    const Dominators dominators = dominators_of(lower->arena, out, &in, 0);
    reads->loops = loops_of(lower->arena, out, &in, &dominators);
}

// Whether another thread may change the value that the instruction reads.
static bool strong(const PtxInst *inst) {
    return inst->opcode == OPCODE_ATOM || (ptx_is_load(inst) && (ptx_has(inst, PTX_MOD_VOLATILE) ||
                                                                 ptx_has(inst, PTX_MOD_RELAXED) ||
                                                                 ptx_has(inst, PTX_MOD_ACQUIRE)));
}

// Whether a register or an operand has the same value in each iteration of a loop.
static bool constant_in(const Reads *reads, const Loop *loop, const PtxOperand *operand, int depth);
static bool register_constant_in(const Reads *reads, const Loop *loop, uint32_t reg, int depth) {
    for (uint32_t m = 0; m < loop->count; m++) {
        const FlowNode *node = &reads->lower->ptx->nodes[loop->members[m]];
        for (uint32_t k = node->first; k < node->end; k++) {
            const PtxInst *inst = &reads->insts[k];
            const PtxOperand *to = inst->operands;
            if (!ptx_has_result(inst) || (to->reg != reg && to->kind == PTX_OPERAND_REG)) continue;
            bool here = to->reg == reg;
            for (uint32_t j = 0; j < to->count; j++) here |= to->items[j].reg == reg;
            if (here && (strong(inst) || depth == DEPTH)) return false;
            for (uint32_t j = 1; here && j < inst->operand_count; j++)
                if (!constant_in(reads, loop, &inst->operands[j], depth + 1)) return false;
        }
    }
    return true;
}

static bool constant_in(const Reads *reads, const Loop *loop, const PtxOperand *operand,
                        int depth) {
    if (operand->reg != PTX_NONE && !register_constant_in(reads, loop, operand->reg, depth))
        return false;
    for (uint32_t k = 0; k < operand->count; k++)
        if (!constant_in(reads, loop, &operand->items[k], depth)) return false;
    return true;
}

// Whether a branch that leaves the loop depends on the value.
static bool leaves(const Reads *reads, const Loop *loop) {
    for (uint32_t m = 0; m < loop->count; m++) {
        const uint32_t n = loop->members[m];
        const FlowNode *node = &reads->lower->ptx->nodes[n];
        bool outside = false;
        for (uint32_t e = reads->out.start[n]; e < reads->out.start[n + 1]; e++)
            outside |= !loops_inside(loop->inside, reads->out.to[e]);
        if (!outside) continue;
        const PtxInst *branch = &reads->insts[node->synthetic ? node->first : node->end - 1];
        if (branch->guard != PTX_NONE && reads->made[branch->guard]) return true;
        if (ptx_flow(branch) == FLOW_TABLE && any(reads->made, &branch->operands[0])) return true;
    }
    return false;
}

static bool writes_memory(const PtxInst *inst) {
    return (inst->opcode == OPCODE_ST && !ptx_has(inst, PTX_MOD_PARAM)) ||
           inst->opcode == OPCODE_RED || inst->opcode == OPCODE_ATOM;
}

static bool stores(const Reads *reads, const Loop *loop) {
    for (uint32_t m = 0; m < loop->count; m++) {
        const FlowNode *node = &reads->lower->ptx->nodes[loop->members[m]];
        for (uint32_t k = node->first; k < node->end; k++)
            if (writes_memory(&reads->insts[k])) return true;
    }
    return false;
}

static uint32_t node_of(const Lower *lower, uint32_t inst) {
    uint32_t n = 0;
    while (inst >= lower->ptx->nodes[n].end) n++;
    return n;
}

// --- reads ---

static bool is_strong_read(const Inst *inst) {
    const bool global = inst->memory.space == PTX_GLOBAL || inst->memory.space == PTX_GENERIC;
    if (inst->access == ACCESS_LOAD) return inst->order && global;
    return inst->plain == op_atomic && global && inst->atomic.old != PTX_NONE;
}

static void mark_all_in(const Reads *reads, const Loop *loop) {
    const Lower *lower = reads->lower;
    for (uint32_t k = 0; k < lower->code->count; k++) {
        Inst *inst = &lower->code->insts[k];
        if (is_strong_read(inst) && loops_inside(loop->inside, node_of(lower, inst->ptx)))
            inst->use = SPIN_READ;
    }
}

static void classify(Reads *reads, Inst *inst) {
    const PtxInst *read = &reads->insts[inst->ptx];
    const Loops *loops = &reads->loops;
    spread(reads, read);
    if (reads->returned) inst->use = SPIN_READ;
    if (inst->use == DATA_READ && reads->decides && !reads->escapes) inst->use = FLAG_READ;
    for (uint32_t at = loops->innermost[node_of(reads->lower, inst->ptx)]; at != PTX_NONE;
         at = loops->loops[at].parent) {
        const Loop *loop = &loops->loops[at];
        if (!leaves(reads, loop) || !constant_in(reads, loop, ptx_address(read), 0)) continue;
        inst->use = SPIN_READ;
        reads->lower->code->waits = true;
        if (!stores(reads, loop)) mark_all_in(reads, loop);
    }
}

void lower_spin_reads(Lower *lower) {
    Code *code = lower->code;
    const uint32_t registers = lower->function->register_count + 1u;
    Reads reads = {
        .lower = lower, .insts = lower->function->insts, .count = lower->function->inst_count};
    for (uint32_t k = 0; k < code->count; k++) {
        if (!is_strong_read(&code->insts[k])) continue;
        if (!reads.made) {
            reads.made = ARENA_NEW(lower->arena, registers, bool);
            reads.local = ARENA_NEW(lower->arena, registers, bool);
            find_local(&reads);
            find_loops(&reads);
        }
        classify(&reads, &code->insts[k]);
    }
}
