// Lowering: registers get places in the frame, constants too, instructions their Op. See code.h.
#include "simt/lower/lower.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FRAME_LIMIT (1u << 22)

void lower_fail(Lower *lower, const char *format, ...) {
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    Lowering *lowering = lower->lowering;
    Str name = str_slice(lower->function->name, 0, 200);
    snprintf(lowering->error->text, sizeof lowering->error->text, "%.200s:%u: %s (in %.*s)",
             lowering->module->origin, lower->at ? lower->at->ptx_line : 0, text, STR_ARG(name));
    if (lowering->status == SIMT_OK) lowering->status = SIMT_UNSUPPORTED;
    longjmp(lower->leave, 1);
}

void lower_unknown(Lower *lower) {
    Str opcode = str_slice(lower->at->opcode, 0, 100);
    lower_fail(lower, "unsupported instruction `%.*s`", STR_ARG(opcode));
}

Inst *lower_emit(Lower *lower, Op *run) {
    ARENA_GROW(lower->arena, lower->insts, lower->count, lower->capacity);
    Inst *inst = &lower->insts[lower->count++];
    *inst = (Inst){.run = run};
    for (int k = 0; k < 6; k++) inst->r[k] = PTX_NONE;
    inst->ptx = lower->at ? (uint32_t)(lower->at - lower->function->insts) : PTX_NONE;
    return inst;
}

uint32_t lower_slot(Lower *lower, SlotKind kind) {
    SlotTable *table = lower->lowering->slots;
    ARENA_GROW(lower->arena, table->slots, table->count, table->capacity);
    uint32_t ptx = lower->at ? (uint32_t)(lower->at - lower->function->insts) : 0;
    table->slots[table->count] = (Slot){(uint8_t)kind, ptx, ptx + 1, lower->function};
    return table->count++;
}

// --- frame ---

uint32_t lower_room(Lower *lower, uint32_t bytes) {
    uint32_t at = lower->frame;
    if (bytes > FRAME_LIMIT || at + bytes > FRAME_LIMIT) lower_fail(lower, "too many registers");
    lower->frame = at + ((bytes + 63u) & ~63u);
    return at;
}

uint32_t lower_temp(Lower *lower, char letter) {
    if (letter == 'p') {
        if (!lower->predicates_left) {
            lower->frame_predicates = lower_room(lower, 64);
            lower->predicates_left = 16;
        }
        return lower->frame_predicates + 4 * --lower->predicates_left;
    }
    return lower_room(lower, letter == 'h' ? 64 : letter == 'w' ? 128 : 256);
}

uint32_t lower_constant(Lower *lower, char letter, uint64_t value) {
    Code *code = lower->code;
    uint32_t bytes = letter == 'p' ? 0 : letter == 'h' ? 2 : letter == 'w' ? 4 : 8;
    if (bytes == 2) value &= 0xffff;
    if (bytes == 4) value &= 0xffffffffu;
    for (uint32_t k = 0; k < code->constant_count; k++)
        if (code->constants[k].bytes == bytes && code->constants[k].value == value)
            return code->constants[k].offset;
    uint32_t offset = lower_temp(lower, letter);
    ARENA_GROW(lower->arena, code->constants, code->constant_count, lower->constant_capacity);
    code->constants[code->constant_count++] = (CodeConstant){offset, bytes, value};
    return offset;
}

char lower_type_letter(PtxType type) {
    if (type == PTX_PRED) return 'p';
    uint32_t bytes = ptx_type_bytes(type);
    return bytes == 8 ? 'd' : bytes == 4 ? 'w' : bytes && bytes <= 2 ? 'h' : 0;
}

char lower_letter(const Lower *lower, const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_REG) return 0;
    return lower_type_letter(lower->function->registers[operand->reg].type);
}

uint32_t lower_register(Lower *lower, uint32_t reg) {
    if (lower->offset[reg] == PTX_NONE) {
        const PtxRegister *known = &lower->function->registers[reg];
        char letter = lower_type_letter(known->type);
        if (!letter) lower_fail(lower, "unsupported 128-bit register `%.*s`", STR_ARG(known->name));
        lower->offset[reg] = lower_temp(lower, letter);
    }
    return lower->offset[reg];
}

static uint32_t checked_register(Lower *lower, uint32_t reg, char letter) {
    const PtxRegister *known = &lower->function->registers[reg];
    if (lower_type_letter(known->type) != letter) {
        lower->lowering->status = SIMT_INVALID_PTX;
        lower_fail(lower, "register `%.*s` has the wrong size for `%.*s`", STR_ARG(known->name),
                   STR_ARG(lower->at->opcode));
    }
    return lower_register(lower, reg);
}

