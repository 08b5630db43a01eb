// Lowers loads and stores: state spaces, vectors, memory order, parameters.
#include "simt/lower/lower.h"

Scope lower_take_scope(Lower *lower) {
    static const Choice scopes[] = {{PTX_MOD_CTA, SCOPE_CTA},    {PTX_MOD_CLUSTER, SCOPE_CLUSTER},
                                    {PTX_MOD_GPU, SCOPE_DEVICE}, {PTX_MOD_SYS, SCOPE_DEVICE},
                                    {PTX_MOD_GL, SCOPE_DEVICE},  {PTX_MOD_NONE, 0}};
    uint32_t scope = SCOPE_DEVICE;
    lower_take_choice(lower, scopes, &scope);
    return (Scope)scope;
}

MemoryForm lower_take_form(Lower *lower) {
    static const Choice spaces[] = {
        {PTX_MOD_GLOBAL, PTX_GLOBAL},     {PTX_MOD_SHARED, PTX_SHARED},
        {PTX_MOD_SHARED_CTA, PTX_SHARED}, {PTX_MOD_SHARED_CLUSTER, PTX_SHARED_CLUSTER},
        {PTX_MOD_CONST, PTX_CONST},       {PTX_MOD_LOCAL, PTX_LOCAL},
        {PTX_MOD_PARAM, PTX_PARAM},       {PTX_MOD_PARAM_ENTRY, PTX_PARAM},
        {PTX_MOD_PARAM_FUNC, PTX_PARAM},  {PTX_MOD_NONE, 0},
    };
    static const Choice orders[] = {
        {PTX_MOD_RELAXED, ORDER_RELAXED},   {PTX_MOD_ACQUIRE, ORDER_ACQUIRE},
        {PTX_MOD_RELEASE, ORDER_RELEASE},   {PTX_MOD_ACQ_REL, ORDER_ACQUIRE | ORDER_RELEASE},
        {PTX_MOD_VOLATILE, ORDER_VOLATILE}, {PTX_MOD_NONE, 0},
    };
    static const Choice vectors[] = {{PTX_MOD_V2, 2}, {PTX_MOD_V4, 4}, {PTX_MOD_NONE, 0}};
    uint32_t space = PTX_GENERIC, order = 0, elements = 1;
    lower_take_choice(lower, spaces, &space);
    lower_take_choice(lower, orders, &order);
    lower_take_choice(lower, vectors, &elements);
    Scope scope = lower_take_scope(lower);
    return (MemoryForm){(PtxSpace)space, (uint8_t)order, scope, (uint8_t)elements, PTX_NOTYPE};
}

// An address has as many bits, 32 or 64, as its register.
InstMemory lower_memory(Lower *lower, const PtxOperand *operand, const MemoryForm *form) {
    InstMemory memory = {.offset = operand->addend,
                         .space = form->space,
                         .bytes = (uint8_t)ptx_type_bytes(form->type),
                         .elements = form->elements};
    if (operand->kind != PTX_OPERAND_ADDRESS || operand->count) lower_unknown(lower);
    PtxOperand base = {.kind = PTX_OPERAND_INT, .reg = operand->reg, .reg2 = PTX_NONE};
    memory.wide = form->space != PTX_SHARED && form->space != PTX_SHARED_CLUSTER;
    if (operand->reg != PTX_NONE) {
        base.kind = PTX_OPERAND_REG;
        memory.wide = lower_class(lower, &base) == REGISTER_64;
        if (!memory.wide &&
            (form->space == PTX_GLOBAL || form->space == PTX_GENERIC || form->space == PTX_CONST))
            lower_unknown(lower);
    } else if (operand->name.len) {
        base.kind = PTX_OPERAND_NAME;
        base.name = operand->name;
        base.special = operand->special;
        base.variable = operand->variable;
    }
    memory.base = lower_source(lower, &base, memory.wide ? REGISTER_64 : REGISTER_32);
    return memory;
}

// The registers of a load or store. They have the same class, which may be wider than the type.
static InstValues lower_values(Lower *lower, const PtxOperand *operand, const MemoryForm *form,
                               bool load) {
    const PtxOperand *items = form->elements > 1 ? operand->items : operand;
    if (form->elements > 1 &&
        (operand->kind != PTX_OPERAND_VECTOR || operand->count != form->elements))
        lower_unknown(lower);
    InstValues values = {.class = register_class(form->type)};
    if (values.class == REGISTER_NONE || values.class == REGISTER_PRED) lower_unknown(lower);
    for (uint32_t k = 0; k < form->elements; k++) {
        RegisterClass own = lower_class(lower, &items[k]);
        if (own > values.class && own <= REGISTER_64) values.class = own;
    }
    for (uint32_t k = 0; k < form->elements; k++)
        values.value[k] = load ? lower_wanted(lower, &items[k], values.class)
                               : lower_source(lower, &items[k], values.class);
    values.sign_extend =
        ptx_type_is_signed(form->type) && ptx_type_bytes(form->type) < register_bytes(values.class);
    return values;
}

