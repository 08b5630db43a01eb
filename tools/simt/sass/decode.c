// Decodes machine instructions with the rows of table.c, whose language table.h explains.
#include <ctype.h>
#include <string.h>

#include "simt/sass/inst.h"
#include "simt/sass/table.h"

// The forms of arithmetic: see table.h.
enum {
    FORM_REGISTERS = 1,
    FORM_IMMEDIATE_C,
    FORM_BANK_C,
    FORM_IMMEDIATE,
    FORM_BANK,
    FORM_UNIFORM,
    FORM_UNIFORM_C
};
enum {
    FORM_AT = 9,
    OPCODE_BITS = 12,
    GUARD_AT = 12,
    NEGATES_BITS = 74,
    HAS_POLICY = 76,
    REUSE_AT = 122,
    CONTROL_AT = 105,
    FORM_BIT_AT = 91,
    LABEL_BITS = 58
};

static uint32_t form_of(SassWord word) { return (uint32_t)sass_bits(word, FORM_AT, 3); }

// Whether an instruction of this row can have the form.
static bool has_form(const SassRow *row, uint32_t form) {
    const bool b = strpbrk(row->operands, "Bb"), c = strpbrk(row->operands, "Cc");
    if (form == FORM_REGISTERS) return true;
    if (form >= FORM_IMMEDIATE && form <= FORM_UNIFORM) return b;
    return form && (b || c);
}

// The next row with the instruction's encoding, starting at this one: there are several if operands
// differ.
static const SassRow *find_row(SassWord word, const SassRow *row) {
    const uint32_t opcode = (uint32_t)sass_bits(word, 0, OPCODE_BITS);
    for (; row < sass_rows + sass_row_count; row++) {
        if (row->encoding == opcode) return row;
        if (row->encoding == (SASS_ARITHMETIC | (opcode & 0x1ff)) && has_form(row, form_of(word)))
            return row;
    }
    return NULL;
}

// Reads a field and notes that its bits have a meaning; rest_is_known() checks all others.
static uint64_t take(SassInst *inst, uint32_t at, uint32_t width) {
    for (uint32_t k = at; k < at + width; k++)
        *(k < 64 ? &inst->read.low : &inst->read.high) |= 1ull << (k & 63);
    return sass_bits(inst->word, at, width);
}

static uint32_t number(const char **text) {
    uint32_t value = 0;
    while (isdigit((unsigned char)**text)) value = value * 10 + (uint32_t)(*(*text)++ - '0');
    return value;
}

// --- modifiers ---

// The modifier whose number in the field's list the instruction has.
static SassModifier listed(SassInst *inst, const SassField *field) {
    uint64_t value = take(inst, field->at, field->width);
    value |= take(inst, field->upper_at, field->upper_width) << field->width;
    return value < SASS_LIST_ITEMS ? sass_lists[field->list][value] : SASS_MOD_UNKNOWN;
}

// Disassemblers name an IMAD that does not multiply for what it does.
static SassModifier imad_name(SassInst *inst) {
    const uint32_t form = form_of(inst->word);
    const uint64_t a = take(inst, 24, 8), low = take(inst, 32, 32);
    const uint64_t c = take(inst, 64, 8);
    const bool is_signed = take(inst, 73, 1);
    if (take(inst, 74, 1)) return SASS_MOD_NONE;
    if (a == SASS_RZ && ((form == FORM_REGISTERS && (low & 255) == SASS_RZ) ||
                         (form == FORM_IMMEDIATE_C && c == SASS_RZ)))
        return SASS_MOD_MOV;
    if (form == FORM_IMMEDIATE && low == 1) return SASS_MOD_IADD;
    if (form == FORM_IMMEDIATE && c == SASS_RZ && !is_signed && low > 1 && low != 0x10000 &&
        low != 0x80000000 && !(low & (low - 1)))
        return SASS_MOD_SHL;
    return SASS_MOD_NONE;
}

