// Follows undefined values in registers. A shuffle from a lane that has ended, does not exist or
// does not take part gives an undefined value (PTX ISA, "shfl.sync"; CUDA C++ Programming Guide),
// but the program's behaviour is defined. So reading the value and ignoring it is no hazard, as the
// upper lanes of a sum do. It becomes one once the value affects a branch, an address, a store or a
// vote.
//
// A read of unwritten shared memory is undefined in the same way (unwritten.c).
//
// While a live register has an undefined value, this file follows each instruction of the warp:
// from operands to results, through other shuffles, and into called functions and back. It ignores
// the operand that a `selp` does not choose.
#include "simt/observe/race/checker.h"
#include "simt/ops/ops.h"
#include "simt/ptx/opcode.h"

// The source of an undefined value: a shuffle, in which `lane` read lane `from`, or a read of
// memory.
typedef struct {
    const Inst *shuffle;
    uint8_t lane, from;
    bool ended;
    uint32_t read; // its number; 0: it is a shuffle
} Source;

struct Undefined {
    const Code *code;
    uint32_t reg;   // of its function
    uint32_t lanes; // in which it is undefined
    Source of[LANES];
};

// The undefined lanes of an instruction's result.
typedef struct {
    uint32_t lanes;
    Source of[LANES];
} Value;

typedef struct {
    Checker *checker;
    Warp *warp;
    UndefinedList *list; // of its warp
    const Inst *inst;
    const Code *code;
    const PtxInst *ptx;
} Step;

static Undefined *find(const UndefinedList *list, const Code *code, uint32_t reg) {
    for (uint32_t k = 0; k < list->count; k++)
        if (list->at[k].reg == reg && list->at[k].code == code) return &list->at[k];
    return NULL;
}

// Of two sources of a value, a shuffle is reported before a read, and a lane's own shuffle before
// another lane's.
static void join_sources(Checker *checker, Source *value, const Source *other, uint32_t lane) {
    if (value->read && other->read)
        value->read = unwritten_both(checker, value->read, other->read);
    else if (value->read || (!other->read && other->lane == lane))
        *value = *other;
}

// Adds the undefined lanes of a register.
static void take(const Step *step, Value *value, uint32_t reg, uint32_t lanes) {
    const Undefined *known = reg == PTX_NONE ? NULL : find(step->list, step->code, reg);
    for (uint32_t m = known ? known->lanes & lanes : 0; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), bit = 1u << lane;
        if (value->lanes & bit)
            join_sources(step->checker, &value->of[lane], &known->of[lane], lane);
        else
            value->of[lane] = known->of[lane];
        value->lanes |= bit;
    }
}

static void take_operand(const Step *step, Value *value, const PtxOperand *operand,
                         uint32_t lanes) {
    take(step, value, operand->reg, lanes);
    for (uint32_t k = 0; k < operand->count; k++)
        take_operand(step, value, &operand->items[k], lanes);
}

// Sets a register in these lanes to a value.
static void set(const Step *step, uint32_t reg, uint32_t lanes, const Value *value) {
    UndefinedList *list = step->list;
    Undefined *known = find(list, step->code, reg);
    if (!known && !value->lanes) return;
    if (!known) ARENA_GROW(&step->checker->arena, list->at, list->count, list->capacity);
    if (!known) {
        known = &list->at[list->count++];
        known->code = step->code;
        known->reg = reg;
        known->lanes = 0;
    }
    known->lanes = (known->lanes & ~lanes) | value->lanes;
    for (uint32_t m = value->lanes; m; m &= m - 1)
        known->of[__builtin_ctz(m)] = value->of[__builtin_ctz(m)];
    if (!known->lanes) *known = list->at[--list->count];
}

static void set_operand(const Step *step, const PtxOperand *operand, uint32_t lanes,
                        const Value *value) {
    if (operand->reg != PTX_NONE) set(step, operand->reg, lanes, value);
    if (operand->reg2 != PTX_NONE) set(step, operand->reg2, lanes, value);
    for (uint32_t k = 0; k < operand->count; k++)
        set_operand(step, &operand->items[k], lanes, value);
}

// --- instructions ---

static uint32_t predicate(const Step *step, const PtxOperand *operand) {
    const uint32_t value = *REG(step->warp, LaneU32, step->code->registers[operand->reg]);
    return operand->negated ? ~value : value;
}

// d = p ? a : b
static void take_chosen(const Step *step, Value *value, const PtxOperand *operands,
                        uint32_t lanes) {
    take_operand(step, value, &operands[3], lanes);
    const uint32_t chosen = predicate(step, &operands[3]);
    take_operand(step, value, &operands[1], lanes & chosen);
    take_operand(step, value, &operands[2], lanes & ~chosen);
}