uint32_t lower_dest(Lower *lower, const PtxOperand *operand, char letter) {
    if (operand->kind == PTX_OPERAND_SINK) return lower_temp(lower, letter);
    if (operand->kind != PTX_OPERAND_REG || operand->negated) {
        lower->lowering->status = SIMT_INVALID_PTX;
        lower_fail(lower, "the result of `%.*s` needs a register", STR_ARG(lower->at->opcode));
    }
    return checked_register(lower, operand->reg, letter);
}

static uint32_t name_source(Lower *lower, const PtxOperand *operand, char letter) {
    Special special;
    const Lowering *lowering = lower->lowering;
    bool wide = letter == 'd';
    if (special_named(operand->name, &special)) {
        if (special >= SPECIAL_RESERVED_BEGIN && special <= SPECIAL_RESERVED_CAP)
            lower->code->reserved = true;
        uint32_t temp = lower_temp(lower, letter);
        Inst *inst = lower_emit(lower, op_special);
        inst->r[0] = temp;
        inst->mode = (uint8_t)special;
        inst->wide = wide;
        inst->bytes = letter == 'h' ? 2 : 4;
        return temp;
    }
    const PtxVariable *variable = operand->variable;
    if (!variable) variable = ptx_variable(lowering->module, operand->name);
    if (variable && variable->space == PTX_LOCAL) {
        uint32_t temp = lower_temp(lower, letter);
        Inst *inst = lower_emit(lower, op_local_address);
        inst->r[0] = temp;
        inst->imm = variable->offset + operand->value;
        inst->wide = wide;
        return temp;
    }
    if (variable && variable->space == PTX_SHARED && variable->external) {
        uint32_t temp = lower_temp(lower, letter);
        Inst *inst = lower_emit(lower, op_special);
        inst->r[0] = temp;
        inst->mode = SPECIAL_DYNAMIC_BASE;
        inst->wide = wide;
        if (operand->value) {
            Inst *sum = lower_emit(lower, lower_row(wide ? STR("add.u64") : STR("add.u32"), NULL));
            sum->r[0] = sum->r[1] = temp;
            sum->r[2] = lower_constant(lower, letter, operand->value);
        }
        return temp;
    }
    uint64_t address;
    if (variable && lowering->variable_address(lowering->context, variable, &address))
        return lower_constant(lower, letter, address + operand->value);
    const PtxFunction *function = ptx_function(lowering->module, operand->name);
    if (function && wide) {
        Code *code = lowering->function_code(lowering->context, function);
        return lower_constant(lower, letter, (uint64_t)(uintptr_t)code);
    }
    lower_fail(lower, "unknown name `%.*s`", STR_ARG(operand->name));
}

uint32_t lower_source(Lower *lower, const PtxOperand *operand, char letter) {
    switch ((PtxOperandKind)operand->kind) {
    case PTX_OPERAND_REG: {
        uint32_t offset = checked_register(lower, operand->reg, letter);
        if (!operand->negated) return offset;
        if (letter != 'p') break;
        uint32_t temp = lower_temp(lower, 'p');
        Inst *inst = lower_emit(lower, lower_row(STR("not.pred"), NULL));
        inst->r[0] = temp;
        inst->r[1] = offset;
        return temp;
    }
    case PTX_OPERAND_INT:
        if (letter == 'p') return lower_constant(lower, 'p', operand->value ? ALL_LANES : 0);
        return lower_constant(lower, letter, operand->value);
    case PTX_OPERAND_SINGLE: {
        uint32_t bits = (uint32_t)operand->value;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (letter == 'w') return lower_constant(lower, letter, bits);
        if (letter != 'd') break;
        double wide = (double)value;
        uint64_t wide_bits;
        memcpy(&wide_bits, &wide, sizeof wide_bits);
        return lower_constant(lower, letter, wide_bits);
    }
    case PTX_OPERAND_FLOAT: {
        if (letter == 'd') return lower_constant(lower, letter, operand->value);
        if (letter != 'w') break;
        double wide;
        memcpy(&wide, &operand->value, sizeof wide);
        float value = (float)wide;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        return lower_constant(lower, letter, bits);
    }
    case PTX_OPERAND_NAME:
        return name_source(lower, operand, letter);
    default:
        break;
    }
    lower->lowering->status = SIMT_INVALID_PTX;
    lower_fail(lower, "bad operand of `%.*s`", STR_ARG(lower->at->opcode));
}

