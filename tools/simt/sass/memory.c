// Lowers instructions that move data: constants, special registers, memory.
#include "simt/sass/lower.h"

// The data of one access: bytes per element, and elements, each in a register.
typedef struct {
    uint8_t bytes, elements;
    bool is_signed;
} Size;

static Size take_size(SassLower *s) {
    static const Size sizes[] = {{1, 1, false}, {1, 1, true},  {2, 1, false}, {2, 1, true},
                                 {4, 1, false}, {4, 2, false}, {4, 4, false}};
    const uint32_t how = sass_listed(s, LIST_SIZE);
    if (how >= sizeof sizes / sizeof *sizes) sass_refuse(s, "unknown access size");
    return sizes[how];
}

static InstValues values_of(SassLower *s, uint32_t operand, Size size, bool written) {
    const SassOperand *first = &s->inst->operands[operand];
    InstValues values = {.class = REGISTER_32, .sign_extend = size.is_signed};
    for (uint32_t k = 0; k < 4; k++) values.value[k] = PTX_NONE;
    for (uint32_t k = 0; k < size.elements; k++) {
        if (written && sass_is_zero(first)) continue;
        values.value[k] = sass_raw(s, first, k);
    }
    return values;
}

// The offset in a constant bank: index register + offset, a 32-bit sum.
static uint32_t place_in_bank(SassLower *s, const SassOperand *bank) {
    const bool uniform = bank->ureg != SASS_URZ;
    const uint32_t base = uniform ? sass_uniform(s, bank->ureg) : sass_register(s, bank->reg);
    const uint32_t sum = sass_temp(s, REGISTER_32), to = sass_temp(s, REGISTER_64);
    sass_row(s, "add.u32", sum, base, sass_constant(s, (uint32_t)bank->value), 0);
    sass_row(s, "cvt.u64.u32", to, sum, 0, 0);
    return to;
}

// LDC, ULDC: d, c[bank][reg + at], c[bank][ureg + at]
void sass_lower_ldc(SassLower *s) {
    const Size size = take_size(s);
    const SassOperand *bank = &s->inst->operands[1];
    const InstValues values = values_of(s, 0, size, true);
    const bool fixed = bank->reg == SASS_RZ && bank->ureg == SASS_URZ;
    const uint64_t at = bank->value & UINT16_MAX;
    if (fixed && size.bytes == 4) {
        for (uint32_t k = 0; k < size.elements; k++)
            if (values.value[k] != PTX_NONE)
                sass_row(s, "mov.b32", values.value[k],
                         sass_bank(s, bank->bank, at + 4 * k, REGISTER_32), 0, 0);
        return;
    }
    uint64_t start = 0;
    const PtxVariable *variable = sass_bank_variable(s, bank->bank);
    Lowering *lowering = s->lower->lowering;
    if (bank->bank &&
        !(variable && lowering->variable_address(lowering->context, variable, &start)))
        sass_refuse(s, "there is no such constant bank");
    const uint32_t base =
        fixed ? lower_constant(s->lower, REGISTER_64, at) : place_in_bank(s, bank);
    const PtxSpace space = bank->bank ? PTX_CONST : PTX_PARAM;
    Inst *inst = sass_emit(s, op_load(space, size.bytes, size.elements, REGISTER_32));
    inst->memory = (InstMemory){start, base, space, size.bytes, size.elements, true};
    inst->values = values;
    inst->access = ACCESS_LOAD;
}

// --- special registers ---

static void special_of(SassLower *s, const char *name, uint32_t d, RegisterClass class) {
    const PtxSpecial found = ptx_special_named(str_of(name));
    if (!found) sass_refuse(s, "unknown special register");
    sass_emit(s, op_special(found))->special = (InstSpecial){d, class};
}
static void special(SassLower *s, const char *name, uint32_t d) {
    special_of(s, name, d, REGISTER_32);
}

