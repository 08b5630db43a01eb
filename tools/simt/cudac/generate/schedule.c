// Removes what is not used, combines operations that the device has in one, and gives each pure
// value a block: the latest one that all uses allow, and outside of loops if that is possible
// (Click, Global Code Motion, Global Value Numbering, 1995).
#include "simt/cudac/generate/graph.h"

typedef struct {
    Graph *graph;
    Block **order; // live blocks, each after those that dominate it
    size_t block_count;
    Value **values; // live pure values, each after its arguments
    size_t value_count, value_capacity;
    Value **waiting; // found, and their arguments not yet
    size_t waiting_count, waiting_capacity;
} Schedule;

// --- blocks ---

static void visit(Schedule *s, Block *block, size_t *next) {
    block->is_live = true;
    size_t ways = block->end == END_BRANCH ? 2 : block->end == END_JUMP ? 1 : 0;
    // The second way first, so that in the reversed order the first one follows the branch.
    for (size_t k = ways; k-- > 0;)
        if (!block->next[k]->is_live) visit(s, block->next[k], next);
    s->order[--*next] = block;
}

static Block *meet(Block *a, Block *b) {
    while (a != b)
        if (a->order > b->order)
            a = a->dominator;
        else
            b = b->dominator;
    return a;
}

static void find_dominators(Schedule *s) {
    for (size_t k = 0; k < s->block_count; k++) {
        s->order[k]->order = (uint32_t)k;
        s->order[k]->dominator = NULL;
    }
    s->order[0]->dominator = s->order[0];
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 1; k < s->block_count; k++) {
            Block *block = s->order[k], *dominator = NULL;
            for (size_t b = 0; b < block->before_count; b++) {
                if (!block->before[b]->dominator) continue;
                dominator = dominator ? meet(dominator, block->before[b]) : block->before[b];
            }
            if (block->dominator != dominator) changed = true;
            block->dominator = dominator;
        }
    }
    s->order[0]->dominator_depth = 0;
    for (size_t k = 1; k < s->block_count; k++)
        s->order[k]->dominator_depth = s->order[k]->dominator->dominator_depth + 1;
    s->order[0]->dominator = NULL;
}

static void add_loop(Schedule *s, Block *head, Block *latch) {
    Block **stack = ARENA_NEW(s->graph->arena, s->block_count + 1, Block *);
    bool *inside = ARENA_NEW(s->graph->arena, s->block_count, bool);
    size_t count = 0;
    inside[head->order] = true;
    head->loop_depth++;
    if (!inside[latch->order]) stack[count++] = latch, inside[latch->order] = true;
    while (count) {
        Block *block = stack[--count];
        block->loop_depth++;
        for (size_t k = 0; k < block->before_count; k++) {
            Block *before = block->before[k];
            if (!inside[before->order]) stack[count++] = before, inside[before->order] = true;
        }
    }
}

static void find_loops(Schedule *s) {
    for (size_t k = 0; k < s->block_count; k++) {
        Block *block = s->order[k];
        for (size_t b = 0; b < block->before_count; b++)
            if (graph_dominates(block, block->before[b])) add_loop(s, block, block->before[b]);
    }
}

static void order_blocks(Schedule *s) {
    Graph *graph = s->graph;
    s->order = ARENA_NEW(graph->arena, graph->block_count, Block *);
    size_t next = graph->block_count;
    visit(s, graph->blocks[0], &next);
    s->order += next;
    s->block_count = graph->block_count - next;
    find_dominators(s);
    find_loops(s);
}

// --- what is used ---

static bool has_effect(const Value *value) {
    if (value->op == OP_LOAD || value->op == OP_ASSEMBLY) return value->is_volatile;
    return value->op >= OP_FIRST_PINNED;
}

static bool is_pure(const Value *value) {
    return value->op < OP_FIRST_PINNED && value->op != OP_PHI;
}

