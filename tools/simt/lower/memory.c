// Loads, stores and atomics: state spaces, cache hints, vectors, memory order.
#include <string.h>

#include "simt/lower/lower.h"

typedef struct {
    PtxSpace space;
    uint8_t order; // ORDER_*: other threads are meant to see it
    uint32_t elements;
    PtxType type;
} Access;

// Modifiers that change nothing here: order within a thread is kept and caches are not modelled.
static void take_hints(Lower *lower) {
    static const char *const hints[] = {
        "weak", "cta", "cluster", "gpu", "sys", "ca",      "cg",   "cs",
        "lu",   "cv",  "wb",      "wt",  "nc",  "unified", "mmio", "noftz",
    };
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++) lower_take(lower, hints[k]);
    for (uint32_t k = 1; k < lower->parts; k++)
        if (str_starts(lower->part[k], STR("L1::")) || str_starts(lower->part[k], STR("L2::")))
            lower->used[k] = true;
}

static Access take_access(Lower *lower) {
    static const struct {
        const char *name;
        PtxSpace space;
    } spaces[] = {
        {"global", PTX_GLOBAL},      {"shared", PTX_SHARED},     {"shared::cta", PTX_SHARED},
        {"const", PTX_CONST},        {"local", PTX_LOCAL},       {"param", PTX_PARAM},
        {"param::entry", PTX_PARAM}, {"param::func", PTX_PARAM},
    };
    Access access = {.space = PTX_GENERIC, .elements = 1};
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++)
        if (lower_take(lower, spaces[k].name)) access.space = spaces[k].space;
    static const struct {
        const char *name;
        uint8_t order;
    } orders[] = {
        {"relaxed", ORDER_RELAXED},   {"acquire", ORDER_ACQUIRE},
        {"release", ORDER_RELEASE},   {"acq_rel", ORDER_ACQUIRE | ORDER_RELEASE},
        {"volatile", ORDER_VOLATILE},
    };
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        if (lower_take(lower, orders[k].name)) access.order |= orders[k].order;
    if (lower_take(lower, "v2")) access.elements = 2;
    if (lower_take(lower, "v4")) access.elements = 4;
    take_hints(lower);
    return access;
}

Address lower_address(Lower *lower, const PtxOperand *operand, PtxSpace space) {
    Address address = {.offset = operand->value, .wide = true};
    if (operand->kind != PTX_OPERAND_ADDRESS || operand->count) lower_unknown(lower);
    if (operand->reg != PTX_NONE) {
        PtxOperand base = {.kind = PTX_OPERAND_REG, .reg = operand->reg, .reg2 = PTX_NONE};
        address.wide = lower_letter(lower, &base) == 'd';
        if (!address.wide && (space == PTX_GLOBAL || space == PTX_GENERIC || space == PTX_CONST))
            lower_unknown(lower);
        address.base = lower_source(lower, &base, address.wide ? 'd' : 'w');
        return address;
    }
    address.wide = space != PTX_SHARED;
    if (operand->name.len) {
        PtxOperand base = {.kind = PTX_OPERAND_NAME,
                           .reg = PTX_NONE,
                           .reg2 = PTX_NONE,
                           .name = operand->name,
                           .variable = operand->variable};
        address.base = lower_source(lower, &base, address.wide ? 'd' : 'w');
    } else {
        address.base = lower_constant(lower, address.wide ? 'd' : 'w', 0);
    }
    return address;
}

// The registers of a load or store: r[1..]. All have one size, which may exceed the type's.
static uint32_t lower_values(Lower *lower, const PtxOperand *operand, const Access *access,
                             bool load, uint32_t r[6]) {
    const PtxOperand *items = access->elements > 1 ? operand->items : operand;
    if (access->elements > 1 &&
        (operand->kind != PTX_OPERAND_VECTOR || operand->count != access->elements))
        lower_unknown(lower);
    char letter = lower_type_letter(access->type);
    if (!letter || letter == 'p') lower_unknown(lower);
    for (uint32_t k = 0; k < access->elements; k++) {
        char own = lower_letter(lower, &items[k]);
        if (own == 'd' || (own == 'w' && letter == 'h')) letter = own;
    }
    for (uint32_t k = 0; k < access->elements; k++) {
        if (load) {
            r[1 + k] =
                items[k].kind == PTX_OPERAND_SINK ? PTX_NONE : lower_dest(lower, &items[k], letter);
        } else {
            r[1 + k] = lower_source(lower, &items[k], letter);
        }
    }
    return letter == 'h' ? 2 : letter == 'w' ? 4 : 8;
}

