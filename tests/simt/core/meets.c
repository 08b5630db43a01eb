// Tests the merge points of split lanes against definitions that are checked node by node, for
// random graphs and for graphs that a GPU's compiler has compiled. Then threads take different
// paths through random graphs: each must visit the same nodes in the same order as it would alone.
#include <stdlib.h>

#include "launch.h"
#include "simt/lower/flow.h"

#define NODES 20
#define NONE  PTX_NONE

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

typedef struct {
    uint32_t count;
    uint32_t next[NODES][2], next_count[NODES];
    bool bare_exit[NODES], condition[NODES];
} Graph;

static FlowNode *analyse(Arena *arena, Graph *graph) {
    FlowNode *nodes = ARENA_NEW(arena, graph->count, FlowNode);
    for (uint32_t n = 0; n < graph->count; n++) {
        nodes[n].next = graph->next[n];
        nodes[n].next_count = graph->next_count[n];
        nodes[n].bare_exit = graph->bare_exit[n];
        nodes[n].condition = graph->condition[n];
    }
    flow_find_merges(arena, nodes, graph->count);
    return nodes;
}

// --- definitions, by sets of nodes as bits; node `count` is the end of all ---

typedef struct {
    uint32_t count, out[NODES + 1]; // successors
} Sets;

static uint32_t reached(const Sets *sets, uint32_t from, uint32_t without) {
    uint32_t seen = (uint32_t)1 << from, before = 0;
    while (seen != before) {
        before = seen;
        for (uint32_t n = 0; n < sets->count; n++)
            if (seen >> n & 1) seen |= sets->out[n] & ~without;
    }
    return seen;
}

static bool reaches(const Sets *sets, uint32_t from, uint32_t to, uint32_t without) {
    return reached(sets, from, without) >> to & 1;
}

static uint32_t bit(uint32_t node) { return (uint32_t)1 << node; }

// The post-dominators of n, itself left out: without one of them the end is not reached.
static uint32_t post_dominators(const Sets *sets, uint32_t n) {
    uint32_t all = 0;
    for (uint32_t m = 0; m < sets->count; m++)
        if (m != n && !reaches(sets, n, sets->count, bit(m))) all |= bit(m);
    return all;
}

// The immediate post-dominator: all the others post-dominate it.
static uint32_t immediate(const Sets *sets, uint32_t n) {
    if (!reaches(sets, n, sets->count, 0)) return NONE;
    uint32_t all = post_dominators(sets, n);
    for (uint32_t m = 0; m < sets->count; m++)
        if (all >> m & 1 && (all & ~bit(m) & ~post_dominators(sets, m)) == 0) return m;
    return NONE;
}

// The nodes of the loop with this header, 0 if it has none: Aho, Lam, Sethi and Ullman, 9.6.6.
static uint32_t loop_of(const Sets *sets, uint32_t header) {
    uint32_t members = 0;
    for (uint32_t u = 0; u < sets->count; u++) {
        bool back = sets->out[u] >> header & 1 && reaches(sets, 0, u, 0) &&
                    (u == header || !reaches(sets, 0, u, bit(header)) || header == 0);
        for (uint32_t n = 0; back && n < sets->count; n++)
            if (reaches(sets, 0, n, 0) && n != header && reaches(sets, n, u, bit(header)))
                members |= bit(n);
        if (back) members |= bit(header);
    }
    return members;
}

static uint32_t bits_of(const FlowMerge *meet, uint32_t count) {
    return meet->inside ? (uint32_t)meet->inside[0] & (bit(count) - 1) : bit(count) - 1;
}

// Whether paths that stay in a loop split at n, and merge only at the end of the round.
static bool part_for_round(const Sets *part, uint32_t n) {
    return reaches(part, n, part->count, 0) && __builtin_popcount(part->out[n]) > 1;
}