static bool within(const PtxVariable *variable, const PtxVariable *first, uint32_t count) {
    return count && variable >= first && variable < first + count;
}

// The place in the frame of a parameter or a result of this function, or of a call in it.
static InstParameter frame_parameter(const Lower *lower, const PtxVariable *variable) {
    const PtxFunction *function = lower->function;
    if (within(variable, function->params, function->param_count))
        return (InstParameter){.offset = lower->ptx->param_area,
                               .stride = lower->ptx->param_stride};
    if (within(variable, function->results, function->result_count))
        return (InstParameter){.offset = lower->ptx->result_area,
                               .stride = lower->ptx->result_stride};
    return (InstParameter){.offset = lower->ptx->scratch_area,
                           .stride = lower->ptx->scratch_stride};
}

// Lowers an access to a parameter of the kernel or of this function, or of a call in it.
static void lower_parameter(Lower *lower, const PtxOperand *operand, const PtxOperand *items,
                            const MemoryForm *form, bool load) {
    const PtxFunction *function = lower->function;
    const PtxVariable *variable = operand->variable;
    if (!variable) lower_fail(lower, "unknown parameter `%.*s`", STR_ARG(operand->name));
    uint32_t bytes = ptx_type_bytes(form->type);
    InstValues values = lower_values(lower, items, form, load);
    uint64_t end = operand->addend + (uint64_t)bytes * form->elements;
    if (end > variable->bytes || operand->addend > variable->bytes) {
        lower->lowering->status = SIMT_INVALID_PTX;
        lower_fail(lower, "access outside parameter `%.*s`", STR_ARG(variable->name));
    }
    bool of_kernel = function->entry && within(variable, function->params, function->param_count);
    if (of_kernel && !load) lower_unknown(lower);
    InstParameter parameter = {0};
    if (!of_kernel) parameter = frame_parameter(lower, variable);
    parameter.offset += variable->offset + operand->addend;
    parameter.bytes = (uint8_t)bytes;
    parameter.elements = form->elements;
    Inst *inst = lower_emit(lower, of_kernel ? op_load_param
                                   : load    ? op_load_frame
                                             : op_store_frame);
    inst->parameter = parameter;
    inst->values = values;
}

static void lower_load_store(Lower *lower, bool load) {
    const PtxInst *at = lower->at;
    MemoryForm form = lower_take_form(lower);
    form.type = lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 2, 3); // the third is a cache policy
    const PtxOperand *address = &at->operands[load ? 1 : 0], *items = &at->operands[load ? 0 : 1];
    uint32_t bytes = ptx_type_bytes(form.type);
    if (!bytes || bytes > 8) lower_unknown(lower);
    if (address->kind == PTX_OPERAND_ADDRESS && form.space == PTX_PARAM &&
        address->reg == PTX_NONE && address->name.len) {
        lower_parameter(lower, address, items, &form, load);
        return;
    }
    if (form.space == PTX_PARAM && !(load && lower->function->entry)) lower_unknown(lower);
    InstMemory memory = lower_memory(lower, address, &form);
    InstValues values = lower_values(lower, items, &form, load);
    uint32_t slot = lower_access_slots(lower, form.space, load, false);
    Inst *inst = lower_emit(lower, load ? op_load(form.space, bytes, form.elements, values.class)
                                        : op_store(form.space, bytes, form.elements, values.class));
    inst->memory = memory;
    inst->values = values;
    inst->access = load ? ACCESS_LOAD : ACCESS_STORE;
    inst->order = form.order;
    if (form.order) inst->scope = form.scope;
    inst->slot = slot;
    lower->code->partial |= lower_orders(form.order);
    if (!form.order) return;
    const bool global = form.space == PTX_GLOBAL || form.space == PTX_GENERIC;
    if (!load) lower->code->volatiles |= global && form.order & ORDER_VOLATILE;
    if (!load) return;
    inst->spins = form.space != PTX_LOCAL;
    lower->code->order_matters |= inst->spins;
    // The load may read what other blocks write, so the order of blocks matters.
    if (global) lower->code->ordered = true;
}

void lower_ld(Lower *lower) { lower_load_store(lower, true); }
void lower_st(Lower *lower) {
    if (lower_take(lower, PTX_MOD_ASYNC))
        lower_store_async(lower, false);
    else
        lower_load_store(lower, false);
}