// d = a && b, or a || b: a defined operand that decides alone is enough.
static void take_combined(const Step *step, Value *value, const PtxOperand *operands,
                          uint32_t lanes, bool by_zero) {
    for (int k = 1; k <= 2; k++) {
        Value alone = {0};
        take_operand(step, &alone, &operands[k], lanes);
        const uint32_t on = predicate(step, &operands[k]);
        lanes &= alone.lanes | (by_zero ? on : ~on);
    }
    take_operand(step, value, &operands[1], lanes);
    take_operand(step, value, &operands[2], lanes);
}

static void take_sources(const Step *step, Value *value, uint32_t first) {
    const PtxOperand *operands = step->ptx->operands;
    const uint32_t count = step->ptx->operand_count, lanes = step->warp->exec;
    const PtxOpcode opcode = step->ptx->opcode;
    const bool both = opcode == OPCODE_AND, pred = ptx_has(step->ptx, PTX_MOD_PRED);
    if (count == 4 && opcode == OPCODE_SELP && operands[3].kind == PTX_OPERAND_REG)
        take_chosen(step, value, operands, lanes);
    else if (count == 3 && pred && (both || opcode == OPCODE_OR) &&
             operands[1].kind == PTX_OPERAND_REG && operands[2].kind == PTX_OPERAND_REG)
        take_combined(step, value, operands, lanes, both);
    else
        for (uint32_t k = first; k < count; k++) take_operand(step, value, &operands[k], lanes);
}

static const char *absence(bool ended) { return ended ? "has ended" : "does not take part"; }

static void report_shuffle(const Step *step, const Source *of, uint32_t lane) {
    const Machine *machine = step->checker->machine;
    const uint32_t thread = step->warp->index * (uint32_t)LANES + of->lane;
    const bool exists = thread - of->lane + of->from < step->warp->block->threads;
    const char *advice =
        exists ? "read only from lanes that get here, or let the whole warp get here, outside of "
                 "any if and before any return, where lanes without data have a neutral element "
                 "(0 for a sum)"
               : "read only from lanes that exist, or launch blocks of a multiple of 32 threads, "
                 "where lanes without data have a neutral element (0 for a sum)";
    finding_add(step->checker, KIND_LANE, PTX_REG_SPACE, of->shuffle, thread, NULL, 0, 0,
                " reads lane %u of its warp, which %s; the value is undefined, and lane %u uses it "
                "at line %u\n%s",
                of->from, exists ? absence(of->ended) : "does not exist", lane,
                finding_place(machine, step->inst).line,
                advice_take_part(machine, of->shuffle, advice));
}

// Reports every read, but only the first lane's shuffle.
static void report(const Step *step, const Value *used) {
    bool reported = false;
    for (uint32_t m = used->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const Source *of = &used->of[lane];
        if (of->read)
            unwritten_used(step->checker, of->read);
        else if (!reported)
            report_shuffle(step, of, lane);
        reported |= !of->read;
    }
}

static bool is_shuffle(const PtxInst *ptx) { return ptx->opcode == OPCODE_SHFL; }

// Whether the register is dead for the lanes of the current path.
static bool is_dead(const Step *step, const Undefined *known) {
    const uint32_t *until = step->code->needed_until;
    return known->code == step->code && until && step->inst->ptx > until[known->reg];
}

static void drop_dead(const Step *step) {
    UndefinedList *list = step->list;
    for (size_t k = list->count; k-- > 0;) {
        Undefined *known = &list->at[k];
        known->lanes &= step->warp->live;
        if (is_dead(step, known)) known->lanes &= ~step->warp->mask;
        if (!known->lanes) *known = list->at[--list->count];
    }
}

// The function of an instruction, which is usually that of the last undefined register.
static const Code *code_of(const Machine *machine, const UndefinedList *list, const Inst *inst) {
    const Code *code = list->count ? list->at[list->count - 1].code : NULL;
    const bool same = code && inst >= code->insts && inst < code->insts + code->count;
    return same ? code : machine_code(machine, inst);
}

// Whether lowering has added the instruction to enter or leave one of the program (is_entry), or
// whether it evaluates a guard (is_guard).
static bool is_entry(const Inst *inst) {
    return inst->plain == op_enter || inst->plain == op_enter_join ||
           inst->plain == op_enter_outside || inst->plain == op_unguard;
}
static bool is_guard(const Inst *inst) {
    return inst->plain == op_guard || (inst->plain == op_branch && inst->branch.synthetic);
}

// Parameters of functions are followed in pseudo-registers of no function: a result, an argument by
// its number and, before the call, an argument by its offset in the caller's frame. LOCAL: the
// bytes of the thread's local memory.
enum { RESULT, ARGUMENT, OUTGOING = 1 << 16, LOCAL = 1 << 24 };

