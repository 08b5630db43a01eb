// Assigns registers. A phi and its arguments share a register where their lives do not overlap, so
// that few moves remain; an edge whose moves would do harm on the other way gets a block.
#include <string.h>

#include "simt/cudac/generate/graph.h"

typedef struct Class {
    Value **members;
    size_t count, capacity;
    TypeKind kind;
    uint32_t reg;
} Class;

typedef struct {
    Graph *graph;
    uint32_t *dense; // of values that live in several blocks: their number here, from 1
    size_t dense_count, words;
    uint64_t *in, *out; // for each block a bit for each of these values
    Class **classes;    // by the number of the value
} Registers;

bool registers_needed(const Value *value) {
    if (value->op == OP_SYMBOL && value->uses == 0) return false;
    return value->kind != TYPE_VOID && value->op != OP_CONSTANT && value->op != OP_UNDEFINED &&
           value->op != OP_SLOT;
}

// --- where values live ---

static bool test(const Registers *r, const uint64_t *set, const Block *block, const Value *value) {
    uint32_t k = r->dense[value->number];
    return k && (set[block->order * r->words + k / 64] >> k % 64 & 1);
}

static bool add(const Registers *r, uint64_t *set, const Block *block, const Value *value) {
    if (test(r, set, block, value)) return false;
    uint32_t k = r->dense[value->number];
    set[block->order * r->words + k / 64] |= (uint64_t)1 << k % 64;
    return true;
}

static void number_value(Registers *r, const Value *value) {
    if (!r->dense[value->number]) r->dense[value->number] = (uint32_t)++r->dense_count;
}

static void number_uses(Registers *r, const Block *block) {
    for (size_t p = 0; p < block->phi_count; p++) {
        number_value(r, block->phis[p]);
        for (size_t k = 0; k < block->phis[p]->arg_count; k++)
            if (registers_needed(block->phis[p]->args[k])) number_value(r, block->phis[p]->args[k]);
    }
    for (size_t v = 0; v < block->value_count; v++)
        for (size_t k = 0; k < block->values[v]->arg_count; k++) {
            const Value *arg = block->values[v]->args[k];
            if (registers_needed(arg) && arg->block != block) number_value(r, arg);
        }
    if (block->end == END_BRANCH && block->condition->block != block)
        number_value(r, block->condition);
}

// The value is used in this block, where it is not defined, or on the way out of it.
static void live_at(Registers *r, Block **stack, const Value *value, Block *block, bool at_end) {
    size_t count = 0;
    if (!registers_needed(value)) return;
    if (at_end) add(r, r->out, block, value);
    if (value->block != block && add(r, r->in, block, value)) stack[count++] = block;
    while (count) {
        const Block *top = stack[--count];
        for (size_t k = 0; k < top->before_count; k++) {
            Block *before = top->before[k];
            add(r, r->out, before, value);
            if (value->block != before && add(r, r->in, before, value)) stack[count++] = before;
        }
    }
}

static void find_lives(Registers *r) {
    Graph *graph = r->graph;
    for (size_t k = 0; k < graph->block_count; k++) number_uses(r, graph->blocks[k]);
    r->words = r->dense_count / 64 + 1;
    r->in = ARENA_NEW(graph->arena, r->words * graph->block_count, uint64_t);
    r->out = ARENA_NEW(graph->arena, r->words * graph->block_count, uint64_t);
    Block **stack = ARENA_NEW(graph->arena, graph->block_count + 1, Block *);
    for (size_t k = 0; k < graph->block_count; k++) {
        Block *block = graph->blocks[k];
        for (size_t p = 0; p < block->phi_count; p++)
            for (size_t a = 0; a < block->phis[p]->arg_count; a++)
                live_at(r, stack, block->phis[p]->args[a], block->before[a], true);
        for (size_t v = 0; v < block->value_count; v++)
            for (size_t a = 0; a < block->values[v]->arg_count; a++)
                live_at(r, stack, block->values[v]->args[a], block, false);
        if (block->end == END_BRANCH) live_at(r, stack, block->condition, block, false);
    }
}

