// Finds merge points by the rules in flow.h.
//
// Post-dominators are computed once for each loop and once for the whole function. For a loop only
// its own edges count, and back edges lead to an artificial end; lanes that merge only at this end
// merge at the header, or outside the loop if they leave it. For the whole function only the main
// ends of the thread count, those reached from the last node where paths come together. Nodes from
// which no main end is reachable are then treated in the same way among themselves.
#include "simt/lower/flow.h"

#include "simt/lower/loops.h"

// A partial merge point.
typedef struct {
    uint32_t owner, node; // its immediate dominator, the merge point
    uint64_t *region;     // the nodes between them
} Partial;

typedef struct {
    Arena *arena;
    FlowNode *nodes;
    uint32_t count;
    Edges out, in;  // between nodes other than bare exits
    bool *ends;     // threads end here, or loop forever
    Dominators all; // of the nodes that are reachable from the first
    Loops loops;
    bool *left;     // nodes whose merge points in the whole function are not known yet
    bool *main_end; // the main ends among those
    // By node: the members of the outermost loop at whose header lanes that split there merge, or
    // NULL.
    const uint64_t **header_merge;
    uint32_t *local; // by node: its number in the current part, PTX_NONE if it is not in it
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

// Marks the listed nodes and all nodes in `left` that reach one, which it appends to the list.
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

// The header of a loop without an exit is an end.
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

static bool is_back_edge(const Flow *flow, uint32_t from, uint32_t header) {
    uint32_t loop = flow->loops.innermost[header];
    return loop != PTX_NONE && flow->loops.loops[loop].header == header &&
           loops_inside(flow->loops.loops[loop].inside, from);
}

static uint32_t predecessor_count(const Flow *flow, uint32_t node) {
    return flow->in.start[node + 1] - flow->in.start[node];
}

static bool leads_to(const Flow *flow, uint32_t node, uint32_t to) {
    for (uint32_t e = flow->out.start[node]; e < flow->out.start[node + 1]; e++)
        if (flow->out.to[e] == to) return true;
    return false;
}

// Whether ptxas predicates the other successor of a node, besides `to`, instead of branching.
static bool predicates_other(const Flow *flow, uint32_t node, uint32_t to) {
    for (uint32_t e = flow->out.start[node]; e < flow->out.start[node + 1]; e++) {
        uint32_t other = flow->out.to[e];
        const FlowNode *body = &flow->nodes[other];
        if (other != to && predecessor_count(flow, other) == 1 && body->next_count == 1 &&
            body->brief)
            return true;
    }
    return false;
}

// The branch that ptxas combines with the branch of a condition, for lanes that go to `to`, as in
// `a && b` and `a || b`. PTX_NONE if there is none.
static uint32_t combined_with(const Flow *flow, uint32_t condition, uint32_t to) {
    if (!flow->nodes[condition].condition || condition == to ||
        predecessor_count(flow, condition) != 1 || !leads_to(flow, condition, to) ||
        predicates_other(flow, condition, to))
        return PTX_NONE;
    uint32_t before = flow->in.to[flow->in.start[condition]];
    bool branch = flow->nodes[before].next_count == 2 && before != condition && before != to;
    return branch && leads_to(flow, before, to) ? before : PTX_NONE;
}

// Whether several paths come together at a node, not counting back edges.
static bool paths_merge(const Flow *flow, uint32_t node) {
    uint32_t paths = 0;
    for (uint32_t e = flow->in.start[node]; e < flow->in.start[node + 1]; e++) {
        uint32_t from = flow->in.to[e];
        paths += flow->all.number[from] != PTX_NONE && !is_back_edge(flow, from, node) &&
                 combined_with(flow, from, node) == PTX_NONE;
    }
    return paths > 1;
}

// Whether the main path continues at `node` rather than at `than`, which has the same immediate
// dominator. In order of preference: paths come together at the node; paths come together later on
// the way to an end; it is the later node.
static bool more_main(const Flow *flow, uint32_t node, uint32_t than, const bool *joins) {
    if (than == PTX_NONE) return true;
    bool together = paths_merge(flow, node);
    if (together != paths_merge(flow, than)) return together;
    if (joins[node] != joins[than]) return joins[node];
    return flow->all.number[node] > flow->all.number[than];
}

// Follows the main path down the dominator tree of the nodes in `left`, from each root of theirs.
// Returns the number of ends found.
static uint32_t find_main_ends(Flow *flow, uint32_t *ends) {
    const Dominators *all = &flow->all;
    bool *leads = ARENA_NEW(flow->arena, flow->count, bool); // to an end
    bool *joins = ARENA_NEW(flow->arena, flow->count, bool); // paths come together before the end
    uint32_t *best = ARENA_NEW(flow->arena, flow->count, uint32_t), count = 0;
    for (uint32_t n = 0; n < flow->count; n++) best[n] = PTX_NONE;
    for (uint32_t k = all->reached; k-- > 0;) {
        uint32_t n = all->order[k], above = all->dominator[n];
        if (!flow->left[n]) continue;
        leads[n] |= flow->ends[n];
        if (!leads[n] || k == 0) continue;
        leads[above] = true;
        joins[n] |= paths_merge(flow, n);
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

// The edges between these nodes, and edges to an artificial end, node `count`: the back edges to
// `header` if the part is a loop, and from the main ends if `header` is PTX_NONE.
static Edges edges_of_part(Flow *flow, const uint32_t *part, uint32_t count, uint32_t header) {
    uint32_t size = count + 1, used = 0;
    for (uint32_t k = 0; k < count; k++)
        size += flow->out.start[part[k] + 1] - flow->out.start[part[k]];
    Edges edges = {.count = count + 1,
                   .start = ARENA_NEW(flow->arena, count + 3u, uint32_t),
                   .to = ARENA_NEW(flow->arena, size, uint32_t)};
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

static void add_merge(Flow *flow, uint32_t n, uint32_t merge, const uint64_t *inside) {
    FlowNode *node = &flow->nodes[n];
    // The same merge point as in an inner loop: no path leaves that loop before it.
    if (node->merge_count && node->merges[node->merge_count - 1].node == merge) node->merge_count--;
    node->merges[node->merge_count++] = (FlowMerge){.node = merge, .inside = inside};
}

// Whether lanes may leave a node for different successors.
static bool may_diverge(const Edges *out, uint32_t node) {
    for (uint32_t e = out->start[node]; e < out->start[node + 1]; e++)
        if (out->to[e] != out->to[out->start[node]]) return true;
    return false;
}

static void add_merges_of_part(Flow *flow, const uint32_t *part, uint32_t count, uint32_t header,
                               const uint64_t *inside) {
    for (uint32_t k = 0; k < count; k++) flow->local[part[k]] = k;
    Edges out = edges_of_part(flow, part, count, header);
    Edges in = edges_reversed(flow->arena, &out);
    Dominators found = dominators_of(flow->arena, &in, &out, count);
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t **header_merge = &flow->header_merge[part[k]];
        uint32_t merge = found.dominator[k];
        while (merge < count && *header_merge && loops_inside(*header_merge, part[merge]))
            merge = found.dominator[merge];
        if (merge < count) {
            add_merge(flow, part[k], part[merge], inside);
        } else if (merge == count && header != PTX_NONE && may_diverge(&out, k)) {
            add_merge(flow, part[k], header, inside);
            *header_merge = inside;
        }
        flow->local[part[k]] = PTX_NONE;
    }
}

// Repeats with the remaining nodes until all that reach an end are done.
static void add_merges_of_all(Flow *flow) {
    uint32_t *part = ARENA_NEW(flow->arena, flow->count, uint32_t), count;
    while ((count = find_main_ends(flow, part)) > 0) {
        bool *seen = ARENA_NEW(flow->arena, flow->count, bool);
        for (uint32_t k = 0; k < count; k++) flow->main_end[part[k]] = true;
        count = add_origins(flow, part, count, seen);
        add_merges_of_part(flow, part, count, PTX_NONE, NULL);
        for (uint32_t k = 0; k < count; k++) flow->left[part[k]] = false;
    }
}

// --- partial merge points ---

static void add_bit(uint64_t *bits, uint32_t n) { bits[n / 64] |= (uint64_t)1 << n % 64; }

// The nodes between a dominator and a node where paths from it come together. NULL if they are in a
// cycle that is not a natural loop.
static uint64_t *region_of(const Flow *flow, uint32_t owner, uint32_t node) {
    uint64_t *region = ARENA_NEW(flow->arena, flow->count / 64 + 1u, uint64_t);
    uint32_t *list = ARENA_NEW(flow->arena, flow->count + 1u, uint32_t), count = 0;
    list[count++] = node;
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t e = flow->in.start[list[k]]; e < flow->in.start[list[k] + 1]; e++) {
            uint32_t from = flow->in.to[e], number = flow->all.number[from];
            if (from == owner || number == PTX_NONE || loops_inside(region, from)) continue;
            if (k == 0 && is_back_edge(flow, from, node)) continue;
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

// Whether lanes may leave the region from inside an inner loop without passing the merge point.
// Lanes in such a loop do not wait.
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

// Whether the inner one starts in the region of the outer one but ends outside.
static bool crosses(const Partial *outer, const Partial *inner) {
    return loops_inside(outer->region, inner->owner) && !in_region(outer, inner->node);
}

// Whether lanes can pass the inner merge point and stay in the region of the outer one.
static bool passed_within(const Flow *flow, const Partial *outer, const Partial *inner) {
    uint32_t first = flow->nodes[inner->owner].merges[0].node;
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

// Drops partial merge points that cross an earlier one, and inner ones that lanes can pass within
// the outer region. `last`: by owner.
static void select_nested(Flow *flow, Partial *last) {
    const Dominators *all = &flow->all;
    bool *selected = ARENA_NEW(flow->arena, flow->count, bool);
    for (uint32_t k = 1; k < all->reached; k++) {
        const Partial *partial = &last[all->dominator[all->order[k]]];
        bool crossing = !partial->region || partial->node != all->order[k];
        for (uint32_t n = 0; !crossing && n < flow->count; n++)
            crossing = selected[n] && (crosses(&last[n], partial) || crosses(partial, &last[n]));
        if (!crossing) selected[partial->owner] = true;
    }
    flow->partials = ARENA_NEW(flow->arena, 3 * flow->count, Partial);
    for (uint32_t k = 0; k < all->reached; k++) {
        uint32_t owner = all->order[k];
        bool passed = !selected[owner];
        for (uint32_t p = 0; !passed && p < flow->partial_count; p++)
            passed = passed_within(flow, &flow->partials[p], &last[owner]);
        if (!passed) flow->partials[flow->partial_count++] = last[owner];
    }
}

// Whether the node's merge point is also that of an earlier split in a loop that lanes may leave
// before they reach it, so that fewer lanes arrive than split.
static bool waits_in_loop(const Flow *flow, uint32_t node) {
    uint32_t merge = flow->nodes[node].merges[0].node;
    while (node != flow->all.dominator[node]) {
        node = flow->all.dominator[node];
        if (node == merge) return false;
        const FlowNode *above = &flow->nodes[node];
        for (uint32_t m = 0; m + 1 < above->merge_count; m++)
            if (above->next_count > 1 && above->merges[m].node == merge) return true;
    }
    return false;
}

// Finds the last partial merge point of each node.
static void find_partials(Flow *flow) {
    const Dominators *all = &flow->all;
    Partial *last = ARENA_NEW(flow->arena, flow->count, Partial); // by owner
    for (uint32_t k = all->reached; k-- > 1;) {
        uint32_t n = all->order[k], owner = all->dominator[n];
        const FlowNode *node = &flow->nodes[owner];
        if (last[owner].region || node->next_count < 2 || node->merge_count != 1 ||
            node->merges[0].node == n || !paths_merge(flow, n) || waits_in_loop(flow, owner) ||
            loop_around(flow, n) != flow->loops.innermost[owner])
            continue;
        Partial partial = {owner, n, region_of(flow, owner, n)};
        if (partial.region && !passed_from_loop(flow, &partial)) last[owner] = partial;
    }
    select_nested(flow, last);
}

// Adds the merge point after the last of the conditions that are combined to one branch.
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

// Inserts the partial merge points of the nodes in their regions before the other merge points.
static void add_partials(Flow *flow) {
    for (uint32_t n = 0; n < flow->count; n++) {
        FlowNode *node = &flow->nodes[n];
        if (node->merge_count == 0 || node->next_count < 2) continue;
        FlowMerge *merges =
            ARENA_NEW(flow->arena, flow->partial_count + node->merge_count, FlowMerge);
        uint32_t count = 0, first = node->merges[0].node;
        for (uint32_t p = flow->partial_count; p-- > 0;) {
            const Partial *partial = &flow->partials[p];
            bool on_way = n == partial->owner || loops_inside(partial->region, n);
            if (!on_way || first == partial->node || loops_inside(partial->region, first)) continue;
            merges[count++] = (FlowMerge){.node = partial->node, .inside = partial->region};
        }
        for (uint32_t k = 0; k < node->merge_count; k++) merges[count++] = node->merges[k];
        node->merges = merges;
        node->merge_count = count;
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
        for (uint32_t k = 0; node->next_count > 1 && k < node->merge_count; k++) {
            flow->nodes[node->merges[k].node].join = true;
            for (uint32_t l = 0; l < flow->loops.count; l++)
                flow->loops.loops[l].merges |=
                    flow->loops.loops[l].inside == node->merges[k].inside;
        }
    }
    for (uint32_t n = 0; n < flow->count; n++) {
        for (uint32_t e = flow->out.start[n]; e < flow->out.start[n + 1]; e++) {
            uint32_t to = flow->out.to[e], l = flow->loops.innermost[n];
            for (; l != PTX_NONE; l = flow->loops.loops[l].parent) {
                if (loops_inside(flow->loops.loops[l].inside, to)) break;
                flow->nodes[to].outside |= flow->loops.loops[l].merges;
            }
        }
    }
}

static uint32_t loop_depth(const Loops *loops, uint32_t node) {
    uint32_t depth = 0;
    for (uint32_t l = loops->innermost[node]; l != PTX_NONE; l = loops->loops[l].parent) depth++;
    return depth;
}

void flow_find_merges(Arena *arena, FlowNode *nodes, uint32_t count) {
    Flow flow = {.arena = arena,
                 .nodes = nodes,
                 .count = count,
                 .ends = ARENA_NEW(arena, count, bool),
                 .left = ARENA_NEW(arena, count, bool),
                 .main_end = ARENA_NEW(arena, count, bool),
                 .header_merge = ARENA_NEW(arena, count, const uint64_t *),
                 .local = ARENA_NEW(arena, count, uint32_t)};
    list_edges(&flow);
    flow.all = dominators_of(arena, &flow.out, &flow.in, 0);
    flow.loops = loops_of(arena, &flow.out, &flow.in, &flow.all);
    for (uint32_t n = 0; n < count; n++) {
        flow.local[n] = PTX_NONE;
        flow.left[n] = flow.all.number[n] != PTX_NONE;
        nodes[n].merges = ARENA_NEW(arena, loop_depth(&flow.loops, n) + 1u, FlowMerge);
    }
    end_endless_loops(&flow);
    for (uint32_t l = flow.loops.count; l-- > 0;) {
        const Loop *loop = &flow.loops.loops[l];
        add_merges_of_part(&flow, loop->members, loop->count, loop->header, loop->inside);
    }
    add_merges_of_all(&flow);
    find_partials(&flow);
    add_combined(&flow);
    if (flow.partial_count) add_partials(&flow);
    mark_joins(&flow);
}
