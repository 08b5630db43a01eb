// Arithmetic by the tables, moves, conversions, comparisons.
#include <string.h>

#include "simt/exec/address.h"
#include "simt/lower/lower.h"

static bool is_float(PtxType type) {
    return type == PTX_F32 || type == PTX_F64 || type == PTX_F16 || type == PTX_F16X2 ||
           type == PTX_BF16 || type == PTX_BF16X2;
}

static bool one_of(Str word, const char *const *names) {
    for (; *names; names++)
        if (str_equal(word, str_of(*names))) return true;
    return false;
}

// The name of the row: the opcode without the parts that were taken.
size_t lower_row_name(const Lower *lower, char name[128]) {
    size_t len = 0;
    for (uint32_t k = 0; k < lower->parts; k++) {
        if (k > 0 && lower->used[k]) continue;
        if (len + lower->part[k].len + 2 > 128) return 0;
        if (k > 0) name[len++] = '.';
        memcpy(name + len, lower->part[k].at, lower->part[k].len);
        len += lower->part[k].len;
    }
    return len;
}

uint32_t lower_flushed(Lower *lower, char letter, uint32_t from) {
    uint32_t to = lower_temp(lower, letter);
    Str row = letter == 'h' ? STR("flush.f16") : STR("flush.f32");
    Inst *inst = lower_emit(lower, lower_row(row, NULL));
    inst->r[0] = to;
    inst->r[1] = from;
    return to;
}

// slct.ftz compares with zero what may be flushed, and selects without change.
static bool flushes(const Lower *lower, const char *shape, uint32_t operand) {
    if (str_equal(lower->part[0], STR("slct"))) return operand == 3;
    return shape[operand] == 'w';
}

// Flushes the result r[0], a product by its operands: those are flushed copies, which the result
// has not overwritten.
static void flush_result(Lower *lower, const uint32_t r[]) {
    bool product = str_equal(lower->part[0], STR("mul"));
    Str name = product ? STR("flush.product.f32") : STR("flush.f32");
    Inst *inst = lower_emit(lower, lower_row(name, NULL));
    inst->r[0] = inst->r[1] = r[0];
    if (!product) return;
    inst->r[2] = r[1];
    inst->r[3] = r[2];
}

// Looks the rest of the opcode up and emits it with these operands, with subnormal f32 numbers
// taken as zero before and after if asked.
static void emit_row(Lower *lower, bool flush, bool saturate, PtxType type) {
    const PtxInst *at = lower->at;
    char name[128];
    const char *shape = NULL;
    size_t len = lower_row_name(lower, name);
    Op *run = lower_row((Str){name, len}, &shape);
    if (!run) lower_unknown(lower);
    uint32_t count = (uint32_t)strlen(shape);
    lower_operands(lower, count, count);
    uint32_t r[6];
    for (uint32_t k = 1; k < count; k++) {
        r[k] = lower_source(lower, &at->operands[k], shape[k]);
        if (flush && flushes(lower, shape, k)) r[k] = lower_flushed(lower, 'w', r[k]);
    }
    r[0] = lower_dest(lower, &at->operands[0], shape[0]);
    Inst *inst = lower_emit(lower, run);
    memcpy(inst->r, r, count * sizeof r[0]);
    if (flush && flushes(lower, shape, 0)) flush_result(lower, r);
    if (saturate) {
        Str clamp = type == PTX_F32     ? STR("saturate.f32")
                    : type == PTX_F64   ? STR("saturate.f64")
                    : type == PTX_F16   ? STR("saturate.f16")
                    : type == PTX_BF16  ? STR("saturate.bf16")
                    : type == PTX_F16X2 ? STR("saturate.f16x2")
                                        : STR("saturate.bf16x2");
        inst = lower_emit(lower, lower_row(clamp, NULL));
        inst->r[0] = inst->r[1] = r[0];
    }
}

void lower_plain(Lower *lower) {
    PtxType type = PTX_NOTYPE;
    bool exact_upper = false; // rcp.approx.ftz.f64 is an instruction of its own
    for (uint32_t k = 1; k < lower->parts; k++) {
        PtxType named = ptx_type_named(lower->part[k]);
        if (named != PTX_NOTYPE && type == PTX_NOTYPE) type = named;
    }
    bool flush = false, saturate = false;
    if (str_equal(lower->part[0], STR("slct"))) {
        flush = lower_take(lower, "ftz");
    } else if (is_float(type)) {
        static const char *const rounded[] = {"add", "sub",  "mul", "fma", "mad",
                                              "div", "sqrt", "rcp", NULL};
        exact_upper = type == PTX_F64;
        if (one_of(lower->part[0], rounded)) lower_take(lower, "rn");
        // f16 has rows that flush.
        bool half = type == PTX_F16 || type == PTX_F16X2;
        if (!exact_upper && !half) flush = lower_take(lower, "ftz") && type == PTX_F32;
        saturate = lower_take(lower, "sat");
    }
    emit_row(lower, flush, saturate, type);
}