// The merge points that node n must have, the nearest first: in each loop around it, then in the
// whole graph. A lane that waits for the next round of a loop otherwise waits outside that loop.
static uint32_t wanted_meets(const Sets *sets, uint32_t n, uint32_t *nodes, uint32_t *insides) {
    uint32_t count = 0, loops[NODES], loop_count = 0, round = 0;
    for (uint32_t h = 0; h < sets->count; h++) {
        uint32_t members = loop_of(sets, h);
        if (!(members >> n & 1)) continue;
        uint32_t at = loop_count++;
        for (; at > 0 &&
               __builtin_popcount(loops[at - 1] & ~bit(NODES)) > __builtin_popcount(members);
             at--)
            loops[at] = loops[at - 1];
        loops[at] = members;
    }
    for (uint32_t k = 0; k <= loop_count; k++) {
        Sets part = *sets;
        uint32_t inside = k < loop_count ? loops[k] : bit(sets->count) - 1, header = NONE;
        for (uint32_t h = 0; k < loop_count && h < sets->count; h++) {
            if (loop_of(sets, h) != inside || !(inside >> h & 1)) continue;
            for (uint32_t m = 0; m < sets->count; m++) {
                bool back = part.out[m] >> h & 1;
                part.out[m] = inside >> m & 1 ? part.out[m] & inside & ~bit(h) : 0;
                if (back && inside >> m & 1) part.out[m] |= bit(sets->count);
            }
            header = h;
            break;
        }
        uint32_t meet = immediate(&part, n);
        while (meet != NONE && round >> meet & 1) meet = immediate(&part, meet);
        const bool waits = meet == NONE && header != NONE && part_for_round(&part, n);
        if (waits) meet = header;
        if (meet == NONE) continue;
        if (waits) round = inside;
        if (count && nodes[count - 1] == meet) count--;
        nodes[count] = meet;
        insides[count++] = inside;
    }
    return count;
}

// Whether two loops have the same nodes: then either may be the inner one.
static bool same_loops(const Sets *sets) {
    for (uint32_t a = 0; a < sets->count; a++)
        for (uint32_t b = a + 1; b < sets->count; b++)
            if (loop_of(sets, a) && loop_of(sets, a) == loop_of(sets, b)) return true;
    return false;
}

// Graphs with one exit, or none: for these the definitions are complete.
static void random_graph(Graph *graph) {
    *graph = (Graph){.count = 3 + random_below(NODES - 3)};
    uint32_t last = graph->count - 1, near = 2 + random_below(graph->count);
    for (uint32_t n = 0; n < last; n++) {
        graph->next_count[n] = 1 + (random_below(3) > 0);
        graph->next[n][0] = n + 1;
        for (uint32_t k = 0; k < graph->next_count[n]; k++) {
            if (k == 0 && random_below(3)) continue;
            uint32_t step = random_below(near) + 1;
            bool back = random_below(4) == 0;
            graph->next[n][k] = back              ? (n >= step ? n - step : 0)
                                : n + step > last ? last
                                                  : n + step;
        }
    }
}

static Sets sets_of(const Graph *graph) {
    Sets sets = {.count = graph->count};
    for (uint32_t n = 0; n < graph->count; n++)
        for (uint32_t k = 0; k < graph->next_count[n]; k++) sets.out[n] |= bit(graph->next[n][k]);
    sets.out[graph->count - 1] |= bit(graph->count);
    return sets;
}

// The predecessors of a node at which only some of the paths from its immediate dominator merge.
static bool is_partial(const Sets *sets, uint32_t n, const FlowMerge *meet) {
    uint32_t owner = NONE, inside = 0;
    for (uint32_t d = 0; d < sets->count; d++) { // the dominator that all others dominate
        bool above = d != meet->node && (d == 0 || !reaches(sets, 0, meet->node, bit(d)));
        if (above && (owner == NONE || owner == 0 || !reaches(sets, 0, d, bit(owner)))) owner = d;
    }
    for (uint32_t u = 0; u < sets->count; u++)
        if (u != owner && u != meet->node && reaches(sets, owner, u, bit(meet->node)) &&
            reaches(sets, u, meet->node, bit(owner)))
            inside |= bit(u);
    return inside == bits_of(meet, sets->count) && (n == owner || inside >> n & 1);
}

