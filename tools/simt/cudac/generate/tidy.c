// Tidies the blocks of a finished graph: joins those that follow one another, and computes both
// sides of a branch where that is cheap, as LLVM's SimplifyCFG does.
#include "simt/cudac/generate/graph.h"

static bool is_live(const Graph *graph, const Block *block) {
    return block == graph->blocks[0] || block->before_count > 0;
}

static size_t edge_number(const Block *to, const Block *from) {
    size_t k = 0;
    while (k < to->before_count && to->before[k] != from) k++;
    return k;
}

// Drops phis that turned out to be another value.
static bool drop_phis(Block *block) {
    size_t kept = 0;
    for (size_t k = 0; k < block->phi_count; k++) {
        Value *phi = block->phis[k];
        if (!phi->same && phi->kind != TYPE_VOID && graph_trivial(phi) == phi)
            block->phis[kept++] = phi;
        else if (!phi->same && phi->kind == TYPE_VOID)
            graph_trivial(phi);
    }
    bool dropped = kept != block->phi_count;
    block->phi_count = kept;
    return dropped;
}

static void remove_edge(Block *from, Block *to) {
    size_t edge = edge_number(to, from);
    for (size_t k = edge; k + 1 < to->before_count; k++) to->before[k] = to->before[k + 1];
    to->before_count--;
    for (size_t p = 0; p < to->phi_count; p++) {
        Value *phi = to->phis[p];
        for (size_t k = edge; k + 1 < phi->arg_count; k++) phi->args[k] = phi->args[k + 1];
        phi->arg_count--;
    }
}

static void replace_edge(Block *to, const Block *from, Block *by) {
    to->before[edge_number(to, from)] = by;
}

static void discard(Block *block) {
    block->before_count = 0;
    block->end = END_UNREACHABLE;
}

static void mark_reached(Block *block) {
    block->is_live = true;
    size_t ways = block->end == END_BRANCH ? 2 : block->end == END_JUMP ? 1 : 0;
    for (size_t k = 0; k < ways; k++)
        if (!block->next[k]->is_live) mark_reached(block->next[k]);
}

// Removes the edges from blocks that cannot be reached any more.
static void drop_unreached(Graph *graph) {
    mark_reached(graph->blocks[0]);
    for (size_t k = 0; k < graph->block_count; k++) {
        Block *block = graph->blocks[k];
        size_t ways = block->end == END_BRANCH ? 2 : block->end == END_JUMP ? 1 : 0;
        for (size_t way = 0; way < ways && !block->is_live; way++)
            if (block->next[way]->is_live) remove_edge(block, block->next[way]);
    }
    for (size_t k = 0; k < graph->block_count; k++) {
        if (!graph->blocks[k]->is_live) discard(graph->blocks[k]);
        graph->blocks[k]->is_live = false;
    }
}

// A branch whose condition turned out to be a constant.
static bool decide(Graph *graph, Block *block) {
    if (block->end != END_BRANCH) return false;
    const Value *condition = graph_value(block->condition);
    if (condition->op != OP_CONSTANT && condition->op != OP_UNDEFINED) return false;
    Block *taken = block->next[condition->integer ? 0 : 1];
    remove_edge(block, block->next[condition->integer ? 1 : 0]);
    block->end = END_JUMP;
    block->next[0] = taken;
    block->condition = NULL;
    drop_unreached(graph);
    return true;
}

// Drops loads whose value was known.
static void drop_loads(Block *block) {
    size_t kept = 0;
    for (size_t k = 0; k < block->value_count; k++)
        if (!block->values[k]->same) block->values[kept++] = block->values[k];
    block->value_count = kept;
}

