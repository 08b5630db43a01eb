// Executable instructions and counters as they are added to the function being lowered.
#include <string.h>

#include "simt/lower/lower.h"

static uint32_t index_at(const Lower *lower, uint32_t otherwise) {
    return lower->at ? (uint32_t)(lower->at - lower->function->insts) : otherwise;
}

Inst *lower_emit(Lower *lower, Op *run) {
    ARENA_GROW(lower->arena, lower->insts, lower->count, lower->capacity);
    Inst *inst = &lower->insts[lower->count++];
    *inst = (Inst){.run = run, .ptx = index_at(lower, PTX_NONE)};
    return inst;
}

void lower_emit_row(Lower *lower, Str name, const uint32_t *operands) {
    const Row *row = row_named(name);
    if (!row) lower_fail(lower, "no row `%.*s`", STR_ARG(name));
    memcpy(lower_emit(lower, row->run)->r, operands, row->count * sizeof *operands);
}

void lower_emit_typed(Lower *lower, PtxOpcode opcode, PtxType type, const uint32_t *operands) {
    const Row *row = row_find(opcode, &(uint8_t){(uint8_t)type}, 1);
    if (!row) lower_unknown(lower);
    memcpy(lower_emit(lower, row->run)->r, operands, row->count * sizeof *operands);
}

uint32_t lower_slot(Lower *lower, SlotKind kind) {
    SlotTable *table = lower->lowering->slots;
    ARENA_GROW(lower->arena, table->slots, table->count, table->capacity);
    uint32_t ptx = index_at(lower, 0);
    table->slots[table->count] = (Slot){kind, ptx, ptx + 1, lower->function};
    return table->count++;
}

void lower_fix(Lower *lower, Fixup fixup) {
    fixup.inst = lower->count - 1;
    ARENA_GROW(lower->arena, lower->fixups, lower->fixup_count, lower->fixup_capacity);
    lower->fixups[lower->fixup_count++] = fixup;
}