// --- opcodes ---

static const OpRow *const tables[] = {op_integer_rows, op_bits_rows,    op_float_rows, op_half_rows,
                                      op_compare_rows, op_convert_rows, op_move_rows};

#define ROW_SLOTS 4096
static const OpRow *row_slots[ROW_SLOTS];
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;

static void index_rows(void) {
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const OpRow *row = tables[t]; row->name; row++) {
            size_t at = (size_t)str_hash(str_of(row->name)) % ROW_SLOTS;
            while (row_slots[at]) at = (at + 1) % ROW_SLOTS;
            row_slots[at] = row;
        }
    }
}

Op *lower_row(Str name, const char **shape) {
    pthread_once(&rows_once, index_rows);
    for (size_t at = (size_t)str_hash(name) % ROW_SLOTS; row_slots[at]; at = (at + 1) % ROW_SLOTS) {
        if (!str_equal(str_of(row_slots[at]->name), name)) continue;
        if (shape) *shape = row_slots[at]->shape;
        return row_slots[at]->run;
    }
    return NULL;
}

static void split_opcode(Lower *lower, Str opcode) {
    lower->parts = 0;
    size_t start = 0;
    for (size_t k = 0; k <= opcode.len; k++) {
        if (k < opcode.len && opcode.at[k] != '.') continue;
        if (lower->parts == PARTS) lower_unknown(lower);
        lower->used[lower->parts] = false;
        lower->part[lower->parts++] = str_slice(opcode, start, k);
        start = k + 1;
    }
}

bool lower_take(Lower *lower, const char *modifier) {
    for (uint32_t k = 1; k < lower->parts; k++) {
        if (lower->used[k] || !str_equal(lower->part[k], str_of(modifier))) continue;
        lower->used[k] = true;
        return true;
    }
    return false;
}

PtxType lower_take_type(Lower *lower) {
    for (uint32_t k = 1; k < lower->parts; k++) {
        PtxType type = lower->used[k] ? PTX_NOTYPE : ptx_type_named(lower->part[k]);
        if (type == PTX_NOTYPE) continue;
        lower->used[k] = true;
        return type;
    }
    lower_unknown(lower);
}

void lower_all_taken(Lower *lower) {
    for (uint32_t k = 1; k < lower->parts; k++)
        if (!lower->used[k]) lower_unknown(lower);
}

void lower_operands(Lower *lower, uint32_t least, uint32_t most) {
    uint32_t count = lower->at->operand_count;
    if (count >= least && count <= most) return;
    lower->lowering->status = SIMT_INVALID_PTX;
    lower_fail(lower, "`%.*s` with %u operands", STR_ARG(lower->at->opcode), count);
}

static void lower_one(Lower *lower) {
    Str base = lower->part[0];
    if (lower_ends_block(base))
        lower_terminator(lower, base);
    else if (!lower_move(lower, base) && !lower_memory(lower, base) && !lower_sync(lower, base) &&
             !lower_async(lower, base) && !lower_call(lower, base))
        lower_plain(lower);
}

static void lower_guarded(Lower *lower) {
    const PtxInst *at = lower->at;
    split_opcode(lower, at->opcode);
    bool alone = lower->nodes[lower->node].first + 1 == lower->nodes[lower->node].end &&
                 lower->node > 0 && lower->nodes[lower->node - 1].synthetic;
    bool branch = str_equal(lower->part[0], STR("bra")) ||
                  (str_equal(lower->part[0], STR("ret")) && !lower->function->entry);
    if (at->guard == PTX_NONE || alone || branch) {
        lower_one(lower);
        return;
    }
    size_t guard = lower->count;
    Inst *inst = lower_emit(lower, op_guard);
    inst->r[0] = lower_register(lower, at->guard);
    inst->mode = at->guard_negated;
    lower_one(lower);
    lower->insts[guard].imm = lower->count - guard;
    lower_emit(lower, op_unguard);
}