// S2R, S2UR: d, special
void sass_lower_s2r(SassLower *s) {
    static const char *const names[] = {
        [SR_TID_X] = "%tid.x",        [SR_TID_Y] = "%tid.y",
        [SR_TID_Z] = "%tid.z",        [SR_CTAID_X] = "%ctaid.x",
        [SR_CTAID_Y] = "%ctaid.y",    [SR_CTAID_Z] = "%ctaid.z",
        [SR_LANEID] = "%laneid",      [SR_EQMASK] = "%lanemask_eq",
        [SR_LTMASK] = "%lanemask_lt", [SR_LEMASK] = "%lanemask_le",
        [SR_GTMASK] = "%lanemask_gt", [SR_GEMASK] = "%lanemask_ge",
        [SR_VIRTUALSMID] = "%smid",   [SR_CLOCKLO] = "%clock",
        [SR_CLOCKHI] = "%clock_hi",   [SR_CgaCtaId] = "%cluster_ctarank"};
    const uint64_t number = s->inst->operands[1].value;
    const uint32_t d = sass_dest(s, 0, 0);
    if (number < sizeof names / sizeof *names && names[number]) {
        special(s, names[number], d);
        return;
    }
    if (number == SR_VIRTID) { // bits 8 and up are the warp's number
        const uint32_t warp = sass_temp(s, REGISTER_32);
        special(s, "%warpid", warp);
        sass_row(s, "shl.b32", d, warp, sass_constant(s, 8), 0);
        return;
    }
    // The two words of the generic address of shared memory; CUDA 12 reads the lower one, too.
    const bool upper = number == SR_SWINHI;
    if (!upper && number != SR_SWINLO) sass_refuse(s, "unknown special register");
    const uint64_t window = address_window(PTX_SHARED);
    sass_row(s, "mov.b32", d, sass_constant(s, (uint32_t)(upper ? window >> 32 : window)), 0, 0);
}

// CS2R d, special: 64 bits, unless .32
void sass_lower_cs2r(SassLower *s) {
    const bool narrow = sass_take(s, SASS_MOD_32);
    const uint64_t number = s->inst->operands[1].value;
    const bool clock = number == SR_CLOCKLO;
    if (!narrow && (clock || number == SR_GLOBALTIMERLO)) {
        const uint32_t d = sass_temp(s, REGISTER_64);
        special_of(s, clock ? "%clock64" : "%globaltimer", d, REGISTER_64);
        sass_split(s, 0, d);
        return;
    }
    if (narrow && clock) {
        special(s, "%clock", sass_dest(s, 0, 0));
        return;
    }
    if (number != SR_ZERO) sass_refuse(s, "unknown special register");
    for (uint32_t k = 0; k < (narrow ? 1 : 2); k++)
        sass_row(s, "mov.b32", sass_dest(s, 0, k), sass_constant(s, 0), 0, 0);
}

// R2UR: p, d, a. All lanes get the value of the first lane for which the guard is true. p: the
// lanes whose own value differs; with .OR, those and the ones in which p was true. Code that needs
// a uniform register for a value that differs repeats itself for these lanes.
void sass_lower_r2ur(SassLower *s) {
    const bool adds = sass_take(s, SASS_MOD_OR), guarded = s->inst->guard != SASS_PT;
    const uint32_t d = sass_dest(s, 1, 0), a = sass_source(s, 2), p = sass_wanted(s, 0);
    const uint32_t chosen = guarded ? sass_guard(s) : PTX_NONE;
    if (guarded)
        sass_row(s, "sass.chosen", d, chosen, a, 0);
    else
        sass_row(s, "sass.first", d, a, 0, 0);
    if (p == PTX_NONE) return;
    const uint32_t other = sass_temp(s, REGISTER_PRED);
    sass_row(s, "setp.ne.u32", other, a, d, 0);
    if (adds) sass_row(s, "or.pred", other, other, p, 0);
    if (guarded) sass_emit(s, op_guard)->guard = (InstGuard){chosen, false, 3};
    sass_row(s, "mov.pred", p, other, 0, 0);
    if (guarded) sass_emit(s, op_unguard);
}

// --- memory ---

static PtxSpace space_of(SassOpcode op) {
    switch (op) {
    case SASS_LDG:
    case SASS_STG:
    case SASS_ATOMG:
    case SASS_REDG:
        return PTX_GLOBAL;
    case SASS_LDS:
    case SASS_STS:
    case SASS_ATOMS:
        return PTX_SHARED;
    case SASS_LDL:
    case SASS_STL:
        return PTX_LOCAL;
    default:
        return PTX_GENERIC;
    }
}

