// Lowers a function of machine code: finds its basic blocks, then emits its instructions one by
// one, each after its guard.
#include "simt/sass/lower.h"

#include <stdio.h>
#include <string.h>

void sass_refuse(SassLower *s, const char *why) {
    Buf text = {.arena = s->lower->arena};
    if (s->inst->op)
        sass_write(s->inst, &text);
    else
        buf_format(&text, "unknown opcode");
    lower_fail(s->lower, "machine instruction `%.*s` (0x%016llx%016llx at 0x%llx): %s",
               STR_ARG(buf_str(&text)), (unsigned long long)s->inst->word.high,
               (unsigned long long)s->inst->word.low, (unsigned long long)s->inst->at, why);
}

bool sass_take(SassLower *s, SassModifier modifier) {
    for (uint32_t k = 0; k < s->inst->modifier_count; k++) {
        if (s->inst->modifiers[k] != modifier) continue;
        s->taken |= 1u << k;
        return true;
    }
    return false;
}

uint32_t sass_listed(SassLower *s, SassListName list) {
    uint32_t unwritten = UINT32_MAX;
    for (uint32_t k = SASS_LIST_ITEMS; k-- > 0;) {
        const SassModifier item = sass_lists[list][k];
        if (item == SASS_MOD_NONE) unwritten = k;
        if (item != SASS_MOD_NONE && item != SASS_MOD_UNKNOWN && sass_take(s, item)) return k;
    }
    return unwritten;
}

SassModifier sass_next(SassLower *s) {
    for (uint32_t k = 0; k < s->inst->modifier_count; k++) {
        if (s->taken >> k & 1) continue;
        s->taken |= 1u << k;
        return s->inst->modifiers[k];
    }
    return SASS_MOD_NONE;
}

Inst *sass_emit(SassLower *s, Op *run) { return lower_emit(s->lower, run); }

void sass_row(SassLower *s, const char *name, uint32_t d, uint32_t a, uint32_t b, uint32_t c) {
    lower_emit_row(s->lower, str_of(name), (uint32_t[]){d, a, b, c, 0});
}

void sass_jump(SassLower *s, uint64_t target) {
    if (target % SASS_BYTES || target / SASS_BYTES >= s->count)
        sass_refuse(s, "its target lies outside its function");
    ARENA_GROW(s->lower->arena, s->fixups, s->fixup_count, s->fixup_capacity);
    s->fixups[s->fixup_count].inst = s->lower->count - 1;
    s->fixups[s->fixup_count++].target = (uint32_t)(target / SASS_BYTES);
}

// --- blocks ---

// Every word of the function's table may be the address of an instruction.
static void mark_table(const SassLower *s, bool *leads) {
    const PtxVariable *table = s->function->table;
    for (size_t at = 0; table && at + 4 <= table->data_bytes; at += 4) {
        uint32_t target;
        memcpy(&target, table->data + at, sizeof target);
        if (target % SASS_BYTES == 0 && target / SASS_BYTES < s->count)
            leads[target / SASS_BYTES] = true;
    }
}

static void mark_leaders(const SassLower *s, bool *leads) {
    leads[0] = true;
    mark_table(s, leads);
    for (uint32_t k = 0; k < s->count; k++) {
        const SassInst *inst = &s->insts[k];
        if (sass_is(inst, SASS_ENDS) && k + 1 < s->count) leads[k + 1] = true;
        if (sass_is(inst, SASS_REPEATS)) leads[k] = true;
        for (uint32_t j = 0; j < inst->operand_count; j++) {
            const SassOperand *operand = &inst->operands[j];
            const uint64_t target = operand->value / SASS_BYTES;
            if (operand->kind == SASS_LABEL && target < s->count) leads[target] = true;
        }
    }
}

static void begin_block(SassLower *s, const bool *leads, uint32_t k) {
    Lower *lower = s->lower;
    uint32_t end = k + 1;
    while (end < s->count && !leads[end]) end++;
    s->place[k] = lower->count;
    const uint32_t slot = lower_slot(lower, SLOT_BLOCK);
    lower->lowering->slots->slots[slot].ptx_end = end;
    sass_emit(s, op_enter)->slot = slot;
}

// --- instructions ---

static void check_modifiers(SassLower *s) {
    const uint32_t all = (1u << s->inst->modifier_count) - 1;
    if ((s->taken & all) == all) return;
    const uint32_t first = (uint32_t)__builtin_ctz(all & ~s->taken);
    char why[100];
    snprintf(why, sizeof why, "unsupported modifier .%s",
             sass_modifier_text(s->inst->modifiers[first]));
    sass_refuse(s, why);
}

#define LOWERING(name, lower, evidence, pipe, act, flags) [SASS_##name] = sass_lower_##lower,
static SassLowering *const lowerings[SASS_OPCODE_COUNT] = {SASS_OPCODES(LOWERING)};

