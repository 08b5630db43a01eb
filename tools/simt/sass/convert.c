// Lowers instructions that convert numbers.
#include "simt/sass/lower.h"

static PtxType type_of(SassModifier modifier) {
    static const PtxType types[] = {
        [SASS_MOD_U8] = PTX_U8,   [SASS_MOD_S8] = PTX_S8,   [SASS_MOD_U16] = PTX_U16,
        [SASS_MOD_S16] = PTX_S16, [SASS_MOD_U32] = PTX_U32, [SASS_MOD_S32] = PTX_S32,
        [SASS_MOD_U64] = PTX_U64, [SASS_MOD_S64] = PTX_S64, [SASS_MOD_F16] = PTX_F16,
        [SASS_MOD_F32] = PTX_F32, [SASS_MOD_F64] = PTX_F64, [SASS_MOD_BF16] = PTX_BF16};
    return modifier < sizeof types / sizeof *types ? types[modifier] : PTX_NOTYPE;
}

// Takes the first modifier that is a type, integer or float. PTX_NOTYPE: there is none.
static PtxType take_type(SassLower *s, bool is_float) {
    for (uint32_t k = 0; k < s->inst->modifier_count; k++) {
        const PtxType type = type_of(s->inst->modifiers[k]);
        if (s->taken >> k & 1 || type == PTX_NOTYPE || ptx_type_is_float(type) != is_float)
            continue;
        s->taken |= 1u << k;
        return type;
    }
    return PTX_NOTYPE;
}

static PtxType take_type_or(SassLower *s, bool is_float, PtxType usual) {
    const PtxType type = take_type(s, is_float);
    return type == PTX_NOTYPE ? usual : type;
}

// Rounding modes in the order of LIST_ROUND and LIST_INTEGRAL.
static const ConvertMode directions[] = {ROUND_NEAREST, ROUND_DOWN, ROUND_UP, ROUND_ZERO};

// Integers are in the lower part of a 32-bit register, or in a pair of registers.
static RegisterClass class_of(PtxType type) {
    const RegisterClass class = register_class(type);
    return class == REGISTER_16 && !ptx_type_is_float(type) ? REGISTER_32 : class;
}

static uint32_t source_of(SassLower *s, PtxType type) {
    const SassOperand *operand = &s->inst->operands[1];
    const bool is_float = ptx_type_is_float(type), wide = class_of(type) == REGISTER_64;
    if (type == PTX_F64) return sass_double(s, 1);
    if (type == PTX_F32) return sass_single(s, 1);
    if ((wide || is_float) && (operand->negated || operand->absolute))
        sass_refuse(s, "unsupported sign modifier");
    if (wide) return sass_pair(s, operand);
    if (!is_float) return sass_source(s, 1);
    const uint32_t half = sass_temp(s, REGISTER_16);
    sass_row(s, "sass.half0", half, sass_raw(s, operand, 0), 0, 0);
    return half;
}

static void convert(SassLower *s, PtxType to, PtxType from, uint32_t a, ConvertMode mode) {
    const RegisterClass class = class_of(to);
    const uint32_t d = class == REGISTER_32 ? sass_dest(s, 0, 0) : sass_temp(s, class);
    sass_emit(s, op_convert)->convert = (InstConvert){.d = d,
                                                      .a = a,
                                                      .b = PTX_NONE,
                                                      .from = from,
                                                      .to = to,
                                                      .from_class = class_of(from),
                                                      .to_class = class,
                                                      .mode = mode};
    if (class == REGISTER_64) sass_split(s, 0, d);
    if (class == REGISTER_16) sass_row(s, "cvt.u32.u16", sass_dest(s, 0, 0), d, 0, 0);
}

// d, a
void sass_lower_i2f(SassLower *s) {
    const PtxType to = take_type_or(s, true, PTX_F32), from = take_type_or(s, false, PTX_S32);
    const ConvertMode mode = directions[sass_listed(s, LIST_ROUND)];
    const uint32_t a = source_of(s, from);
    if (to == PTX_F32 && from == PTX_U32 && mode == ROUND_UP)
        sass_row(s, "sass.i2f.rp", sass_dest(s, 0, 0), a, 0, 0);
    else
        convert(s, to, from, a, mode);
}

void sass_lower_i2fp(SassLower *s) {
    sass_take(s, SASS_MOD_F32);
    const PtxType from = take_type(s, false);
    const ConvertMode mode = directions[sass_listed(s, LIST_ROUND)];
    const uint32_t a = source_of(s, from);
    if (mode == ROUND_NEAREST)
        sass_row(s, from == PTX_U32 ? "cvt.rn.f32.u32" : "cvt.rn.f32.s32", sass_dest(s, 0, 0), a, 0,
                 0);
    else
        convert(s, PTX_F32, from, a, mode);
}

// The source, flushed to zero if the instruction has .FTZ.
static uint32_t float_source(SassLower *s, PtxType from) {
    const bool flush = sass_take(s, SASS_MOD_FTZ);
    const uint32_t a = source_of(s, from);
    if (!flush) return a;
    if (from != PTX_F32) sass_refuse(s, "unsupported flush of subnormals");
    const uint32_t to = sass_temp(s, REGISTER_32);
    sass_row(s, "flush.f32", to, a, 0, 0);
    return to;
}

void sass_lower_f2i(SassLower *s) {
    const PtxType to = take_type_or(s, false, PTX_S32), from = take_type_or(s, true, PTX_F32);
    const ConvertMode mode = directions[sass_listed(s, LIST_INTEGRAL)];
    sass_take(s, SASS_MOD_NTZ);
    const uint32_t a = float_source(s, from);
    if (to == PTX_U32 && from == PTX_F32 && mode == ROUND_ZERO) // flushes subnormal numbers, too
        sass_row(s, "sass.f2i.rz", sass_dest(s, 0, 0), a, 0, 0);
    else
        convert(s, to, from, a, mode | CONVERT_INTEGRAL);
}

void sass_lower_f2f(SassLower *s) {
    const PtxType to = take_type(s, true), from = take_type(s, true);
    const ConvertMode mode = directions[sass_listed(s, LIST_ROUND)];
    const bool flushes = sass_has(s->inst, SASS_MOD_FTZ) && to == PTX_F32;
    uint32_t a = from == PTX_F32 ? float_source(s, from) : source_of(s, from);
    if (flushes) sass_take(s, SASS_MOD_FTZ);
    convert(s, to, from, a, mode);
    if (flushes) sass_row(s, "flush.f32", sass_dest(s, 0, 0), sass_dest(s, 0, 0), 0, 0);
}

// Rounds to an integer that is still a float.
void sass_lower_frnd(SassLower *s) {
    const PtxType type = take_type_or(s, true, PTX_F32);
    const ConvertMode mode = directions[sass_listed(s, LIST_INTEGRAL)] | CONVERT_INTEGRAL;
    convert(s, type, type, float_source(s, type), mode);
}

// d, a: a value that does not fit becomes the nearest one that does.
void sass_lower_i2i(SassLower *s) {
    const PtxType to = take_type(s, false), from = take_type(s, false);
    sass_take(s, SASS_MOD_SAT);
    convert(s, to, from, source_of(s, from), CONVERT_SATURATE);
}