static bool within(const PtxVariable *variable, const PtxVariable *first, uint32_t count) {
    return count && variable >= first && variable < first + count;
}

// Parameters of the kernel, of this function, or of a call under way.
static void lower_param_access(Lower *lower, const PtxOperand *operand, const PtxOperand *values,
                               const Access *access, bool load) {
    const PtxFunction *function = lower->function;
    const PtxVariable *variable = operand->variable;
    if (!variable) lower_fail(lower, "unknown parameter `%.*s`", STR_ARG(operand->name));
    uint32_t r[6], bytes = ptx_type_bytes(access->type);
    uint32_t size = lower_values(lower, values, access, load, r);
    uint64_t end = operand->value + (uint64_t)bytes * access->elements;
    if (end > variable->bytes || operand->value > variable->bytes) {
        lower->lowering->status = SIMT_INVALID_PTX;
        lower_fail(lower, "access outside parameter `%.*s`", STR_ARG(variable->name));
    }
    bool own = within(variable, function->params, function->param_count);
    Inst *inst;
    if (own && function->entry) {
        if (!load) lower_unknown(lower);
        inst = lower_emit(lower, op_load_param);
        inst->imm = variable->offset + operand->value;
    } else {
        uint32_t area = lower->scratch_area, stride = lower->scratch_stride;
        if (own) {
            area = lower->param_area;
            stride = lower->param_stride;
        } else if (within(variable, function->results, function->result_count)) {
            area = lower->result_area;
            stride = lower->result_stride;
        }
        inst = lower_emit(lower, load ? op_load_frame : op_store_frame);
        inst->imm = area + variable->offset + operand->value;
        inst->r[0] = stride;
    }
    memcpy(inst->r + 1, r + 1, access->elements * sizeof r[0]);
    inst->bytes = (uint8_t)bytes;
    inst->elements = (uint8_t)access->elements;
    inst->sizes = (uint8_t)size;
    inst->mode = access->type == PTX_S8 || access->type == PTX_S16 || access->type == PTX_S32;
}

static uint32_t access_slots(Lower *lower, PtxSpace space, bool load) {
    SlotKind global = load ? SLOT_GLOBAL_LD : SLOT_GLOBAL_ST;
    SlotKind shared = load ? SLOT_SHARED_LD : SLOT_SHARED_ST;
    if (space == PTX_GLOBAL) return lower_slot(lower, global);
    if (space == PTX_SHARED) return lower_slot(lower, shared);
    if (space != PTX_GENERIC) return 0;
    uint32_t slot = lower_slot(lower, global);
    lower_slot(lower, shared);
    return slot;
}

static void lower_load_store(Lower *lower, bool load) {
    const PtxInst *at = lower->at;
    Access access = take_access(lower);
    access.type = lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 2, 3); // the third is a cache policy
    const PtxOperand *memory = &at->operands[load ? 1 : 0];
    const PtxOperand *values = &at->operands[load ? 0 : 1];
    uint32_t bytes = ptx_type_bytes(access.type);
    if (!bytes || bytes > 8) lower_unknown(lower);
    if (memory->kind == PTX_OPERAND_ADDRESS && access.space == PTX_PARAM &&
        memory->reg == PTX_NONE && memory->name.len) {
        lower_param_access(lower, memory, values, &access, load);
        return;
    }
    if (access.space == PTX_PARAM && !(load && lower->function->entry)) lower_unknown(lower);
    Address address = lower_address(lower, memory, access.space);
    uint32_t r[6], size = lower_values(lower, values, &access, load, r);
    uint32_t slot = access_slots(lower, access.space, load);
    Op *op = load ? op_load(access.space, bytes, access.elements, size)
                  : op_store(access.space, bytes, access.elements, size);
    Inst *inst = lower_emit(lower, op);
    memcpy(inst->r + 1, r + 1, access.elements * sizeof r[0]);
    inst->r[0] = address.base;
    inst->imm = address.offset;
    inst->wide = address.wide;
    inst->access = load ? ACCESS_LOAD : ACCESS_STORE;
    inst->space = (uint8_t)access.space;
    inst->bytes = (uint8_t)bytes;
    inst->elements = (uint8_t)access.elements;
    inst->sizes = (uint8_t)size;
    inst->mode = access.type == PTX_S8 || access.type == PTX_S16 || access.type == PTX_S32;
    inst->slot = slot;
    inst->order = access.order;
    if (access.order) {
        if (load && access.space != PTX_LOCAL) inst->flags = INST_SPINS;
        // What other blocks write may be read: the order of blocks matters.
        if (load && (access.space == PTX_GLOBAL || access.space == PTX_GENERIC))
            lower->code->ordered = true;
    }
}