static SassModifier modifier_of(SassInst *inst, const SassField *field) {
    switch (field->kind) {
    case FIELD_SET:
        return take(inst, field->at, 1) ? field->modifier : SASS_MOD_NONE;
    case FIELD_CLEAR:
        return take(inst, field->at, 1) ? SASS_MOD_NONE : field->modifier;
    case FIELD_LIST:
        return listed(inst, field);
    case FIELD_IMAD:
        return imad_name(inst);
    default:
        return field->modifier;
    }
}

static bool decode_modifiers(SassInst *inst) {
    for (const SassField *field = inst->row->fields; field->kind != FIELD_END; field++) {
        const SassModifier modifier = modifier_of(inst, field);
        if (modifier == SASS_MOD_UNKNOWN || inst->modifier_count == SASS_MODIFIERS) return false;
        if (modifier != SASS_MOD_NONE) inst->modifiers[inst->modifier_count++] = modifier;
    }
    return true;
}

// Whether the bits without a meaning in the row have the value that they had in every instruction
// seen so far. If they differ, the instruction does something that we do not know.
static bool rest_is_known(const SassInst *inst) {
    const uint64_t low = inst->word.low & ~inst->read.low, form = 1ull << (FORM_BIT_AT - 64);
    const uint64_t high = inst->word.high & ~inst->read.high & ~form;
    return high == inst->row->rest && low == 0;
}

// --- operands ---

// An operand of a row, parsed.
typedef struct {
    char letter;
    uint32_t at, width;
    uint32_t negation; // the bit that negates a predicate; 0: none
    uint32_t minus_at; // the bit of mark n; 0: none
    bool minus, absolute, inverts, always_inverts, half, left_out, hidden, joined, uniform, third;
    char immediate;    // f, d, h or u; 0: an integer
    uint32_t upper_at; // the bit of mark x; 0: none
    uint8_t order;     // SASS_BY_*
} Marks;

static Marks read_marks(SassInst *inst, const char *token, size_t length) {
    const char *end = token + length;
    Marks marks = {.letter = *token++};
    marks.at = number(&token);
    if (*token == '.' && token < end) token++, marks.width = number(&token);
    for (; token < end; token++) {
        const char mark = *token;
        if (strchr("!^_vnx", mark)) {
            token++;
            const uint32_t at = number(&token);
            token--;
            if (mark == '!')
                marks.negation = at;
            else if (mark == 'n')
                marks.minus_at = at;
            else if (mark == 'x')
                marks.upper_at = at;
            else if (mark == 'v')
                marks.uniform = take(inst, at, 1);
            else if (take(inst, at, 1) != (mark == '^'))
                marks.hidden = true;
        }
        marks.minus |= mark == '-';
        marks.absolute |= mark == '|';
        marks.inverts |= mark == '~';
        marks.always_inverts |= mark == 'i';
        marks.half |= mark == 's';
        marks.left_out |= mark == '?';
        marks.joined |= mark == '+';
        marks.third |= mark == '%';
        marks.hidden |= mark == '*';
        if (mark == 'r') marks.order = SASS_BY_ROWS;
        if (mark == 'c') marks.order = SASS_BY_COLUMNS;
        if (strchr("fdhu", mark)) marks.immediate = mark;
    }
    return marks;
}

// Sign and half of a source at 24, 32 or 64.
static void read_signs(SassInst *inst, const Marks *marks, uint32_t at, SassOperand *operand) {
    static const struct {
        uint8_t at, minus, absolute, half;
    } places[] = {{24, 72, 73, 74}, {32, 63, 62, 60}, {64, 75, 74, 81}};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        if (places[k].at != at) continue;
        const uint32_t minus = marks->minus_at ? marks->minus_at : places[k].minus;
        const uint32_t absolute = marks->minus_at ? marks->minus_at - 1 : places[k].absolute;
        if (marks->minus || marks->minus_at) operand->negated = take(inst, minus, 1);
        if (marks->absolute) operand->absolute = take(inst, absolute, 1);
        if (marks->half) operand->half = (uint8_t)take(inst, places[k].half, 2);
    }
    const uint32_t reader = marks->letter == 'A'                    ? 0
                            : marks->letter == 'B' && !marks->third ? 1
                                                                    : 2;
    if (operand->kind == SASS_REG && strchr("ABC", marks->letter))
        operand->reused = take(inst, REUSE_AT + reader, 1);
    if (marks->inverts) operand->inverted = operand->negated && take(inst, NEGATES_BITS, 1);
    if (marks->always_inverts) operand->inverted = operand->negated;
}

