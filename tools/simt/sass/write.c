// Writes machine instructions as text, in the format of disassemblers.
#include <math.h>
#include <string.h>

#include "simt/sass/inst.h"
#include "simt/sass/table.h"

const char *sass_modifier_text(SassModifier modifier) {
#define X(name)       [SASS_MOD_##name] = #name,
#define Y(name, text) [SASS_MOD_##name] = text,
    static const char *const texts[] = {SASS_MODIFIER_WORDS(X, Y)};
#undef X
#undef Y
    return texts[modifier];
}

static const char *special_text(SassSpecial special) {
#define X(name, number)       [SR_##name] = "SR_" #name,
#define Y(name, number, text) [SR_##name] = text,
    static const char *const texts[] = {SASS_SPECIAL_WORDS(X, Y)};
#undef X
#undef Y
    return texts[special];
}

void sass_write_opcode(const SassInst *inst, Buf *to) {
    buf_add(to, str_of(sass_opcodes[inst->op].name));
    for (uint32_t k = 0; k < inst->modifier_count; k++)
        buf_format(to, ".%s", sass_modifier_text(inst->modifiers[k]));
}

static void write_register(const char *prefix, uint32_t reg, uint32_t zero, Buf *to) {
    if (reg == zero)
        buf_format(to, "%sZ", prefix);
    else
        buf_format(to, "%s%u", prefix, reg);
}

static void write_predicate(const SassOperand *operand, Buf *to) {
    const char *prefix = operand->kind == SASS_UPRED ? "UP" : "P";
    if (operand->negated) buf_char(to, '!');
    if (operand->reg == SASS_PT)
        buf_format(to, "%sT", prefix);
    else
        buf_format(to, "%s%u", prefix, operand->reg);
}

static void write_hex(int64_t value, Buf *to) {
    const bool minus = value < 0;
    const unsigned long long size =
        minus ? 0 - (unsigned long long)value : (unsigned long long)value;
    buf_format(to, "%s0x%llx", minus ? "-" : "", size);
}

// Writes a float with all its digits. Disassemblers write a blank after NaN, infinity and -0.
static void write_float(double value, bool negative, Buf *to) {
    if (value != value)
        buf_format(to, "%cQNAN ", negative ? '-' : '+');
    else if (isinf(value))
        buf_format(to, "%cINF ", negative ? '-' : '+');
    else if (value == 0 && negative)
        buf_format(to, "-0.0 ");
    else if (fabs(value) >= 1e9)
        buf_format(to, "%.20e", value);
    else
        buf_format(to, "%.20g", value);
}