// A block that is the only way to the next one, which has no other way in, continues as that one.
static bool join_next(Graph *graph, Block *block) {
    Block *next = block->next[0];
    if (block->end != END_JUMP || next->before_count != 1 || next == block) return false;
    drop_phis(next);
    if (next->phi_count) return false;
    for (size_t k = 0; k < next->value_count; k++) {
        ARENA_GROW(graph->arena, block->values, block->value_count, block->value_capacity);
        block->values[block->value_count++] = next->values[k];
        next->values[k]->block = block;
    }
    block->end = next->end;
    block->condition = next->condition;
    block->site = next->site;
    for (int k = 0; k < 2; k++) {
        block->next[k] = next->next[k];
        if (block->next[k]) replace_edge(block->next[k], next, block);
        if (block->end != END_BRANCH) break;
    }
    discard(next);
    return true;
}

// --- branches that are cheaper not taken ---

enum { SPECULATE_MOST = 2, PHIS_MOST = 2, TOO_MUCH = 1000 };

static const Value *resolved(const Value *value) {
    while (value->same) value = value->same;
    return value;
}

static void count_args(uint32_t *uses, bool *seen, const Value *value);

static void count_use(uint32_t *uses, bool *seen, const Value *value) {
    value = resolved(value);
    uses[value->number]++;
    if (value->op != OP_PHI && value->op < OP_FIRST_PINNED && !seen[value->number]) {
        seen[value->number] = true;
        count_args(uses, seen, value);
    }
}

static void count_args(uint32_t *uses, bool *seen, const Value *value) {
    for (size_t k = 0; k < value->arg_count; k++) count_use(uses, seen, value->args[k]);
}

// What computing a value costs if what was written in `home` is not computed yet.
static unsigned cost_of(const Value *value, const Block *home, int depth) {
    value = resolved(value);
    if (value->home != home || value->op < OP_FIRST_PURE || value->op >= OP_FIRST_PINNED) return 0;
    if (depth == 0 || value->op == OP_DIVIDE || value->op == OP_REMAINDER) return TOO_MUCH;
    if (value->op == OP_SQRT || value->op == OP_RSQRT) return TOO_MUCH;
    unsigned cost = value->op == OP_CONVERT || value->op == OP_BITS ? 0 : 1;
    for (size_t k = 0; k < value->arg_count; k++) cost += cost_of(value->args[k], home, depth - 1);
    return cost;
}

// How many values, branches and effects use each value.
static uint32_t *count_uses(const Graph *graph) {
    uint32_t *uses = ARENA_NEW(graph->arena, graph->value_count + 1, uint32_t);
    bool *seen = ARENA_NEW(graph->arena, graph->value_count + 1, bool);
    for (size_t k = 0; k < graph->block_count; k++) {
        Block *block = graph->blocks[k];
        if (!is_live(graph, block)) continue;
        for (size_t v = 0; v < block->value_count; v++) count_args(uses, seen, block->values[v]);
        for (size_t v = 0; v < block->phi_count; v++) count_args(uses, seen, block->phis[v]);
        if (block->end == END_BRANCH) count_use(uses, seen, block->condition);
    }
    return uses;
}

// Whether everything that a value needs and that was written in `home` is a sum, or for this value
// alone.
static bool is_for_one(const Value *value, const Block *home, const uint32_t *uses) {
    value = resolved(value);
    if (value->home != home || value->op < OP_FIRST_PURE || value->op >= OP_FIRST_PINNED)
        return true;
    if (value->op != OP_ADD && uses[value->number] > 1) return false;
    for (size_t k = 0; k < value->arg_count; k++)
        if (!is_for_one(value->args[k], home, uses)) return false;
    return true;
}

// Whether a side of a branch only leads on to a block where both sides join.
static bool is_side(const Block *side, const Block *from) {
    return side->before_count == 1 && side->before[0] == from && side->end == END_JUMP &&
           side->value_count == 0 && !side->is_loop && side != side->next[0];
}

static size_t real_phis(Block *block) {
    drop_phis(block);
    return block->phi_count;
}

