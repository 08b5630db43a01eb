// Addresses, loads and stores. A scalar piece of a local variable is a value of the graph; what is
// in memory is loaded, unless the value is known from an earlier load or store.
#include <string.h>

#include "simt/cudac/generate/build.h"

// --- local variables ---

static bool has_key(const Keys *keys, const void *key) {
    for (size_t k = 0; k < keys->count; k++)
        if (keys->keys[k] == key) return true;
    return false;
}

Instance *access_temporary(Builder *builder, const Type *type, const void *key) {
    Instance *instance = ARENA_NEW(builder->arena, 1, Instance);
    instance->key = key;
    instance->type = type;
    instance->is_memory = has_key(&builder->in_memory, key);
    if (instance->is_memory) {
        uint32_t align = type->align ? type->align : 1;
        instance->offset = (builder->local_bytes + align - 1) / align * align;
        builder->local_bytes = instance->offset + type->size;
        if (align > builder->local_align) builder->local_align = align;
    }
    return instance;
}

static Instance **instance_at(Builder *builder, const Variable *variable) {
    Frame *frame = builder->frame;
    while (variable->number >= frame->instance_count) {
        size_t count = frame->instance_count ? 2 * frame->instance_count : 16;
        Instance **grown = ARENA_NEW(builder->arena, count, Instance *);
        if (frame->instance_count)
            memcpy(grown, frame->instances, frame->instance_count * sizeof *grown);
        frame->instances = grown;
        frame->instance_count = count;
    }
    return &frame->instances[variable->number];
}

Instance *access_declare(Builder *builder, const Variable *variable) {
    Instance **at = instance_at(builder, variable);
    // In a loop that is not unrolled, each iteration has the same piece of local memory.
    return *at = access_temporary(builder, variable->type, variable);
}

Instance *access_variable(Builder *builder, const Variable *variable) {
    Instance **at = instance_at(builder, variable);
    return *at ? *at : access_declare(builder, variable);
}

Value *access_slot(Builder *builder, Instance *instance) {
    Value fields = {.op = OP_SLOT, .kind = TYPE_U64, .object = instance};
    if (instance->is_memory) {
        fields.op = OP_SYMBOL;
        fields.space = SPACE_LOCAL;
    }
    return graph_pure(&builder->graph, fields, 0, NULL);
}

// The piece of a variable that is at an offset. If another piece overlaps it, the variable must be
// in memory.
static size_t slot_find(Builder *builder, const Value *address, TypeKind type) {
    Graph *graph = &builder->graph;
    Instance *instance = (Instance *)(uintptr_t)address->object;
    uint64_t offset = (uint64_t)address->integer, size = graph_size(type);
    if (offset + size > instance->type->size) graph->escape(graph, address);
    for (size_t k = 0; k < instance->slot_count; k++) {
        const Slot *slot = &graph->slots[instance->slots[k]];
        uint64_t other = graph_size(slot->type);
        if (slot->offset == offset && other == size) return instance->slots[k];
        if (slot->offset < offset + size && offset < slot->offset + other)
            graph->escape(graph, address);
    }
    ARENA_GROW(graph->arena, graph->slots, graph->slot_count, graph->slot_capacity);
    graph->slots[graph->slot_count] = (Slot){instance, offset, type};
    ARENA_GROW(graph->arena, instance->slots, instance->slot_count, instance->slot_capacity);
    instance->slots[instance->slot_count++] = graph->slot_count;
    return graph->slot_count++;
}

// The same bytes as another type of the same size.
static Value *reinterpret(Graph *graph, TypeKind from, TypeKind to, Value *value) {
    if (from == to) return value; // a pointer may have 32 bits
    if (graph_size(to) < 4 && to != TYPE_F16 && from != TYPE_F16)
        return graph_convert(graph, from, to, value);
    return graph_bits(graph, graph_register_kind(to), value);
}

static Value *slot_load(Builder *builder, const Value *address, TypeKind type) {
    size_t slot = slot_find(builder, address, type);
    Value *value = graph_read(&builder->graph, builder->graph.here, slot);
    return reinterpret(&builder->graph, builder->graph.slots[slot].type, type, value);
}

static void slot_store(Builder *builder, const Value *address, TypeKind type, Value *value) {
    Graph *graph = &builder->graph;
    size_t slot = slot_find(builder, address, type);
    const Instance *instance = graph->slots[slot].instance;
    if (type == TYPE_POINTER && has_key(&builder->generic, instance->key))
        value = access_generic(builder, value);
    if (value->op == OP_SLOT) ((Instance *)(uintptr_t)value->object)->is_exposed = true;
    graph_write(graph, slot, reinterpret(graph, type, graph->slots[slot].type, value));
}

