// Lowers conversions to numbers that fill part of a register, and from pairs of 8-bit floats.
#include "simt/sass/lower.h"

// Refuses an operand that would be merged into the result, unless it is zero.
static void refuse_unless_zero(SassLower *s, uint32_t index) {
    if (!sass_is_zero(&s->inst->operands[index])) sass_refuse(s, "unsupported merge");
}

static PtxType take_fp8(SassLower *s) {
    return sass_take(s, SASS_MOD_E4M3)   ? PTX_E4M3X2
           : sass_take(s, SASS_MOD_E5M2) ? PTX_E5M2X2
                                         : PTX_NOTYPE;
}

static void emit(SassLower *s, Op *run, InstConvert convert) {
    sass_emit(s, run)->convert = convert;
}

// Writes a result of 16 bits. The register's upper half is zero or, in code of CUDA 12.4, the upper
// half of operand 3.
static void finish_narrow(SassLower *s, uint32_t narrow) {
    const SassOperand *merged = &s->inst->operands[3];
    const uint32_t d = sass_dest(s, 0, 0);
    if (merged->half != SASS_HALF_UPPER) {
        refuse_unless_zero(s, 3);
        sass_row(s, "cvt.u32.u16", d, narrow, 0, 0);
        return;
    }
    const uint32_t lower = sass_temp(s, REGISTER_32), upper = sass_temp(s, REGISTER_32);
    sass_row(s, "cvt.u32.u16", lower, narrow, 0, 0);
    sass_row(s, "and.b32", upper, sass_raw(s, merged, 0), sass_constant(s, 0xffff0000), 0);
    sass_row(s, "or.b32", d, lower, upper, 0);
}

// Converts two f32 or a pair of f16 to 8-bit floats.
static void to_fp8(SassLower *s, PtxType to, ConvertMode mode) {
    sass_take(s, SASS_MOD_SATFINITE);
    const bool singles = sass_take(s, SASS_MOD_PACK_AB_MERGE_C) && sass_take(s, SASS_MOD_F32);
    if (!singles && !(sass_take(s, SASS_MOD_UNPACK_B_MERGE_C) && sass_take(s, SASS_MOD_F16)))
        sass_refuse(s, "unsupported packing");
    const uint32_t a = singles ? sass_single(s, 1) : sass_raw(s, &s->inst->operands[2], 0);
    const uint32_t b = singles ? sass_single(s, 2) : PTX_NONE;
    const uint32_t narrow = sass_temp(s, REGISTER_16);
    if (!singles) refuse_unless_zero(s, 1);
    emit(s, singles ? op_narrow_singles : op_narrow_halves,
         (InstConvert){.d = narrow, .a = a, .b = b, .to = to, .mode = mode});
    finish_narrow(s, narrow);
}

// Converts two 8-bit floats, in the lower or upper half of b, to f16.
static void from_fp8(SassLower *s, PtxType from, ConvertMode mode) {
    const SassOperand *b = &s->inst->operands[2];
    const uint32_t narrow = sass_temp(s, REGISTER_16);
    const bool upper = b->half == SASS_HALF_UPPER;
    refuse_unless_zero(s, 1);
    refuse_unless_zero(s, 3);
    sass_take(s, SASS_MOD_F16);
    sass_row(s, upper ? "sass.half1" : "sass.half0", narrow, sass_raw(s, b, 0), 0, 0);
    emit(s, op_widen_to_halves,
         (InstConvert){.d = sass_dest(s, 0, 0), .a = narrow, .from = from, .mode = mode});
}

static PtxType take_half(SassLower *s) {
    return sass_take(s, SASS_MOD_BF16)  ? PTX_BF16
           : sass_take(s, SASS_MOD_F16) ? PTX_F16
                                        : PTX_NOTYPE;
}

// Converts one f32, b, to 16 bits or less.
static void to_narrow(SassLower *s, PtxType to, ConvertMode mode) {
    const uint32_t narrow = sass_temp(s, REGISTER_16);
    sass_take(s, SASS_MOD_F32);
    refuse_unless_zero(s, 1);
    emit(s, op_convert,
         (InstConvert){.d = narrow,
                       .a = sass_single(s, 2),
                       .b = PTX_NONE,
                       .from = PTX_F32,
                       .to = to,
                       .from_class = REGISTER_32,
                       .to_class = REGISTER_16,
                       .mode = mode});
    finish_narrow(s, narrow);
}

// Converts two f32 to a pair in one register; b is the lower half.
static void to_pair(SassLower *s, ConvertMode mode) {
    static const ConvertMode modes[] = {ROUND_NEAREST, ROUND_DOWN, ROUND_UP, ROUND_ZERO};
    const PtxType to = take_half(s) == PTX_BF16 ? PTX_BF16X2 : PTX_F16X2;
    mode |= modes[sass_listed(s, LIST_ROUND)];
    if (!sass_take(s, SASS_MOD_PACK_AB) || !sass_take(s, SASS_MOD_F32))
        sass_refuse(s, "unsupported packing");
    refuse_unless_zero(s, 3);
    const uint32_t a = sass_single(s, 1), b = sass_single(s, 2);
    emit(s, op_convert_pair,
         (InstConvert){.d = sass_dest(s, 0, 0),
                       .a = a,
                       .b = b,
                       .from = PTX_F32,
                       .to = to,
                       .from_class = REGISTER_32,
                       .to_class = REGISTER_32,
                       .mode = mode});
}

// F2FP: d, a, b, c
void sass_lower_f2fp(SassLower *s) {
    const ConvertMode mode = sass_take(s, SASS_MOD_RELU) ? CONVERT_RELU : ROUND_NEAREST;
    const PtxType fp8 = take_fp8(s);
    if (fp8 != PTX_NOTYPE && sass_take(s, SASS_MOD_UNPACK_B))
        from_fp8(s, fp8, mode);
    else if (fp8 != PTX_NOTYPE)
        to_fp8(s, fp8, mode);
    else if (sass_take(s, SASS_MOD_MERGE_C))
        to_narrow(s, take_half(s), mode);
    else
        to_pair(s, mode);
}

// F2IP: d, RZ, b, RZ: to an integer of 8 bits, saturated.
void sass_lower_f2ip(SassLower *s) {
    sass_take(s, SASS_MOD_U8), sass_take(s, SASS_MOD_TRUNC), sass_take(s, SASS_MOD_NTZ);
    to_narrow(s, PTX_U8, ROUND_ZERO | CONVERT_INTEGRAL);
}
