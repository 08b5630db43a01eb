#include "simt/device/shared_room.h"

#include "simt/base/align.h"

bool shared_room_calls(const PtxFunction *function) {
    for (uint32_t k = 0; k < function->inst_count; k++)
        if (str_starts(function->insts[k].opcode, STR("call"))) return true;
    return false;
}

typedef struct {
    const PtxModule *module;
    PtxVariable **own; // by the module's variables: the kernel's in its place, NULL: not used
    Arena *arena;
    uint32_t count;
} Taking;

static void take(Taking *taking, PtxOperand *operand) {
    const PtxModule *module = taking->module;
    const PtxVariable *variable = operand->variable;
    const bool room = variable && variable->space == PTX_SHARED && !variable->external;
    for (uint32_t k = 0; room && k < module->variable_count; k++) {
        if (variable != module->variables[k]) continue;
        if (!taking->own[k]) {
            taking->own[k] = ARENA_NEW(taking->arena, 1, PtxVariable);
            *taking->own[k] = *variable;
            taking->count++;
        }
        operand->variable = taking->own[k];
    }
    for (uint32_t k = 0; k < operand->count; k++) take(taking, &operand->items[k]);
}

void shared_room_take(Arena *arena, const PtxModule *module, PtxFunction *kernel) {
    Taking taking = {module, ARENA_NEW(arena, module->variable_count + 1u, PtxVariable *), arena,
                     0};
    for (uint32_t k = 0; k < kernel->inst_count; k++) {
        const PtxInst *inst = &kernel->insts[k];
        for (uint32_t j = 0; j < inst->operand_count; j++) take(&taking, &inst->operands[j]);
    }
    if (!taking.count) return;
    PtxVariable **all = ARENA_NEW(arena, taking.count + kernel->variable_count, PtxVariable *);
    uint32_t count = 0;
    for (uint32_t k = 0; k < module->variable_count; k++)
        if (taking.own[k]) all[count++] = taking.own[k];
    for (uint32_t k = 0; k < kernel->variable_count; k++) all[count++] = kernel->variables[k];
    kernel->variables = all;
    kernel->variable_count = count;
}

uint32_t shared_room_place(const PtxFunction *function, uint64_t start) {
    uint64_t at = start;
    for (uint32_t k = 0; k < function->variable_count; k++) {
        PtxVariable *variable = function->variables[k];
        if (variable->space != PTX_SHARED) continue;
        at = align_up(at, variable->align);
        variable->offset = at;
        at += variable->bytes;
    }
    return at > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)at;
}
