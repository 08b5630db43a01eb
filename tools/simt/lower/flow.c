// Where split lanes meet: see flow.h.
//
// The nodes are looked at once for each loop, with the edges in it only and its end behind the
// edges back to the header; and once as a whole. Nodes whose ways come together only at that end
// meet at the header, and farther out than this loop when they leave it. Of the ways that end the
// thread only the main ones are kept: those that are reached by the last place where ways come
// together. What lies on the others alone is looked at by itself in the same manner.
#include "simt/lower/flow.h"

#include "simt/lower/loops.h"

// A node where only some of the ways from its immediate dominator come together, and the nodes on
// these ways.
typedef struct {
    uint32_t owner, node; // the dominator, where its ways come together
    uint64_t *region;
} Partial;

typedef struct {
    Arena *arena;
    FlowNode *nodes;
    uint32_t count;
    Edges out, in;  // between nodes other than bare exits
    bool *ends;     // threads end here, or go round for ever
    Dominators all; // of the nodes that are reached from the first
    Loops loops;
    bool *left;     // nodes whose meets in the function as a whole are not known yet
    bool *main_end; // of those
    // By node: the outermost loop for whose next round lanes that split there wait at its header,
    // NULL: none.
    const uint64_t **round;
    uint32_t *local; // a node's number in the part that is looked at, PTX_NONE: not in it
    Partial *partials;
    uint32_t partial_count;
} Flow;

static void list_edges(Flow *flow) {
    uint32_t edges = 0, used = 0;
    for (uint32_t n = 0; n < flow->count; n++) edges += flow->nodes[n].next_count;
    Edges *out = &flow->out;
    *out = (Edges){.count = flow->count,
                   .start = ARENA_NEW(flow->arena, flow->count + 2u, uint32_t),
                   .to = ARENA_NEW(flow->arena, edges + 1u, uint32_t)};
    for (uint32_t n = 0; n < flow->count; n++) {
        const FlowNode *node = &flow->nodes[n];
        out->start[n] = used;
        flow->ends[n] = node->next_count == 0;
        for (uint32_t k = 0; k < node->next_count; k++)
            if (flow->nodes[node->next[k]].bare_exit)
                flow->ends[n] = true;
            else
                out->to[used++] = node->next[k];
    }
    out->start[flow->count] = used;
    flow->in = edges_reversed(flow->arena, out);
}

// Marks all nodes that are still left and reach one of those listed, which it extends.
static uint32_t add_origins(const Flow *flow, uint32_t *list, uint32_t count, bool *seen) {
    for (uint32_t k = 0; k < count; k++) seen[list[k]] = true;
    for (uint32_t k = 0; k < count; k++) {
        const Edges *in = &flow->in;
        for (uint32_t e = in->start[list[k]]; e < in->start[list[k] + 1]; e++) {
            uint32_t from = in->to[e];
            if (seen[from] || !flow->left[from]) continue;
            seen[from] = true;
            list[count++] = from;
        }
    }
    return count;
}

// A loop that nothing leads out of is an end, at its header.
static void end_endless_loops(Flow *flow) {
    uint32_t *list = ARENA_NEW(flow->arena, flow->count, uint32_t), count = 0;
    bool *ending = ARENA_NEW(flow->arena, flow->count, bool);
    for (uint32_t n = 0; n < flow->count; n++)
        if (flow->left[n] && flow->ends[n]) list[count++] = n;
    add_origins(flow, list, count, ending);
    for (uint32_t k = 0; k < flow->loops.count; k++) {
        const Loop *loop = &flow->loops.loops[k];
        bool outermost = loop->parent == PTX_NONE || ending[flow->loops.loops[loop->parent].header];
        if (!ending[loop->header] && outermost) flow->ends[loop->header] = true;
    }
}

// --- the main end ---

static bool goes_round(const Flow *flow, uint32_t from, uint32_t header) {
    uint32_t loop = flow->loops.innermost[header];
    return loop != PTX_NONE && flow->loops.loops[loop].header == header &&
           loops_inside(flow->loops.loops[loop].inside, from);
}

static uint32_t ways_in(const Flow *flow, uint32_t node) {
    return flow->in.start[node + 1] - flow->in.start[node];
}

static bool leads_to(const Flow *flow, uint32_t node, uint32_t to) {
    for (uint32_t e = flow->out.start[node]; e < flow->out.start[node + 1]; e++)
        if (flow->out.to[e] == to) return true;
    return false;
}

