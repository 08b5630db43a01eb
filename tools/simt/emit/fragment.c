// Describes the fragments of matrix products and emits the products.
#include "simt/emit/fragment.h"

RegisterClass fragment_class(const MatrixFragment *fragment) {
    return fragment->type == ELEMENT_F64 ? REGISTER_64 : REGISTER_32;
}

MatrixFragment fragment_of(MatrixRole role, ElementType type, MatrixShape shape, bool wmma) {
    const uint32_t elements[] = {[MATRIX_A] = (uint32_t)shape.m * shape.k / LANES,
                                 [MATRIX_B] = (uint32_t)shape.k * shape.n / LANES,
                                 [MATRIX_C] = (uint32_t)shape.m * shape.n / LANES};
    const uint32_t bytes = matrix_bytes(type);
    MatrixFragment fragment = {
        .role = role, .type = type, .shape = shape, .per_register = bytes > 4 ? 1 : 4 / bytes};
    fragment.registers = elements[role] / fragment.per_register;
    if (wmma && type == ELEMENT_F16 && role != MATRIX_C) fragment.registers = MATRIX_REGISTERS;
    return fragment;
}

void fragment_places(Lower *lower, MatrixFragment *fragment) {
    const uint32_t count = fragment->registers * fragment->per_register;
    uint16_t *places = ARENA_NEW(lower->arena, LANES * count, uint16_t);
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t index = 0; index < count; index++)
            places[lane * count + index] = (uint16_t)matrix_place(fragment, lane, index);
    fragment->places = places;
}

void fragment_multiply(Lower *lower, const Matrix *matrix) {
    const InstMatrix inst = {lower_constant(lower, REGISTER_32, ALL_LANES), matrix};
    Inst *emitted = lower_emit(lower, op_matrix_multiply);
    emitted->matrix = inst;
    emitted->access = ACCESS_SYNC;
}