static uint32_t address_of(SassLower *s, const SassOperand *operand) {
    if (operand->kind == SASS_GLOBAL || operand->kind == SASS_WIDE) {
        const SassOperand pair = {.kind = SASS_REG, .reg = operand->reg};
        return sass_pair(s, &pair);
    }
    const uint32_t base = sass_register(s, operand->reg);
    if (operand->ureg == SASS_URZ) return base;
    if (operand->reg == SASS_RZ) return sass_uniform(s, operand->ureg);
    const uint32_t sum = sass_temp(s, REGISTER_32);
    sass_row(s, "add.u32", sum, base, sass_uniform(s, operand->ureg), 0);
    return sum;
}

// In a cluster, the upper bits of a shared address name a block. Here that is always the thread's
// own block.
uint32_t sass_within_block(SassLower *s, uint32_t address) {
    if (!s->function->uses_clusters) return address;
    const uint32_t to = sass_temp(s, REGISTER_32);
    sass_row(s, "and.b32", to, address, sass_constant(s, (uint32_t)ADDRESS_IN_BLOCK), 0);
    return to;
}

static InstMemory memory_of(SassLower *s, uint32_t operand, PtxSpace space, Size size) {
    const SassOperand *at = &s->inst->operands[operand];
    uint32_t base = address_of(s, at);
    if (space == PTX_SHARED) base = sass_within_block(s, base);
    return (InstMemory){at->value, base, space, size.bytes, size.elements, at->kind != SASS_SHARED};
}

InstMemory sass_shared(SassLower *s, uint32_t operand) {
    return memory_of(s, operand, PTX_SHARED, (Size){4, 4, false});
}

// Takes .STRONG.GPU and the like: the access is visible to other threads.
static void take_order(SassLower *s, Inst *inst) {
    static const Scope scopes[] = {[5] = SCOPE_CTA, [7] = SCOPE_DEVICE, [10] = SCOPE_DEVICE};
    const uint32_t how = sass_listed(s, LIST_ORDER);
    if (how < 5) return;
    inst->order = ORDER_RELAXED;
    inst->scope = scopes[how];
}

void sass_take_hints(SassLower *s) {
    sass_take(s, SASS_MOD_E), sass_take(s, SASS_MOD_CONSTANT);
    sass_listed(s, LIST_EVICT), sass_listed(s, LIST_LTC);
}

static void access_memory(SassLower *s, bool load) {
    const PtxSpace space = space_of(s->inst->op);
    sass_take_hints(s);
    const Size size = take_size(s);
    const InstMemory memory = memory_of(s, load ? 1 : 0, space, size);
    const InstValues values = values_of(s, load ? 0 : 1, size, load);
    const uint32_t slot = lower_access_slots(s->lower, space, load, false);
    Inst *inst = sass_emit(s, load ? op_load(space, size.bytes, size.elements, REGISTER_32)
                                   : op_store(space, size.bytes, size.elements, REGISTER_32));
    inst->memory = memory;
    inst->values = values;
    inst->access = load ? ACCESS_LOAD : ACCESS_STORE;
    inst->slot = slot;
    take_order(s, inst);
    if (!inst->order || !load) return;
    inst->spins = true;
    s->lower->code->ordered |= space != PTX_SHARED;
}

void sass_lower_load(SassLower *s) { access_memory(s, true); }
void sass_lower_store(SassLower *s) { access_memory(s, false); }

// --- atomics ---

AtomicMode sass_operation(SassLower *s) {
    static const AtomicMode modes[] = {ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_INC, ATOMIC_DEC,
                                       ATOMIC_AND, ATOMIC_OR,  ATOMIC_XOR, ATOMIC_EXCH};
    const uint32_t how = sass_listed(s, LIST_ATOM);
    if (how != UINT32_MAX) return modes[how];
    if (sass_take(s, SASS_MOD_CAS)) return ATOMIC_CAS;
    sass_refuse(s, "unknown operation");
}

static PtxType take_atomic_type(SassLower *s) {
    static const PtxType integers[] = {PTX_U32, PTX_S32, PTX_U64, PTX_S64};
    static const PtxType floats[] = {
        [0] = PTX_F16X2, [3] = PTX_BF16X2, [9] = PTX_F32, [15] = PTX_F64};
    const uint32_t how = sass_listed(s, LIST_ATOMFLOAT);
    sass_take(s, SASS_MOD_32);
    return how != UINT32_MAX ? floats[how] : integers[sass_listed(s, LIST_ATOMTYPE)];
}