// Whether what a node leads to besides `to` becomes a part of it, under a predicate.
static bool takes_in(const Flow *flow, uint32_t node, uint32_t to) {
    for (uint32_t e = flow->out.start[node]; e < flow->out.start[node + 1]; e++) {
        uint32_t other = flow->out.to[e];
        const FlowNode *body = &flow->nodes[other];
        if (other != to && ways_in(flow, other) == 1 && body->next_count == 1 && body->brief)
            return true;
    }
    return false;
}

// The branch that is one with the branch of a condition, for lanes that go to a node: of `a && b`
// and `a || b`. PTX_NONE: there is none.
static uint32_t combined_with(const Flow *flow, uint32_t condition, uint32_t to) {
    if (!flow->nodes[condition].condition || condition == to || ways_in(flow, condition) != 1 ||
        !leads_to(flow, condition, to) || takes_in(flow, condition, to))
        return PTX_NONE;
    uint32_t before = flow->in.to[flow->in.start[condition]];
    bool branch = flow->nodes[before].next_count == 2 && before != condition && before != to;
    return branch && leads_to(flow, before, to) ? before : PTX_NONE;
}

// Whether several ways come together at a node, those around a loop left aside.
static bool comes_together(const Flow *flow, uint32_t node) {
    uint32_t ways = 0;
    for (uint32_t e = flow->in.start[node]; e < flow->in.start[node + 1]; e++) {
        uint32_t from = flow->in.to[e];
        ways += flow->all.number[from] != PTX_NONE && !goes_round(flow, from, node) &&
                combined_with(flow, from, node) == PTX_NONE;
    }
    return ways > 1;
}

// Of two nodes with the same immediate dominator: the one where ways come together, the one that
// leads to such a place, the later one.
static bool more_main(const Flow *flow, uint32_t node, uint32_t than, const bool *joins) {
    if (than == PTX_NONE) return true;
    bool together = comes_together(flow, node);
    if (together != comes_together(flow, than)) return together;
    if (joins[node] != joins[than]) return joins[node];
    return flow->all.number[node] > flow->all.number[than];
}

// Follows the main way through what is left, from each node where one comes to it, down the tree of
// dominators. Returns how many ends were found.
static uint32_t find_main_ends(Flow *flow, uint32_t *ends) {
    const Dominators *all = &flow->all;
    bool *leads = ARENA_NEW(flow->arena, flow->count, bool); // to an end
    bool *joins = ARENA_NEW(flow->arena, flow->count, bool); // ways come together on the way to it
    uint32_t *best = ARENA_NEW(flow->arena, flow->count, uint32_t), count = 0;
    for (uint32_t n = 0; n < flow->count; n++) best[n] = PTX_NONE;
    for (uint32_t k = all->reached; k-- > 0;) {
        uint32_t n = all->order[k], above = all->dominator[n];
        if (!flow->left[n]) continue;
        leads[n] |= flow->ends[n];
        if (!leads[n] || k == 0) continue;
        leads[above] = true;
        joins[n] |= comes_together(flow, n);
        joins[above] |= joins[n];
        if (more_main(flow, n, best[above], joins)) best[above] = n;
    }
    for (uint32_t k = 0; k < all->reached; k++) {
        uint32_t n = all->order[k];
        if (!flow->left[n] || !leads[n] || (k > 0 && flow->left[all->dominator[n]])) continue;
        while (best[n] != PTX_NONE) n = best[n];
        ends[count++] = n;
    }
    return count;
}

// --- post-dominators of a part ---

static void add_edge(Edges *edges, uint32_t *used, uint32_t to) { edges->to[(*used)++] = to; }

// The edges between these nodes. `header`: of the loop that they are, whose edges back to it lead
// to the end, node `count`; PTX_NONE: the main ends lead there.
static Edges edges_of_part(Flow *flow, const uint32_t *part, uint32_t count, uint32_t header) {
    uint32_t room = count + 1, used = 0;
    for (uint32_t k = 0; k < count; k++)
        room += flow->out.start[part[k] + 1] - flow->out.start[part[k]];
    Edges edges = {.count = count + 1,
                   .start = ARENA_NEW(flow->arena, count + 3u, uint32_t),
                   .to = ARENA_NEW(flow->arena, room, uint32_t)};
    for (uint32_t k = 0; k < count; k++) {
        uint32_t n = part[k];
        edges.start[k] = used;
        for (uint32_t e = flow->out.start[n]; e < flow->out.start[n + 1]; e++) {
            uint32_t to = flow->out.to[e];
            if (to == header)
                add_edge(&edges, &used, count);
            else if (flow->local[to] != PTX_NONE)
                add_edge(&edges, &used, flow->local[to]);
        }
        if (header == PTX_NONE && flow->main_end[n]) add_edge(&edges, &used, count);
    }
    edges.start[count] = edges.start[count + 1] = used;
    return edges;
}

