// Allocates registers in the frame (linear scan). PTX names a new register for nearly every result,
// so registers that are never live at the same time share a place; a warp's registers then fit the
// processor's L1 cache. A register is live from the first instruction that names it to the last, in
// the order of the text, and in all blocks where a backward data-flow analysis finds its value
// live. It keeps its place during each instruction that names it, so results do not overwrite
// operands. A register that may be read before it is written is live from the start and is set to
// zero there: its value is undefined in PTX, but the same in every run here.
#include <string.h>

#include "simt/lower/lower.h"

enum { WORD = 64 };

typedef struct {
    Lower *lower;
    Arena scratch;
    uint32_t words;             // of a bit set of registers
    uint64_t *read, *made, *in; // by node: registers read before written, written, live on entry
    uint32_t *first, *last;     // by register: the first and last instruction where it is live
} Places;

static uint64_t *set_of(const Places *places, uint64_t *sets, uint32_t node) {
    return sets + (size_t)node * places->words;
}

static void add(uint64_t *set, uint32_t reg) { set[reg / WORD] |= 1ull << reg % WORD; }

static void reach(Places *places, uint32_t reg, uint32_t inst) {
    if (inst < places->first[reg]) places->first[reg] = inst;
    if (inst > places->last[reg]) places->last[reg] = inst;
}

static void reach_all(Places *places, const uint64_t *set, uint32_t inst) {
    for (uint32_t w = 0; w < places->words; w++)
        for (uint64_t left = set[w]; left; left &= left - 1)
            reach(places, w * WORD + (uint32_t)__builtin_ctzll(left), inst);
}

// --- the registers that a node reads and writes ---

static bool is_result(const Lower *lower, uint32_t k) {
    const PtxInst *inst = &lower->function->insts[k];
    return inst->guard == PTX_NONE && ptx_has_result(inst) &&
           inst->operands[0].kind != PTX_OPERAND_SINK;
}

static void read_register(Places *places, uint32_t node, uint32_t reg, uint32_t inst) {
    if (reg == PTX_NONE) return;
    reach(places, reg, inst);
    const uint64_t made = set_of(places, places->made, node)[reg / WORD];
    if (!(made >> reg % WORD & 1)) add(set_of(places, places->read, node), reg);
}

static void read_operand(Places *places, uint32_t node, const PtxOperand *operand, uint32_t inst) {
    read_register(places, node, operand->reg, inst);
    read_register(places, node, operand->reg2, inst);
    for (uint32_t k = 0; k < operand->count; k++)
        read_operand(places, node, &operand->items[k], inst);
}

static void make_operand(Places *places, uint32_t node, const PtxOperand *operand, uint32_t inst) {
    const uint32_t regs[] = {operand->reg, operand->reg2};
    for (int k = 0; k < 2; k++) {
        if (regs[k] == PTX_NONE) continue;
        reach(places, regs[k], inst);
        add(set_of(places, places->made, node), regs[k]);
    }
    for (uint32_t k = 0; k < operand->count; k++)
        make_operand(places, node, &operand->items[k], inst);
}

static void survey_inst(Places *places, uint32_t node, uint32_t k) {
    const PtxInst *inst = &places->lower->function->insts[k];
    const bool result = is_result(places->lower, k);
    read_register(places, node, inst->guard, k);
    for (uint32_t j = result; j < inst->operand_count; j++)
        read_operand(places, node, &inst->operands[j], k);
    if (result) make_operand(places, node, &inst->operands[0], k);
}

static void survey_node(Places *places, uint32_t n) {
    const FlowNode *node = &places->lower->ptx->nodes[n];
    for (uint32_t k = node->first; k < node->end; k++) survey_inst(places, n, k);
}

// --- liveness ---

// The registers that are live at the end of a node.
static void out_of(const Places *places, uint32_t n, uint64_t *out) {
    const FlowNode *node = &places->lower->ptx->nodes[n];
    memset(out, 0, places->words * sizeof *out);
    for (uint32_t s = 0; s < node->next_count; s++) {
        const uint64_t *in = set_of(places, places->in, node->next[s]);
        for (uint32_t w = 0; w < places->words; w++) out[w] |= in[w];
    }
}

static bool update(const Places *places, uint32_t n, uint64_t *out) {
    const uint64_t *read = set_of(places, places->read, n), *made = set_of(places, places->made, n);
    uint64_t *in = set_of(places, places->in, n);
    bool changed = false;
    out_of(places, n, out);
    for (uint32_t w = 0; w < places->words; w++) {
        const uint64_t now = read[w] | (out[w] & ~made[w]);
        changed |= now != in[w];
        in[w] = now;
    }
    return changed;
}

