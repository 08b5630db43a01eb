// Lowers ldmatrix, stmatrix and movmatrix to the loads and stores that hardware executes for them,
// so that their counts are the hardware's, and to exchanges between lanes.
#include "simt/emit/matrix_rows.h"

#include <string.h>

static void emit_move(Lower *lower, Op *op, uint32_t count, const uint32_t *from,
                      const uint32_t *d) {
    InstMatrixMove move = {.mask = lower_constant(lower, REGISTER_32, ALL_LANES), .count = count};
    const uint32_t words = op == op_matrix_transpose ? count : 4; // a row has four
    const bool from_rows = op == op_matrix_from_rows, to_rows = op == op_matrix_to_rows;
    memcpy(move.from, from, (from_rows ? words : count) * sizeof *from);
    memcpy(move.d, d, (to_rows ? words : count) * sizeof *d);
    Inst *inst = lower_emit(lower, op);
    inst->matrix_move = move;
    inst->access = ACCESS_SYNC;
}

void matrix_rows_transpose(Lower *lower, uint32_t count, const uint32_t *from, const uint32_t *d) {
    emit_move(lower, op_matrix_transpose, count, from, d);
}

void matrix_rows_access(Lower *lower, InstMemory memory, uint32_t bytes, uint32_t count,
                        const uint32_t *reg, bool load, bool rows) {
    InstValues values = {.class = bytes == 8   ? REGISTER_64
                                  : bytes == 4 ? REGISTER_32
                                               : REGISTER_16};
    memory.bytes = (uint8_t)bytes;
    memory.elements = (uint8_t)count;
    memcpy(values.value, reg, count * sizeof *reg);
    const uint32_t slot = lower_access_slots(lower, memory.space, load, rows);
    Inst *inst = lower_emit(lower, load ? op_load(memory.space, bytes, count, values.class)
                                        : op_store(memory.space, bytes, count, values.class));
    inst->memory = memory;
    inst->values = values;
    inst->access = load ? ACCESS_LOAD : ACCESS_STORE;
    inst->slot = slot;
}

// Accesses rows of 16 bytes, each by the lane that has its address: 8 lanes for each of `count`
// matrices. It is one access, as in hardware.
static void emit_rows(Lower *lower, InstMemory memory, uint32_t count, const uint32_t rows[4],
                      bool load) {
    const size_t guard = lower->count;
    if (count < 4) {
        const uint32_t lanes = (1u << 8 * count) - 1;
        const uint32_t predicate = lower_constant(lower, REGISTER_PRED, lanes);
        lower_emit(lower, op_guard)->guard = (InstGuard){.predicate = predicate};
    }
    matrix_rows_access(lower, memory, 4, 4, rows, load, true);
    if (count == 4) return;
    lower_emit(lower, op_unguard);
    lower->insts[guard].guard.skip = (uint32_t)(lower->count - guard);
}

void matrix_rows_load(Lower *lower, InstMemory memory, uint32_t count, const uint32_t *d,
                      bool transposed, const MatrixRowsTemps *temps) {
    emit_rows(lower, memory, count, temps->row, true);
    emit_move(lower, op_matrix_from_rows, count, temps->row, transposed ? temps->straight : d);
    if (transposed) matrix_rows_transpose(lower, count, temps->straight, d);
}

void matrix_rows_store(Lower *lower, InstMemory memory, uint32_t count, const uint32_t *from,
                       bool transposed, const MatrixRowsTemps *temps) {
    if (transposed) matrix_rows_transpose(lower, count, from, temps->straight);
    emit_move(lower, op_matrix_to_rows, count, transposed ? temps->straight : from, temps->row);
    emit_rows(lower, memory, count, temps->row, false);
}
