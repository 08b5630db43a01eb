// Executes products of matrices that are distributed over the lanes of a warp. PTX ISA, "Warp Level
// Matrix Instructions".
//
// Ordinary loads and stores access the matrices. This file computes their addresses and exchanges
// elements between lanes: a row of 8 elements of 16 bits that one lane has loaded goes to four.
#include "simt/ops/matrix.h"

#include "simt/exec/observer.h"
#include "simt/ops/meeting.h"
#include "simt/ops/ops.h"

uint32_t matrix_bytes(ElementType type) {
    static const uint8_t bytes[] = {
        [ELEMENT_F16] = 2,  [ELEMENT_BF16] = 2, [ELEMENT_TF32] = 4, [ELEMENT_E4M3] = 1,
        [ELEMENT_E5M2] = 1, [ELEMENT_F32] = 4,  [ELEMENT_F64] = 8,  [ELEMENT_S8] = 1,
        [ELEMENT_U8] = 1,   [ELEMENT_S32] = 4};
    return bytes[type];
}

// --- the layouts ---

static uint32_t place(uint32_t row, uint32_t column) { return row * 32 + column; }

// The layout of a with m rows: tiles of 16 (or 8) rows, one below the other.
static uint32_t place_a(uint32_t m, uint32_t k, uint32_t per, uint32_t lane, uint32_t index) {
    const uint32_t halves = m > 8 ? 2 : 1, tile_elements = halves * k / 4;
    const uint32_t tile = index / tile_elements, r = index % tile_elements / per;
    return place(16 * tile + lane / 4 + 8 * (r % halves),
                 r / halves * 4 * per + lane % 4 * per + index % per);
}

// The layout of b: tiles of 8 columns, side by side.
static uint32_t place_b(uint32_t k, uint32_t per, uint32_t lane, uint32_t index) {
    const uint32_t tile_elements = k / 4, r = index % tile_elements / per;
    return place(r * 4 * per + lane % 4 * per + index % per,
                 8 * (index / tile_elements) + lane / 4);
}

// The layout of c: tiles of 16 by 8, or one of 8 by 8.
static uint32_t place_c(uint32_t m, uint32_t n, uint32_t lane, uint32_t index) {
    const uint32_t tile = index / 4;
    const uint32_t row = lane / 4 + 8 * (index / 2 % 2), column = lane % 4 * 2 + index % 2;
    return n > 8 ? place(row, column + 8 * tile) : place(row + 16 * tile % m, column);
}

static uint32_t transposed(uint32_t at) { return place(at % 32, at / 32); }

uint32_t matrix_place(const MatrixFragment *fragment, uint32_t lane, uint32_t index) {
    const MatrixShape *shape = &fragment->shape;
    const uint32_t m = shape->m, n = shape->n, k = shape->k, per = fragment->per_register;
    const bool turned = m == 8 && n == 32;
    switch (fragment->role) {
    case MATRIX_A:
        index %= m * k / LANES;
        return turned ? transposed(place_b(k, per, lane, index)) : place_a(m, k, per, lane, index);
    case MATRIX_B:
        index %= k * n / LANES;
        return turned ? transposed(place_a(n, k, per, lane, index)) : place_b(k, per, lane, index);
    case MATRIX_C:
        break;
    }
    return turned ? transposed(place_c(n, m, lane, index)) : place_c(m, n, lane, index);
}

// --- addresses ---

// Sets the lane and the index of the element whose address a lane uses. In a tile of 8 by 8
// elements a lane holds a pair in row g = lane / 4. If the elements of a column are adjacent in
// memory, it accesses a pair in column g instead, and the matrix is transposed in registers
// (SPOT_TURNED). If lanes load whole rows of 16 bytes, 8 lanes load a register of all lanes
// (SPOT_ROWS).
static void spot_of(const InstMatrixAddress *address, uint32_t *lane, uint32_t *index) {
    const uint32_t l = *lane, per = address->fragment->per_register;
    *index = address->index;
    switch (address->spot) {
    case SPOT_OWN:
        break;
    case SPOT_TURNED:
        *lane = l % 4 * 2 * 4 + l / 4 / 2;
        *index += l / 4 % 2;
        break;
    case SPOT_ROWS:
        *lane = l % 8 * 4;
        *index += l / 8 * per;
        break;
    case SPOT_ROWS_TURNED:
        *lane = l % 8 / 2;
        *index += l / 8 * per + l % 2;
        break;
    }
}