static void find_live(Places *places) {
    const uint32_t count = places->lower->ptx->node_count;
    uint64_t *out = ARENA_NEW(&places->scratch, places->words, uint64_t);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = count; n-- > 0;) changed |= update(places, n, out);
    }
    for (uint32_t n = 0; n < count; n++) {
        const FlowNode *node = &places->lower->ptx->nodes[n];
        reach_all(places, set_of(places, places->in, n), node->first);
        out_of(places, n, out);
        reach_all(places, out, node->end > node->first ? node->end - 1 : node->first);
    }
}

// --- places ---

// A linked list of registers for each instruction.
typedef struct {
    uint32_t *head, *next; // by instruction, by register
} Lists;

static Lists lists_by(Places *places, const uint32_t *inst) {
    const PtxFunction *function = places->lower->function;
    Lists lists = {ARENA_NEW(&places->scratch, function->inst_count + 1u, uint32_t),
                   ARENA_NEW(&places->scratch, function->register_count + 1u, uint32_t)};
    for (uint32_t k = 0; k <= function->inst_count; k++) lists.head[k] = PTX_NONE;
    for (uint32_t reg = function->register_count; reg-- > 0;) {
        if (places->first[reg] == PTX_NONE) continue;
        lists.next[reg] = lists.head[inst[reg]];
        lists.head[inst[reg]] = reg;
    }
    return lists;
}

// Instruction by instruction, gives each register the place that was freed last.
static void give_places(Places *places) {
    Lower *lower = places->lower;
    const PtxFunction *function = lower->function;
    const Lists begin = lists_by(places, places->first), end = lists_by(places, places->last);
    uint32_t *unused[REGISTER_128] = {NULL}, count[REGISTER_128] = {0};
    for (RegisterClass class = REGISTER_PRED; class < REGISTER_128; class ++)
        unused[class] = ARENA_NEW(&places->scratch, function->register_count + 1u, uint32_t);
    for (uint32_t k = 0; k <= function->inst_count; k++) {
        for (uint32_t reg = begin.head[k]; reg != PTX_NONE; reg = begin.next[reg]) {
            const RegisterClass class = register_class(function->registers[reg].type);
            if (class >= REGISTER_128) continue; // lower_register fails for it
            lower->ptx->offset[reg] =
                count[class] ? unused[class][--count[class]] : lower_place(lower, class);
        }
        for (uint32_t reg = end.head[k]; reg != PTX_NONE; reg = end.next[reg]) {
            const RegisterClass class = register_class(function->registers[reg].type);
            if (class < REGISTER_128) unused[class][count[class]++] = lower->ptx->offset[reg];
        }
    }
}

// Clears the registers that are live on entry to node 0, before all other instructions.
static void clear_unwritten(Places *places) {
    static const PtxType bits[REGISTER_128] = {[REGISTER_PRED] = PTX_PRED,
                                               [REGISTER_16] = PTX_B16,
                                               [REGISTER_32] = PTX_B32,
                                               [REGISTER_64] = PTX_B64};
    Lower *lower = places->lower;
    lower->at = lower->function->insts;
    for (uint32_t reg = 0; reg < lower->function->register_count; reg++) {
        const RegisterClass class = register_class(lower->function->registers[reg].type);
        if (!(places->in[reg / WORD] >> reg % WORD & 1) || class >= REGISTER_128) continue;
        lower_emit_typed(lower, OPCODE_MOV, bits[class],
                         (uint32_t[]){lower->ptx->offset[reg], lower_constant(lower, class, 0)});
    }
}

void lower_registers(Lower *lower) {
    const uint32_t registers = lower->function->register_count;
    Places places = {.lower = lower, .words = registers / WORD + 1};
    const size_t bits = (size_t)lower->ptx->node_count * places.words;
    places.scratch.leave = lower->arena->leave;
    places.read = ARENA_NEW(&places.scratch, bits, uint64_t);
    places.made = ARENA_NEW(&places.scratch, bits, uint64_t);
    places.in = ARENA_NEW(&places.scratch, bits, uint64_t);
    places.first = ARENA_NEW(&places.scratch, registers + 1u, uint32_t);
    lower->code->needed_until = places.last = ARENA_NEW(lower->arena, registers + 1u, uint32_t);
    for (uint32_t reg = 0; reg < registers; reg++) places.first[reg] = PTX_NONE;
    for (uint32_t n = 0; n < lower->ptx->node_count; n++) survey_node(&places, n);
    find_live(&places);
    give_places(&places);
    clear_unwritten(&places);
    arena_free(&places.scratch);
}
