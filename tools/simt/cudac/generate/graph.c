// Makes values and blocks of the graph. Local variables are turned into values while the graph is
// built, as Braun et al. do (Simple and Efficient Construction of Static Single Assignment Form,
// 2013).
#include "simt/cudac/generate/graph.h"

#include <string.h>

TypeKind graph_register_kind(TypeKind type) {
    switch (type) {
    case TYPE_S8:
    case TYPE_U8:
    case TYPE_S16:
    case TYPE_U16:
    case TYPE_S32:
        return TYPE_U32;
    case TYPE_S64:
    case TYPE_POINTER:
    case TYPE_ARRAY:
        return TYPE_U64;
    default:
        return type;
    }
}

uint32_t graph_size(TypeKind type) {
    switch (type) {
    case TYPE_BOOL:
    case TYPE_S8:
    case TYPE_U8:
        return 1;
    case TYPE_S16:
    case TYPE_U16:
    case TYPE_F16:
        return 2;
    case TYPE_S32:
    case TYPE_U32:
    case TYPE_F32:
        return 4;
    default:
        return 8;
    }
}

Value *graph_value(Value *value) {
    while (value && value->same) value = value->same;
    return value;
}

// --- equal values ---

static uint64_t mix(uint64_t hash, uint64_t x) { return (hash ^ x) * 0x9E3779B97F4A7C15u; }

static size_t value_hash(const Value *value) {
    uint64_t hash = mix(value->op, (uint64_t)value->kind * 64 + (uint64_t)value->from);
    hash = mix(hash, (uint64_t)value->integer);
    hash = mix(hash, (uint64_t)(uintptr_t)value->object);
    for (size_t k = 0; k < value->arg_count; k++) hash = mix(hash, value->args[k]->number);
    return (size_t)(hash >> 20);
}

static bool value_equal(const Value *a, const Value *b) {
    return a->op == b->op && a->kind == b->kind && a->from == b->from && a->space == b->space &&
           a->integer == b->integer && a->object == b->object && a->arg_count == b->arg_count &&
           a->lanes == b->lanes && a->is_volatile == b->is_volatile &&
           str_equal(a->text, b->text) &&
           (a->arg_count == 0 || !memcmp(a->args, b->args, a->arg_count * sizeof *a->args));
}

static void table_grow(Graph *graph) {
    size_t old_size = graph->table_size;
    Value **old = graph->table;
    graph->table_size = old_size ? 2 * old_size : 1024;
    graph->table = ARENA_NEW(graph->arena, graph->table_size, Value *);
    for (size_t k = 0; k < old_size; k++)
        for (Value *value = old[k], *next; value; value = next) {
            Value **slot = &graph->table[value_hash(value) % graph->table_size];
            next = value->chain;
            value->chain = *slot;
            *slot = value;
        }
}

static void table_add(Graph *graph, Value *value) {
    if (graph->table_count++ >= graph->table_size) table_grow(graph);
    Value **slot = &graph->table[value_hash(value) % graph->table_size];
    value->chain = *slot;
    *slot = value;
}

// The next value in the table that equals the fields, after `from` (NULL: the first).
static Value *table_next(const Graph *graph, const Value *fields, const Value *from) {
    if (!graph->table_size) return NULL;
    Value *value = from ? from->chain : graph->table[value_hash(fields) % graph->table_size];
    while (value && !value_equal(value, fields)) value = value->chain;
    return value;
}

static Value *value_new(Graph *graph, const Value *fields, size_t count, Value *const *args) {
    Value *value = ARENA_NEW(graph->arena, 1, Value);
    *value = *fields;
    value->number = ++graph->value_count;
    value->site = graph->site;
    value->home = graph->here;
    value->arg_count = (uint32_t)count;
    value->args = count ? ARENA_NEW(graph->arena, count, Value *) : NULL;
    for (size_t k = 0; k < count; k++) value->args[k] = graph_value(args[k]);
    return value;
}

// The address of a variable in registers is of use only to a load or store that names it.
static void check_escape(Graph *graph, size_t count, Value *const *args) {
    for (size_t k = 0; k < count; k++)
        if (graph_value(args[k])->op == OP_SLOT) graph->escape(graph, graph_value(args[k]));
}

Value *graph_pure(Graph *graph, Value fields, size_t count, Value *const *args) {
    Value *operands[8];
    for (size_t k = 0; k < count; k++) operands[k] = graph_value(args[k]);
    fields.args = operands;
    fields.arg_count = (uint32_t)count;
    Value *simple = fold_value(graph, &fields);
    if (simple) return graph_value(simple);
    check_escape(graph, count, operands);
    Value *equal = table_next(graph, &fields, NULL);
    if (equal) return graph_value(equal);
    Value *value = value_new(graph, &fields, fields.arg_count, fields.args);
    table_add(graph, value);
    return value;
}

Value *graph_pin(Graph *graph, Value fields, size_t count, Value *const *args) {
    check_escape(graph, count, args);
    Value *value = value_new(graph, &fields, count, args);
    Block *block = value->block = graph->here;
    ARENA_GROW(graph->arena, block->values, block->value_count, block->value_capacity);
    block->values[block->value_count++] = value;
    if (value->op == OP_LOAD && !value->is_volatile) table_add(graph, value);
    return value;
}

