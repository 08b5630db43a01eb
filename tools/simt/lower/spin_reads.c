// What is only looked at: to wait until it changes, or to decide which way to go. For the checks,
// which ask of words of global memory whether they are flags, and for whoever reads the counts of a
// kernel that waits.
//
// - A read waits if it lies in a loop at an address that the loop does not change, and a branch
//   that leaves the loop depends on its value. If that loop stores nothing, it is gone through
//   again until all its reads fit together, as the reader of a sequence lock does: they all wait.
//   So does a read whose value the function returns: nobody sees from here what the caller does.
// - It asks if some branch or predicate depends on its value and the value goes nowhere else: it is
//   not stored, no address, and not given to anybody.
#include <string.h>

#include "simt/lower/loops.h"
#include "simt/lower/lower.h"

enum { DEPTH = 8, SLOTS = 64 }; // from an address to what it is made of; words of local memory

typedef struct {
    Lower *lower;
    const PtxInst *insts;
    uint32_t count;
    Edges out; // between nodes
    Loops loops;
    bool *made;                     // by register: of the value that is looked at
    bool *local;                    // by register: an address of local memory
    bool changed;                   // in this round
    bool decides;                   // it guards an instruction
    bool kept;                      // it goes elsewhere
    bool returned;                  // from the function
    const PtxOperand *slots[SLOTS]; // of local memory that hold it
    uint32_t slot_count;
} Looks;

static bool any(const bool *of, const PtxOperand *operand) {
    bool found = (operand->reg != PTX_NONE && of[operand->reg]) ||
                 (operand->reg2 != PTX_NONE && of[operand->reg2]);
    for (uint32_t k = 0; !found && k < operand->count; k++) found = any(of, &operand->items[k]);
    return found;
}

static void mark_one(Looks *looks, bool *of, uint32_t reg) {
    if (reg == PTX_NONE || of[reg]) return;
    of[reg] = looks->changed = true;
}

static void mark(Looks *looks, bool *of, const PtxOperand *operand) {
    mark_one(looks, of, operand->reg);
    mark_one(looks, of, operand->reg2);
    for (uint32_t k = 0; k < operand->count; k++) mark(looks, of, &operand->items[k]);
}

static bool has_result(const PtxInst *inst) {
    if (inst->operand_count < 2) return false;
    const PtxOperandKind kind = inst->operands[0].kind;
    return kind == PTX_OPERAND_REG || kind == PTX_OPERAND_VECTOR || kind == PTX_OPERAND_SINK;
}

static const PtxOperand *address_of(const PtxInst *inst) {
    for (uint32_t k = 0; k < inst->operand_count; k++)
        if (inst->operands[k].kind == PTX_OPERAND_ADDRESS) return &inst->operands[k];
    return NULL;
}

// --- where a value goes ---

static bool in_local(const Looks *looks, const PtxOperand *address) {
    return address->reg != PTX_NONE && looks->local[address->reg];
}

static bool holds(const Looks *looks, const PtxOperand *address) {
    for (uint32_t k = 0; k < looks->slot_count; k++)
        if (looks->slots[k]->reg == address->reg && looks->slots[k]->addend == address->addend)
            return true;
    return false;
}

static void store(Looks *looks, const PtxInst *inst, const PtxOperand *address) {
    const PtxFunction *function = looks->lower->function;
    const PtxVariable *to = address->variable;
    if (to && to >= function->results && to < function->results + function->result_count)
        looks->returned = true;
    else if (in_local(looks, address) && inst->operands[1].kind == PTX_OPERAND_REG &&
             looks->slot_count < SLOTS && !holds(looks, address))
        looks->slots[looks->slot_count++] = address, looks->changed = true;
    else if (!holds(looks, address))
        looks->kept = true;
}