static bool within(const PtxVariable *variable, const PtxVariable *first, uint32_t count) {
    return variable >= first && variable < first + count;
}

static uint32_t place_of(const PtxFunction *function, const PtxVariable *variable) {
    if (within(variable, function->results, function->result_count)) return RESULT;
    if (within(variable, function->params, function->param_count))
        return ARGUMENT + (uint32_t)(variable - function->params);
    return OUTGOING + (uint32_t)variable->offset;
}

// Moves the value of a pseudo-register to a register or to another pseudo-register.
static void move_value(const Step *step, uint32_t from, const PtxOperand *to, uint32_t place) {
    const uint32_t exec = step->warp->exec;
    const Value nothing = {0};
    Value value = {0};
    Step given = *step;
    given.code = NULL;
    take(&given, &value, from, exec);
    set(&given, from, exec, &nothing);
    if (to)
        set_operand(step, to, exec, &value);
    else
        set(&given, place, exec, &value);
}

static void follow_parameter(const Step *step) {
    const PtxFunction *function = step->code->source;
    const PtxOperand *operands = step->ptx->operands;
    Value value = {0};
    Step given = *step;
    given.code = NULL;
    if (step->inst->plain == op_store_frame) {
        take_operand(step, &value, &operands[1], step->warp->exec);
        set(&given, place_of(function, operands[0].variable), step->warp->exec, &value);
        return;
    }
    const uint32_t place = place_of(function, operands[1].variable);
    move_value(step, place >= OUTGOING ? RESULT : place, &operands[0], 0);
}

static void follow_call(const Step *step) {
    const PtxOperand *given = &step->ptx->operands[step->ptx->operand_count - 1];
    for (uint32_t k = 0; given->kind == PTX_OPERAND_LIST && k < given->count; k++)
        if (given->items[k].variable)
            move_value(step, place_of(step->code->source, given->items[k].variable), NULL,
                       ARGUMENT + k);
}

// Whether an access is to local memory, where unoptimized code keeps its variables; `within`: its
// addresses there.
static bool is_local(const Step *step, uint64_t within[LANES]) {
    const Inst *inst = step->inst;
    const uint32_t exec = step->warp->exec;
    if ((inst->access != ACCESS_STORE && inst->access != ACCESS_LOAD) || !exec) return false;
    const Access access = address_access(inst);
    PtxSpace space = access.space;
    uint64_t address[LANES];
    if (space != PTX_GENERIC && space != PTX_LOCAL) return false;
    address_lanes(step->warp, &access, space == PTX_LOCAL ? within : address);
    if (space == PTX_LOCAL) return true;
    return address_same_space(address, exec, &space, within) == exec && space == PTX_LOCAL;
}

static void follow_local(const Step *step, const uint64_t within[LANES]) {
    const Access access = address_access(step->inst);
    const PtxOperand *operands = step->ptx->operands;
    const Value nothing = {0};
    Step given = *step;
    given.code = NULL;
    for (uint32_t left = step->warp->exec, same; left; left &= ~same) {
        const uint64_t at = within[__builtin_ctz(left)];
        const uint32_t place = LOCAL + (uint32_t)at;
        Value value = {0};
        same = 0;
        LANE_LOOP same |= (uint32_t)(within[l] == at) << l;
        same &= left;
        if (access.kind == ACCESS_LOAD) {
            take(&given, &value, place, same);
            set_operand(step, &operands[0], same, &value);
            continue;
        }
        take_operand(step, &value, &operands[1], same);
        for (uint32_t k = address_bytes(&access); k-- > 0;)
            set(&given, place + k, same, k ? &nothing : &value);
    }
}

static void follow(const Step *step) {
    const PtxInst *ptx = step->ptx;
    const Inst *inst = step->inst;
    const uint32_t exec = step->warp->exec;
    const bool result = ptx_has_result(ptx), passes_on = result && inst->access == ACCESS_NONE;
    uint64_t within[LANES] = {0};
    Value used = {0}, value = {0};
    take(step, &used, ptx->guard, exec);
    if (is_guard(inst)) {
        report(step, &used);
        return;
    }
    if (inst->plain == op_store_frame || inst->plain == op_load_frame) {
        follow_parameter(step);
    } else if (ptx->opcode == OPCODE_CALL) {
        follow_call(step);
    } else if (is_shuffle(ptx)) { // its first source is followed in undefined_shuffle
        for (uint32_t k = 2; k < ptx->operand_count; k++)
            take_operand(step, &used, &ptx->operands[k], exec);
    } else if (is_local(step, within)) {
        take_operand(step, &used, &ptx->operands[inst->access == ACCESS_LOAD ? 1 : 0], exec);
        follow_local(step, within);
    } else {
        take_sources(step, passes_on ? &value : &used, result ? 1 : 0);
        if (result) set_operand(step, &ptx->operands[0], exec, &value);
    }
    report(step, &used);
}