// Counts a use. Values are found depth first, so that arguments come before what uses them.
static void use(Schedule *s, Value **at) {
    Value *value = *at = graph_value(*at);
    value->uses++;
    if (value->is_found || value->op == OP_UNDEFINED) return;
    value->is_found = true;
    if (is_pure(value)) {
        for (size_t k = 0; k < value->arg_count; k++) use(s, &value->args[k]);
        ARENA_GROW(s->graph->arena, s->values, s->value_count, s->value_capacity);
        s->values[s->value_count++] = value;
    } else {
        // Later: it may be an argument of itself by way of a loop, and then comes before it.
        ARENA_GROW(s->graph->arena, s->waiting, s->waiting_count, s->waiting_capacity);
        s->waiting[s->waiting_count++] = value;
    }
}

static void use_args(Schedule *s, Value *value) {
    size_t first = value->op == OP_LOAD || value->op == OP_STORE || value->op == OP_ATOMIC ? 2 : 0;
    if (first) {
        use(s, &value->args[0]);
        // An address can name a variable, which then needs no register.
        if (value->args[0]->op == OP_SYMBOL) value->args[0]->uses--;
    }
    for (size_t k = first; k < value->arg_count; k++) use(s, &value->args[k]);
}

static void forget(Value *value) {
    value->uses = 0;
    value->is_found = false;
}

static void forget_uses(Schedule *s) {
    for (size_t k = 0; k < s->value_count; k++) forget(s->values[k]);
    for (size_t k = 0; k < s->block_count; k++) {
        Block *block = s->order[k];
        for (size_t v = 0; v < block->value_count; v++) forget(block->values[v]);
        for (size_t v = 0; v < block->phi_count; v++) forget(block->phis[v]);
    }
    s->value_count = 0;
}

static void find_uses(Schedule *s) {
    forget_uses(s);
    for (size_t k = 0; k < s->block_count; k++) {
        Block *block = s->order[k];
        for (size_t v = 0; v < block->value_count; v++) {
            Value *value = block->values[v];
            if (!has_effect(value)) continue;
            use(s, &value);
            value->uses--; // its effect is not a use of its result
        }
        if (block->end == END_BRANCH) use(s, &block->condition);
    }
    while (s->waiting_count) use_args(s, s->waiting[--s->waiting_count]);
}

static void drop_unused(Schedule *s) {
    for (size_t k = 0; k < s->block_count; k++) {
        Block *block = s->order[k];
        size_t kept = 0;
        for (size_t v = 0; v < block->value_count; v++)
            if (has_effect(block->values[v]) || block->values[v]->uses)
                block->values[kept++] = block->values[v];
        block->value_count = kept;
        kept = 0;
        for (size_t v = 0; v < block->phi_count; v++)
            if (block->phis[v]->uses && !block->phis[v]->same) block->phis[kept++] = block->phis[v];
        block->phi_count = kept;
    }
}

// --- operations in one ---

// How many of the lowest bits of a number are known to be 0. `loop` is a phi that is being looked
// at: its other values decide.
static unsigned low_zeros(const Value *value, const Value *loop, int depth) {
    unsigned zeros = 0, least = 32;
    if (value == loop) return 32;
    if (value->op == OP_CONSTANT) {
        while (zeros < 32 && !(value->integer >> zeros & 1)) zeros++;
        return zeros;
    }
    bool shift = value->op == OP_SHIFT_LEFT && value->args[1]->op == OP_CONSTANT;
    if (depth == 0) return 0;
    if (shift) {
        zeros = low_zeros(graph_value(value->args[0]), loop, depth - 1);
        return zeros + (unsigned)value->args[1]->integer;
    }
    if (value->op != OP_ADD && (value->op != OP_PHI || loop)) return 0;
    for (size_t k = 0; k < value->arg_count; k++) {
        zeros =
            low_zeros(graph_value(value->args[k]), value->op == OP_PHI ? value : loop, depth - 1);
        if (zeros < least) least = zeros;
    }
    return least;
}