// --- pointers ---

Value *access_generic(Builder *builder, Value *pointer) {
    Graph *graph = &builder->graph;
    if (pointer->op == OP_SLOT) graph->escape(graph, pointer);
    if (pointer->op == OP_SYMBOL && pointer->integer != 0) {
        Value fields = *pointer;
        fields.integer = 0;
        Value *start = access_generic(builder, graph_pure(graph, fields, 0, NULL));
        Value *offset = graph_constant(graph, TYPE_U64, pointer->integer);
        return graph_binary(graph, OP_ADD, TYPE_U64, start, offset);
    }
    if (pointer->space == SPACE_GENERIC) return pointer;
    if (pointer->op == OP_TO_GLOBAL) return pointer->args[0];
    Value fields = {.op = OP_TO_GENERIC, .kind = TYPE_U64, .integer = pointer->space};
    return graph_pure(graph, fields, 1, &pointer);
}

static Value *variable_address(Builder *builder, const Variable *variable) {
    static const Space spaces[] = {[VARIABLE_SHARED] = SPACE_SHARED,
                                   [VARIABLE_DYNAMIC] = SPACE_SHARED,
                                   [VARIABLE_DEVICE] = SPACE_GLOBAL,
                                   [VARIABLE_CONSTANT] = SPACE_CONSTANT};
    if (variable->kind == VARIABLE_LOCAL || variable->kind == VARIABLE_PARAMETER)
        return access_slot(builder, access_variable(builder, variable));
    Value fields = {.op = OP_SYMBOL, .kind = TYPE_U64, .object = variable};
    fields.space = spaces[variable->kind];
    if (fields.space == SPACE_SHARED) fields.kind = TYPE_U32;
    return graph_pure(&builder->graph, fields, 0, NULL);
}

// The address of a struct that is not an lvalue: that of a copy.
static Value *copy_address(Builder *builder, const Expression *value) {
    Value *parts[LEAVES_MOST], *address;
    evaluate_parts(builder, value, parts);
    address = access_slot(builder, access_temporary(builder, value->type, value));
    access_store_parts(builder, address, value->type, parts, STR(""));
    return address;
}

Value *access_address(Builder *builder, const Expression *lvalue) {
    Graph *graph = &builder->graph;
    switch (lvalue->kind) {
    case EXPRESSION_VARIABLE:
        return variable_address(builder, lvalue->variable);
    case EXPRESSION_DEREFERENCE:
        return evaluate_value(builder, lvalue->left);
    case EXPRESSION_MEMBER: {
        Value *address = access_address(builder, lvalue->left);
        Value *offset = graph_constant(graph, address->kind, lvalue->member->offset);
        return graph_binary(graph, OP_ADD, address->kind, address, offset);
    }
    case EXPRESSION_COMMA:
        evaluate_effect(builder, lvalue->left);
        return access_address(builder, lvalue->right);
    case EXPRESSION_ASSIGN:
        evaluate_effect(builder, lvalue);
        return access_address(builder, lvalue->left);
    case EXPRESSION_CALL: {
        Instance *result = inline_call(builder, lvalue);
        return result ? access_slot(builder, result) : graph_constant(graph, TYPE_U64, 0);
    }
    default:
        return copy_address(builder, lvalue);
    }
}

// --- what memory holds ---

Value *access_state(Builder *builder, Space space) {
    size_t slot = space == SPACE_SHARED ? STATE_SHARED : STATE_OTHER;
    return graph_read(&builder->graph, builder->graph.here, slot);
}

void access_written(Builder *builder, Space space, Value *by) {
    if (space == SPACE_SHARED || space == SPACE_GENERIC)
        graph_write(&builder->graph, STATE_SHARED, by);
    if (space != SPACE_SHARED) graph_write(&builder->graph, STATE_OTHER, by);
}

void access_clobber(Builder *builder, Value *by) { access_written(builder, SPACE_GENERIC, by); }

// What an address is relative to, and the constant offset from there.
static const Value *root_of(const Value *address, int64_t *offset) {
    *offset = 0;
    if (address->op == OP_SYMBOL) *offset = address->integer;
    if (address->op != OP_ADD || address->args[1]->op != OP_CONSTANT) return address;
    *offset = fold_signed(address->args[1]);
    return graph_value(address->args[0]);
}

// The variable or parameter that an address is based on, or NULL.
static const Value *base_of(const Value *address) {
    while (address->op == OP_ADD || address->op == OP_TO_GLOBAL)
        address = graph_value(address->args[0]);
    return address->op == OP_SYMBOL || address->op == OP_PARAMETER ? address : NULL;
}