static void lower_instruction(SassLower *s) {
    const SassInst *inst = s->inst;
    Lower *lower = s->lower;
    if (!inst->op) sass_refuse(s, "the CPU device does not have it");
    if (inst->guard == SASS_PT && inst->guard_negated) return; // never
    const bool guarded = inst->guard != SASS_PT && !sass_is(inst, SASS_GUARDS);
    const size_t guard = lower->count;
    if (guarded) {
        const uint32_t first = inst->guard_uniform ? s->uniform_predicates : s->predicates;
        sass_emit(s, op_guard)->guard =
            (InstGuard){first + 4u * inst->guard, inst->guard_negated, 0};
    }
    s->taken = 0;
    for (int class = 0; class <= REGISTER_64; class ++) s->temps[class].used = 0;
    lowerings[inst->op](s);
    check_modifiers(s);
    if (!guarded) return;
    sass_emit(s, op_unguard);
    lower->insts[guard].guard.skip = (uint32_t)(lower->count - guard);
}

// Whether the function may need more local memory than its own frame: it calls functions, and some
// code moves the stack pointer, R1.
static bool deepens(const SassLower *s) {
    bool calls = false, moves = false;
    for (uint32_t k = 0; k < s->count; k++) {
        const SassInst *inst = &s->insts[k];
        const SassOperand *d = &inst->operands[0];
        calls |= inst->op == SASS_CALL;
        moves |= k && inst->operand_count && d->written && d->kind == SASS_REG && d->reg == 1;
    }
    return calls && moves;
}

static void decode_all(SassLower *s) {
    s->insts = ARENA_NEW(s->lower->arena, s->count + 1, SassInst);
    for (uint32_t k = 0; k < s->count; k++) {
        SassWord word;
        memcpy(&word, s->function->code.at + k * SASS_BYTES, sizeof word);
        if (!sass_decode(word, k * SASS_BYTES, &s->insts[k])) s->insts[k].op = SASS_UNKNOWN;
    }
}

// The number of instructions without the NOPs after the last one, which pad the section.
static uint32_t without_padding(const SassLower *s) {
    uint32_t count = s->count;
    while (count && s->insts[count - 1].op == SASS_NOP) count--;
    return count;
}

static void prepare(SassLower *s) {
    Lower *lower = s->lower;
    memset(s->registers, 0xff, sizeof s->registers);
    memset(s->uniforms, 0xff, sizeof s->uniforms);
    memset(s->barriers, 0xff, sizeof s->barriers);
    memset(s->sinks, 0xff, sizeof s->sinks);
    memset(s->found, 0xff, sizeof s->found);
    s->predicates = lower_reserve(lower, FRAME_ALIGN);
    s->uniform_predicates = lower_reserve(lower, FRAME_ALIGN);
    s->count = (uint32_t)(s->function->code.len / SASS_BYTES);
    decode_all(s);
    s->count = without_padding(s);
    lower->code->deepens = deepens(s);
    s->place = ARENA_NEW(lower->arena, s->count + 1, size_t);
    s->targets = ARENA_NEW(lower->arena, s->count + 1, const Inst *);
}

static void finish(SassLower *s, const bool *leads) {
    Lower *lower = s->lower;
    Code *code = lower->code;
    code->insts = ARENA_NEW(lower->arena, lower->count + 1, Inst);
    code->count = (uint32_t)lower->count;
    memcpy(code->insts, lower->insts, lower->count * sizeof *code->insts);
    for (uint32_t k = 0; k < code->count; k++) code->insts[k].plain = code->insts[k].run;
    for (uint32_t k = 0; k < s->count; k++)
        if (leads[k]) s->targets[k] = code->insts + s->place[k];
    for (size_t k = 0; k < s->fixup_count; k++)
        code->insts[s->fixups[k].inst].branch.target = s->targets[s->fixups[k].target];
    code->frame_bytes = lower->frame;
    code->lowered = true;
}

// Clears the barriers that functions save: a warp begins with empty ones, and the frame may still
// hold those of an earlier block.
static void clear_saved_barriers(SassLower *s) {
    uint32_t cleared = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        const SassInst *inst = &s->insts[k];
        if (inst->op != SASS_BMOV) continue;
        const SassOperand *first = inst->operands;
        const uint32_t number = first[first->kind != SASS_BARRIER].reg;
        if (!(cleared >> number & 1))
            sass_emit(s, op_barrier_clear)->r[0] = sass_barrier(s, number);
        cleared |= 1u << number;
    }
}

bool sass_lower(Lowering *lowering, const SassModule *module, Code *code) {
    Lower *lower = ARENA_NEW(lowering->arena, 1, Lower);
    SassLower *s = ARENA_NEW(lowering->arena, 1, SassLower);
    *lower = (Lower){
        .lowering = lowering, .arena = lowering->arena, .code = code, .function = code->source};
    s->lower = lower;
    s->module = module;
    s->function = &module->functions[code->source - module->module->functions];
    lowering->status = SIMT_OK;
    if (setjmp(lower->leave)) return false;
    if (s->function->relocated)
        lower_fail(lower, "its machine code is not linked: it refers to other files");
    prepare(s);
    bool *leads = ARENA_NEW(lower->arena, s->count + 1, bool);
    mark_leaders(s, leads);
    for (uint32_t k = 0; k < s->count; k++) {
        lower->at = &lower->function->insts[k];
        s->inst = &s->insts[k];
        if (k == 0) clear_saved_barriers(s);
        if (leads[k]) begin_block(s, leads, k);
        lower_instruction(s);
    }
    sass_emit(s, op_past_end);
    finish(s, leads);
    return true;
}