static void spread_over(Looks *looks, const PtxInst *inst) {
    const PtxOperand *address = address_of(inst);
    const bool result = has_result(inst);
    bool sources = false;
    for (uint32_t k = result ? 1 : 0; k < inst->operand_count; k++)
        sources |= any(looks->made, &inst->operands[k]);
    looks->decides |= inst->guard != PTX_NONE && looks->made[inst->guard];
    looks->decides |= sources && str_starts(inst->opcode, STR("brx."));
    if (result && address && in_local(looks, address)) sources |= holds(looks, address);
    if (!sources) return;
    if (result) mark(looks, looks->made, &inst->operands[0]);
    if (!address || (result && holds(looks, address))) return;
    if (str_starts(inst->opcode, STR("st.")))
        store(looks, inst, address);
    else
        looks->kept = true;
}

// Follows the value of a read, whichever way the function goes.
static void spread(Looks *looks, const PtxInst *read) {
    memset(looks->made, 0, looks->lower->function->register_count * sizeof *looks->made);
    looks->decides = looks->kept = looks->returned = false;
    looks->slot_count = 0;
    mark(looks, looks->made, &read->operands[0]);
    for (looks->changed = true; looks->changed;) {
        looks->changed = false;
        for (uint32_t k = 0; k < looks->count; k++) spread_over(looks, &looks->insts[k]);
    }
}

static void find_local(Looks *looks) {
    for (looks->changed = true; looks->changed;) {
        looks->changed = false;
        for (uint32_t k = 0; k < looks->count; k++) {
            const PtxInst *inst = &looks->insts[k];
            const bool moves =
                str_starts(inst->opcode, STR("mov.")) || str_starts(inst->opcode, STR("add."));
            if (!has_result(inst)) continue;
            if (str_starts(inst->opcode, STR("cvta.local")) ||
                (moves && any(looks->local, &inst->operands[1])))
                mark(looks, looks->local, &inst->operands[0]);
        }
    }
}

// --- loops ---

static void find_loops(Looks *looks) {
    Lower *lower = looks->lower;
    Edges *out = &looks->out;
    uint32_t edges = 0, used = 0;
    for (uint32_t n = 0; n < lower->node_count; n++) edges += lower->nodes[n].next_count;
    *out = (Edges){.count = lower->node_count,
                   .start = ARENA_NEW(lower->arena, lower->node_count + 2u, uint32_t),
                   .to = ARENA_NEW(lower->arena, edges + 1u, uint32_t)};
    for (uint32_t n = 0; n < lower->node_count; n++) {
        out->start[n] = used;
        for (uint32_t k = 0; k < lower->nodes[n].next_count; k++)
            out->to[used++] = lower->nodes[n].next[k];
    }
    out->start[lower->node_count] = used;
    const Edges in = edges_reversed(lower->arena, out);
    const Dominators dominators = dominators_of(lower->arena, out, &in, 0);
    looks->loops = loops_of(lower->arena, out, &in, &dominators);
}

static bool strong(const PtxInst *inst) {
    static const Str known[] = {STR("atom."), STR("ld.volatile"), STR("ld.relaxed"),
                                STR("ld.acquire")};
    bool found = false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        found |= str_starts(inst->opcode, known[k]);
    return found;
}

// Whether the rounds of a loop find the same in a register, or in what an operand is made of.
static bool constant_in(const Looks *looks, const Loop *loop, const PtxOperand *operand, int depth);
static bool register_constant_in(const Looks *looks, const Loop *loop, uint32_t reg, int depth) {
    for (uint32_t m = 0; m < loop->count; m++) {
        const FlowNode *node = &looks->lower->nodes[loop->members[m]];
        for (uint32_t k = node->first; k < node->end; k++) {
            const PtxInst *inst = &looks->insts[k];
            const PtxOperand *to = inst->operands;
            if (!has_result(inst) || (to->reg != reg && to->kind == PTX_OPERAND_REG)) continue;
            bool here = to->reg == reg;
            for (uint32_t j = 0; j < to->count; j++) here |= to->items[j].reg == reg;
            if (here && (strong(inst) || depth == DEPTH)) return false;
            for (uint32_t j = 1; here && j < inst->operand_count; j++)
                if (!constant_in(looks, loop, &inst->operands[j], depth + 1)) return false;
        }
    }
    return true;
}