const Inst *op_matrix_address(Warp *warp, const Inst *inst) {
    const InstMatrixAddress *address = &inst->matrix_address;
    const LaneU32 *stride = REG(warp, LaneU32, address->stride);
    const uint32_t bytes = matrix_bytes(address->fragment->type);
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        uint32_t lane = l, index;
        spot_of(address, &lane, &index);
        const uint32_t at = matrix_place(address->fragment, lane, index);
        const uint32_t row = at / 32, column = at % 32;
        const uint32_t lines = address->by_columns ? column : row;
        const uint32_t along = address->by_columns ? row : column;
        const uint64_t offset = ((uint64_t)lines * stride[l] + along) * bytes;
        if (address->wide)
            REG(warp, LaneU64, address->d)[l] = REG(warp, LaneU64, address->base)[l] + offset;
        else
            REG(warp, LaneU32, address->d)
        [l] = REG(warp, LaneU32, address->base)[l] + (uint32_t)offset;
    }
    return inst + 1;
}

// --- exchange between lanes ---

// The registers of all lanes, which are in the frames of their paths.
typedef struct {
    uint32_t lanes;
    uint8_t *frame[LANES];
} Together;

static uint32_t get(const Together *together, uint32_t offset, uint32_t lane) {
    return ((const LaneU32 *)(const void *)(together->frame[lane] + offset))[lane];
}

static void put(const Together *together, uint32_t offset, uint32_t lane, uint32_t value) {
    if (together->lanes >> lane & 1)
        ((LaneU32 *)(void *)(together->frame[lane] + offset))[lane] = value;
}

// Reports lanes that do not reach the instruction, whose effect PTX then does not define, as a
// shuffle from one of them.
static bool tell_missing(Warp *warp, const Inst *inst, uint32_t here, uint32_t missing) {
    const Observer *observer = observer_of(warp->block);
    if (!observer || !observer->shuffle) return false;
    int32_t source[LANES];
    const LaneU32 no_value[LANES] = {0};
    LANE_LOOP source[l] = __builtin_ctz(missing);
    observer->shuffle(warp, inst, here & (0 - here), source, no_value);
    return true;
}

// Whether all lanes are at this instruction. False after warp_fail.
static bool complete(Warp *warp, const Inst *inst, const Meeting *meeting) {
    uint32_t here = 0;
    for (uint32_t n = 0; n < meeting->count; n++)
        if (meeting->party[n].inst == inst) here |= meeting->party[n].lanes;
    if (here != meeting->lanes) {
        tell_missing(warp, inst, here, meeting->lanes & ~here);
        warp_fail(warp, inst, -1, SIMT_TRAP,
                  "lanes 0x%08x of the warp are at another matrix instruction",
                  meeting->lanes & ~here);
        return false;
    }
    if (here == ALL_LANES || tell_missing(warp, inst, here, ~here)) return true;
    warp_fail(warp, inst, -1, SIMT_TRAP,
              "lanes 0x%08x of the warp have exited or do not exist: a matrix instruction needs "
              "all 32 lanes",
              ~here);
    return false;
}

typedef enum { ALL_HERE, NOT_YET, FAILED } Gathered;

static Gathered gather(Warp *warp, const Inst *inst, Together *together) {
    Meeting meeting;
    if (!meeting_of(warp, inst, ALL_LANES, &meeting)) return NOT_YET;
    if (!complete(warp, inst, &meeting)) return FAILED;
    together->lanes = meeting.lanes;
    LANE_LOOP together->frame[l] = warp->frame;
    for (uint32_t n = 1; n < meeting.count; n++)
        for (uint32_t m = meeting.party[n].lanes; m; m &= m - 1)
            together->frame[__builtin_ctz(m)] = meeting.party[n].frame;
    return ALL_HERE;
}

static const Inst *not_all(Warp *warp, const Inst *inst, Gathered gathered) {
    return gathered == NOT_YET ? path_wait_sync(warp, inst, ALL_LANES) : NULL;
}

const Inst *op_matrix_sync(Warp *warp, const Inst *inst) {
    Together together;
    Gathered gathered = gather(warp, inst, &together);
    return gathered == ALL_HERE ? inst + 1 : not_all(warp, inst, gathered);
}