static bool is_restrict(const Value *base) {
    return base->op == OP_PARAMETER && ((const Variable *)base->object)->type->is_restrict;
}

static bool may_overlap(const Value *a, uint64_t a_size, const Value *b, uint64_t b_size) {
    int64_t x, y;
    const Value *a_root = root_of(a, &x), *b_root = root_of(b, &y);
    if (a->space != b->space && a->space != SPACE_GENERIC && b->space != SPACE_GENERIC)
        return false;
    bool same = a_root == b_root || (a_root->op == OP_SYMBOL && b_root->op == OP_SYMBOL &&
                                     a_root->object == b_root->object);
    if (same) return x < y + (int64_t)b_size && y < x + (int64_t)a_size;
    const Value *a_base = base_of(a), *b_base = base_of(b);
    if (!a_base || !b_base || a_base->object == b_base->object) return true;
    if (a_base->op == OP_SYMBOL && b_base->op == OP_SYMBOL) return false;
    return !is_restrict(a_base) && !is_restrict(b_base);
}

static uint64_t access_bytes(const Value *access) {
    return (uint64_t)graph_size(access->from) * (access->lanes ? access->lanes : 1);
}

enum { KNOWN_DEPTH = 4 };

static Value *known(Builder *builder, const Value *load, Value *address, Value *state, int depth);

// Where everything that an address depends on is defined: in the block returned or in one that
// dominates it.
static const Block *deepest_block(const Graph *graph, const Value *value) {
    const Block *deepest =
        value->op == OP_PHI || value->op >= OP_FIRST_PINNED ? value->block : NULL;
    if (deepest) return deepest;
    deepest = graph->blocks[0];
    for (size_t k = 0; k < value->arg_count; k++) {
        const Block *block = deepest_block(graph, graph_value(value->args[k]));
        if (block->dominator_depth > deepest->dominator_depth) deepest = block;
    }
    return deepest;
}

// Around a loop, the value at its start may be the one that is sought: it is the phi made here. One
// way on which the value is not known can load it, if it leads nowhere else.
static Value *known_on_all_ways(Builder *builder, const Value *load, Value *address, Value *state,
                                int depth) {
    Graph *graph = &builder->graph;
    Block *join = state->block, *here = graph->here, *missing = NULL;
    for (size_t p = 0; p < join->phi_count; p++)
        if (join->phis[p]->integer == -2 && join->phis[p]->object == address) return join->phis[p];
    const Block *deepest = deepest_block(graph, address);
    bool outside = deepest == graph->blocks[0] || graph_dominates(deepest, join->dominator);
    if (depth == 0 || !join->dominator || !outside || !graph_dominates(join, here)) return NULL;
    Value *phi = graph_phi(graph, join, load);
    phi->integer = -2;
    phi->object = address;
    phi->arg_count = state->arg_count;
    phi->args = ARENA_NEW(builder->arena, phi->arg_count, Value *);
    size_t lacking = 0, edge = 0;
    for (size_t k = 0; k < state->arg_count; k++) {
        graph->here = join->before[k];
        phi->args[k] = known(builder, load, address, graph_value(state->args[k]), depth - 1);
        if (phi->args[k]) continue;
        missing = join->before[k];
        edge = k;
        lacking++;
    }
    graph->here = missing;
    // A load of a named variable cannot fail, and so may be made before a loop that may not need
    // it.
    bool early = join->is_loop && edge == 0 && address->op == OP_SYMBOL;
    bool loads = lacking == 1 && state->arg_count > 1 && depth == KNOWN_DEPTH &&
                 missing->end == END_JUMP && (here == join || early);
    if (loads) {
        Value *args[] = {address, state->args[edge]};
        phi->args[edge] = graph_pin(graph, *load, 2, args);
    }
    graph->here = here;
    phi->integer = -1;
    phi->object = NULL;
    if (lacking == 0 || loads) return graph_trivial(phi);
    join->phi_count--; // it was the last one made
    return NULL;
}