Value *graph_same_load(Graph *graph, const Value *fields, Value *const *args) {
    Value *operands[2] = {graph_value(args[0]), graph_value(args[1])};
    Value sought = *fields;
    sought.args = operands;
    sought.arg_count = 2;
    Value *found = NULL;
    while ((found = table_next(graph, &sought, found)))
        if (graph_dominates(found->block, graph->here)) return found;
    return NULL;
}

Value *graph_constant(Graph *graph, TypeKind kind, int64_t bits) {
    kind = graph_register_kind(kind);
    if (kind == TYPE_U32 || kind == TYPE_F32) bits = (int64_t)(uint32_t)bits;
    if (kind == TYPE_BOOL) bits = bits != 0;
    return graph_pure(graph, (Value){.op = OP_CONSTANT, .kind = kind, .integer = bits}, 0, NULL);
}

Value *graph_unary(Graph *graph, Op op, TypeKind from, Value *a) {
    TypeKind kind = graph_value(a)->kind;
    return graph_pure(graph, (Value){.op = op, .kind = kind, .from = from}, 1, &a);
}

// Whether an operation does the same to signed and to unsigned numbers.
static bool is_signless(Op op) {
    return op == OP_ADD || op == OP_SUBTRACT || op == OP_MULTIPLY || op == OP_SHIFT_LEFT ||
           op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_EQUAL || op == OP_NOT_EQUAL;
}

Value *graph_binary(Graph *graph, Op op, TypeKind from, Value *a, Value *b) {
    Value *args[] = {graph_value(a), graph_value(b)};
    if (is_signless(op)) from = args[0]->kind;
    Value fields = {.op = op, .kind = args[0]->kind, .from = from};
    if (op >= OP_LESS && op <= OP_NOT_EQUAL)
        fields.kind = TYPE_BOOL;
    else if (op == OP_MULTIPLY_WIDE)
        fields.kind = TYPE_U64;
    else
        fields.space = args[0]->space;
    return graph_pure(graph, fields, 2, args);
}

Value *graph_select(Graph *graph, Value *condition, Value *a, Value *b) {
    Value *args[] = {condition, graph_value(a), graph_value(b)};
    Value fields = {.op = OP_SELECT, .kind = args[1]->kind, .space = args[1]->space};
    return graph_pure(graph, fields, 3, args);
}

Value *graph_convert(Graph *graph, TypeKind from, TypeKind to, Value *a) {
    Value fields = {.op = OP_CONVERT, .kind = graph_register_kind(to), .from = from, .integer = to};
    return graph_pure(graph, fields, 1, &a);
}

Value *graph_bits(Graph *graph, TypeKind to, Value *a) {
    a = graph_value(a);
    if (a->kind == to) return a;
    return graph_pure(graph, (Value){.op = OP_BITS, .kind = to, .from = a->kind}, 1, &a);
}

Value *graph_not(Graph *graph, Value *a) { return graph_unary(graph, OP_NOT, TYPE_BOOL, a); }

Value *graph_part(Graph *graph, Value *of, int64_t which, TypeKind kind) {
    Value fields = {.op = OP_PART, .kind = graph_register_kind(kind), .integer = which};
    return graph_pure(graph, fields, 1, &of);
}

// --- blocks ---

Block *graph_block(Graph *graph) {
    Block *block = ARENA_NEW(graph->arena, 1, Block);
    ARENA_GROW(graph->arena, graph->blocks, graph->block_count, graph->block_capacity);
    block->number = (uint32_t)graph->block_count;
    graph->blocks[graph->block_count++] = block;
    block->end = END_UNREACHABLE;
    return block;
}

static void add_edge(Graph *graph, Block *from, Block *to) {
    ARENA_GROW(graph->arena, to->before, to->before_count, to->before_capacity);
    to->before[to->before_count++] = from;
}

void graph_end(Graph *graph, End end) {
    graph->here->end = end;
    graph->here->site = graph->site;
    graph->here = graph_block(graph);
    graph->here->is_sealed = true;
}

static bool is_reached(const Graph *graph, const Block *block) {
    return block->before_count > 0 || block == graph->blocks[0];
}

void graph_jump(Graph *graph, Block *to) {
    Block *here = graph->here;
    if (is_reached(graph, here)) {
        here->next[0] = to;
        add_edge(graph, here, to);
    }
    graph_end(graph, is_reached(graph, here) ? END_JUMP : END_UNREACHABLE);
}

void graph_branch(Graph *graph, Value *condition, Block *yes, Block *no) {
    condition = graph_value(condition);
    Block *here = graph->here;
    if (fold_is_constant(condition)) {
        graph_jump(graph, condition->integer ? yes : no);
        return;
    }
    if (is_reached(graph, here)) {
        here->next[0] = yes;
        here->next[1] = no;
        here->condition = condition;
        add_edge(graph, here, yes);
        add_edge(graph, here, no);
    }
    graph_end(graph, is_reached(graph, here) ? END_BRANCH : END_UNREACHABLE);
}