// Removes the partial merge points.
static uint32_t check_partials(uint32_t round, const Sets *sets, FlowNode *nodes, uint32_t n) {
    uint32_t kept = 0, partials = 0;
    for (uint32_t k = 0; k < nodes[n].merge_count; k++) {
        const FlowMerge *meet = &nodes[n].merges[k];
        if (meet->inside && !(meet->inside[0] >> meet->node & 1)) {
            partials++;
            if (!is_partial(sets, n, meet) || !nodes[meet->node].join)
                wrong("graph %u: node %u does not meet at %u in part", round, n, meet->node);
        } else {
            nodes[n].merges[kept++] = *meet;
        }
    }
    nodes[n].merge_count = kept;
    return partials;
}

// Returns the number of partial merge points.
static uint32_t compare_graph(uint32_t round, Graph *graph, const Sets *sets) {
    Arena arena = {0};
    FlowNode *nodes = analyse(&arena, graph);
    uint32_t partials = 0;
    for (uint32_t n = 0; n < graph->count && !trouble[0]; n++) {
        uint32_t at[NODES + 1], inside[NODES + 1], count = wanted_meets(sets, n, at, inside);
        if (!reaches(sets, 0, n, 0)) count = 0;
        partials += check_partials(round, sets, nodes, n);
        if (count != nodes[n].merge_count) {
            wrong("graph %u: node %u has %u meets, not %u", round, n, nodes[n].merge_count, count);
            continue;
        }
        for (uint32_t k = 0; k < count; k++) {
            const FlowMerge *meet = &nodes[n].merges[k];
            if (meet->node != at[k] || bits_of(meet, graph->count) != inside[k])
                wrong("graph %u: node %u meets at %u in %x, not at %u in %x", round, n, meet->node,
                      bits_of(meet, graph->count), at[k], inside[k]);
            bool known = nodes[n].next_count < 2 || nodes[meet->node].join;
            if (!known) wrong("graph %u: node %u is no join", round, meet->node);
        }
    }
    arena_free(&arena);
    return partials;
}

static void test_random_graphs(void) {
    uint32_t compared = 0, in_loops = 0, endless = 0, partials = 0;
    for (uint32_t round = 0; round < 6000 && !trouble[0]; round++) {
        Graph graph;
        random_graph(&graph);
        Sets sets = sets_of(&graph);
        bool stuck = false; // a cycle without an exit, which need not be a loop
        for (uint32_t n = 0; n < graph.count; n++)
            stuck |= reaches(&sets, 0, n, 0) && !reaches(&sets, n, graph.count, 0);
        endless += stuck;
        if (stuck || same_loops(&sets)) continue;
        partials += compare_graph(round, &graph, &sets);
        compared++;
        for (uint32_t n = 0; n < graph.count; n++) in_loops += loop_of(&sets, n) != 0;
    }
    if (compared < 1000 || in_loops < 1000 || partials < 100 || !endless)
        wrong("%u graphs, %u loops, %u partial meets, %u endless: too few", compared, in_loops,
              partials, endless);
    told("merge points are post-dominators, of the function and of its loops");
}

// --- several exits, endless loops: compared with what a GPU's compiler does ---

typedef struct {
    const char *name;
    uint32_t count, edges[12][2]; // 0 means none: node 0 has no predecessors
    uint32_t node, merges[3];     // of this node
    uint32_t bare;                // this node only exits
    uint32_t condition;           // this node is a condition that is cheap to compute
} Row;