static bool constant_in(const Looks *looks, const Loop *loop, const PtxOperand *operand,
                        int depth) {
    if (operand->reg != PTX_NONE && !register_constant_in(looks, loop, operand->reg, depth))
        return false;
    for (uint32_t k = 0; k < operand->count; k++)
        if (!constant_in(looks, loop, &operand->items[k], depth)) return false;
    return true;
}

// Whether a branch that leaves the loop depends on the value.
static bool leaves(const Looks *looks, const Loop *loop) {
    for (uint32_t m = 0; m < loop->count; m++) {
        const uint32_t n = loop->members[m];
        const FlowNode *node = &looks->lower->nodes[n];
        bool outside = false;
        for (uint32_t e = looks->out.start[n]; e < looks->out.start[n + 1]; e++)
            outside |= !loops_inside(loop->inside, looks->out.to[e]);
        if (!outside) continue;
        const PtxInst *branch = &looks->insts[node->synthetic ? node->first : node->end - 1];
        if (branch->guard != PTX_NONE && looks->made[branch->guard]) return true;
        if (str_starts(branch->opcode, STR("brx.")) && any(looks->made, &branch->operands[0]))
            return true;
    }
    return false;
}

static bool stores(const Looks *looks, const Loop *loop) {
    static const Str known[] = {STR("st."), STR("red."), STR("atom.")};
    for (uint32_t m = 0; m < loop->count; m++) {
        const FlowNode *node = &looks->lower->nodes[loop->members[m]];
        for (uint32_t k = node->first; k < node->end; k++)
            for (size_t s = 0; s < sizeof known / sizeof *known; s++)
                if (str_starts(looks->insts[k].opcode, known[s]) &&
                    !str_starts(looks->insts[k].opcode, STR("st.param")))
                    return true;
    }
    return false;
}

static uint32_t node_of(const Lower *lower, uint32_t inst) {
    uint32_t n = 0;
    while (inst >= lower->nodes[n].end) n++;
    return n;
}

// --- reads ---

static bool is_read(const Inst *inst) {
    const bool global = inst->memory.space == PTX_GLOBAL || inst->memory.space == PTX_GENERIC;
    if (inst->access == ACCESS_LOAD) return inst->order && global;
    return inst->plain == op_atomic && global && inst->atomic.old != PTX_NONE;
}

static void wait_all(const Looks *looks, const Loop *loop) {
    const Lower *lower = looks->lower;
    for (uint32_t k = 0; k < lower->code->count; k++) {
        Inst *inst = &lower->code->insts[k];
        if (is_read(inst) && loops_inside(loop->inside, node_of(lower, inst->ptx)))
            inst->look = LOOK_WAITS;
    }
}

static void look_at(Looks *looks, Inst *inst) {
    const PtxInst *read = &looks->insts[inst->ptx];
    const Loops *loops = &looks->loops;
    spread(looks, read);
    if (looks->returned) inst->look = LOOK_WAITS;
    if (inst->look == LOOK_NONE && looks->decides && !looks->kept) inst->look = LOOK_ASKS;
    for (uint32_t at = loops->innermost[node_of(looks->lower, inst->ptx)]; at != PTX_NONE;
         at = loops->loops[at].parent) {
        const Loop *loop = &loops->loops[at];
        if (!leaves(looks, loop) || !constant_in(looks, loop, address_of(read), 0)) continue;
        inst->look = LOOK_WAITS;
        looks->lower->code->waits = true;
        if (!stores(looks, loop)) wait_all(looks, loop);
    }
}

void lower_looks(Lower *lower) {
    Code *code = lower->code;
    const uint32_t registers = lower->function->register_count + 1u;
    Looks looks = {
        .lower = lower, .insts = lower->function->insts, .count = lower->function->inst_count};
    for (uint32_t k = 0; k < code->count; k++) {
        if (!is_read(&code->insts[k])) continue;
        if (!looks.made) {
            looks.made = ARENA_NEW(lower->arena, registers, bool);
            looks.local = ARENA_NEW(lower->arena, registers, bool);
            find_local(&looks);
            find_loops(&looks);
        }
        look_at(&looks, &code->insts[k]);
    }
}
