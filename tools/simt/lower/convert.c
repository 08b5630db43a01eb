// Lowers cvt. Common conversions have rows of their own; op_convert does all others.
#include "simt/lower/lower.h"

typedef struct {
    PtxType to, from;
    ConvertMode mode;
    bool flush, pair, finite;
} Conversion;

static Conversion take_conversion(Lower *lower) {
    static const Choice roundings[] = {
        {PTX_MOD_RN, ROUND_NEAREST},
        {PTX_MOD_RZ, ROUND_ZERO},
        {PTX_MOD_RM, ROUND_DOWN},
        {PTX_MOD_RP, ROUND_UP},
        {PTX_MOD_RNA, ROUND_NEAREST_AWAY},
        {PTX_MOD_RNI, ROUND_NEAREST | CONVERT_INTEGRAL},
        {PTX_MOD_RZI, ROUND_ZERO | CONVERT_INTEGRAL},
        {PTX_MOD_RMI, ROUND_DOWN | CONVERT_INTEGRAL},
        {PTX_MOD_RPI, ROUND_UP | CONVERT_INTEGRAL},
        {PTX_MOD_NONE, 0},
    };
    Conversion conversion = {.flush = lower_take(lower, PTX_MOD_FTZ)};
    uint32_t mode = ROUND_NEAREST;
    lower_take_choice(lower, roundings, &mode);
    if (lower_take(lower, PTX_MOD_SAT)) mode |= CONVERT_SATURATE;
    if (lower_take(lower, PTX_MOD_RELU)) mode |= CONVERT_RELU;
    conversion.finite = lower_take(lower, PTX_MOD_SATFINITE);
    conversion.mode = (ConvertMode)mode;
    conversion.to = lower_take_type(lower);
    conversion.from = lower_take_type(lower);
    conversion.pair = ptx_type_is_pair(conversion.to);
    lower_all_taken(lower);
    return conversion;
}

// cvt.rna{.satfinite}.tf32.f32, cvt.{rn,rz}{.satfinite}{.relu}.tf32.f32, to 32 bits.
static void lower_tf32(Lower *lower) {
    static const Choice roundings[] = {{PTX_MOD_RN, ROUND_NEAREST},
                                       {PTX_MOD_RZ, ROUND_ZERO},
                                       {PTX_MOD_RNA, ROUND_NEAREST_AWAY},
                                       {PTX_MOD_NONE, 0}};
    const PtxOperand *operands = lower->at->operands;
    uint32_t mode = lower_choice(lower, roundings);
    if (mode != ROUND_NEAREST_AWAY && lower_take(lower, PTX_MOD_RELU)) mode |= CONVERT_RELU;
    if (lower_take(lower, PTX_MOD_SATFINITE)) mode |= CONVERT_FINITE;
    if (lower_take_type(lower) != PTX_F32) lower_unknown(lower);
    lower_all_taken(lower);
    lower_operands(lower, 2, 2);
    InstConvert convert = {.mode = (ConvertMode)mode, .b = PTX_NONE};
    convert.a = lower_source(lower, &operands[1], REGISTER_32);
    convert.d = lower_dest(lower, &operands[0], REGISTER_32);
    lower_emit(lower, op_convert_tf32)->convert = convert;
}

static bool convertible(PtxType type) {
    uint32_t bytes = ptx_type_bytes(type);
    return bytes && bytes <= 8 && !ptx_type_is_pair(type) && !ptx_type_is_fp8(type);
}

// A register may be wider than an integer type. Then its low part is read, or all of it is written.
static RegisterClass class_for(Lower *lower, const PtxOperand *operand, PtxType type) {
    RegisterClass class = lower_class(lower, operand);
    if (class == REGISTER_NONE || ptx_type_is_float(type)) class = register_class(type);
    if (class == REGISTER_PRED) lower_unknown(lower);
    return class;
}

// Conversions of pairs of 8-bit floats: from two f32, and from and to f16x2.
static void lower_fp8(Lower *lower, const Conversion *conversion) {
    const PtxOperand *operands = lower->at->operands;
    const PtxType to = conversion->to, from = conversion->from;
    const bool narrows = ptx_type_is_fp8(to), singles = from == PTX_F32;
    if (conversion->finite != narrows || conversion->flush) lower_unknown(lower);
    if (narrows ? !singles && from != PTX_F16X2 : to != PTX_F16X2) lower_unknown(lower);
    if ((uint32_t)conversion->mode & ~(uint32_t)CONVERT_RELU) lower_unknown(lower);
    lower_operands(lower, singles ? 3 : 2, singles ? 3 : 2);
    InstConvert convert = {.from = from, .to = to, .mode = conversion->mode, .b = PTX_NONE};
    convert.a = lower_source(lower, &operands[1], narrows ? REGISTER_32 : REGISTER_16);
    if (singles) convert.b = lower_source(lower, &operands[2], REGISTER_32);
    convert.d = lower_dest(lower, &operands[0], narrows ? REGISTER_16 : REGISTER_32);
    Op *run = !narrows ? op_widen_to_halves : singles ? op_narrow_singles : op_narrow_halves;
    lower_emit(lower, run)->convert = convert;
}

static void lower_convert(Lower *lower) {
    const PtxOperand *operands = lower->at->operands;
    if (lower_take(lower, PTX_MOD_TF32)) {
        lower_tf32(lower);
        return;
    }
    Conversion conversion = take_conversion(lower);
    if (ptx_type_is_fp8(conversion.to) || ptx_type_is_fp8(conversion.from)) {
        lower_fp8(lower, &conversion);
        return;
    }
    if (conversion.finite) lower_unknown(lower);
    PtxType to = conversion.to, from = conversion.from;
    uint32_t count = conversion.pair ? 3 : 2;
    lower_operands(lower, count, count);
    if (conversion.pair ? from != PTX_F32 : !convertible(to) || !convertible(from))
        lower_unknown(lower);
    RegisterClass from_class = class_for(lower, &operands[1], from);
    RegisterClass to_class = class_for(lower, &operands[0], to);
    if (register_bytes(from_class) < ptx_type_bytes(from)) lower_unknown(lower);
    uint32_t a = lower_source(lower, &operands[1], from_class), b = PTX_NONE;
    bool flush_sources = conversion.flush && from == PTX_F32;
    if (flush_sources) a = lower_flushed(lower, REGISTER_32, a);
    if (conversion.pair) {
        b = lower_source(lower, &operands[2], REGISTER_32);
        if (flush_sources) b = lower_flushed(lower, REGISTER_32, b);
    }
    uint32_t d = lower_dest(lower, &operands[0], to_class);
    lower_emit(lower, conversion.pair ? op_convert_pair : op_convert)->convert =
        (InstConvert){d, a, b, from, to, from_class, to_class, conversion.mode};
    if (conversion.flush && to == PTX_F32)
        lower_emit_typed(lower, OPCODE_FLUSH, PTX_F32, (uint32_t[]){d, d});
}

void lower_cvt(Lower *lower) {
    const PtxInst *at = lower->at;
    const Row *row = lower_row(lower);
    if (row && at->operand_count == 2 && lower_class(lower, &at->operands[0]) == row->operands[0] &&
        lower_class(lower, &at->operands[1]) == row->operands[1])
        lower_by_row(lower, row, 0);
    else
        lower_convert(lower);
}