bool graph_dominates(const Block *a, const Block *b) {
    while (b && b->dominator_depth > a->dominator_depth) b = b->dominator;
    return a == b;
}

static Block *common_dominator(Block *a, Block *b) {
    while (a != b) {
        if (!a || !b) return NULL;
        if (a->dominator_depth >= b->dominator_depth)
            a = a->dominator;
        else
            b = b->dominator;
    }
    return a;
}

static void set_dominator(Block *block) {
    block->dominator = block->before_count ? block->before[0] : NULL;
    size_t forward = block->is_loop ? 1 : block->before_count;
    for (size_t k = 1; k < forward; k++)
        block->dominator = common_dominator(block->dominator, block->before[k]);
    block->dominator_depth = block->dominator ? block->dominator->dominator_depth + 1 : 0;
}

static void complete_phi(Graph *graph, Value *phi, size_t slot) {
    Block *block = phi->block;
    phi->arg_count = (uint32_t)block->before_count;
    phi->args = ARENA_NEW(graph->arena, block->before_count, Value *);
    for (size_t k = 0; k < block->before_count; k++)
        phi->args[k] = graph_read(graph, block->before[k], slot);
    if (phi->kind == TYPE_VOID || graph_trivial(phi) != phi) {
        graph_trivial(phi);
        return;
    }
    for (size_t k = 0; k < block->before_count; k++) {
        const Value *arg = phi->args[k];
        if (arg->op == OP_SLOT) graph->escape(graph, arg);
        bool differs = arg->kind != phi->kind || arg->space != phi->space;
        if (differs && arg->op != OP_UNDEFINED) graph->mixed(graph, slot);
    }
}

void graph_seal(Graph *graph, Block *block) {
    set_dominator(block);
    if (block->is_sealed) return;
    block->is_sealed = true;
    // Reading a variable may add phis to this block, which are then complete.
    for (size_t k = 0, count = block->phi_count; k < count; k++)
        complete_phi(graph, block->phis[k], (size_t)block->phis[k]->integer);
}

// --- variables ---

Value *graph_phi(Graph *graph, Block *block, const Value *like) {
    Value fields = {.op = OP_PHI, .kind = like->kind, .space = like->space};
    Value *phi = value_new(graph, &fields, 0, NULL);
    phi->block = phi->home = block;
    ARENA_GROW(graph->arena, block->phis, block->phi_count, block->phi_capacity);
    block->phis[block->phi_count++] = phi;
    return phi;
}

Value *graph_trivial(Value *phi) {
    Value *only = NULL;
    for (size_t k = 0; k < phi->arg_count; k++) {
        Value *arg = graph_value(phi->args[k]);
        if (arg == phi || arg == only) continue;
        if (only) return phi;
        only = arg;
    }
    if (only) phi->same = only;
    return only ? only : phi;
}

static void define(Graph *graph, Block *block, size_t slot, Value *value) {
    if (slot >= block->defined_count) {
        size_t count = graph->slot_count + 8;
        Value **defined = ARENA_NEW(graph->arena, count, Value *);
        if (block->defined_count)
            memcpy(defined, block->defined, block->defined_count * sizeof *defined);
        block->defined = defined;
        block->defined_count = count;
    }
    block->defined[slot] = value;
}

void graph_write(Graph *graph, size_t slot, Value *value) {
    define(graph, graph->here, slot, graph_value(value));
}

static Value *undefined(Graph *graph, size_t slot) {
    TypeKind kind = TYPE_VOID;
    if (graph->slots[slot].instance) kind = graph_register_kind(graph->slots[slot].type);
    return graph_pure(graph, (Value){.op = OP_UNDEFINED, .kind = kind}, 0, NULL);
}

// Whether a variable is at the start of a block what it is at the end of the one before.
static bool passes_through(const Graph *graph, const Block *block, size_t slot) {
    if (slot < block->defined_count && block->defined[slot]) return false;
    if (block->before_count == 0) return false;
    if (block->is_loop && !loop_changes(block->scan, &graph->slots[slot], slot)) return true;
    return block->is_sealed && block->before_count == 1;
}

// The value at the end of a block that is the first to define it, or where control flow joins.
static Value *read_there(Graph *graph, Block *block, size_t slot) {
    if (slot < block->defined_count && block->defined[slot])
        return graph_value(block->defined[slot]);
    if (block->before_count == 0) return undefined(graph, slot);
    const Value state = {.kind = TYPE_VOID};
    const Value *first = graph_read(graph, block->before[0], slot);
    Value *phi = graph_phi(graph, block, graph->slots[slot].instance ? first : &state);
    phi->integer = (int64_t)slot;
    define(graph, block, slot, phi);
    if (block->is_sealed) complete_phi(graph, phi, slot);
    return graph_value(phi);
}

Value *graph_read(Graph *graph, Block *block, size_t slot) {
    Block *there = block;
    while (passes_through(graph, there, slot)) there = there->before[0];
    Value *value = read_there(graph, there, slot);
    for (; block != there; block = block->before[0]) define(graph, block, slot, value);
    define(graph, there, slot, value);
    return value;
}