static void add_meet(Flow *flow, uint32_t n, uint32_t meet, const uint64_t *inside) {
    FlowNode *node = &flow->nodes[n];
    // The same as in a loop within: no way leads out of that loop before it.
    if (node->meet_count && node->meets[node->meet_count - 1].node == meet) node->meet_count--;
    node->meets[node->meet_count++] = (FlowMeet){.node = meet, .inside = inside};
}

// Whether lanes may go on from a node in different ways.
static bool parts_ways(const Edges *out, uint32_t node) {
    for (uint32_t e = out->start[node]; e < out->start[node + 1]; e++)
        if (out->to[e] != out->to[out->start[node]]) return true;
    return false;
}

static void add_meets_of_part(Flow *flow, const uint32_t *part, uint32_t count, uint32_t header,
                              const uint64_t *inside) {
    for (uint32_t k = 0; k < count; k++) flow->local[part[k]] = k;
    Edges out = edges_of_part(flow, part, count, header);
    Edges in = edges_reversed(flow->arena, &out);
    Dominators found = dominators_of(flow->arena, &in, &out, count);
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t **round = &flow->round[part[k]];
        uint32_t meet = found.dominator[k];
        while (meet < count && *round && loops_inside(*round, part[meet]))
            meet = found.dominator[meet];
        if (meet < count) {
            add_meet(flow, part[k], part[meet], inside);
        } else if (meet == count && header != PTX_NONE && parts_ways(&out, k)) {
            add_meet(flow, part[k], header, inside);
            *round = inside;
        }
        flow->local[part[k]] = PTX_NONE;
    }
}

// Ends of which nothing is left to say are gone from round to round.
static void add_meets_of_all(Flow *flow) {
    uint32_t *part = ARENA_NEW(flow->arena, flow->count, uint32_t), count;
    while ((count = find_main_ends(flow, part)) > 0) {
        bool *seen = ARENA_NEW(flow->arena, flow->count, bool);
        for (uint32_t k = 0; k < count; k++) flow->main_end[part[k]] = true;
        count = add_origins(flow, part, count, seen);
        add_meets_of_part(flow, part, count, PTX_NONE, NULL);
        for (uint32_t k = 0; k < count; k++) flow->left[part[k]] = false;
    }
}

// --- where only some ways come together ---

static void add_bit(uint64_t *bits, uint32_t n) { bits[n / 64] |= (uint64_t)1 << n % 64; }

// The nodes between a dominator and one where ways from it come together. NULL: in a cycle that is
// no loop.
static uint64_t *region_of(const Flow *flow, uint32_t owner, uint32_t node) {
    uint64_t *region = ARENA_NEW(flow->arena, flow->count / 64 + 1u, uint64_t);
    uint32_t *list = ARENA_NEW(flow->arena, flow->count + 1u, uint32_t), count = 0;
    list[count++] = node;
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t e = flow->in.start[list[k]]; e < flow->in.start[list[k] + 1]; e++) {
            uint32_t from = flow->in.to[e], number = flow->all.number[from];
            if (from == owner || number == PTX_NONE || loops_inside(region, from)) continue;
            if (k == 0 && goes_round(flow, from, node)) continue;
            if (number >= flow->all.number[node]) return NULL;
            add_bit(region, from);
            list[count++] = from;
        }
    }
    return region;
}

static uint32_t loop_around(const Flow *flow, uint32_t node) {
    uint32_t loop = flow->loops.innermost[node];
    bool header = loop != PTX_NONE && flow->loops.loops[loop].header == node;
    return header ? flow->loops.loops[loop].parent : loop;
}

// Whether a way past the node starts in a loop on the way to it. Such a loop's lanes do not wait.
static bool passed_from_loop(const Flow *flow, const Partial *partial) {
    for (uint32_t n = 0; n < flow->count; n++) {
        if (!loops_inside(partial->region, n) ||
            flow->loops.innermost[n] == flow->loops.innermost[partial->owner])
            continue;
        for (uint32_t e = flow->out.start[n]; e < flow->out.start[n + 1]; e++) {
            uint32_t to = flow->out.to[e];
            if (to != partial->node && !loops_inside(partial->region, to)) return true;
        }
    }
    return false;
}