static double single(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static double upper_double(uint64_t upper) {
    const uint64_t bits = upper << 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double half(uint64_t bits) {
    const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, (int)exponent - 25);
    if (exponent == 31) size = fraction ? NAN : INFINITY;
    return bits >> 15 & 1 ? -size : size;
}

static void write_memory(const SassOperand *operand, Buf *to) {
    const char *plus = "";
    buf_char(to, '[');
    if (operand->reg != SASS_RZ || (operand->ureg == SASS_URZ && !operand->indexed)) {
        write_register("R", operand->reg, SASS_RZ, to);
        if (operand->kind == SASS_GLOBAL) buf_format(to, ".64");
        plus = "+";
    }
    const bool uniform = operand->indexed || operand->ureg != SASS_URZ;
    if (operand->kind == SASS_SHARED && uniform) {
        buf_format(to, "%s", plus);
        write_register("UR", operand->ureg, SASS_URZ, to);
        plus = "+";
    }
    if (operand->value) {
        buf_format(to, "%s", plus);
        write_hex((int64_t)operand->value, to);
    }
    buf_char(to, ']');
}

static void write_bank(const SassOperand *operand, Buf *to) {
    const bool uniform = operand->ureg != SASS_URZ;
    const bool none = operand->reg == SASS_RZ && !uniform && (operand->value || !operand->indexed);
    buf_format(to, "c[0x%x][", operand->bank);
    if (uniform)
        write_register("UR", operand->ureg, SASS_URZ, to);
    else if (!none)
        write_register("R", operand->reg, SASS_RZ, to);
    if (!none && operand->value) buf_char(to, '+');
    if (none || operand->value) write_hex((int64_t)operand->value, to);
    buf_char(to, ']');
}

static void write_number(const SassOperand *operand, Buf *to) {
    static const char *const halves[] = {"", ".F32", ".H0_H0", ".H1_H1", ".H1"};
    static const char *const orders[] = {"", ".ROW", ".COL"};
    if (operand->negated) buf_char(to, operand->inverted ? '~' : '-');
    if (operand->absolute) buf_char(to, '|');
    if (operand->kind == SASS_BANK)
        write_bank(operand, to);
    else if (operand->kind == SASS_UREG)
        write_register("UR", operand->reg, SASS_URZ, to);
    else
        write_register("R", operand->reg, SASS_RZ, to);
    if (operand->absolute) buf_char(to, '|');
    if (operand->reused) buf_format(to, ".reuse");
    if (operand->kind == SASS_REG)
        buf_format(to, "%s%s", halves[operand->half], orders[operand->order]);
}

static void write_operand(const SassOperand *operand, Buf *to) {
    const uint64_t value = operand->value;
    switch (operand->kind) {
    case SASS_REG:
    case SASS_UREG:
    case SASS_BANK:
        write_number(operand, to);
        break;
    case SASS_PRED:
    case SASS_UPRED:
        write_predicate(operand, to);
        break;
    case SASS_INT:
        write_hex((int32_t)(uint32_t)value, to);
        break;
    case SASS_UINT:
        write_hex((int64_t)value, to);
        break;
    case SASS_SINGLE:
        write_float(single(value), value >> 31 & 1, to);
        break;
    case SASS_DOUBLE:
        write_float(upper_double(value), value >> 31 & 1, to);
        break;
    case SASS_HALVES:
        write_float(half(value >> 16), value >> 31 & 1, to);
        buf_format(to, ", ");
        write_float(half(value & 0xffff), value >> 15 & 1, to);
        break;
    case SASS_BRAINS:
        write_float(single(value & 0xffff0000u), value >> 31 & 1, to);
        buf_format(to, ", ");
        write_float(single(value << 16), value >> 15 & 1, to);
        break;
    case SASS_GLOBAL:
        if (operand->ureg != SASS_URZ) buf_format(to, "desc[UR%u]", operand->ureg);
        write_memory(operand, to);
        break;
    case SASS_POLICY:
        buf_format(to, "desc[UR%u]", operand->ureg);
        break;
    case SASS_WIDE:
    case SASS_SHARED:
        write_memory(operand, to);
        break;
    case SASS_LABEL:
        write_hex((int64_t)value, to);
        break;
    case SASS_BARRIER:
        buf_format(to, "B%u", operand->reg);
        break;
    case SASS_SCOREBOARD:
        buf_format(to, "SB%u", operand->reg);
        break;
    case SASS_SPECIAL:
        buf_add(to, str_of(special_text((SassSpecial)value)));
        break;
    case SASS_PREDS:
        buf_add(to, STR("PR"));
        break;
    case SASS_UPREDS:
        buf_add(to, STR("UPR"));
        break;
    }
}

void sass_write(const SassInst *inst, Buf *to) {
    const char *before = " ";
    if (inst->guard != SASS_PT || inst->guard_negated) {
        const SassOperand guard = {.kind = inst->guard_uniform ? SASS_UPRED : SASS_PRED,
                                   .reg = inst->guard,
                                   .negated = inst->guard_negated};
        buf_char(to, '@');
        write_predicate(&guard, to);
        buf_char(to, ' ');
    }
    sass_write_opcode(inst, to);
    for (uint32_t k = 0; k < inst->operand_count; k++) {
        if (inst->operands[k].hidden) continue;
        buf_format(to, "%s", inst->operands[k].joined ? " " : before);
        write_operand(&inst->operands[k], to);
        before = ", ";
    }
}