// An operand of an atomic operation.
static uint32_t atomic_source(SassLower *s, uint32_t index, RegisterClass class) {
    if (class == REGISTER_64) return sass_pair(s, &s->inst->operands[index]);
    return sass_source(s, index);
}

static Inst *emit_atomic(SassLower *s, InstMemory memory, InstAtomic atomic) {
    const uint32_t slot = lower_slot(s->lower, SLOT_ATOMIC);
    Inst *inst = sass_emit(s, op_atomic);
    inst->memory = memory;
    inst->atomic = atomic;
    inst->access = ACCESS_ATOMIC;
    take_order(s, inst);
    inst->order = (uint8_t)(inst->order | ORDER_RELAXED);
    if (!inst->scope) inst->scope = SCOPE_CTA;
    inst->slot = slot;
    inst->spins = atomic.old != PTX_NONE;
    return inst;
}

// Sets p if the address `base` + `plus` is in this space.
static void emit_is_space(SassLower *s, uint32_t p, uint32_t base, uint64_t plus, PtxSpace space) {
    const uint32_t address = sass_temp(s, REGISTER_64);
    sass_row(s, "add.u64", address, base, lower_constant(s->lower, REGISTER_64, plus), 0);
    sass_emit(s, op_is_space)->in_space = (InstSpace){p, address, space};
}

// Performs the operation in the lanes whose address is not in shared memory, and sets `done` in
// them. Code for shared memory follows.
static void emit_if_global(SassLower *s, uint32_t done, InstMemory memory, InstAtomic atomic) {
    const uint32_t not_shared = sass_temp(s, REGISTER_PRED);
    if (s->inst->guard != SASS_PT) sass_refuse(s, "unsupported predicate");
    emit_is_space(s, not_shared, memory.base, memory.offset, PTX_SHARED_CLUSTER);
    sass_row(s, "not.pred", not_shared, not_shared, 0, 0);
    sass_emit(s, op_guard)->guard = (InstGuard){not_shared, false, 3};
    emit_atomic(s, memory, atomic);
    sass_emit(s, op_unguard);
    sass_row(s, "mov.pred", done, not_shared, 0, 0);
}

// Notes operations whose result can depend on the order of blocks: such blocks may not run in
// parallel.
static void note_order(SassLower *s, PtxSpace space, const InstAtomic *atomic, bool uses_old) {
    const AtomicMode mode = atomic->mode;
    const bool free = mode != ATOMIC_EXCH && mode != ATOMIC_CAS && mode != ATOMIC_INC &&
                      mode != ATOMIC_DEC && !ptx_type_is_float(atomic->type) &&
                      !ptx_type_is_pair(atomic->type);
    if (space != PTX_SHARED && (uses_old || !free)) s->lower->code->ordered = true;
}

// .CAST.SPIN on global memory: d is 1 if the old value was the expected one, so that the new one
// was stored, else 0.
static void finish_cast(SassLower *s, uint32_t index, RegisterClass class, InstAtomic atomic) {
    const uint32_t same = sass_temp(s, REGISTER_PRED);
    sass_row(s, class == REGISTER_64 ? "setp.eq.u64" : "setp.eq.u32", same, atomic.old, atomic.b,
             0);
    const uint32_t zero = sass_constant(s, 0);
    sass_row(s, "selp.b32", sass_dest(s, index, 0), sass_constant(s, 1), zero, same);
    if (class == REGISTER_64) sass_row(s, "mov.b32", sass_dest(s, index, 1), zero, 0, 0);
}

// .CAST.SPIN on shared memory, which tries only one lane per bank.
static void emit_shared_cast(SassLower *s, uint32_t index, InstMemory memory, InstAtomic atomic,
                             bool wide) {
    atomic.old = sass_dest(s, index, 0);
    emit_atomic(s, memory, atomic)->run = op_atomic_cast;
    if (wide) sass_row(s, "mov.b32", sass_dest(s, index, 1), sass_constant(s, 0), 0, 0);
}