// base + (x + c) * size is base + x * size + c * size if the sum cannot wrap around in 32 bits: the
// lowest bits of x are 0, and c fits into them.
static void split_index(Graph *graph, Value *access) {
    if (access->op != OP_LOAD && access->op != OP_STORE) return;
    const Value *address = graph_value(access->args[0]);
    if (address->op != OP_ADD) return;
    Value *base = graph_value(address->args[0]), *scaled = graph_value(address->args[1]);
    if (scaled->op != OP_MULTIPLY_WIDE || scaled->args[1]->op != OP_CONSTANT) return;
    const Value *index = graph_value(scaled->args[0]);
    if (index->op != OP_ADD || index->args[1]->op != OP_CONSTANT) return;
    Value *x = graph_value(index->args[0]), *size = scaled->args[1];
    unsigned zeros = low_zeros(x, NULL, 4);
    if (zeros == 0 || zeros > 31 || index->args[1]->integer >> zeros) return;
    graph->site = access->site;
    Value *start = graph_binary(graph, OP_ADD, TYPE_U64, base,
                                graph_binary(graph, OP_MULTIPLY_WIDE, scaled->from, x, size));
    Value *offset = graph_constant(graph, TYPE_U64, index->args[1]->integer * size->integer);
    access->args[0] = graph_binary(graph, OP_ADD, TYPE_U64, start, offset);
}

// The constant part of an address becomes the offset of the access.
static void fold_address(Value *access) {
    if (access->op != OP_LOAD && access->op != OP_STORE) return;
    Value *address = graph_value(access->args[0]);
    if (address->op != OP_ADD || address->args[1]->op != OP_CONSTANT) return;
    int64_t offset = fold_signed(address->args[1]);
    if (offset < INT32_MIN || offset > INT32_MAX) return;
    access->args[0] = graph_value(address->args[0]);
    access->integer = offset;
}

static bool is_float(TypeKind kind) { return kind == TYPE_F32 || kind == TYPE_F64; }

static bool is_product(const Value *value, const uint32_t *sums) {
    if (value->op != OP_MULTIPLY) return false;
    if (is_float(value->kind)) return sums[value->number] == value->uses && value->uses < 5;
    return value->uses == 1 && (value->kind == TYPE_U32 || value->kind == TYPE_U64);
}

// a * b + c in one rounding, if all uses of a * b are sums: nvcc's rule.
static void fuse(Graph *graph, Value *value, const uint32_t *sums) {
    bool minus = value->op == OP_SUBTRACT && is_float(value->kind);
    if (value->op != OP_ADD && !minus) return;
    for (size_t k = 0; k < 2; k++) {
        Value *product = graph_value(value->args[k]), *other = graph_value(value->args[1 - k]);
        if (!is_product(product, sums) || (minus && product->uses != 1)) continue;
        Value *a = product->args[0], *b = product->args[1];
        if (minus && k == 0) other = graph_unary(graph, OP_NEGATE, other->kind, other);
        if (minus && k == 1) a = graph_unary(graph, OP_NEGATE, a->kind, a);
        value->op = OP_FMA;
        value->arg_count = 3;
        value->args = ARENA_NEW(graph->arena, 3, Value *);
        value->args[0] = a;
        value->args[1] = b;
        value->args[2] = other;
        return;
    }
}

static void combine(Schedule *s) {
    Graph *graph = s->graph;
    uint32_t *sums = ARENA_NEW(graph->arena, graph->value_count + 1, uint32_t);
    for (size_t k = 0; k < s->value_count; k++) {
        const Value *value = s->values[k];
        bool sum =
            value->op == OP_ADD || (value->op == OP_SUBTRACT && value->args[0] != value->args[1]);
        for (size_t a = 0; sum && a < 2; a++) sums[graph_value(value->args[a])->number]++;
    }
    for (size_t k = 0; k < s->value_count; k++) fuse(graph, s->values[k], sums);
    for (size_t k = 0; k < s->block_count; k++)
        for (size_t v = 0; v < s->order[k]->value_count; v++) {
            split_index(graph, s->order[k]->values[v]);
            fold_address(s->order[k]->values[v]);
        }
}

// --- a block for each value ---

static Block *early_block(const Schedule *s, const Value *value) {
    Block *early = s->order[0];
    for (size_t k = 0; k < value->arg_count; k++) {
        Block *block = value->args[k]->block;
        if (block && block->dominator_depth > early->dominator_depth) early = block;
    }
    return early;
}

static Block *common(Block *a, Block *b) {
    if (!a) return b;
    while (a != b)
        if (a->dominator_depth >= b->dominator_depth)
            a = a->dominator;
        else
            b = b->dominator;
    return a;
}