static void set_register(SassInst *inst, const Marks *marks, uint32_t at, bool uniform,
                         SassOperand *operand) {
    operand->kind = uniform ? SASS_UREG : SASS_REG;
    operand->reg = (uint8_t)take(inst, at, uniform ? 6 : 8);
    operand->order = marks->order;
    read_signs(inst, marks, at, operand);
    if (marks->upper_at && take(inst, marks->upper_at, 1)) operand->half = SASS_HALF_UPPER;
}

static void set_immediate(SassInst *inst, const Marks *marks, SassOperand *operand) {
    operand->kind = marks->immediate == 'f'   ? SASS_SINGLE
                    : marks->immediate == 'd' ? SASS_DOUBLE
                    : marks->immediate == 'h' ? SASS_HALVES
                    : marks->immediate == 'u' ? SASS_UINT
                                              : SASS_INT;
    if (operand->kind == SASS_HALVES && sass_has(inst, SASS_MOD_BF16_V2))
        operand->kind = SASS_BRAINS;
    if (sass_has(inst, SASS_MOD_RCP64H) || sass_has(inst, SASS_MOD_RSQ64H))
        operand->kind = SASS_DOUBLE;
    operand->value = take(inst, 32, 32);
}

static void set_bank(SassInst *inst, uint32_t offset_bits, SassOperand *operand) {
    operand->kind = SASS_BANK;
    operand->reg = SASS_RZ;
    operand->ureg = SASS_URZ;
    operand->bank = (uint8_t)take(inst, 54, 5);
    operand->value = take(inst, 54 - offset_bits, offset_bits);
}

// B and C of arithmetic, by the form.
static void set_by_form(SassInst *inst, const Marks *marks, bool uniform, SassOperand *operand) {
    const uint32_t form = form_of(inst->word);
    const bool second = marks->letter == 'C' || marks->letter == 'c';
    const bool alone = !strpbrk(inst->row->operands, "Cc"); // then it is at 32
    const bool swapped = form == FORM_IMMEDIATE_C || form == FORM_BANK_C || form == FORM_UNIFORM_C;
    if (second != swapped && !alone) { // this one is always a register
        set_register(inst, marks, form == FORM_REGISTERS && !second ? 32 : 64, uniform, operand);
    } else if (form == FORM_REGISTERS) {
        set_register(inst, marks, 32, uniform, operand);
    } else if (form == FORM_IMMEDIATE || form == FORM_IMMEDIATE_C) {
        set_immediate(inst, marks, operand);
    } else if (form == FORM_BANK || form == FORM_BANK_C) {
        set_bank(inst, 14, operand);
        operand->value *= 4;
        read_signs(inst, marks, 32, operand);
    } else {
        set_register(inst, marks, 32, true, operand);
    }
}

static uint64_t sign_extended(uint64_t value, uint32_t width) {
    const uint64_t sign = 1ull << (width - 1);
    return (value ^ sign) - sign;
}

// A branch counts words from the next instruction on; its lowest bits are where other instructions
// have their destination.
static void set_label(SassInst *inst, const Marks *marks, SassOperand *operand) {
    operand->kind = SASS_LABEL;
    if (marks->at) { // counted in bytes
        operand->value =
            inst->at + SASS_BYTES + sign_extended(take(inst, marks->at, LABEL_BITS), LABEL_BITS);
        return;
    }
    const bool joined = strchr(inst->row->operands, 'K') == NULL;
    const uint64_t high = sign_extended(take(inst, 34, 48), 48);
    const uint64_t words = joined ? high << 8 | take(inst, 16, 8) : high;
    operand->value = inst->at + SASS_BYTES + 4 * words;
}

