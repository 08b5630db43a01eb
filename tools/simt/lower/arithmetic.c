// Lowers arithmetic through the rows of ops/. For .ftz and .sat it emits separate instructions
// before and after the operation, except that f16 has rows that flush.
#include <string.h>

#include "simt/lower/lower.h"

void lower_emit_typed(Lower *lower, PtxOpcode opcode, PtxType type, const uint32_t *operands) {
    const Row *row = row_find(opcode, &(uint8_t){(uint8_t)type}, 1);
    if (!row) lower_unknown(lower);
    memcpy(lower_emit(lower, row->run)->r, operands, row->count * sizeof *operands);
}

// Flushes the result r[0]. For a product this needs its operands, which are still intact because
// they are flushed copies.
static void flush_result(Lower *lower, const uint32_t r[]) {
    if (lower->at->opcode != OPCODE_MUL) {
        lower_emit_typed(lower, OPCODE_FLUSH, PTX_F32, (uint32_t[]){r[0], r[0]});
        return;
    }
    const Row *row = row_find(OPCODE_FLUSH, (uint8_t[]){PTX_MOD_PRODUCT, PTX_MOD_F32}, 2);
    memcpy(lower_emit(lower, row->run)->r, (uint32_t[]){r[0], r[0], r[1], r[2]}, 4 * sizeof r[0]);
}

uint32_t lower_by_row(Lower *lower, const Row *row, uint32_t flush) {
    const PtxInst *at = lower->at;
    if (!row) lower_unknown(lower);
    lower_operands(lower, row->count, row->count);
    uint32_t r[ROW_OPERANDS];
    for (uint32_t k = 1; k < row->count; k++) {
        r[k] = lower_source(lower, &at->operands[k], row->operands[k]);
        if (flush >> k & 1) r[k] = lower_flushed(lower, REGISTER_32, r[k]);
    }
    r[0] = lower_dest(lower, &at->operands[0], row->operands[0]);
    memcpy(lower_emit(lower, row->run)->r, r, row->count * sizeof r[0]);
    if (flush & 1) flush_result(lower, r);
    return r[0];
}

// A mask of the 32-bit operands.
static uint32_t all_singles(const Row *row) {
    uint32_t flush = 0;
    for (uint32_t k = 0; row && k < row->count; k++)
        if (row->operands[k] == REGISTER_32) flush |= 1u << k;
    return flush;
}

void lower_arithmetic(Lower *lower) {
    PtxType type = lower_first_type(lower);
    if (!ptx_type_is_float(type)) {
        lower_by_row(lower, lower_row(lower), 0);
        return;
    }
    // rcp.approx.ftz.f64 is an instruction of its own.
    bool rows_flush = type == PTX_F64 || type == PTX_F16 || type == PTX_F16X2;
    bool flush = !rows_flush && lower_take(lower, PTX_MOD_FTZ) && type == PTX_F32;
    bool saturate = lower_take(lower, PTX_MOD_SAT);
    const Row *row = lower_row(lower);
    uint32_t result = lower_by_row(lower, row, flush ? all_singles(row) : 0);
    if (saturate) lower_emit_typed(lower, OPCODE_SATURATE, type, (uint32_t[]){result, result});
}

// For opcodes whose default rounding is .rn.
void lower_rounded(Lower *lower) {
    if (ptx_type_is_float(lower_first_type(lower))) lower_take(lower, PTX_MOD_RN);
    lower_arithmetic(lower);
}

// slct.ftz flushes only the operand that it compares with zero, not those that it selects from.
void lower_slct(Lower *lower) {
    bool flush = lower_take(lower, PTX_MOD_FTZ);
    lower_by_row(lower, lower_row(lower), flush ? 1u << 3 : 0);
}