// Whether a value that lives at a place of a block is used after it.
static bool lives_after(const Registers *r, const Value *value, const Block *block,
                        uint32_t place) {
    if (test(r, r->out, block, value)) return true;
    if (block->end == END_BRANCH && block->condition == value) return true;
    for (size_t v = place; v < block->value_count; v++)
        for (size_t k = 0; k < block->values[v]->arg_count; k++)
            if (block->values[v]->args[k] == value) return true;
    return false;
}

static bool overlap(const Registers *r, const Value *a, const Value *b) {
    if (a->block == b->block && a->place == b->place) return true;
    bool first = a->block == b->block ? a->place < b->place : graph_dominates(a->block, b->block);
    if (!first) {
        const Value *c = a;
        a = b;
        b = c;
    }
    if (a->block != b->block && !test(r, r->in, b->block, a)) return false;
    return lives_after(r, a, b->block, b->place);
}

// --- classes of values that share a register ---

enum { PAIRS_MOST = 4096 };

static Class *class_of(const Registers *r, Value *value) {
    Class **at = &r->classes[value->number];
    if (*at) return *at;
    Class *class = *at = ARENA_NEW(r->graph->arena, 1, Class);
    class->kind = value->kind;
    ARENA_GROW(r->graph->arena, class->members, class->count, class->capacity);
    class->members[class->count++] = value;
    return class;
}

static void share(const Registers *r, Value *a, Value *b) {
    if (!registers_needed(b) || a->kind != b->kind) return;
    Class *x = class_of(r, a), *y = class_of(r, b);
    if (x == y || x->count * y->count > PAIRS_MOST) return;
    for (size_t i = 0; i < x->count; i++)
        for (size_t j = 0; j < y->count; j++)
            if (overlap(r, x->members[i], y->members[j])) return;
    for (size_t j = 0; j < y->count; j++) {
        ARENA_GROW(r->graph->arena, x->members, x->count, x->capacity);
        x->members[x->count++] = y->members[j];
        r->classes[y->members[j]->number] = x;
    }
}

static void give(Registers *r, Value *value, uint32_t counts[TYPE_F64 + 1]) {
    if (!registers_needed(value)) return;
    Class *class = class_of(r, value);
    if (!class->reg) class->reg = ++counts[class->kind];
    value->reg = class->reg;
}

static void give_all(Registers *r, uint32_t counts[TYPE_F64 + 1]) {
    for (size_t k = 0; k < r->graph->block_count; k++) {
        Block *block = r->graph->blocks[k];
        for (size_t p = 0; p < block->phi_count; p++) give(r, block->phis[p], counts);
        for (size_t v = 0; v < block->value_count; v++) {
            Value *value = block->values[v];
            if (value->op != OP_LOAD || value->lanes == 1) give(r, value, counts);
            for (size_t part = 0; value->parts && part < value->lanes; part++)
                if (value->parts[part]) give(r, value->parts[part], counts);
        }
    }
}

// --- places ---

static void note_part(Registers *r, Value *arg) {
    if (arg->op != OP_PART) return;
    Value *of = arg->args[0];
    if (!of->parts) of->parts = ARENA_NEW(r->graph->arena, of->lanes + 1u, Value *);
    of->parts[arg->integer] = arg;
}

static void number_places(Registers *r) {
    for (size_t k = 0; k < r->graph->block_count; k++) {
        Block *block = r->graph->blocks[k];
        block->order = (uint32_t)k;
        for (size_t v = 0; v < block->value_count; v++) {
            Value *value = block->values[v];
            value->place = (uint32_t)v + 1;
            for (size_t a = 0; a < value->arg_count; a++) note_part(r, value->args[a]);
        }
        for (size_t p = 0; p < block->phi_count; p++)
            for (size_t a = 0; a < block->phis[p]->arg_count; a++)
                note_part(r, block->phis[p]->args[a]);
        if (block->end == END_BRANCH) note_part(r, block->condition);
    }
    for (size_t k = 0; k < r->graph->block_count; k++)
        for (size_t v = 0; v < r->graph->blocks[k]->value_count; v++) {
            Value *value = r->graph->blocks[k]->values[v];
            for (size_t part = 0; value->parts && part < value->lanes; part++)
                if (value->parts[part]) value->parts[part]->place = value->place;
        }
}