// Lane 8 r + j holds the four words of row j of matrix r. Word w goes to lane 4 j + w.
const Inst *op_matrix_from_rows(Warp *warp, const Inst *inst) {
    const InstMatrixMove *move = &inst->matrix_move;
    Together together;
    Gathered gathered = gather(warp, inst, &together);
    if (gathered != ALL_HERE) return not_all(warp, inst, gathered);
    uint32_t value[4][LANES];
    for (uint32_t r = 0; r < move->count; r++)
        for (uint32_t l = 0; l < LANES; l++)
            value[r][l] = get(&together, move->from[l % 4], 8 * r + l / 4);
    for (uint32_t r = 0; r < move->count; r++)
        for (uint32_t l = 0; l < LANES; l++) put(&together, move->d[r], l, value[r][l]);
    return inst + 1;
}

const Inst *op_matrix_to_rows(Warp *warp, const Inst *inst) {
    const InstMatrixMove *move = &inst->matrix_move;
    Together together;
    Gathered gathered = gather(warp, inst, &together);
    if (gathered != ALL_HERE) return not_all(warp, inst, gathered);
    for (uint32_t r = 0; r < move->count; r++)
        for (uint32_t l = 0; l < LANES; l++)
            put(&together, move->d[l % 4], 8 * r + l / 4, get(&together, move->from[r], l));
    return inst + 1;
}

// Transposes the matrix of each register.
const Inst *op_matrix_transpose(Warp *warp, const Inst *inst) {
    const InstMatrixMove *move = &inst->matrix_move;
    Together together;
    Gathered gathered = gather(warp, inst, &together);
    if (gathered != ALL_HERE) return not_all(warp, inst, gathered);
    for (uint32_t r = 0; r < move->count; r++) {
        uint32_t value[LANES];
        for (uint32_t l = 0; l < LANES; l++) {
            const uint32_t first = l % 4 * 2 * 4 + l / 8, shift = l / 4 % 2 * 16;
            const uint32_t low = get(&together, move->from[r], first) >> shift;
            const uint32_t high = get(&together, move->from[r], first + 4) >> shift;
            value[l] = (low & 0xffff) | high << 16;
        }
        for (uint32_t l = 0; l < LANES; l++) put(&together, move->d[r], l, value[l]);
    }
    return inst + 1;
}

// --- products ---

static uint32_t columns_of(const MatrixFragment *fragment) {
    return fragment->role == MATRIX_A ? fragment->shape.k : fragment->shape.n;
}

// Reads the elements in row order, as their bits.
static void read_fragment(const Together *together, const MatrixFragment *fragment,
                          uint64_t *element) {
    const uint32_t per = fragment->per_register, bits = 8 * matrix_bytes(fragment->type);
    const uint32_t columns = columns_of(fragment);
    const uint16_t *at = fragment->places;
    const uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t r = 0; r < fragment->registers; r++) {
            const void *reg = together->frame[l] + fragment->reg[r];
            uint64_t whole = bits == 64 ? ((const LaneU64 *)reg)[l] : ((const LaneU32 *)reg)[l];
            for (uint32_t e = 0; e < per; e++, at++, whole >>= bits & 63)
                element[*at / 32 * columns + *at % 32] = whole & mask;
        }
}

static void write_fragment(const Together *together, const MatrixFragment *fragment,
                           const uint64_t *element) {
    const uint32_t per = fragment->per_register, bits = 8 * matrix_bytes(fragment->type);
    const uint32_t columns = columns_of(fragment);
    const uint16_t *at = fragment->places;
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t r = 0; r < fragment->registers; r++) {
            uint64_t whole = 0;
            for (uint32_t e = 0; e < per; e++, at++)
                whole |= element[*at / 32 * columns + *at % 32] << (e * bits);
            if (bits < 64)
                put(together, fragment->reg[r], l, (uint32_t)whole);
            else if (together->lanes >> l & 1)
                ((LaneU64 *)(void *)(together->frame[l] + fragment->reg[r]))[l] = whole;
        }
}

const Inst *op_matrix_multiply(Warp *warp, const Inst *inst) {
    const Matrix *matrix = inst->matrix.matrix;
    Together together;
    Gathered gathered = gather(warp, inst, &together);
    if (gathered != ALL_HERE) return not_all(warp, inst, gathered);
    uint64_t a[MATRIX_ELEMENTS], b[MATRIX_ELEMENTS], c[MATRIX_ELEMENTS], d[MATRIX_ELEMENTS];
    read_fragment(&together, &matrix->a, a);
    read_fragment(&together, &matrix->b, b);
    read_fragment(&together, &matrix->c, c);
    tensor_multiply(matrix, a, b, c, d);
    write_fragment(&together, &matrix->d, d);
    return inst + 1;
}