static bool in_region(const Partial *partial, uint32_t node) {
    return node == partial->node || loops_inside(partial->region, node);
}

// Whether only one end of the inner one lies on the ways of the other.
static bool crosses(const Partial *outer, const Partial *inner) {
    return loops_inside(outer->region, inner->owner) && !in_region(outer, inner->node);
}

// Whether a way past the inner one stays on the way to the outer one.
static bool passed_within(const Flow *flow, const Partial *outer, const Partial *inner) {
    uint32_t first = flow->nodes[inner->owner].meets[0].node;
    if (!loops_inside(outer->region, inner->owner) || in_region(outer, first)) return false;
    for (uint32_t n = 0; n < flow->count; n++) {
        if (n != inner->owner && !loops_inside(inner->region, n)) continue;
        for (uint32_t e = flow->out.start[n]; e < flow->out.start[n + 1]; e++) {
            uint32_t to = flow->out.to[e];
            if (!in_region(inner, to) && in_region(outer, to)) return true;
        }
    }
    return false;
}

// Of two that cross the one where lanes come first is kept; of one within another the outer one, if
// lanes would wait at the inner one for others that are on their way past it. `last`: by owner.
static void keep_nested(Flow *flow, Partial *last) {
    const Dominators *all = &flow->all;
    bool *kept = ARENA_NEW(flow->arena, flow->count, bool);
    for (uint32_t k = 1; k < all->reached; k++) {
        const Partial *partial = &last[all->dominator[all->order[k]]];
        bool crossing = !partial->region || partial->node != all->order[k];
        for (uint32_t n = 0; !crossing && n < flow->count; n++)
            crossing = kept[n] && (crosses(&last[n], partial) || crosses(partial, &last[n]));
        if (!crossing) kept[partial->owner] = true;
    }
    flow->partials = ARENA_NEW(flow->arena, 3 * flow->count, Partial);
    for (uint32_t k = 0; k < all->reached; k++) {
        uint32_t owner = all->order[k];
        bool passed = !kept[owner];
        for (uint32_t p = 0; !passed && p < flow->partial_count; p++)
            passed = passed_within(flow, &flow->partials[p], &last[owner]);
        if (!passed) flow->partials[flow->partial_count++] = last[owner];
    }
}

// Whether the lanes that meet where all ways from the node meet may be fewer than those that split
// before it: some of them have left the loop.
static bool waits_in_loop(const Flow *flow, uint32_t node) {
    uint32_t meet = flow->nodes[node].meets[0].node;
    while (node != flow->all.dominator[node]) {
        node = flow->all.dominator[node];
        if (node == meet) return false;
        const FlowNode *above = &flow->nodes[node];
        for (uint32_t m = 0; m + 1 < above->meet_count; m++)
            if (above->next_count > 1 && above->meets[m].node == meet) return true;
    }
    return false;
}

// For each node the last of its partial meets, if a GPU's compiler has one there: where all ways
// from the node meet none must lead past, and it must not cross another one.
static void find_partials(Flow *flow) {
    const Dominators *all = &flow->all;
    Partial *last = ARENA_NEW(flow->arena, flow->count, Partial); // by owner
    for (uint32_t k = all->reached; k-- > 1;) {
        uint32_t n = all->order[k], owner = all->dominator[n];
        const FlowNode *node = &flow->nodes[owner];
        if (last[owner].region || node->next_count < 2 || node->meet_count != 1 ||
            node->meets[0].node == n || !comes_together(flow, n) || waits_in_loop(flow, owner) ||
            loop_around(flow, n) != flow->loops.innermost[owner])
            continue;
        Partial partial = {owner, n, region_of(flow, owner, n)};
        if (partial.region && !passed_from_loop(flow, &partial)) last[owner] = partial;
    }
    keep_nested(flow, last);
}

// Adds the meet behind the last of the conditions that are one branch.
static void add_combined_to(Flow *flow, uint32_t condition, uint32_t to) {
    uint32_t owner = combined_with(flow, condition, to);
    if (owner == PTX_NONE) return;
    for (uint32_t e = flow->out.start[condition]; e < flow->out.start[condition + 1]; e++)
        if (combined_with(flow, flow->out.to[e], to) == condition) return;
    uint64_t *region = ARENA_NEW(flow->arena, flow->count / 64 + 1u, uint64_t);
    add_bit(region, condition);
    for (uint32_t above; (above = combined_with(flow, owner, to)) != PTX_NONE; owner = above)
        add_bit(region, owner);
    flow->partials[flow->partial_count++] = (Partial){owner, to, region};
}

