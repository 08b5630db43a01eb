// Finds natural loops from their back edges.
#include "simt/lower/loops.h"

#include <string.h>

#define NONE UINT32_MAX

static bool dominates(const Dominators *found, uint32_t node, uint32_t other) {
    if (found->number[other] == NONE) return false;
    while (found->number[other] > found->number[node]) other = found->dominator[other];
    return other == node;
}

static void add_member(Loop *loop, uint32_t node) {
    if (loops_inside(loop->inside, node)) return;
    loop->inside[node / 64] |= (uint64_t)1 << node % 64;
    loop->members[loop->count++] = node;
}

// Collects the header and the nodes that reach it inside the loop.
static void find_members(Arena *arena, Loop *loop, uint32_t *list, const Edges *in,
                         const Dominators *found) {
    loop->inside = ARENA_NEW(arena, in->count / 64 + 1u, uint64_t);
    loop->members = list;
    add_member(loop, loop->header);
    for (uint32_t e = in->start[loop->header]; e < in->start[loop->header + 1]; e++)
        if (dominates(found, loop->header, in->to[e])) add_member(loop, in->to[e]);
    for (uint32_t k = 1; k < loop->count; k++)
        for (uint32_t n = loop->members[k], e = in->start[n]; e < in->start[n + 1]; e++)
            if (found->number[in->to[e]] != NONE) add_member(loop, in->to[e]);
    loop->members = ARENA_NEW(arena, loop->count, uint32_t);
    memcpy(loop->members, list, loop->count * sizeof *list);
}

Loops loops_of(Arena *arena, const Edges *out, const Edges *in, const Dominators *dominators) {
    Loops loops = {.loops = ARENA_NEW(arena, out->count + 1u, Loop),
                   .innermost = ARENA_NEW(arena, out->count + 1u, uint32_t)};
    uint32_t *list = ARENA_NEW(arena, out->count + 1u, uint32_t);
    for (uint32_t n = 0; n < out->count; n++) loops.innermost[n] = NONE;
    for (uint32_t k = 0; k < dominators->reached; k++) {
        uint32_t header = dominators->order[k];
        bool back = false;
        for (uint32_t e = in->start[header]; e < in->start[header + 1]; e++)
            back |= dominates(dominators, header, in->to[e]);
        if (!back) continue;
        Loop *loop = &loops.loops[loops.count];
        *loop = (Loop){.header = header, .parent = loops.innermost[header]};
        find_members(arena, loop, list, in, dominators);
        for (uint32_t m = 0; m < loop->count; m++) loops.innermost[loop->members[m]] = loops.count;
        loops.count++;
    }
    return loops;
}