static void set_memory(SassInst *inst, const Marks *marks, SassOperand *operand) {
    const bool uniform = marks->letter != 'N' && marks->at && take(inst, 91, 1);
    operand->kind = marks->letter == 'G'   ? SASS_GLOBAL
                    : marks->letter == 'N' ? SASS_WIDE
                                           : SASS_SHARED;
    operand->reg = (uint8_t)take(inst, 24, 8);
    operand->ureg = uniform ? (uint8_t)take(inst, marks->at, 6) : SASS_URZ;
    operand->indexed = uniform;
    const uint32_t offset_at = marks->letter == 'N' && marks->at ? marks->at : 40;
    operand->value = sign_extended(take(inst, offset_at, 24), 24);
}

// The two addresses of a copy share one field.
static void set_copied(SassInst *inst, bool shared, SassOperand *operand) {
    *operand = (SassOperand){.kind = shared ? SASS_SHARED : SASS_GLOBAL, .ureg = SASS_URZ};
    operand->reg = (uint8_t)take(inst, shared ? 16 : 24, 8);
    const uint32_t width = shared ? 20 : 12;
    operand->value = sign_extended(take(inst, shared ? 44 : 32, width), width);
    if (!shared) operand->ureg = (uint8_t)take(inst, 64, 6);
}

static void set_predicate(SassInst *inst, const Marks *marks, SassOperand *operand) {
    const bool uniform = marks->uniform || islower((unsigned char)marks->letter);
    operand->kind = uniform ? SASS_UPRED : SASS_PRED;
    operand->reg = (uint8_t)take(inst, marks->at, 3);
    operand->written = marks->letter == 'P' || marks->letter == 'p';
    operand->negated = marks->negation && take(inst, marks->negation, 1);
    if (marks->left_out && operand->reg == SASS_PT && !operand->negated) operand->hidden = true;
}

static bool is_special(uint64_t number) {
#define KNOWN(name, ...) case SR_##name:
    switch (number) {
        SASS_SPECIAL_WORDS(KNOWN, KNOWN)
        return true;
    default:
        return false;
    }
#undef KNOWN
}

// A policy's register takes the place of an offset.
static bool has_policy(SassInst *inst) {
    return strchr(inst->row->operands, 'H') && take(inst, HAS_POLICY, 1);
}