// ATOM, ATOMG: p, d, memory, b; ATOMS: d, memory, b; REDG: memory, b
void sass_lower_atom(SassLower *s) {
    const PtxSpace space = space_of(s->inst->op);
    uint32_t at = 0;
    while (s->inst->operands[at].kind < SASS_GLOBAL || s->inst->operands[at].kind > SASS_SHARED)
        at++;
    const uint32_t done = at == 2 ? sass_wanted(s, 0) : PTX_NONE;
    sass_take_hints(s);
    const bool cast = sass_take(s, SASS_MOD_CAST) && sass_take(s, SASS_MOD_SPIN);
    const bool counts = sass_take(s, SASS_MOD_POPC); // adds 1 for each lane
    const AtomicMode mode = cast ? ATOMIC_CAS : sass_operation(s);
    const PtxType type = take_atomic_type(s);
    const RegisterClass class = register_class(type);
    const bool wide = class == REGISTER_64,
               wanted = at && !sass_is_zero(&s->inst->operands[at - 1]);
    const InstMemory memory = memory_of(s, at, space, (Size){wide ? 8 : 4, 1, false});
    InstAtomic atomic = {.old = PTX_NONE, .c = PTX_NONE, .mode = mode, .type = type};
    if (counts && wanted) sass_refuse(s, "its old value is not supported as a result");
    if (counts) atomic.mode = ATOMIC_ADD;
    atomic.b = counts ? sass_constant(s, 1) : atomic_source(s, at + 1, class);
    if (mode == ATOMIC_CAS) atomic.c = atomic_source(s, at + 2, class);
    if (cast && space == PTX_SHARED) {
        emit_shared_cast(s, at - 1, memory, atomic, wide);
        return;
    }
    if (wanted) atomic.old = wide || cast ? sass_temp(s, class) : sass_dest(s, at - 1, 0);
    if (done == PTX_NONE)
        emit_atomic(s, memory, atomic);
    else
        emit_if_global(s, done, memory, atomic);
    note_order(s, space, &atomic, wanted);
    if (wanted && cast)
        finish_cast(s, at - 1, class, atomic);
    else if (wanted && wide)
        sass_split(s, at - 1, atomic.old);
}

void sass_lower_membar(SassLower *s) {
    static const Scope scopes[] = {SCOPE_CTA, SCOPE_CTA, SCOPE_DEVICE, SCOPE_DEVICE};
    sass_take(s, SASS_MOD_SC), sass_take(s, SASS_MOD_ALL);
    const uint32_t how = sass_listed(s, LIST_SCOPE);
    const Scope scope = how < 4 ? scopes[how] : SCOPE_DEVICE;
    Inst *inst = sass_emit(s, op_fence);
    inst->fence = FENCE_MEMORY;
    inst->order = ORDER_ACQUIRE | ORDER_RELEASE;
    inst->scope = scope;
}

// Prefetches, and invalidation of caches: both change nothing here.
void sass_lower_cctl(SassLower *s) {
    const bool prefetches = sass_take(s, SASS_MOD_PF1) || sass_take(s, SASS_MOD_PF2);
    sass_take(s, SASS_MOD_E);
    if (!prefetches) sass_lower_nothing(s);
}

// QSPC: p, RZ, address: p says whether the address is in this space.
void sass_lower_qspc(SassLower *s) {
    static const PtxSpace spaces[] = {PTX_GLOBAL, PTX_LOCAL, PTX_SHARED, PTX_SHARED_CLUSTER};
    sass_take(s, SASS_MOD_E);
    const uint32_t which = sass_listed(s, LIST_QSPC), p = sass_wanted(s, 0);
    const SassOperand *of = &s->inst->operands[2];
    if (which > 3 || !sass_is_zero(&s->inst->operands[1]))
        sass_refuse(s, "unsupported memory space");
    if (p != PTX_NONE) emit_is_space(s, p, address_of(s, of), of->value, spaces[which]);
}

// Changes nothing here: caches are always coherent, and errors are reported at once.
void sass_lower_nothing(SassLower *s) {
    sass_take(s, SASS_MOD_IVALL);
    for (uint32_t k = 0; k < s->inst->operand_count; k++)
        if (!sass_is_zero(&s->inst->operands[k])) sass_refuse(s, "unsupported form of address");
}