void undefined_step(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp);
    UndefinedList *list = &checker->undefined[warp->index];
    Step step = {.checker = checker, .warp = warp, .list = list, .inst = inst};
    if (is_entry(inst)) return;
    step.code = code_of(checker->machine, list, inst);
    if (!step.code || inst->ptx >= step.code->source->inst_count) return;
    step.ptx = &step.code->source->insts[inst->ptx];
    drop_dead(&step);
    follow(&step);
    warp->followed = list->count > 0;
}

bool undefined_read(Warp *warp, const Inst *inst, uint32_t lane, uint32_t element,
                    uint32_t number) {
    Checker *checker = check_of(warp);
    UndefinedList *list = &checker->undefined[warp->index];
    Step step = {.checker = checker, .warp = warp, .list = list, .inst = inst};
    step.code = machine_code(checker->machine, inst);
    if (!step.code || !step.code->needed_until || inst->ptx >= step.code->source->inst_count)
        return false;
    step.ptx = &step.code->source->insts[inst->ptx];
    if (!ptx_is_load(step.ptx) && step.ptx->opcode != OPCODE_ATOM) return false;
    const PtxOperand *to = &step.ptx->operands[0];
    const uint32_t reg = to->kind == PTX_OPERAND_VECTOR ? to->items[element].reg : to->reg;
    if (reg == PTX_NONE || step.code->needed_until[reg] <= inst->ptx) return true;
    const Source read = {.read = number};
    Value value = {0};
    take(&step, &value, reg, 1u << lane); // from the other half of a 64-bit register
    if (value.lanes)
        join_sources(checker, &value.of[lane], &read, lane);
    else
        value.of[lane] = read;
    value.lanes = 1u << lane;
    set(&step, reg, 1u << lane, &value);
    warp->followed = true;
    return true;
}

// The lanes of other paths of the warp that have waited at this instruction.
static uint32_t waited_at(const Checker *checker, const Warp *warp, const Inst *inst) {
    uint32_t lanes = 0;
    LANE_LOOP lanes |= (uint32_t)(checker->sync.waiting[warp->index][l].inst == inst) << l;
    return lanes;
}

// Reports an instruction that all lanes must execute, such as mma, if one does not.
static void report_absent(const Step *step, uint32_t lanes, const int32_t source[LANES]) {
    const Warp *warp = step->warp;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), from = (uint32_t)source[lane] & 31;
        if (lanes >> from & 1) continue;
        finding_add(step->checker, KIND_MASK, PTX_REG_SPACE, step->inst,
                    warp->index * (uint32_t)LANES + lane, NULL, 0, 0,
                    " needs lane %u of its warp, which %s; the result is undefined\nlet all 32 "
                    "lanes of the warp get here",
                    from, absence(!(warp->live >> from & 1)));
    }
}

void undefined_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES]) {
    Checker *checker = check_of(warp);
    UndefinedList *list = &checker->undefined[warp->index];
    Step step = {.checker = checker, .warp = warp, .list = list, .inst = inst};
    step.code = machine_code(checker->machine, inst);
    step.ptx = &step.code->source->insts[inst->ptx];
    if (!is_shuffle(step.ptx)) {
        report_absent(&step, lanes, source);
        return;
    }
    Value given = {0}, got = {0};
    take_operand(&step, &given, &step.ptx->operands[1], ALL_LANES);
    const uint32_t here = lanes & (warp->exec | waited_at(checker, warp, inst));
    for (uint32_t m = here; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), from = (uint32_t)source[lane] & 31;
        if (lanes >> from & 1) {
            if (given.lanes >> from & 1) got.of[lane] = given.of[from];
            if (given.lanes >> from & 1) got.lanes |= 1u << lane;
            continue;
        }
        const bool ended = !(warp->live >> from & 1);
        got.of[lane] = (Source){inst, (uint8_t)lane, (uint8_t)from, ended, 0};
        got.lanes |= 1u << lane;
    }
    const PtxOperand *result = &step.ptx->operands[0];
    const Value inside = {0}; // the predicate depends on the lanes' numbers alone
    if (result->reg != PTX_NONE) set(&step, result->reg, here, &got);
    if (result->reg2 != PTX_NONE) set(&step, result->reg2, here, &inside);
    warp->followed = list->count > 0;
}

void undefined_begin(Checker *checker) {
    for (uint32_t w = 0; w < MAX_WARPS; w++) checker->undefined[w].count = 0;
}