static const Row rows[] = {
    {"a final loop", 5, {{1, 2}, {2}, {3}, {3, 4}}, 0, {2}, 4, 0},
    {"a final loop: the loop before it", 5, {{1, 2}, {1, 2}, {3}, {3, 4}}, 1, {2}, 4, 0},
    {"a final loop with two ways out", 6, {{1, 2}, {2}, {3, 5}, {4, 5}, {2}}, 0, {2}, 5, 0},
    {"early exit in an if", 6, {{1, 3}, {5, 2}, {3}, {4}, {5}}, 0, {3}, 5, 0},
    {"an early way out with a loop of its own",
     6,
     {{1, 4}, {2, 3}, {2, 5}, {4}, {5}},
     0,
     {4},
     5,
     0},
    {"ways out in both branches",
     9,
     {{1, 4}, {2, 3}, {8}, {7}, {5, 6}, {8}, {7}, {8}},
     0,
     {7},
     8,
     0},
    {"ways out with blocks of their own",
     8,
     {{1, 4}, {2, 3}, {0}, {7}, {5, 6}, {0}, {7}},
     0,
     {7},
     0,
     0},
    {"nothing comes together", 6, {{1, 4}, {2, 3}, {0}, {0}, {5}}, 4, {5}, 0, 0},
    {"within an early way out", 7, {{1, 6}, {2, 3}, {4}, {4}, {5}, {0}, {0}}, 1, {4}, 0, 0},
    {"an endless loop", 5, {{1, 2}, {2}, {3, 4}, {2}, {2}}, 0, {2}, 0, 0},
    {"in an endless loop", 5, {{1}, {2, 3}, {4}, {4}, {1}}, 1, {4}, 0, 0},
    {"break in an if", 6, {{1}, {2, 3}, {5, 3}, {1, 5}, {0}, {0}}, 1, {3, 5}, 0, 0},
    {"a way out of two loops",
     8,
     {{1}, {2}, {7, 3}, {2, 4}, {1, 5}, {7}, {0}, {0}},
     3,
     {4, 7},
     0,
     0},
    {"return in an if in a loop", 6, {{1}, {2, 3}, {5, 3}, {1, 4}, {5}}, 1, {3}, 5, 0},
    {"a way out of two ifs", 6, {{1, 4}, {2, 3}, {5, 3}, {4}, {5}}, 0, {4, 5}, 0, 0},
    {"a way out of two ifs: the inner", 6, {{1, 4}, {2, 3}, {5, 3}, {4}, {5}}, 1, {3, 4, 5}, 0, 0},
    {"continue in an if", 6, {{1}, {2, 3}, {4, 3}, {4}, {1, 5}}, 1, {3, 4}, 0, 0},
    {"a way past a loop, out of it", 5, {{1, 3}, {4, 2}, {1, 3}, {4}}, 0, {4}, 0, 0},
    {"a || b", 6, {{1, 2}, {2, 3}, {4}, {4}, {5}}, 0, {2, 4}, 0, 0},
    {"a way out of every node", 4, {{1, 3}, {2, 3}, {1, 3}}, 1, {2}, 3, 0},
    {"an early way out next to a last place", 6, {{1, 2}, {5}, {3, 4}, {4}, {5}}, 0, {2}, 5, 0},
    {"two that cross: the inner first", 6, {{3, 1}, {4, 2}, {4, 3}, {5}, {5}}, 0, {5}, 0, 0},
    {"two that cross: the inner", 6, {{3, 1}, {4, 2}, {4, 3}, {5}, {5}}, 1, {4, 5}, 0, 0},
    {"two that cross: the outer first", 6, {{1, 3}, {4, 2}, {4, 3}, {5}, {5}}, 0, {3, 5}, 0, 0},
    {"passed within another", 7, {{1, 5}, {2, 3}, {3, 4}, {5}, {5, 6}, {6}}, 1, {5, 6}, 0, 0},
    {"a && b, b is cheap", 8, {{1, 7}, {2, 3}, {4, 3}, {5}, {5}, {6, 7}, {7}}, 1, {3, 5}, 0, 2},
};