// Packing and unpacking: mov.b32 %r, {%rs1, %rs2}; mov.b64 {%r1, %r2}, %rd.
static void lower_vector(Lower *lower, PtxType type) {
    const PtxInst *at = lower->at;
    bool unpack = at->operands[0].kind == PTX_OPERAND_VECTOR;
    const PtxOperand *vector = &at->operands[unpack ? 0 : 1];
    const PtxOperand *whole = &at->operands[unpack ? 1 : 0];
    uint32_t bytes = ptx_type_bytes(type), count = vector->count;
    if ((count != 2 && count != 4) || bytes / count == 0 || bytes > 8) lower_unknown(lower);
    uint32_t part = bytes / count, r[5];
    char letter = part == 4 ? 'w' : part == 8 ? 'd' : 'h';
    char whole_letter = lower_type_letter(type);
    for (uint32_t k = 0; k < count; k++) {
        const PtxOperand *item = &vector->items[k];
        if (unpack)
            r[1 + k] = item->kind == PTX_OPERAND_SINK ? PTX_NONE : lower_dest(lower, item, letter);
        else
            r[1 + k] = lower_source(lower, item, letter);
    }
    r[0] =
        unpack ? lower_source(lower, whole, whole_letter) : lower_dest(lower, whole, whole_letter);
    Inst *inst = lower_emit(lower, unpack ? op_unpack : op_pack);
    memcpy(inst->r, r, (count + 1) * sizeof r[0]);
    inst->bytes = (uint8_t)part;
    inst->elements = (uint8_t)count;
}

static void lower_mov(Lower *lower) {
    lower_operands(lower, 2, 2);
    const PtxInst *at = lower->at;
    if (at->operands[0].kind == PTX_OPERAND_VECTOR || at->operands[1].kind == PTX_OPERAND_VECTOR) {
        PtxType type = lower_take_type(lower);
        lower_all_taken(lower);
        lower_vector(lower, type);
        return;
    }
    const PtxOperand *from = &at->operands[1];
    if (from->kind == PTX_OPERAND_NAME && from->variable && from->variable->space == PTX_PARAM &&
        !lower->function->entry)
        lower_fail(lower, "the address of parameter `%.*s` of a function", STR_ARG(from->name));
    emit_row(lower, false, false, PTX_NOTYPE);
}