// The value at a place where control flow joins, if it is known on every way there.
static Value *known_at_join(Builder *builder, const Value *load, Value *address, Value *state,
                            int depth) {
    Graph *graph = &builder->graph;
    Block *join = state->block, *here = graph->here;
    if (builder->is_complete) return known_on_all_ways(builder, load, address, state, depth);
    if (join->is_loop || !join->is_sealed || depth == 0 || load->lanes > 1) return NULL;
    Value *values[16];
    if (state->arg_count > 16 || !graph_dominates(join, here)) return NULL;
    for (size_t k = 0; k < state->arg_count; k++) {
        graph->here = join->before[k];
        values[k] = known(builder, load, address, graph_value(state->args[k]), depth - 1);
        graph->here = here;
        if (!values[k]) return NULL;
    }
    Value *phi = graph_phi(graph, join, load);
    phi->arg_count = state->arg_count;
    phi->args = ARENA_NEW(builder->arena, phi->arg_count, Value *);
    memcpy(phi->args, values, phi->arg_count * sizeof *values);
    phi->integer = -1;
    return graph_trivial(phi);
}

// What a load would return, if an earlier load or store says so.
static Value *known(Builder *builder, const Value *load, Value *address, Value *state, int depth) {
    Graph *graph = &builder->graph;
    for (;;) {
        Value *args[] = {address, state};
        Value *same = graph_same_load(graph, load, args);
        if (same) return same;
        if (state->op == OP_PHI) return known_at_join(builder, load, address, state, depth);
        if (state->op != OP_STORE && state->op != OP_ATOMIC) return NULL;
        Value *to = graph_value(state->args[0]);
        if (state->op == OP_STORE && to == address && access_bytes(state) == access_bytes(load) &&
            load->lanes <= 1 && state->lanes <= 1 && !state->is_volatile)
            return reinterpret(graph, state->from, load->from, graph_value(state->args[2]));
        if (may_overlap(address, access_bytes(load), to, access_bytes(state))) return NULL;
        state = graph_value(state->args[1]);
    }
}

// Whether memory is read only as long as the kernel runs: nvcc then loads with ld.global.nc.
static bool is_invariant(const Value *address, const Type *type) {
    const Value *base = base_of(address);
    if (!base || base->op != OP_PARAMETER || type->is_volatile) return false;
    const Type *pointer = ((const Variable *)base->object)->type;
    return pointer->kind == TYPE_POINTER && pointer->is_restrict && pointer->base->is_const;
}

static Value *load_memory(Builder *builder, Value *address, const Type *type, TypeKind kind,
                          uint8_t lanes, Str suffix) {
    Graph *graph = &builder->graph;
    Value load = {.op = OP_LOAD, .from = kind, .access = address->space, .lanes = lanes};
    load.kind = graph_register_kind(kind);
    load.is_volatile = type->is_volatile;
    load.text = suffix;
    load.is_invariant = load.access == SPACE_CONSTANT || is_invariant(address, type);
    Value *state = access_state(builder, load.access);
    if (load.is_invariant)
        state = graph_pure(graph, (Value){.op = OP_UNDEFINED, .kind = TYPE_VOID}, 0, NULL);
    Value *args[] = {address, state};
    bool plain = !load.is_volatile && suffix.len == 0 && load.access != SPACE_GENERIC;
    Value *value = plain ? known(builder, &load, address, state, KNOWN_DEPTH) : NULL;
    return value ? value : graph_pin(graph, load, 2, args);
}

void access_reload(Builder *builder) {
    Graph *graph = &builder->graph;
    builder->is_complete = true;
    for (size_t k = 0; k < graph->block_count; k++) {
        Block *block = graph->blocks[k];
        for (size_t v = 0; v < block->value_count; v++) {
            Value *load = block->values[v];
            bool plain = load->op == OP_LOAD && !load->is_volatile && load->text.len == 0;
            if (!plain || load->lanes > 1 || load->is_invariant || load->access == SPACE_GENERIC)
                continue;
            graph->here = block;
            graph->site = load->site;
            Value *state = graph_value(load->args[1]), *address = graph_value(load->args[0]);
            if (state->op != OP_PHI) continue;
            Value *value = known_on_all_ways(builder, load, address, state, KNOWN_DEPTH);
            if (value && value != load) load->same = value;
        }
    }
}

Value *access_load(Builder *builder, Value *address, const Type *type, Str suffix) {
    Graph *graph = &builder->graph;
    TypeKind kind = type->kind == TYPE_POINTER ? TYPE_U64 : type->kind;
    if (address->op == OP_SLOT) return slot_load(builder, address, type->kind);
    if (kind != TYPE_BOOL) return load_memory(builder, address, type, kind, 1, suffix);
    Value *byte = load_memory(builder, address, type, TYPE_U8, 1, suffix);
    return graph_binary(graph, OP_NOT_EQUAL, TYPE_U32, byte, graph_constant(graph, TYPE_U32, 0));
}