static void test_rows(void) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const Row *row = &rows[k];
        Graph graph = {.count = row->count};
        for (uint32_t n = 0; n < row->count; n++)
            for (uint32_t e = 0; e < 2 && row->edges[n][e]; e++)
                graph.next[n][graph.next_count[n]++] = row->edges[n][e];
        graph.bare_exit[row->bare] = row->bare != 0;
        graph.condition[row->condition] = row->condition != 0;
        Arena arena = {0};
        const FlowNode *node = &analyse(&arena, &graph)[row->node];
        uint32_t want = 0;
        while (want < 3 && row->merges[want]) want++;
        if (node->merge_count != want) wrong("%s: %u meets", row->name, node->merge_count);
        for (uint32_t m = 0; m < want && m < node->merge_count; m++)
            if (node->merges[m].node != row->merges[m])
                wrong("%s: meets at %u", row->name, node->merges[m].node);
        arena_free(&arena);
    }
    told("merge points with several exits, and with none");
}

// --- threads in random graphs ---

#define STEPS 60 // a thread ends after these

typedef struct {
    char text[16384];
    size_t len;
} Text;

static void add(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text->len +=
        (size_t)vsnprintf(text->text + text->len, sizeof text->text - text->len, format, arguments);
    va_end(arguments);
}

// Each node mixes its number into %r2, which chooses the successor.
static void write_kernel(Text *text, const Graph *graph) {
    text->len = 0;
    add(text,
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .pred %%p<3>;\n.reg .b32 %%r<6>;\n.reg .b64 %%rd<3>;\nld.param.u64 %%rd1, [p];\n"
        "mov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, 4;\nadd.s64 %%rd2, %%rd1, %%rd2;\n"
        "mov.u32 %%r2, %%r1;\nmov.u32 %%r3, 0;\n");
    for (uint32_t n = 0; n < graph->count; n++) {
        add(text, "N%u: mad.lo.u32 %%r2, %%r2, 1664525, %u;\nst.global.u32 [%%rd2], %%r2;\n", n,
            1013904223 + n);
        add(text, "add.u32 %%r3, %%r3, 1;\nsetp.gt.u32 %%p1, %%r3, %u;\n@%%p1 bra E;\n", STEPS);
        if (graph->next_count[n] == 0) add(text, "ret;\n");
        if (graph->next_count[n] == 2)
            add(text, "shr.u32 %%r4, %%r2, 28;\nsetp.lt.u32 %%p2, %%r4, 5;\n@%%p2 bra N%u;\n",
                graph->next[n][1]);
        if (graph->next_count[n] > 0) add(text, "bra N%u;\n", graph->next[n][0]);
    }
    add(text, "E: ret;\n}\n");
}

static uint32_t walk(const Graph *graph, uint32_t thread) {
    uint32_t value = thread, at = 0;
    for (uint32_t step = 0; step <= STEPS; step++) {
        value = value * 1664525 + 1013904223 + at;
        if (step == STEPS || graph->next_count[at] == 0) break;
        at = graph->next[at][graph->next_count[at] == 2 && value >> 28 < 5];
    }
    return value;
}

static void run_graph(uint32_t round, const Graph *graph) {
    static Text text;
    write_kernel(&text, graph);
    load(text.text);
    run(1, 64, (SimtOptions){.host_threads = 1});
    for (uint32_t t = 0; t < 64 && !trouble[0]; t++)
        if (words[t] != walk(graph, t)) wrong("graph %u: thread %u goes astray", round, t);
}

static void test_threads(void) {
    words = memory_at(out = memory_alloc(256));
    for (uint32_t round = 0; round < 3000 && !trouble[0]; round++) {
        Graph graph;
        random_graph(&graph);
        for (uint32_t n = 1; n < graph.count && round % 2; n++) // further ends
            if (random_below(6) == 0) graph.next_count[n] = 0;
        run_graph(round, &graph);
    }
    done("threads visit the nodes of random graphs as they would alone");
}

int main(void) {
    if (!memory_open((size_t)1 << 26)) return 1;
    test_random_graphs();
    test_rows();
    test_threads();
    return 0;
}