static void add_combined(Flow *flow) {
    for (uint32_t k = 0; k < flow->all.reached; k++) {
        uint32_t n = flow->all.order[k];
        for (uint32_t e = flow->out.start[n]; e < flow->out.start[n + 1]; e++)
            add_combined_to(flow, n, flow->out.to[e]);
    }
}

// The partial meets of what lies on the way to them, in front of the meets of all ways.
static void add_partials(Flow *flow) {
    for (uint32_t n = 0; n < flow->count; n++) {
        FlowNode *node = &flow->nodes[n];
        if (node->meet_count == 0 || node->next_count < 2) continue;
        FlowMeet *meets = ARENA_NEW(flow->arena, flow->partial_count + node->meet_count, FlowMeet);
        uint32_t count = 0, first = node->meets[0].node;
        for (uint32_t p = flow->partial_count; p-- > 0;) {
            const Partial *partial = &flow->partials[p];
            bool on_way = n == partial->owner || loops_inside(partial->region, n);
            if (!on_way || first == partial->node || loops_inside(partial->region, first)) continue;
            meets[count++] = (FlowMeet){.node = partial->node, .inside = partial->region};
        }
        for (uint32_t k = 0; k < node->meet_count; k++) meets[count++] = node->meets[k];
        node->meets = meets;
        node->meet_count = count;
    }
    for (uint32_t p = 0; p < flow->partial_count; p++) {
        const Partial *partial = &flow->partials[p];
        for (uint32_t n = 0; n < flow->count; n++) {
            if (n != partial->owner && !loops_inside(partial->region, n)) continue;
            for (uint32_t e = flow->out.start[n]; e < flow->out.start[n + 1]; e++) {
                uint32_t to = flow->out.to[e];
                if (to != partial->node && !loops_inside(partial->region, to))
                    flow->nodes[to].outside = true;
            }
        }
    }
}

// --- the whole ---

static void mark_joins(Flow *flow) {
    for (uint32_t n = 0; n < flow->count; n++) {
        const FlowNode *node = &flow->nodes[n];
        for (uint32_t k = 0; node->next_count > 1 && k < node->meet_count; k++) {
            flow->nodes[node->meets[k].node].join = true;
            for (uint32_t l = 0; l < flow->loops.count; l++)
                flow->loops.loops[l].meets |= flow->loops.loops[l].inside == node->meets[k].inside;
        }
    }
    for (uint32_t n = 0; n < flow->count; n++) {
        for (uint32_t e = flow->out.start[n]; e < flow->out.start[n + 1]; e++) {
            uint32_t to = flow->out.to[e], l = flow->loops.innermost[n];
            for (; l != PTX_NONE; l = flow->loops.loops[l].parent) {
                if (loops_inside(flow->loops.loops[l].inside, to)) break;
                flow->nodes[to].outside |= flow->loops.loops[l].meets;
            }
        }
    }
}

static uint32_t loop_depth(const Loops *loops, uint32_t node) {
    uint32_t depth = 0;
    for (uint32_t l = loops->innermost[node]; l != PTX_NONE; l = loops->loops[l].parent) depth++;
    return depth;
}

void flow_meets(Arena *arena, FlowNode *nodes, uint32_t count) {
    Flow flow = {.arena = arena,
                 .nodes = nodes,
                 .count = count,
                 .ends = ARENA_NEW(arena, count, bool),
                 .left = ARENA_NEW(arena, count, bool),
                 .main_end = ARENA_NEW(arena, count, bool),
                 .round = ARENA_NEW(arena, count, const uint64_t *),
                 .local = ARENA_NEW(arena, count, uint32_t)};
    list_edges(&flow);
    flow.all = dominators_of(arena, &flow.out, &flow.in, 0);
    flow.loops = loops_of(arena, &flow.out, &flow.in, &flow.all);
    for (uint32_t n = 0; n < count; n++) {
        flow.local[n] = PTX_NONE;
        flow.left[n] = flow.all.number[n] != PTX_NONE;
        nodes[n].meets = ARENA_NEW(arena, loop_depth(&flow.loops, n) + 1u, FlowMeet);
    }
    end_endless_loops(&flow);
    for (uint32_t l = flow.loops.count; l-- > 0;) {
        const Loop *loop = &flow.loops.loops[l];
        add_meets_of_part(&flow, loop->members, loop->count, loop->header, loop->inside);
    }
    add_meets_of_all(&flow);
    find_partials(&flow);
    add_combined(&flow);
    if (flow.partial_count) add_partials(&flow);
    mark_joins(&flow);
}
