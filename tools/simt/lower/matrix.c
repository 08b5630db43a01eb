// Lowers the matrix instructions of a warp: wmma, mma, ldmatrix, stmatrix, movmatrix. Each becomes
// the loads and stores that ptxas generates for sm_90, so that their counts are the hardware's, and
// exchanges between lanes. See ops/matrix.h.
#include "simt/emit/fragment.h"
#include "simt/emit/matrix_rows.h"
#include "simt/lower/lower.h"

// --- modifiers ---

static void take_aligned(Lower *lower) {
    if (!lower_take(lower, PTX_MOD_SYNC)) lower_unknown(lower);
    lower_take(lower, PTX_MOD_ALIGNED); // wmma and mma need it
}

static MatrixShape take_shape(Lower *lower) {
    static const struct {
        PtxModifier modifier;
        MatrixShape shape;
    } shapes[] = {{PTX_MOD_M16N16K16, {16, 16, 16}}, {PTX_MOD_M32N8K16, {32, 8, 16}},
                  {PTX_MOD_M8N32K16, {8, 32, 16}},   {PTX_MOD_M16N16K8, {16, 16, 8}},
                  {PTX_MOD_M8N8K4, {8, 8, 4}},       {PTX_MOD_M8N8K16, {8, 8, 16}},
                  {PTX_MOD_M16N8K4, {16, 8, 4}},     {PTX_MOD_M16N8K8, {16, 8, 8}},
                  {PTX_MOD_M16N8K16, {16, 8, 16}},   {PTX_MOD_M16N8K32, {16, 8, 32}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (lower_take(lower, shapes[i].modifier)) return shapes[i].shape;
    lower_unknown(lower);
}

static ElementType take_element(Lower *lower) {
    static const Choice types[] = {{PTX_MOD_F16, ELEMENT_F16},
                                   {PTX_MOD_BF16, ELEMENT_BF16},
                                   {PTX_MOD_TF32, ELEMENT_TF32},
                                   {PTX_MOD_E4M3, ELEMENT_E4M3},
                                   {PTX_MOD_E5M2, ELEMENT_E5M2},
                                   {PTX_MOD_F32, ELEMENT_F32},
                                   {PTX_MOD_F64, ELEMENT_F64},
                                   {PTX_MOD_S8, ELEMENT_S8},
                                   {PTX_MOD_U8, ELEMENT_U8},
                                   {PTX_MOD_S32, ELEMENT_S32},
                                   {PTX_MOD_NONE, 0}};
    return (ElementType)lower_next(lower, types);
}

// True for .col.
static bool take_layout(Lower *lower) {
    static const Choice layouts[] = {{PTX_MOD_ROW, 0}, {PTX_MOD_COL, 1}, {PTX_MOD_NONE, 0}};
    return lower_choice(lower, layouts);
}

// --- fragments ---

// A supported product. PTX ISA, "Warp Level Matrix Instructions: Matrix Shape".
typedef struct {
    uint32_t types; // a bit for each ElementType of a and b
    MatrixShape shape;
    uint32_t terms; // products added at once by ptxas's machine instruction
} Product;

enum {
    HALVES = 1 << ELEMENT_F16 | 1 << ELEMENT_BF16,
    BYTES = 1 << ELEMENT_S8 | 1 << ELEMENT_U8,
    NARROW = 1 << ELEMENT_E4M3 | 1 << ELEMENT_E5M2,
    TF32 = 1 << ELEMENT_TF32,
    DOUBLE = 1 << ELEMENT_F64
};

static const Product wmma_products[] = {
    {HALVES, {16, 16, 16}, 16}, {HALVES, {32, 8, 16}, 16}, {HALVES, {8, 32, 16}, 16},
    {BYTES, {16, 16, 16}, 16},  {BYTES, {32, 8, 16}, 16},  {BYTES, {8, 32, 16}, 16},
    {TF32, {16, 16, 8}, 4},     {DOUBLE, {8, 8, 4}, 1},    {0, {0, 0, 0}, 0}};

static const Product mma_products[] = {
    {HALVES, {16, 8, 8}, 8},  {HALVES, {16, 8, 16}, 16}, {TF32, {16, 8, 4}, 4},
    {TF32, {16, 8, 8}, 8},    {BYTES, {8, 8, 16}, 16},   {BYTES, {16, 8, 16}, 16},
    {BYTES, {16, 8, 32}, 32}, {NARROW, {16, 8, 32}, 16}, {DOUBLE, {8, 8, 4}, 1},
    {DOUBLE, {16, 8, 4}, 1},  {DOUBLE, {16, 8, 8}, 1},   {DOUBLE, {16, 8, 16}, 1},
    {0, {0, 0, 0}, 0}};

static const Product *find_product(Lower *lower, const Product *products, MatrixShape shape,
                                   ElementType type) {
    for (; products->types; products++)
        if (products->types >> type & 1 && products->shape.m == shape.m &&
            products->shape.n == shape.n && products->shape.k == shape.k)
            return products;
    lower_unknown(lower);
}

// Whether c and d may have this type.
static bool sums_to(ElementType factors, ElementType sum) {
    switch (factors) {
    case ELEMENT_F16:
    case ELEMENT_E4M3:
    case ELEMENT_E5M2:
        return sum == ELEMENT_F32 || sum == ELEMENT_F16;
    case ELEMENT_BF16:
    case ELEMENT_TF32:
        return sum == ELEMENT_F32;
    case ELEMENT_F64:
        return sum == ELEMENT_F64;
    default:
        return sum == ELEMENT_S32;
    }
}

// Fails if no product has such a fragment.
static void find_fragment(Lower *lower, const MatrixFragment *fragment) {
    const MatrixShape shape = fragment->shape;
    for (const Product *product = wmma_products; product->types; product++) {
        if (product->shape.m != shape.m || product->shape.n != shape.n ||
            product->shape.k != shape.k)
            continue;
        for (uint32_t type = 0; type <= ELEMENT_S32; type++)
            if (product->types >> type & 1 &&
                (fragment->role == MATRIX_C ? sums_to((ElementType)type, fragment->type)
                                            : type == (uint32_t)fragment->type))
                return;
    }
    lower_unknown(lower);
}

static void fragment_registers(Lower *lower, MatrixFragment *fragment, const PtxOperand *operand,
                               bool written) {
    const bool one = operand->kind != PTX_OPERAND_VECTOR && fragment->registers == 1;
    const PtxOperand *items = one ? operand : operand->items;
    if (!one && (operand->kind != PTX_OPERAND_VECTOR || operand->count != fragment->registers))
        lower_unknown(lower);
    for (uint32_t r = 0; r < fragment->registers; r++)
        fragment->reg[r] = written ? lower_dest(lower, &items[r], fragment_class(fragment))
                                   : lower_source(lower, &items[r], fragment_class(fragment));
}

// --- products ---

typedef struct {
    ElementType d, a, b, c;
} Types;

// wmma with f16 does not name the types of a and b.
static Types take_types(Lower *lower, bool wmma) {
    Types types = {.d = take_element(lower)};
    types.a = types.b = ELEMENT_F16;
    const ElementType next = take_element(lower);
    if (wmma && types.d <= ELEMENT_F32 && (next == ELEMENT_F32 || next == ELEMENT_F16)) {
        types.c = next;
        return types;
    }
    types.a = next;
    types.b = take_element(lower);
    types.c = take_element(lower);
    return types;
}

// Fails if the types cannot be combined.
static void check_types(Lower *lower, const Product *product, const Types *types, bool wmma) {
    if (!(product->types >> types->b & 1) || (wmma && types->a != types->b)) lower_unknown(lower);
    if (product->types == HALVES && types->a != types->b) lower_unknown(lower);
    if (!sums_to(types->a, types->d) || !sums_to(types->a, types->c)) lower_unknown(lower);
    if (!wmma && types->c != types->d) lower_unknown(lower);
}

static void fragment_operand(Lower *lower, MatrixFragment *fragment, const PtxOperand *operand,
                             bool written) {
    fragment_registers(lower, fragment, operand, written);
    fragment_places(lower, fragment);
}

static void lower_product(Lower *lower, const Product *products, bool wmma) {
    take_aligned(lower);
    const bool first = take_layout(lower), second = take_layout(lower);
    const MatrixShape shape = take_shape(lower);
    const bool saturates = lower_take(lower, PTX_MOD_SATFINITE);
    lower_take(lower, PTX_MOD_RN);
    const Types types = take_types(lower, wmma);
    lower_all_taken(lower);
    lower_operands(lower, 4, 4);
    const Product *product = find_product(lower, products, shape, types.a);
    check_types(lower, product, &types, wmma);
    if ((saturates && types.d != ELEMENT_S32) || (!wmma && first == second)) lower_unknown(lower);
    const PtxOperand *operands = lower->at->operands;
    Matrix *matrix = ARENA_NEW(lower->arena, 1, Matrix);
    *matrix = (Matrix){.a = fragment_of(MATRIX_A, types.a, shape, wmma),
                       .b = fragment_of(MATRIX_B, types.b, shape, wmma),
                       .c = fragment_of(MATRIX_C, types.c, shape, wmma),
                       .d = fragment_of(MATRIX_C, types.d, shape, wmma),
                       .saturates = saturates,
                       .terms = product->terms};
    fragment_operand(lower, &matrix->a, &operands[1], false);
    fragment_operand(lower, &matrix->b, &operands[2], false);
    fragment_operand(lower, &matrix->c, &operands[3], false);
    fragment_operand(lower, &matrix->d, &operands[0], true);
    fragment_multiply(lower, matrix);
}

void lower_mma(Lower *lower) { lower_product(lower, mma_products, false); }

// --- rows ---

void lower_movmatrix(Lower *lower) {
    take_aligned(lower);
    if (!lower_take(lower, PTX_MOD_M8N8) || !lower_take(lower, PTX_MOD_TRANS) ||
        !lower_take(lower, PTX_MOD_B16))
        lower_unknown(lower);
    lower_all_taken(lower);
    lower_operands(lower, 2, 2);
    const uint32_t from = lower_source(lower, &lower->at->operands[1], REGISTER_32);
    const uint32_t d = lower_dest(lower, &lower->at->operands[0], REGISTER_32);
    matrix_rows_transpose(lower, 1, &from, &d);
}

static MatrixRowsTemps take_temps(Lower *lower) {
    MatrixRowsTemps temps;
    for (uint32_t k = 0; k < 4; k++) temps.row[k] = lower_temp(lower, REGISTER_32);
    for (uint32_t k = 0; k < 4; k++) temps.straight[k] = lower_temp(lower, REGISTER_32);
    return temps;
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 {registers}, [row]; stmatrix [row], {registers}
static void lower_matrix_access(Lower *lower, bool load) {
    static const Choice counts[] = {
        {PTX_MOD_X1, 1}, {PTX_MOD_X2, 2}, {PTX_MOD_X4, 4}, {PTX_MOD_NONE, 0}};
    take_aligned(lower);
    if (!lower_take(lower, PTX_MOD_M8N8) || !lower_take(lower, PTX_MOD_B16)) lower_unknown(lower);
    const uint32_t count = lower_choice(lower, counts);
    const bool transposed = lower_take(lower, PTX_MOD_TRANS);
    MemoryForm form = lower_take_form(lower);
    lower_all_taken(lower);
    lower_operands(lower, 2, 2);
    if (form.space != PTX_SHARED && form.space != PTX_GENERIC) lower_unknown(lower);
    form.type = PTX_B32;
    const PtxOperand *operands = lower->at->operands;
    const InstMemory memory = lower_memory(lower, &operands[load ? 1 : 0], &form);
    MatrixFragment fragment = {.type = ELEMENT_F16, .per_register = 2, .registers = count};
    fragment_registers(lower, &fragment, &operands[load ? 0 : 1], load);
    const MatrixRowsTemps temps = take_temps(lower);
    if (load)
        matrix_rows_load(lower, memory, count, fragment.reg, transposed, &temps);
    else
        matrix_rows_store(lower, memory, count, fragment.reg, transposed, &temps);
}

void lower_ldmatrix(Lower *lower) { lower_matrix_access(lower, true); }
void lower_stmatrix(Lower *lower) { lower_matrix_access(lower, false); }

// --- wmma.load, wmma.store ---

typedef struct {
    const MatrixFragment *fragment;
    InstMemory memory; // of the first element
    uint32_t stride;   // a register
    bool by_columns, load;
    bool adjacent; // the elements of a register, or of two registers, are adjacent in memory
} Whole;

// The address that a lane accesses for the element at the index. SPOT_* is in exec/inst.h.
static InstMemory spot(Lower *lower, const Whole *whole, uint32_t index, int mode) {
    InstMemory memory = whole->memory;
    memory.base = lower_temp(lower, memory.wide ? REGISTER_64 : REGISTER_32);
    const InstMatrixAddress address = {.fragment = whole->fragment,
                                       .d = memory.base,
                                       .base = whole->memory.base,
                                       .stride = whole->stride,
                                       .index = (uint16_t)index,
                                       .wide = memory.wide,
                                       .by_columns = whole->by_columns,
                                       .spot = (uint8_t)mode};
    lower_emit(lower, op_matrix_address)->matrix_address = address;
    return memory;
}

// Accesses elements of 16 bits when the elements of a register are in different rows of memory.
static void access_transposed(Lower *lower, const Whole *whole, uint32_t r) {
    uint32_t other = lower_temp(lower, REGISTER_32);
    const uint32_t *reg = &whole->fragment->reg[r];
    const InstMemory memory = spot(lower, whole, 2 * r, SPOT_TURNED);
    if (!whole->load) matrix_rows_transpose(lower, 1, reg, &other);
    matrix_rows_access(lower, memory, 4, 1, &other, whole->load, false);
    if (whole->load) matrix_rows_transpose(lower, 1, &other, reg);
}

// Loads elements of 8 bits when the elements of a register are in different rows of memory.
static void load_bytes(Lower *lower, const Whole *whole, uint32_t r) {
    InstVector vector = {.whole = whole->fragment->reg[r], .bytes = 1, .count = 4};
    for (uint32_t e = 0; e < 4; e++) {
        vector.part[e] = lower_temp(lower, REGISTER_16);
        matrix_rows_access(lower, spot(lower, whole, 4 * r + e, SPOT_OWN), 1, 1, &vector.part[e],
                           true, false);
    }
    lower_emit(lower, op_pack)->vector = vector;
}

// Accesses elements by their own addresses. Two adjacent ones of 4 or 8 bytes are one access.
static void access_plain(Lower *lower, const Whole *whole, uint32_t registers) {
    const MatrixFragment *fragment = whole->fragment;
    const uint32_t bytes = fragment->type == ELEMENT_F64 ? 8 : 4;
    const bool pairs = whole->adjacent && fragment->per_register == 1 && fragment->role == MATRIX_C;
    for (uint32_t r = 0; r < registers; r += pairs ? 2 : 1) {
        const InstMemory memory = spot(lower, whole, r * fragment->per_register, SPOT_OWN);
        matrix_rows_access(lower, memory, bytes, pairs ? 2 : 1, &fragment->reg[r], whole->load,
                           false);
    }
}

// Loads as ldmatrix does: the registers of one tile of 16 rows at a time, or all.
static void load_tiles(Lower *lower, const Whole *whole, uint32_t registers) {
    const MatrixFragment *fragment = whole->fragment;
    const MatrixShape *shape = &fragment->shape;
    const bool tall = fragment->role == MATRIX_A ? shape->m >= 16 : shape->n == 32;
    const uint32_t of_tile = tall ? fragment->shape.k / (2u * fragment->per_register) : registers;
    for (uint32_t r = 0; r < registers; r += of_tile) {
        const InstMemory memory = spot(lower, whole, r * fragment->per_register,
                                       whole->adjacent ? SPOT_ROWS : SPOT_ROWS_TURNED);
        const MatrixRowsTemps temps = take_temps(lower);
        matrix_rows_load(lower, memory, of_tile, &fragment->reg[r], !whole->adjacent, &temps);
    }
}

static bool neighbours(const Whole *whole) {
    const uint32_t first = matrix_place(whole->fragment, 0, 0);
    const uint32_t second = matrix_place(whole->fragment, 0, 1);
    return second - first == (whole->by_columns ? 32 : 1);
}

static void lower_whole(Lower *lower, const Whole *whole) {
    const MatrixFragment *fragment = whole->fragment;
    const uint32_t bytes = matrix_bytes(fragment->type);
    const MatrixFragment once = fragment_of(fragment->role, fragment->type, fragment->shape, false);
    const uint32_t registers = once.registers; // further registers of f16 repeat the elements
    const bool factor = fragment->role != MATRIX_C;
    if (factor && whole->memory.space == PTX_SHARED &&
        (bytes == 2 || (bytes == 1 && whole->adjacent)))
        load_tiles(lower, whole, registers);
    else if (bytes >= 4 || whole->adjacent)
        access_plain(lower, whole, registers);
    else
        for (uint32_t r = 0; r < registers; r++)
            (bytes == 2 ? access_transposed : load_bytes)(lower, whole, r);
    for (uint32_t r = registers; r < fragment->registers; r++)
        lower_emit_typed(lower, OPCODE_MOV, PTX_B32,
                         (uint32_t[]){fragment->reg[r], fragment->reg[r % registers]});
}

// Copies a register that is needed until the end of a load, which may overwrite it.
static uint32_t stable_copy(Lower *lower, const Whole *whole, uint32_t reg, RegisterClass class) {
    bool result = false;
    for (uint32_t r = 0; r < whole->fragment->registers; r++)
        result |= whole->fragment->reg[r] == reg;
    if (!whole->load || !result) return reg;
    const uint32_t copy = lower_temp(lower, class);
    lower_emit_typed(lower, OPCODE_MOV, class == REGISTER_64 ? PTX_B64 : PTX_B32,
                     (uint32_t[]){copy, reg});
    return copy;
}

// wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {registers}, [first], stride
static void lower_wmma_access(Lower *lower, bool load) {
    static const Choice roles[] = {
        {PTX_MOD_A, MATRIX_A}, {PTX_MOD_B, MATRIX_B}, {PTX_MOD_C, MATRIX_C}, {PTX_MOD_NONE, 0}};
    MatrixRole role = MATRIX_C;
    if (load)
        role = (MatrixRole)lower_choice(lower, roles);
    else if (!lower_take(lower, PTX_MOD_D))
        lower_unknown(lower);
    take_aligned(lower);
    Whole whole = {.by_columns = take_layout(lower), .load = load};
    const MatrixShape shape = take_shape(lower);
    MemoryForm form = lower_take_form(lower);
    const ElementType type = take_element(lower);
    lower_all_taken(lower);
    lower_operands(lower, 2, 3);
    if (form.order || form.elements > 1) lower_unknown(lower);
    form.type = type == ELEMENT_F64 ? PTX_B64 : PTX_B32;
    MatrixFragment *fragment = ARENA_NEW(lower->arena, 1, MatrixFragment);
    *fragment = fragment_of(role, type, shape, true);
    find_fragment(lower, fragment);
    const PtxOperand *operands = lower->at->operands;
    whole.fragment = fragment;
    whole.memory = lower_memory(lower, &operands[load ? 1 : 0], &form);
    fragment_registers(lower, fragment, &operands[load ? 0 : 1], load);
    const uint32_t rows = role == MATRIX_B ? shape.k : shape.m;
    const uint32_t columns = role == MATRIX_A ? shape.k : shape.n;
    whole.stride = lower->at->operand_count == 3
                       ? lower_source(lower, &operands[2], REGISTER_32)
                       : lower_constant(lower, REGISTER_32, whole.by_columns ? rows : columns);
    whole.stride = stable_copy(lower, &whole, whole.stride, REGISTER_32);
    whole.memory.base = stable_copy(lower, &whole, whole.memory.base,
                                    whole.memory.wide ? REGISTER_64 : REGISTER_32);
    whole.adjacent = neighbours(&whole);
    const InstMatrix sync = {.mask = lower_constant(lower, REGISTER_32, ALL_LANES)};
    Inst *inst = lower_emit(lower, op_matrix_sync);
    inst->matrix = sync;
    inst->access = ACCESS_SYNC;
    lower_whole(lower, &whole);
}

void lower_wmma(Lower *lower) {
    if (lower_take(lower, PTX_MOD_LOAD))
        lower_wmma_access(lower, true);
    else if (lower_take(lower, PTX_MOD_STORE))
        lower_wmma_access(lower, false);
    else if (lower_take(lower, PTX_MOD_MMA))
        lower_product(lower, wmma_products, true);
    else
        lower_unknown(lower);
}
