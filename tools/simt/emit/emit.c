// Adds instructions and counters to the function that is being lowered, and reports its errors.
#include "simt/emit/emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lower_fail(Lower *lower, const char *format, ...) {
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    Lowering *lowering = lower->lowering;
    Str name = str_slice(lower->function->name, 0, 200);
    char place[256];
    ptx_write_place(lowering->module, lower->at ? lower->at->place : (PtxPlace){0, 0},
                    lower->at ? lower->at->ptx_line : 0, place, sizeof place);
    const bool located = lower->at && lower->at->place.line;
    snprintf(lowering->error->text, sizeof lowering->error->text, "%s: %s (in %.*s%s)", place, text,
             STR_ARG(name), located ? "" : "; nvcc -lineinfo adds the source's line");
    if (lowering->status == SIMT_OK) lowering->status = SIMT_UNSUPPORTED;
    longjmp(lower->leave, 1);
}

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

uint32_t lower_flushed(Lower *lower, RegisterClass class, uint32_t from) {
    uint32_t to = lower_temp(lower, class);
    lower_emit_row(lower, class == REGISTER_16 ? STR("flush.f16") : STR("flush.f32"),
                   (uint32_t[]){to, from});
    return to;
}

uint32_t lower_slot(Lower *lower, SlotKind kind) {
    SlotTable *table = lower->lowering->slots;
    ARENA_GROW(lower->arena, table->slots, table->count, table->capacity);
    uint32_t ptx = index_at(lower, 0);
    table->slots[table->count] = (Slot){kind, ptx, ptx + 1, lower->function};
    return table->count++;
}

uint32_t lower_access_slots(Lower *lower, PtxSpace space, bool load, bool rows) {
    SlotKind global = load ? SLOT_GLOBAL_LD : SLOT_GLOBAL_ST;
    SlotKind shared = load ? SLOT_SHARED_LD : SLOT_SHARED_ST;
    if (rows) shared = load ? SLOT_LDMATRIX : SLOT_STMATRIX;
    if (space == PTX_GLOBAL) return lower_slot(lower, global);
    if (space == PTX_SHARED || space == PTX_SHARED_CLUSTER) return lower_slot(lower, shared);
    if (space != PTX_GENERIC) return 0;
    uint32_t slot = lower_slot(lower, global);
    lower_slot(lower, shared);
    return slot;
}
