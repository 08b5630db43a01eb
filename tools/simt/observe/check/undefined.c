// What a lane gets from a lane that has ended, that the launch does not have or that takes no part
// in the shuffle. "If the source lane is inactive the value is undefined" (PTX ISA, "shfl.sync"; in
// the CUDA C++ Programming Guide: "If the target thread is inactive, the retrieved value is
// undefined"): the value, and not what the program does. So to read it and to throw it away, as the
// upper lanes of a sum do, is no hazard. It is one once the value decides something: where a lane
// goes, which address it accesses, what it stores, or what others learn by a vote.
//
// From such a shuffle on the instructions of its warp are followed one by one, as long as some
// register has an undefined value: from their operands to their results, through other shuffles,
// and not from the operand that a `selp` does not choose.
#include <stdlib.h>

#include "simt/lower/opcode.h"
#include "simt/observe/check/inside.h"

// Where a value comes from: a lane has read another one.
typedef struct {
    const Inst *shuffle;
    uint8_t lane, from;
    bool ended;
} Source;

struct Undefined {
    const Code *code;
    uint32_t reg;   // of its function
    uint32_t lanes; // in which it is undefined
    Source of[LANES];
};

// What an instruction makes, lane by lane.
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

// Adds what is undefined in a register. Of two sources of a value a lane's own reading is told.
static void take(const Step *step, Value *value, uint32_t reg, uint32_t lanes) {
    const Undefined *known = reg == PTX_NONE ? NULL : find(step->list, step->code, reg);
    for (uint32_t m = known ? known->lanes & lanes : 0; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), bit = 1u << lane;
        if (!(value->lanes & bit) || known->of[lane].lane == lane)
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

// The register of these lanes has this value from now on. False: out of memory.
static bool set(const Step *step, uint32_t reg, uint32_t lanes, const Value *value) {
    UndefinedList *list = step->list;
    Undefined *known = find(list, step->code, reg);
    if (!known && !value->lanes) return true;
    if (!known && list->count == list->capacity) {
        const uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
        Undefined *grown = realloc(list->at, capacity * sizeof *grown);
        if (!grown) return false;
        list->at = grown;
        list->capacity = capacity;
    }
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
    return true;
}

static void set_operand(const Step *step, const PtxOperand *operand, uint32_t lanes,
                        const Value *value) {
    bool good = operand->reg == PTX_NONE || set(step, operand->reg, lanes, value);
    if (operand->reg2 != PTX_NONE) good &= set(step, operand->reg2, lanes, value);
    for (uint32_t k = 0; k < operand->count; k++)
        set_operand(step, &operand->items[k], lanes, value);
    step->checker->lost |= !good;
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

// d = a && b, or a || b: one that decides alone is enough.
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

static bool is_register(const PtxOperand *operand) { return operand->kind == PTX_OPERAND_REG; }

static void take_sources(const Step *step, Value *value, uint32_t first) {
    const PtxOperand *operands = step->ptx->operands;
    const uint32_t count = step->ptx->operand_count, lanes = step->warp->exec;
    const Str opcode = step->ptx->opcode;
    const bool both = str_equal(opcode, STR("and.pred"));
    if (count == 4 && str_starts(opcode, STR("selp.")) && is_register(&operands[3]))
        take_chosen(step, value, operands, lanes);
    else if (count == 3 && (both || str_equal(opcode, STR("or.pred"))) &&
             is_register(&operands[1]) && is_register(&operands[2]))
        take_combined(step, value, operands, lanes, both);
    else
        for (uint32_t k = first; k < count; k++) take_operand(step, value, &operands[k], lanes);
}

// Whether the first operand is a result.
static bool has_result(const PtxInst *ptx) {
    static const Str none[] = {STR("brx."), STR("nanosleep."), STR("bar."), STR("barrier.")};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        if (str_starts(ptx->opcode, none[k])) return false;
    if (!ptx->operand_count) return false;
    const PtxOperandKind kind = ptx->operands[0].kind;
    return kind == PTX_OPERAND_REG || kind == PTX_OPERAND_SINK || kind == PTX_OPERAND_VECTOR;
}

static const char *absence(bool ended) {
    return ended ? "has ended or never was" : "does not take part";
}

static void report(const Step *step, const Value *used) {
    if (!used->lanes) return;
    const uint32_t lane = (uint32_t)__builtin_ctz(used->lanes);
    const Source *of = &used->of[lane];
    const uint32_t line = check_place(step->checker->machine, step->inst).line;
    check_found(step->checker, KIND_MASK, PTX_REG_SPACE, of->shuffle,
                step->warp->index * (uint32_t)LANES + of->lane, NULL, 0, 0,
                "lane %u reads lane %u, which %s: what it gets is undefined, and lane %u uses it "
                "at line %u",
                of->lane, of->from, absence(of->ended), lane, line);
}

static bool is_shuffle(const PtxInst *ptx) { return str_starts(ptx->opcode, STR("shfl.")); }

void undefined_step(Warp *warp, const Inst *inst) {
    Checker *checker = check_of(warp);
    UndefinedList *list = &checker->undefined[warp->index];
    Step step = {.checker = checker, .warp = warp, .list = list, .inst = inst};
    step.code = machine_code(checker->machine, inst);
    if (!step.code || inst->ptx >= step.code->source->inst_count) return;
    step.ptx = &step.code->source->insts[inst->ptx];
    const bool result = has_result(step.ptx);
    Value used = {0}, value = {0};
    take(&step, &used, step.ptx->guard, warp->exec);
    if (is_shuffle(step.ptx)) { // its first source is followed in undefined_shuffle
        for (uint32_t k = 2; k < step.ptx->operand_count; k++)
            take_operand(&step, &used, &step.ptx->operands[k], warp->exec);
    } else {
        const bool passes_on = result && inst->access == ACCESS_NONE;
        take_sources(&step, passes_on ? &value : &used, result ? 1 : 0);
        if (result) set_operand(&step, &step.ptx->operands[0], warp->exec, &value);
    }
    report(&step, &used);
    warp->followed = list->count > 0;
}

// The lanes of other paths of the warp that have waited at this very instruction.
static uint32_t waited_at(const Checker *checker, const Warp *warp, const Inst *inst) {
    uint32_t lanes = 0;
    LANE_LOOP lanes |= (uint32_t)(checker->waiting[warp->index][l].inst == inst) << l;
    return lanes;
}

// Where all lanes have to come, as to products of matrices, nothing is defined if one does not.
static void report_absent(const Step *step, uint32_t lanes, const int32_t source[LANES]) {
    const Warp *warp = step->warp;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), from = (uint32_t)source[lane] & 31;
        if (lanes >> from & 1) continue;
        check_found(step->checker, KIND_MASK, PTX_REG_SPACE, step->inst,
                    warp->index * (uint32_t)LANES + lane, NULL, 0, 0,
                    "lane %u needs lane %u, which %s: what happens is undefined", lane, from,
                    absence(!(warp->live >> from & 1)));
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
        got.of[lane] = (Source){inst, (uint8_t)lane, (uint8_t)from, ended};
        got.lanes |= 1u << lane;
    }
    const PtxOperand *result = &step.ptx->operands[0];
    const Value inside = {0}; // the predicate depends on the lanes' numbers alone
    bool good = result->reg == PTX_NONE || set(&step, result->reg, here, &got);
    if (result->reg2 != PTX_NONE) good &= set(&step, result->reg2, here, &inside);
    checker->lost |= !good;
    warp->followed = list->count > 0;
}

void undefined_begin(Checker *checker) {
    for (uint32_t w = 0; w < MAX_WARPS; w++) checker->undefined[w].count = 0;
}

void undefined_free(Checker *checker) {
    for (uint32_t w = 0; w < MAX_WARPS; w++) free(checker->undefined[w].at);
}