// --- edges ---

static size_t edge_of(const Block *to, const Block *from) {
    size_t k = 0;
    while (to->before[k] != from) k++;
    return k;
}

static bool needs_move(const Value *phi, const Value *arg) {
    return arg->op != OP_UNDEFINED && arg->reg != phi->reg;
}

static bool has_moves(const Block *from, const Block *to) {
    size_t edge = edge_of(to, from);
    for (size_t p = 0; p < to->phi_count; p++)
        if (needs_move(to->phis[p], to->phis[p]->args[edge])) return true;
    return false;
}

// Whether the way to `other` needs the register of this phi as it was.
static bool harms(const Registers *r, const Value *phi, const Block *from, const Block *other) {
    const Class *class = r->classes[phi->number];
    if (from->condition->kind == phi->kind && from->condition->reg == phi->reg) return true;
    for (size_t k = 0; k < class->count; k++)
        if (test(r, r->in, other, class->members[k])) return true;
    size_t edge = edge_of(other, from);
    for (size_t p = 0; p < other->phi_count; p++) {
        const Value *arg = other->phis[p]->args[edge];
        if (arg->kind == phi->kind && registers_needed(arg) && arg->reg == phi->reg) return true;
    }
    return false;
}

static bool must_split(const Registers *r, const Block *from, int way) {
    const Block *to = from->next[way], *other = from->next[1 - way];
    if (!has_moves(from, to)) return false;
    if (to == other || (way == 1 && has_moves(from, other))) return true;
    size_t edge = edge_of(to, from);
    for (size_t p = 0; p < to->phi_count; p++)
        if (needs_move(to->phis[p], to->phis[p]->args[edge]) && harms(r, to->phis[p], from, other))
            return true;
    return false;
}

static Block *split(Graph *graph, Block *from, int way) {
    Block *to = from->next[way], *between = ARENA_NEW(graph->arena, 1, Block);
    between->number = (uint32_t)graph->block_capacity + from->number * 2 + (uint32_t)way;
    between->end = END_JUMP;
    between->next[0] = to;
    between->site = from->site;
    to->before[edge_of(to, from)] = between;
    from->next[way] = between;
    return between;
}

static void split_edges(Registers *r) {
    Graph *graph = r->graph;
    Block **blocks = ARENA_NEW(graph->arena, 3 * graph->block_count, Block *);
    size_t count = 0;
    for (size_t k = 0; k < graph->block_count; k++) {
        Block *block = graph->blocks[k];
        blocks[count++] = block;
        if (block->end != END_BRANCH) continue;
        bool ways[] = {must_split(r, block, 0), must_split(r, block, 1)};
        for (int way = 0; way < 2; way++)
            if (ways[way]) blocks[count++] = split(graph, block, way);
    }
    graph->blocks = blocks;
    graph->block_count = count;
}

void registers_assign(Graph *graph, uint32_t counts[TYPE_F64 + 1]) {
    Registers registers = {.graph = graph}, *r = &registers;
    r->dense = ARENA_NEW(graph->arena, graph->value_count + 1, uint32_t);
    r->classes = ARENA_NEW(graph->arena, graph->value_count + 1, Class *);
    memset(counts, 0, (TYPE_F64 + 1) * sizeof *counts);
    number_places(r);
    find_lives(r);
    for (size_t k = 0; k < graph->block_count; k++) {
        const Block *block = graph->blocks[k];
        for (size_t p = 0; p < block->phi_count; p++)
            for (size_t a = 0; a < block->phis[p]->arg_count; a++)
                share(r, block->phis[p], block->phis[p]->args[a]);
    }
    give_all(r, counts);
    split_edges(r);
}