// One of the spaces that generic addresses reach; PTX_REG_SPACE if none is named.
static PtxSpace take_space(Lower *lower) {
    static const struct {
        const char *name;
        PtxSpace space;
    } rows[] = {
        {"shared", PTX_SHARED}, {"shared::cta", PTX_SHARED}, {"shared::cluster", PTX_SHARED},
        {"local", PTX_LOCAL},   {"param", PTX_PARAM},        {"param::entry", PTX_PARAM},
        {"global", PTX_GLOBAL},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (lower_take(lower, rows[k].name)) return rows[k].space;
    return PTX_REG_SPACE;
}

// cvta[.to].space.u64
static void lower_cvta(Lower *lower) {
    lower_operands(lower, 2, 2);
    bool to = lower_take(lower, "to");
    PtxSpace space = take_space(lower);
    if (space == PTX_REG_SPACE && !lower_take(lower, "const")) lower_unknown(lower);
    uint64_t window = address_window(space);
    PtxType type = lower_take_type(lower);
    lower_all_taken(lower);
    if (ptx_type_bytes(type) != 8) lower_unknown(lower);
    uint32_t a = lower_source(lower, &lower->at->operands[1], 'd');
    uint32_t d = lower_dest(lower, &lower->at->operands[0], 'd');
    Inst *inst;
    if (!window) {
        inst = lower_emit(lower, lower_row(STR("mov.b64"), NULL));
    } else {
        uint32_t constant = lower_constant(lower, 'd', to ? ADDRESS_WITHIN : window);
        inst = lower_emit(lower, lower_row(to ? STR("and.b64") : STR("or.b64"), NULL));
        inst->r[2] = constant;
    }
    inst->r[0] = d;
    inst->r[1] = a;
}

static void lower_isspacep(Lower *lower) {
    lower_operands(lower, 2, 2);
    PtxSpace space = take_space(lower);
    lower_all_taken(lower);
    if (space == PTX_REG_SPACE) lower_unknown(lower);
    uint32_t a = lower_source(lower, &lower->at->operands[1], 'd');
    uint32_t d = lower_dest(lower, &lower->at->operands[0], 'p');
    Inst *inst = lower_emit(lower, op_is_space);
    inst->r[0] = d;
    inst->r[1] = a;
    inst->space = (uint8_t)space;
}

// cvt. The common conversions have rows; op_convert does all others.
static void lower_cvt(Lower *lower) {
    const PtxInst *at = lower->at;
    char name[128];
    const char *shape = NULL;
    size_t len = lower_row_name(lower, name);
    Op *run = lower_row((Str){name, len}, &shape);
    if (run && at->operand_count == 2 && lower_letter(lower, &at->operands[0]) == shape[0] &&
        lower_letter(lower, &at->operands[1]) == shape[1]) {
        emit_row(lower, false, false, PTX_NOTYPE);
        return;
    }
    uint32_t mode = 0;
    static const struct {
        const char *name;
        uint32_t mode;
    } roundings[] = {
        {"rn", ROUND_NEAREST},
        {"rz", ROUND_ZERO},
        {"rm", ROUND_DOWN},
        {"rp", ROUND_UP},
        {"rna", ROUND_NEAREST_AWAY},
        {"rni", ROUND_NEAREST | CONVERT_INTEGRAL},
        {"rzi", ROUND_ZERO | CONVERT_INTEGRAL},
        {"rmi", ROUND_DOWN | CONVERT_INTEGRAL},
        {"rpi", ROUND_UP | CONVERT_INTEGRAL},
    };
    for (size_t k = 0; k < sizeof roundings / sizeof *roundings; k++)
        if (lower_take(lower, roundings[k].name)) mode |= roundings[k].mode;
    bool flush = lower_take(lower, "ftz");
    if (lower_take(lower, "sat")) mode |= CONVERT_SATURATE;
    if (lower_take(lower, "relu")) mode |= CONVERT_RELU;
    PtxType to = lower_take_type(lower), from = lower_take_type(lower);
    lower_all_taken(lower);
    bool pair = to == PTX_F16X2 || to == PTX_BF16X2;
    lower_operands(lower, pair ? 3 : 2, pair ? 3 : 2);
    if (pair && from != PTX_F32) lower_unknown(lower);
    if (!pair && (!ptx_type_bytes(to) || !ptx_type_bytes(from) || to == PTX_B128 ||
                  from == PTX_B128 || from == PTX_F16X2 || from == PTX_BF16X2))
        lower_unknown(lower);
    // A register may be wider than an integer type; its low part is read, all of it is written.
    char from_letter = lower_letter(lower, &at->operands[1]);
    char to_letter = lower_letter(lower, &at->operands[0]);
    if (!from_letter || is_float(from)) from_letter = lower_type_letter(from);
    if (!to_letter || is_float(to)) to_letter = lower_type_letter(to);
    if (from_letter == 'p' || to_letter == 'p' ||
        (from_letter == 'w' && ptx_type_bytes(from) > 4) ||
        (from_letter == 'h' && ptx_type_bytes(from) > 2))
        lower_unknown(lower);
    uint32_t a = lower_source(lower, &at->operands[1], from_letter), b = PTX_NONE;
    if (flush && from == PTX_F32) a = lower_flushed(lower, 'w', a);
    if (pair) {
        b = lower_source(lower, &at->operands[2], 'w');
        if (flush) b = lower_flushed(lower, 'w', b);
    }
    uint32_t d = lower_dest(lower, &at->operands[0], to_letter);
    Inst *inst = lower_emit(lower, pair ? op_convert_pair : op_convert);
    inst->r[0] = d;
    inst->r[1] = a;
    inst->r[2] = b;
    inst->mode = (uint8_t)mode;
    inst->elements = (uint8_t)from;
    inst->sizes = (uint8_t)to;
    inst->bytes = from_letter == 'h' ? 2 : from_letter == 'w' ? 4 : 8;
    inst->wide = to_letter == 'h' ? 2 : to_letter == 'w' ? 4 : 8;
    if (flush && to == PTX_F32) {
        inst = lower_emit(lower, lower_row(STR("flush.f32"), NULL));
        inst->r[0] = inst->r[1] = d;
    }
}

// prmt's mode comes after its type; lop3 may also give a predicate, which is not supported.
bool lower_move(Lower *lower, Str base) {
    if (str_equal(base, STR("mov")))
        lower_mov(lower);
    else if (str_equal(base, STR("cvta")))
        lower_cvta(lower);
    else if (str_equal(base, STR("cvt")))
        lower_cvt(lower);
    else if (str_equal(base, STR("setp")))
        lower_setp(lower);
    else if (str_equal(base, STR("set")))
        lower_set(lower);
    else if (str_equal(base, STR("isspacep")))
        lower_isspacep(lower);
    else
        return false;
    return true;
}
