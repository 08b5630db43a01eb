// Lowers instructions on matrices that a warp holds: products, loads and stores of rows,
// transposition. A lane holds the elements that the PTX ISA gives for mma of the same shape.
#include "simt/emit/fragment.h"
#include "simt/emit/matrix_rows.h"
#include "simt/sass/lower.h"

// These instructions need all lanes.
static void refuse_guard(SassLower *s) {
    if (s->inst->guard != SASS_PT) sass_refuse(s, "unsupported guard predicate");
}

// --- products: d, a, b, c ---

static MatrixShape take_shape(SassLower *s) {
    static const struct {
        SassListName list;
        MatrixShape shapes[4];
    } kinds[] = {{LIST_HMMA, {{16, 8, 8}, {16, 8, 16}, {16, 8, 4}}},
                 {LIST_IMMA, {{8, 8, 16}, {0}, {16, 8, 16}, {16, 8, 32}}},
                 {LIST_DMMA, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const uint32_t how = sass_listed(s, kinds[k].list);
        if (how != UINT32_MAX) return kinds[k].shapes[how];
    }
    sass_refuse(s, "unsupported matrix shape");
}

static void read_registers(SassLower *s, MatrixFragment *fragment, uint32_t index) {
    const SassOperand *operand = &s->inst->operands[index];
    const bool wide = fragment_class(fragment) == REGISTER_64;
    for (uint32_t r = 0; r < fragment->registers; r++) {
        SassOperand pair = *operand;
        if (!sass_is_zero(operand)) pair.reg = (uint8_t)(operand->reg + 2 * r);
        fragment->reg[r] = wide ? sass_pair(s, &pair) : sass_raw(s, operand, r);
    }
}

static void write_registers(SassLower *s, MatrixFragment *fragment) {
    for (uint32_t r = 0; r < fragment->registers; r++)
        fragment->reg[r] = fragment_class(fragment) == REGISTER_64 ? sass_temp(s, REGISTER_64)
                                                                   : sass_dest(s, 0, r);
}

static void split_registers(SassLower *s, const MatrixFragment *fragment) {
    for (uint32_t r = 0; r < fragment->registers; r++) {
        sass_row(s, "sass.low", sass_dest(s, 0, 2 * r), fragment->reg[r], 0, 0);
        sass_row(s, "sass.high", sass_dest(s, 0, 2 * r + 1), fragment->reg[r], 0, 0);
    }
}

static void multiply(SassLower *s, ElementType a, ElementType b, ElementType sum) {
    const MatrixShape shape = take_shape(s);
    Matrix *matrix = ARENA_NEW(s->lower->arena, 1, Matrix);
    *matrix = (Matrix){.a = fragment_of(MATRIX_A, a, shape, false),
                       .b = fragment_of(MATRIX_B, b, shape, false),
                       .c = fragment_of(MATRIX_C, sum, shape, false),
                       .d = fragment_of(MATRIX_C, sum, shape, false),
                       .saturates = sass_take(s, SASS_MOD_SAT),
                       .terms = sum == ELEMENT_F64 ? 1 : shape.k};
    MatrixFragment *const fragments[] = {&matrix->d, &matrix->a, &matrix->b, &matrix->c};
    refuse_guard(s);
    for (uint32_t k = 0; k < 4; k++) fragment_places(s->lower, fragments[k]);
    for (uint32_t k = 1; k < 4; k++) read_registers(s, fragments[k], k);
    write_registers(s, &matrix->d);
    fragment_multiply(s->lower, matrix);
    if (sum == ELEMENT_F64) split_registers(s, &matrix->d);
}

void sass_lower_hmma(SassLower *s) {
    const ElementType sum = sass_take(s, SASS_MOD_F32) ? ELEMENT_F32 : ELEMENT_F16;
    const ElementType factor = sass_take(s, SASS_MOD_BF16)   ? ELEMENT_BF16
                               : sass_take(s, SASS_MOD_TF32) ? ELEMENT_TF32
                                                             : ELEMENT_F16;
    if (sum == ELEMENT_F16) sass_take(s, SASS_MOD_F16);
    if (sum == ELEMENT_F16 && factor != ELEMENT_F16) sass_refuse(s, "unsupported type of sum");
    multiply(s, factor, factor, sum);
}

static ElementType take_byte(SassLower *s) {
    const SassModifier type = sass_next(s);
    if (type != SASS_MOD_S8 && type != SASS_MOD_U8) sass_refuse(s, "its factors are not supported");
    return type == SASS_MOD_S8 ? ELEMENT_S8 : ELEMENT_U8;
}

// The first modifier is the shape.
void sass_lower_imma(SassLower *s) {
    sass_next(s);
    const ElementType a = take_byte(s), b = take_byte(s);
    multiply(s, a, b, ELEMENT_S32);
}

void sass_lower_dmma(SassLower *s) { multiply(s, ELEMENT_F64, ELEMENT_F64, ELEMENT_F64); }

// --- matrices of 8 x 8 elements of 16 bits, one in each register ---

static uint32_t take_count(SassLower *s) {
    sass_take(s, SASS_MOD_16), sass_take(s, SASS_MOD_M88);
    return sass_take(s, SASS_MOD_4) ? 4 : sass_take(s, SASS_MOD_2) ? 2 : 1;
}

static MatrixRowsTemps room_for(SassLower *s) {
    MatrixRowsTemps room;
    for (uint32_t k = 0; k < 4; k++) room.row[k] = sass_temp(s, REGISTER_32);
    for (uint32_t k = 0; k < 4; k++) room.straight[k] = sass_temp(s, REGISTER_32);
    return room;
}

// LDSM: d, row
void sass_lower_ldsm(SassLower *s) {
    const bool turned = sass_take(s, SASS_MOD_MT88);
    const uint32_t count = take_count(s);
    const InstMemory memory = sass_shared(s, 1);
    const MatrixRowsTemps room = room_for(s);
    uint32_t d[4];
    refuse_guard(s);
    for (uint32_t k = 0; k < count; k++) d[k] = sass_dest(s, 0, k);
    matrix_rows_load(s->lower, memory, count, d, turned, &room);
}

// STSM: row, a
void sass_lower_stsm(SassLower *s) {
    const bool turned = sass_take(s, SASS_MOD_MT88);
    const uint32_t count = take_count(s);
    const InstMemory memory = sass_shared(s, 0);
    const MatrixRowsTemps room = room_for(s);
    uint32_t from[4];
    refuse_guard(s);
    for (uint32_t k = 0; k < count; k++) from[k] = sass_raw(s, &s->inst->operands[1], k);
    matrix_rows_store(s->lower, memory, count, from, turned, &room);
}

// MOVM: d, a
void sass_lower_movm(SassLower *s) {
    sass_take(s, SASS_MOD_16), sass_take(s, SASS_MOD_MT88);
    refuse_guard(s);
    const uint32_t from = sass_source(s, 1), d = sass_dest(s, 0, 0);
    matrix_rows_transpose(s->lower, 1, &from, &d);
}