// A use in this block: the value is needed here or earlier.
static void need(Block **late, Value *value, Block *block) {
    if (is_pure(value)) late[value->number] = common(late[value->number], block);
}

static void need_all(Schedule *s, Block **late) {
    for (size_t k = 0; k < s->block_count; k++) {
        Block *block = s->order[k];
        for (size_t v = 0; v < block->value_count; v++)
            for (size_t a = 0; a < block->values[v]->arg_count; a++)
                need(late, block->values[v]->args[a], block);
        for (size_t v = 0; v < block->phi_count; v++)
            for (size_t a = 0; a < block->phis[v]->arg_count; a++)
                need(late, block->phis[v]->args[a], block->before[a]);
        if (block->end == END_BRANCH) need(late, block->condition, block);
    }
}

static void choose_blocks(Schedule *s) {
    Block **late = ARENA_NEW(s->graph->arena, s->graph->value_count + 1, Block *);
    for (size_t k = 0; k < s->value_count; k++) s->values[k]->block = early_block(s, s->values[k]);
    need_all(s, late);
    for (size_t k = s->value_count; k-- > 0;) {
        Value *value = s->values[k];
        Block *early = value->block, *block = late[value->number], *best = block;
        if (value->op == OP_PART) best = early;
        for (; value->op != OP_PART && block != early; block = block->dominator)
            if (block->dominator->loop_depth < best->loop_depth) best = block->dominator;
        if (value->op == OP_PARAMETER) best = s->order[0];
        value->block = best;
        for (size_t a = 0; a < value->arg_count; a++) need(late, value->args[a], best);
    }
}

// --- the order within a block ---

typedef struct {
    Block *block;
    Value **values;
    size_t count, capacity;
    Graph *graph;
    bool *placed;
} Order;

static void place(Order *o, Value *value) {
    if (value->block != o->block || !is_pure(value) || o->placed[value->number]) return;
    o->placed[value->number] = true;
    if (value->op == OP_CONSTANT || value->op == OP_UNDEFINED || value->op == OP_PART) return;
    for (size_t k = 0; k < value->arg_count; k++) place(o, value->args[k]);
    ARENA_GROW(o->graph->arena, o->values, o->count, o->capacity);
    o->values[o->count++] = value;
}

static void order_values(Schedule *s) {
    bool *placed = ARENA_NEW(s->graph->arena, s->graph->value_count + 1, bool);
    Order *orders = ARENA_NEW(s->graph->arena, s->block_count, Order);
    for (size_t k = 0; k < s->block_count; k++) {
        Block *block = s->order[k];
        Order *o = &orders[k];
        *o = (Order){.block = block, .graph = s->graph, .placed = placed};
        for (size_t v = 0; k == 0 && v < s->value_count; v++)
            if (s->values[v]->op == OP_PARAMETER) place(o, s->values[v]);
        for (size_t v = 0; v < block->value_count; v++) {
            Value *value = block->values[v];
            for (size_t a = 0; a < value->arg_count; a++)
                if (value->args[a]->kind != TYPE_VOID) place(o, value->args[a]);
            ARENA_GROW(s->graph->arena, o->values, o->count, o->capacity);
            o->values[o->count++] = value;
        }
    }
    // Then what only later blocks use, and last the condition of the branch.
    for (size_t v = 0; v < s->value_count; v++) {
        Value *value = s->values[v];
        if (value->block->end == END_BRANCH && value == value->block->condition) continue;
        place(&orders[value->block->order], value);
    }
    for (size_t k = 0; k < s->block_count; k++) {
        Block *block = s->order[k];
        if (block->end == END_BRANCH) place(&orders[k], block->condition);
        block->values = orders[k].values;
        block->value_count = orders[k].count;
        block->value_capacity = orders[k].capacity;
    }
}

void schedule_graph(Graph *graph) {
    Schedule *s = ARENA_NEW(graph->arena, 1, Schedule);
    s->graph = graph;
    order_blocks(s);
    find_uses(s);
    combine(s);
    find_uses(s);
    drop_unused(s);
    choose_blocks(s);
    order_values(s);
    graph->blocks = s->order;
    graph->block_count = s->block_count;
}
