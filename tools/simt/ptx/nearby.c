// Questions about the code around an access to memory.
#include "simt/ptx/nearby.h"

bool ptx_same_address(const PtxInst *one, const PtxInst *other) {
    const PtxOperand *a = one ? ptx_address(one) : NULL, *b = other ? ptx_address(other) : NULL;
    return a && b && a->reg == b->reg && a->addend == b->addend && str_equal(a->name, b->name);
}

static bool at_line(const PtxInst *inst, const PtxInst *other) {
    return inst->place.line == other->place.line && inst->place.file == other->place.file;
}

bool ptx_updates(const PtxFunction *function, const PtxInst *one, const PtxInst *other) {
    if (!ptx_same_address(one, other)) return false;
    for (const PtxInst *at = function->insts; at < one || at < other; at++)
        if (at_line(at, one) && ptx_is_load(at) && ptx_same_address(at, one)) return true;
    return false;
}

bool ptx_is_equality(const PtxInst *comparison) {
    return ptx_has(comparison, PTX_MOD_EQ) || ptx_has(comparison, PTX_MOD_NE);
}

// Whether the write depends on the comparison: it writes the value that was compared or, after a
// test for equality, nothing else decides.
static bool decides(const PtxInst *comparison, const PtxInst *write) {
    const PtxOperand *operands = comparison->operands;
    uint32_t written = write->operands[write->operand_count - 1].reg;
    for (const PtxInst *at = comparison + 1; at < write && written != PTX_NONE; at++)
        if (at->opcode == OPCODE_MOV && at->operands[0].reg == written) // such as a float's bits
            written = at->operands[1].reg;
    if (!ptx_is_equality(comparison))
        return written != PTX_NONE && (operands[1].reg == written || operands[2].reg == written);
    for (const PtxInst *at = comparison + 1; at < write; at++)
        if (at->opcode == OPCODE_SETP) return false;
    return true;
}

const PtxInst *ptx_compared(const PtxFunction *function, const PtxInst *one, const PtxInst *other,
                            const PtxInst **load, const PtxInst **write) {
    *load = *write = ptx_is_load(one) ? other : one;
    while (*load > function->insts)
        if (ptx_is_load(--*load) && ptx_same_address(*load, *write)) break;
    if (ptx_is_load(*write) || !ptx_is_load(*load) || !ptx_same_address(*load, *write) ||
        !(at_line(one, *load) || at_line(one, *write)) ||
        !(at_line(other, *load) || at_line(other, *write)))
        return NULL;
    const uint32_t value = (*load)->operands[0].reg;
    for (const PtxInst *at = *load + 1; value != PTX_NONE && at < *write; at++)
        if (at->opcode == OPCODE_SETP && at->operand_count == 3 &&
            (at->operands[1].reg == value || at->operands[2].reg == value))
            return decides(at, *write) ? at : NULL;
    return NULL;
}

static bool is_ordered(const PtxInst *inst) {
    return ptx_has(inst, PTX_MOD_ACQ_REL) || ptx_has(inst, PTX_MOD_ACQUIRE) ||
           ptx_has(inst, PTX_MOD_RELEASE);
}

// Whether it is a fence, or acts as one, that other blocks see.
static bool is_fence(const PtxInst *inst) {
    return (inst->opcode == OPCODE_MEMBAR || inst->opcode == OPCODE_FENCE || is_ordered(inst)) &&
           !ptx_has(inst, PTX_MOD_CTA);
}

// Whether it may write (step 1) or read (-1) a flag or ticket.
static bool is_signal(const PtxInst *inst, int step) {
    const bool strong =
        ptx_has(inst, PTX_MOD_RELAXED) || ptx_has(inst, PTX_MOD_VOLATILE) || is_ordered(inst);
    return inst->opcode == OPCODE_ATOM || inst->opcode == OPCODE_RED ||
           (strong && inst->opcode == (step > 0 ? OPCODE_ST : OPCODE_LD));
}

const PtxInst *ptx_signal(const PtxFunction *function, uint32_t access, int step, bool *fenced) {
    *fenced = false;
    for (uint32_t k = access + (uint32_t)step; k < function->inst_count; k += (uint32_t)step) {
        *fenced |= is_fence(&function->insts[k]);
        if (is_signal(&function->insts[k], step)) return &function->insts[k];
    }
    return NULL;
}

const PtxInst *ptx_lock(const PtxFunction *function, uint32_t access, const PtxInst *released,
                        bool *fenced) {
    *fenced = false;
    if (!released || released < &function->insts[access]) return NULL;
    for (uint32_t k = access; k-- > 0;) {
        const PtxInst *inst = &function->insts[k];
        *fenced |= is_fence(inst);
        if (inst->opcode == OPCODE_ATOM && ptx_same_address(inst, released) &&
            (ptx_has(inst, PTX_MOD_CAS) || ptx_has(inst, PTX_MOD_EXCH)))
            return inst;
    }
    return NULL;
}

const PtxInst *ptx_wait_group(const PtxFunction *function, uint32_t access, uint64_t *left) {
    for (uint32_t k = access; k-- > 0;) {
        const PtxInst *inst = &function->insts[k];
        if (inst->opcode != OPCODE_CP || !ptx_has(inst, PTX_MOD_WAIT_GROUP)) continue;
        *left = inst->operands[0].integer;
        return inst;
    }
    return NULL;
}

bool ptx_in_loop(const PtxFunction *function, const PtxInst *first, const PtxInst *last) {
    const PtxInst *end = function->insts + function->inst_count;
    for (const PtxInst *back = last; back < end; back++)
        if (back->opcode == OPCODE_BRA && function->insts + back->operands[0].label <= first)
            return true;
    return false;
}

bool ptx_loop_waits(const PtxFunction *function, const PtxInst *first, const PtxInst *last) {
    const PtxInst *at = first;
    while (at < last && at->opcode != OPCODE_BAR && at->opcode != OPCODE_BARRIER) at++;
    return at < last && ptx_in_loop(function, first, last);
}

bool ptx_leaves_loop(const PtxFunction *function, const PtxInst *one, const PtxInst *other) {
    const PtxInst *first = one < other ? one : other, *last = one < other ? other : one;
    return (ptx_in_loop(function, one, one) || ptx_in_loop(function, other, other)) &&
           (at_line(one, other) || !ptx_in_loop(function, first, last));
}