// if (c) T; with nothing in T but values: the phis of what follows become selections.
static bool select_sides(Graph *graph, Block *block) {
    if (block->end != END_BRANCH) return false;
    Block *sides[2] = {block->next[0], block->next[1]}, *join = NULL;
    for (int k = 0; k < 2; k++)
        if (is_side(sides[k], block) &&
            (sides[k]->next[0] == sides[1 - k] ||
             (is_side(sides[1 - k], block) && sides[1 - k]->next[0] == sides[k]->next[0])))
            join = sides[k]->next[0];
    if (!join || join->is_loop || real_phis(join) > PHIS_MOST) return false;
    size_t edges[2];
    for (int k = 0; k < 2; k++) edges[k] = edge_number(join, sides[k] == join ? block : sides[k]);
    for (size_t p = 0; p < join->phi_count; p++)
        for (int k = 0; k < 2; k++) {
            const Value *arg = join->phis[p]->args[edges[k]];
            if (sides[k] != join && cost_of(arg, sides[k], 8) > SPECULATE_MOST) return false;
        }
    const Site *site = graph->site;
    graph->here = block;
    graph->site = block->site;
    for (size_t p = 0; p < join->phi_count; p++) {
        Value **args = join->phis[p]->args;
        args[edges[0]] = args[edges[1]] =
            graph_select(graph, graph_value(block->condition), args[edges[0]], args[edges[1]]);
    }
    graph->site = site;
    // One edge is left, from the block itself.
    Block *other = sides[0] == join ? sides[1] : sides[0];
    remove_edge(other, join);
    if (sides[0] != join && sides[1] != join) replace_edge(join, sides[1], block);
    for (int k = 0; k < 2; k++)
        if (sides[k] != join) discard(sides[k]);
    block->end = END_JUMP;
    block->next[0] = join;
    block->condition = NULL;
    drop_phis(join);
    return true;
}

// Whether the phis of a block have the same values on two edges.
static bool same_values(const Block *join, const Block *a, const Block *b) {
    size_t x = edge_number(join, a), y = edge_number(join, b);
    for (size_t p = 0; p < join->phi_count; p++)
        if (graph_value(join->phis[p]->args[x]) != graph_value(join->phis[p]->args[y]))
            return false;
    return true;
}

// if (a) if (b) T; with nothing between the tests but b: one test of a and b.
static bool join_tests(Graph *graph, Block *block, const uint32_t *uses) {
    if (block->end != END_BRANCH) return false;
    for (int i = 0; i < 2; i++) {
        Block *middle = block->next[i], *out = block->next[1 - i];
        if (middle->before_count != 1 || middle->end != END_BRANCH || middle->is_loop) continue;
        if (middle->value_count || real_phis(middle) || middle == out) continue;
        int j = middle->next[0] == out ? 0 : middle->next[1] == out ? 1 : 2;
        if (j == 2 || middle->next[1 - j] == out || middle->next[1 - j] == block) continue;
        Value *first = graph_value(block->condition), *second = graph_value(middle->condition);
        real_phis(out);
        if (cost_of(second, middle, 8) > SPECULATE_MOST || !is_for_one(second, middle, uses) ||
            !same_values(out, block, middle))
            continue;
        const Site *site = graph->site;
        graph->here = block;
        graph->site = block->site;
        if (i == 1) first = graph_not(graph, first);
        if (j == 0) second = graph_not(graph, second);
        block->condition = graph_binary(graph, OP_AND, TYPE_BOOL, first, second);
        graph->site = site;
        block->next[0] = middle->next[1 - j];
        block->next[1] = out;
        remove_edge(middle, out);
        replace_edge(block->next[0], middle, block);
        discard(middle);
        return true;
    }
    return false;
}

void tidy_graph(Graph *graph) {
    bool changed = true;
    for (size_t k = 0; k < graph->block_count; k++) drop_loads(graph->blocks[k]);
    while (changed) {
        const uint32_t *uses = count_uses(graph);
        size_t known = graph->value_count;
        changed = false;
        for (size_t k = 0; k < graph->block_count; k++) {
            Block *block = graph->blocks[k];
            if (!is_live(graph, block)) continue;
            if (drop_phis(block) || decide(graph, block)) changed = true;
            if (!is_live(graph, block)) continue;
            while (join_next(graph, block)) changed = true;
            if (select_sides(graph, block)) changed = true;
            if (graph->value_count == known && join_tests(graph, block, uses)) changed = true;
        }
    }
}
