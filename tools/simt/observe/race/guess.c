// Finds the first guess of a loop around an atomicCAS(), as in the CUDA C++ Programming Guide
// ("Atomic Functions"):
//
//     int old = *at, assumed;
//     do {
//         assumed = old;
//         old = atomicCAS(at, assumed, f(assumed));
//     } while (old != assumed);
//
// The first read is weak and, in the memory model, races with the updates of other threads. But
// when it was stale, atomicCAS() finds another value and the loop repeats, so no result depends on
// it. The PTX shows this: after the load there are only instructions that compute registers, a
// `cas` that compares with the loaded value, a comparison of that value with the one that was
// found, and a branch back if they differ. Any other instruction, such as a branch around the `cas`
// or a load from an address computed from the value, may depend on a stale value.
#include "simt/exec/machine.h"
#include "simt/observe/race/advice.h"
#include "simt/ptx/opcode.h"

enum { REGISTERS = 64 };

// Registers that hold the loaded value (same), or a value computed from it.
typedef struct {
    struct {
        uint32_t reg;
        bool same;
    } at[REGISTERS];
    uint32_t count;
} Guess;

static bool holds(const Guess *guess, const PtxOperand *operand) {
    for (uint32_t k = 0; operand->kind == PTX_OPERAND_REG && k < guess->count; k++)
        if (guess->at[k].reg == operand->reg) return guess->at[k].same;
    return false;
}

static bool made_of(const Guess *guess, const PtxOperand *operand) {
    bool made = false;
    for (uint32_t k = 0; k < guess->count; k++) made |= guess->at[k].reg == operand->reg;
    for (uint32_t k = 0; k < operand->count; k++) made |= made_of(guess, &operand->items[k]);
    return made;
}

// False: too many registers.
static bool write_to(Guess *guess, const PtxOperand *result, bool made, bool same) {
    for (uint32_t k = guess->count; k-- > 0;)
        if (guess->at[k].reg == result->reg) guess->at[k] = guess->at[--guess->count];
    for (uint32_t k = 0; k < result->count; k++)
        if (!write_to(guess, &result->items[k], made, false)) return false;
    if (!made || result->reg == PTX_NONE) return true;
    if (guess->count == REGISTERS) return false;
    guess->at[guess->count].reg = result->reg;
    guess->at[guess->count++].same = same;
    return true;
}

// Follows an instruction that computes a register from registers, or loads one from an address that
// does not depend on the guess. False: it is another instruction.
static bool compute(Guess *guess, const PtxInst *inst) {
    const PtxOpcodeRow *row = &ptx_opcodes[inst->opcode];
    const PtxOperand *operands = inst->operands;
    bool made = false, address = false;
    if (!inst->opcode || row->flow != FLOW_ON || row->waits || !inst->operand_count) return false;
    if (operands->kind != PTX_OPERAND_REG && operands->kind != PTX_OPERAND_VECTOR) return false;
    for (uint32_t k = 1; k < inst->operand_count; k++) {
        made |= made_of(guess, &operands[k]);
        address |= operands[k].kind == PTX_OPERAND_ADDRESS;
    }
    if (address && (made || !ptx_is_load(inst))) return false;
    const bool same = inst->opcode == OPCODE_MOV && holds(guess, &operands[1]);
    return write_to(guess, operands, made, same);
}

static bool is_cas(const PtxInst *inst) {
    return inst->opcode == OPCODE_ATOM && ptx_has(inst, PTX_MOD_CAS);
}

// Whether the instruction compares the guess with the value that the `cas` found.
static bool compares(const Guess *guess, const PtxInst *inst, const PtxOperand *found) {
    const PtxOperand *operands = inst->operands;
    if (inst->opcode != OPCODE_SETP || inst->operand_count != 3) return false;
    return (holds(guess, &operands[1]) && operands[2].reg == found->reg) ||
           (holds(guess, &operands[2]) && operands[1].reg == found->reg);
}

bool guess_checked(const Machine *machine, const Inst *load) {
    const PtxInst *at = machine_instruction(machine, load), *cas = NULL, *compared = NULL;
    if (!at || at->operands[0].kind != PTX_OPERAND_REG) return false;
    const PtxFunction *function = machine_code(machine, load)->source;
    const PtxInst *end = function->insts + function->inst_count;
    Guess guess = {.at = {{at->operands[0].reg, true}}, .count = 1};
    for (at++; at < end; at++) {
        if (!cas && is_cas(at) && holds(&guess, &at->operands[2])) {
            write_to(&guess, &at->operands[0], false, false);
            cas = at;
            continue;
        }
        if (cas && !compared && compares(&guess, at, &cas->operands[0])) compared = at;
        if (!compute(&guess, at)) break;
    }
    if (at == end || !compared || at->guard != compared->operands[0].reg) return false;
    const bool differ = ptx_has(compared, PTX_MOD_NE) != at->guard_negated;
    return at->opcode == OPCODE_BRA && differ &&
           at->operands[0].label <= (uint32_t)(cas - function->insts);
}