static void lower_node(Lower *lower, size_t *place) {
    FlowNode *node = &lower->nodes[lower->node];
    place[lower->node] = lower->count;
    lower->at =
        node->first < lower->function->inst_count ? &lower->function->insts[node->first] : NULL;
    uint32_t slot = lower_slot(lower, SLOT_BLOCK);
    lower->lowering->slots->slots[slot].ptx = node->first;
    lower->lowering->slots->slots[slot].ptx_end = node->end;
    Inst *enter = lower_emit(lower, node->join ? op_enter_join : op_enter);
    enter->slot = slot;
    if (node->synthetic) {
        Inst *skip = lower_emit(lower, op_branch);
        skip->r[0] = lower_register(lower, lower->at->guard);
        skip->mode = !lower->at->guard_negated;
        skip->flags = INST_SYNTHETIC;
        skip->target = (const Inst *)(uintptr_t)(node->next[0] + 1);
        if (node->meet != PTX_NONE) skip->rpc = (const Inst *)(uintptr_t)(node->meet + 1);
    }
    for (uint32_t k = node->first; k < node->end; k++) {
        lower->at = &lower->function->insts[k];
        lower_guarded(lower);
    }
    if (lower->node + 1 < lower->node_count) return;
    lower->at = NULL; // the end of the function
    Inst *end = lower_emit(lower, lower->function->entry ? op_exit : op_return);
    end->extra = lower->code;
}

static void finish(Lower *lower, const size_t *place) {
    Code *code = lower->code;
    code->insts = ARENA_NEW(lower->arena, lower->count, Inst);
    code->count = (uint32_t)lower->count;
    memcpy(code->insts, lower->insts, lower->count * sizeof *code->insts);
    for (uint32_t k = 0; k < code->count; k++) {
        Inst *inst = &code->insts[k];
        inst->plain = inst->run;
        if (inst->target) inst->target = &code->insts[place[(uintptr_t)inst->target - 1]];
        if (inst->rpc) inst->rpc = &code->insts[place[(uintptr_t)inst->rpc - 1]];
        if (inst->run == op_table_branch) {
            const uint32_t *nodes = inst->extra;
            const Inst **targets = ARENA_NEW(lower->arena, inst->imm + 1, const Inst *);
            for (uint64_t t = 0; t < inst->imm; t++) targets[t] = &code->insts[place[nodes[t]]];
            inst->extra = targets;
            code->insts[k + 1].target = inst; // the jump behind it goes back to it
        }
    }
    code->frame_bytes = lower->frame;
    code->lowered = true;
}

static void count_uses(Lower *lower, const PtxOperand *operand) {
    if (operand->reg != PTX_NONE) lower->uses[operand->reg]++;
    for (uint32_t k = 0; k < operand->count; k++) count_uses(lower, &operand->items[k]);
}

static uint32_t result_bytes(const PtxFunction *function) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < function->result_count; k++) {
        uint64_t end = function->results[k].offset + function->results[k].bytes;
        if (end > bytes) bytes = end;
    }
    return (uint32_t)((bytes + 7) & ~7u);
}

bool code_lower(Lowering *lowering, Code *code) {
    Lower *lower = ARENA_NEW(lowering->arena, 1, Lower);
    const PtxFunction *function = code->source;
    lower->lowering = lowering;
    lower->arena = lowering->arena;
    lower->code = code;
    lower->function = function;
    lowering->status = SIMT_OK;
    if (setjmp(lower->leave)) return false;
    lower->offset = ARENA_NEW(lower->arena, function->register_count + 1u, uint32_t);
    lower->uses = ARENA_NEW(lower->arena, function->register_count + 1u, uint32_t);
    memset(lower->offset, 0xff, function->register_count * sizeof *lower->offset);
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        if (inst->guard != PTX_NONE) lower->uses[inst->guard]++;
        for (uint32_t j = 0; j < inst->operand_count; j++) count_uses(lower, &inst->operands[j]);
    }
    if (!function->entry) {
        lower_room(lower, FRAME_SAVED);
        lower->param_stride = (function->param_bytes + 7) & ~7u;
        lower->param_area = lower_room(lower, lower->param_stride * LANES);
        lower->result_stride = result_bytes(function);
        lower->result_area = lower_room(lower, lower->result_stride * LANES);
    }
    lower->scratch_stride = (function->scratch_bytes + 7) & ~7u;
    lower->scratch_area = lower_room(lower, lower->scratch_stride * LANES);
    code->param_offset = lower->param_area;
    code->param_stride = lower->param_stride;
    code->result_offset = lower->result_area;
    code->result_bytes = lower->result_stride;
    lower_nodes(lower);
    size_t *place = ARENA_NEW(lower->arena, lower->node_count, size_t);
    for (lower->node = 0; lower->node < lower->node_count; lower->node++) lower_node(lower, place);
    finish(lower, place);
    return true;
}