static AtomicMode take_atomic_mode(Lower *lower) {
    static const char *const names[] = {"add", "min", "max", "inc",  "dec",
                                        "and", "or",  "xor", "exch", "cas"};
    for (uint32_t k = 0; k < sizeof names / sizeof *names; k++)
        if (lower_take(lower, names[k])) return (AtomicMode)k;
    lower_unknown(lower);
}

// Whether there is such an operation on this type. PTX ISA, "atom".
static bool atomic_type(AtomicMode mode, PtxType type) {
    switch (type) {
    case PTX_U32:
        return mode != ATOMIC_AND && mode != ATOMIC_OR && mode != ATOMIC_XOR;
    case PTX_S32:
    case PTX_U64:
    case PTX_S64:
        return mode <= ATOMIC_MAX || mode == ATOMIC_EXCH || mode == ATOMIC_CAS;
    case PTX_B32:
    case PTX_B64:
        return mode >= ATOMIC_AND;
    case PTX_B16:
        return mode == ATOMIC_CAS;
    case PTX_F32:
    case PTX_F64:
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
        return mode == ATOMIC_ADD;
    default:
        return false;
    }
}

static void lower_atomic(Lower *lower, bool result) {
    const PtxInst *at = lower->at;
    Access access = take_access(lower);
    AtomicMode mode = take_atomic_mode(lower);
    access.type = lower_take_type(lower);
    lower_all_taken(lower);
    uint32_t first = result ? 1 : 0, operands = first + (mode == ATOMIC_CAS ? 3 : 2);
    lower_operands(lower, operands, operands + 1);
    if (access.elements > 1 || !atomic_type(mode, access.type)) lower_unknown(lower);
    if (access.space != PTX_GLOBAL && access.space != PTX_SHARED && access.space != PTX_GENERIC)
        lower_unknown(lower);
    char letter = lower_type_letter(access.type);
    Address address = lower_address(lower, &at->operands[first], access.space);
    uint32_t b = lower_source(lower, &at->operands[first + 1], letter), c = PTX_NONE, d = PTX_NONE;
    if (mode == ATOMIC_CAS) c = lower_source(lower, &at->operands[first + 2], letter);
    // An old value that nothing reads is like red.
    if (result && at->operands[0].kind == PTX_OPERAND_REG && lower->uses[at->operands[0].reg] > 1)
        d = lower_dest(lower, &at->operands[0], letter);
    uint32_t slot = lower_slot(lower, SLOT_ATOMIC);
    Inst *inst = lower_emit(lower, op_atomic);
    inst->r[0] = address.base;
    inst->r[1] = d;
    inst->r[2] = b;
    inst->r[3] = c;
    inst->imm = address.offset;
    inst->wide = address.wide;
    inst->access = ACCESS_ATOMIC;
    inst->space = (uint8_t)access.space;
    inst->bytes = (uint8_t)ptx_type_bytes(access.type);
    inst->elements = 1;
    inst->sizes = (uint8_t)access.type;
    inst->mode = (uint8_t)mode;
    inst->slot = slot;
    inst->order = access.order | ORDER_RELAXED;
    if (d != PTX_NONE) inst->flags = INST_SPINS;
    bool commutes = mode <= ATOMIC_MAX || (mode >= ATOMIC_AND && mode <= ATOMIC_XOR);
    bool exact = ptx_type_bytes(access.type) >= 4 && access.type != PTX_F32 &&
                 access.type != PTX_F64 && access.type != PTX_F16X2 && access.type != PTX_BF16X2;
    if (access.space != PTX_SHARED && (d != PTX_NONE || !commutes || !exact))
        lower->code->ordered = true;
}

bool lower_memory(Lower *lower, Str base) {
    if (str_equal(base, STR("ld")) || str_equal(base, STR("ldu")))
        lower_load_store(lower, true);
    else if (str_equal(base, STR("st")))
        lower_load_store(lower, false);
    else if (str_equal(base, STR("atom")))
        lower_atomic(lower, true);
    else if (str_equal(base, STR("red")))
        lower_atomic(lower, false);
    else if (str_equal(base, STR("prefetch")) || str_equal(base, STR("prefetchu")) ||
             str_equal(base, STR("discard")) || str_equal(base, STR("applypriority")))
        lower_emit(lower, op_prefetch);
    else
        return false;
    return true;
}