static void store_memory(Builder *builder, Value *address, const Type *type, TypeKind kind,
                         uint8_t lanes, Value *const *values, Str suffix) {
    Graph *graph = &builder->graph;
    Value store = {.op = OP_STORE, .from = kind, .access = address->space, .lanes = lanes};
    store.is_volatile = type->is_volatile;
    store.text = suffix;
    Value *args[6] = {address, access_state(builder, store.access)};
    for (int k = 0; k < lanes; k++) args[2 + k] = values[k];
    access_written(builder, store.access, graph_pin(graph, store, 2u + lanes, args));
}

void access_store(Builder *builder, Value *address, const Type *type, Value *value, Str suffix) {
    Graph *graph = &builder->graph;
    TypeKind kind = type->kind;
    if (address->op == OP_SLOT) {
        slot_store(builder, address, kind, value);
        return;
    }
    if (kind == TYPE_POINTER) value = access_generic(builder, value);
    if (kind == TYPE_BOOL) value = graph_convert(graph, TYPE_BOOL, TYPE_U32, value);
    if (kind == TYPE_POINTER || kind == TYPE_BOOL) kind = kind == TYPE_BOOL ? TYPE_U8 : TYPE_U64;
    store_memory(builder, address, type, kind, 1, &value, suffix);
}

// --- structs ---

static void add_leaves(Builder *builder, const Type *type, uint64_t offset, Leaf *leaves,
                       size_t *count) {
    if (type->kind == TYPE_STRUCT) {
        for (size_t k = 0; k < type->count; k++)
            add_leaves(builder, type->members[k].type, offset + type->members[k].offset, leaves,
                       count);
    } else if (type->kind == TYPE_ARRAY) {
        for (uint64_t k = 0; k < type->count && *count < LEAVES_MOST; k++)
            add_leaves(builder, type->base, offset + k * type->base->size, leaves, count);
    } else if (*count < LEAVES_MOST) {
        leaves[(*count)++] = (Leaf){offset, type};
    }
}

size_t access_leaves(Builder *builder, const Type *type, Leaf leaves[LEAVES_MOST]) {
    size_t count = 0;
    add_leaves(builder, type, 0, leaves, &count);
    if (count == LEAVES_MOST)
        build_refuse(builder, &builder->graph.site->place,
                     "copying a struct of %d members or more is not supported here; copy its "
                     "members in a loop",
                     LEAVES_MOST);
    return count;
}

// How many lanes a vector access of this type has; 0: it is not one.
static uint8_t vector_lanes(const Type *type, const Leaf *leaves, size_t count) {
    if ((count != 2 && count != 4) || type->align != type->size || type->size > 16) return 0;
    for (size_t k = 0; k < count; k++)
        if (leaves[k].type->kind != leaves[0].type->kind || leaves[k].type->kind == TYPE_BOOL)
            return 0;
    return (uint8_t)count;
}

static Value *leaf_address(Builder *builder, Value *address, uint64_t offset) {
    Graph *graph = &builder->graph;
    Value *constant = graph_constant(graph, address->kind, (int64_t)offset);
    return graph_binary(graph, OP_ADD, address->kind, address, constant);
}

static TypeKind leaf_kind(const Leaf *leaf) {
    return leaf->type->kind == TYPE_POINTER ? TYPE_U64 : leaf->type->kind;
}

void access_load_parts(Builder *builder, Value *address, const Type *type, Value **parts,
                       Str suffix) {
    Leaf leaves[LEAVES_MOST];
    size_t count = access_leaves(builder, type, leaves);
    uint8_t lanes = address->op == OP_SLOT ? 0 : vector_lanes(type, leaves, count);
    if (lanes) {
        Value *all = load_memory(builder, address, type, leaf_kind(leaves), lanes, suffix);
        for (size_t k = 0; k < count; k++)
            parts[k] = graph_part(&builder->graph, all, (int64_t)k, leaf_kind(leaves));
        return;
    }
    for (size_t k = 0; k < count; k++)
        parts[k] = access_load(builder, leaf_address(builder, address, leaves[k].offset),
                               leaves[k].type, suffix);
}

void access_store_parts(Builder *builder, Value *address, const Type *type, Value *const *parts,
                        Str suffix) {
    Leaf leaves[LEAVES_MOST];
    size_t count = access_leaves(builder, type, leaves);
    uint8_t lanes = address->op == OP_SLOT ? 0 : vector_lanes(type, leaves, count);
    if (lanes) {
        store_memory(builder, address, type, leaf_kind(leaves), lanes, parts, suffix);
        return;
    }
    for (size_t k = 0; k < count; k++)
        access_store(builder, leaf_address(builder, address, leaves[k].offset), leaves[k].type,
                     parts[k], suffix);
}