static bool decode_operand(SassInst *inst, const char *token, size_t length) {
    if (inst->operand_count == SASS_OPERANDS) return false;
    SassOperand *operand = &inst->operands[inst->operand_count++];
    const Marks marks = read_marks(inst, token, length);
    *operand = (SassOperand){.hidden = marks.hidden, .joined = marks.joined};
    switch (marks.letter) {
    case 'D':
    case 'E':
        set_register(inst, &marks, 16, marks.letter == 'E', operand);
        operand->written = true;
        operand->hidden |=
            marks.left_out && operand->reg == (marks.letter == 'E' ? SASS_URZ : SASS_RZ);
        break;
    case 'A':
    case 'a':
        set_register(inst, &marks, 24, marks.letter == 'a', operand);
        break;
    case 'B':
    case 'C':
    case 'b':
    case 'c':
        set_by_form(inst, &marks, islower((unsigned char)marks.letter), operand);
        break;
    case 'R':
    case 'U':
        set_register(inst, &marks, marks.at, marks.letter == 'U', operand);
        break;
    case 'P':
    case 'p':
    case 'Q':
    case 'q':
        set_predicate(inst, &marks, operand);
        break;
    case 'K':
        *operand = (SassOperand){.kind = SASS_BARRIER,
                                 .reg = (uint8_t)take(inst, marks.at ? marks.at : 16, 4)};
        break;
    case 'T':
        *operand = (SassOperand){.kind = SASS_SCOREBOARD, .reg = (uint8_t)take(inst, marks.at, 3)};
        break;
    case 'L':
        set_label(inst, &marks, operand);
        break;
    case 'O':
        set_label(inst, &marks, operand);
        operand->kind = SASS_INT;
        operand->value -= inst->at + SASS_BYTES;
        break;
    case 'N':
    case 'G':
    case 'S':
        set_memory(inst, &marks, operand);
        break;
    case 'Y':
    case 'Z':
        set_copied(inst, marks.letter == 'Y', operand);
        break;
    case 'M':
        *operand = (SassOperand){
            .kind = SASS_SHARED, .reg = SASS_RZ, .ureg = (uint8_t)take(inst, marks.at, 6)};
        if (marks.at == 24 && !has_policy(inst))
            operand->value = sign_extended(take(inst, 40, 24), 24);
        break;
    case 'H':
        operand->kind = SASS_POLICY;
        operand->ureg = (uint8_t)take(inst, marks.at, 6);
        break;
    case 'W':
    case 'V':
    case 'w':
        set_bank(inst, 16, operand);
        operand->value = sign_extended(operand->value, 16);
        operand->indexed = marks.letter != 'w';
        if (marks.letter == 'W') operand->reg = (uint8_t)take(inst, 24, 8);
        if (marks.letter == 'V') operand->ureg = (uint8_t)take(inst, 24, 6);
        break;
    case 'I':
        operand->kind = SASS_INT;
        operand->value = take(inst, marks.at, marks.width);
        break;
    case 'X':
        operand->kind = SASS_SPECIAL;
        operand->value = take(inst, 72, 8);
        return is_special(operand->value);
    case 'F':
        operand->kind = SASS_PREDS;
        break;
    case 'f':
        operand->kind = SASS_UPREDS;
        break;
    default:
        return false;
    }
    return true;
}

// The first look-up table of PLOP3 is in two fields.
static void join_table(SassInst *inst) {
    if (inst->op != SASS_PLOP3 && inst->op != SASS_UPLOP3) return;
    SassOperand *first = &inst->operands[inst->operand_count - 2];
    first->value = take(inst, 64, 3) | take(inst, 72, 5) << 3;
}

static bool decode_operands(SassInst *inst) {
    for (const char *token = inst->row->operands; *token;) {
        const size_t length = strcspn(token, " ");
        if (!decode_operand(inst, token, length)) return false;
        token += length + (token[length] == ' ');
    }
    join_table(inst);
    return true;
}

// The fields that all instructions have.
static void decode_control(SassInst *inst) {
    const SassWord word = inst->word;
    inst->guard = (uint8_t)sass_bits(word, GUARD_AT, 3);
    inst->guard_negated = sass_bits(word, GUARD_AT + 3, 1);
    inst->stall = (uint8_t)sass_bits(word, 105, 4);
    inst->yields = !sass_bits(word, 109, 1);
    inst->write_barrier = (uint8_t)sass_bits(word, 110, 3);
    inst->read_barrier = (uint8_t)sass_bits(word, 113, 3);
    inst->wait_mask = (uint8_t)sass_bits(word, 116, 6);
    take(inst, 0, OPCODE_BITS + 4);
    take(inst, CONTROL_AT, 128 - CONTROL_AT);
}

bool sass_decode(SassWord word, uint64_t at, SassInst *inst) {
    SassOpcode op = SASS_UNKNOWN;
    for (const SassRow *row = sass_rows; (row = find_row(word, row)); row++) {
        *inst = (SassInst){.row = row, .word = word, .at = at, .op = row->op};
        if (!op) op = row->op;
        decode_control(inst);
        inst->guard_uniform = sass_is(inst, SASS_UNIFORM) || strchr(row->operands, 'M');
        if (decode_modifiers(inst) && decode_operands(inst) && rest_is_known(inst)) return true;
    }
    *inst = (SassInst){.word = word, .at = at, .op = op};
    decode_control(inst);
    return false;
}

bool sass_has(const SassInst *inst, SassModifier modifier) {
    for (uint32_t k = 0; k < inst->modifier_count; k++)
        if (inst->modifiers[k] == modifier) return true;
    return false;
}
