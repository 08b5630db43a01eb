// The natural loops of a function.
#ifndef LOOPS_H
#define LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "simt/lower/dominator.h"

typedef struct {
    uint32_t header;
    uint32_t parent;   // index of the loop around it, UINT32_MAX: none
    uint32_t *members; // the header first
    uint32_t count;
    uint64_t *inside; // a bit for each node: is it a member?
    bool meets;       // lanes meet in it, and may leave it before they do
} Loop;

typedef struct {
    Loop *loops; // a loop comes before those in it
    uint32_t count;
    uint32_t *innermost; // by node, UINT32_MAX: in no loop
} Loops;

static inline bool loops_inside(const uint64_t *inside, uint32_t node) {
    return inside[node / 64] >> node % 64 & 1;
}

// One loop for each node that dominates an origin of an edge to it (Aho, Lam, Sethi and Ullman,
// "Compilers", section 9.6.6). Cycles with several entries are not loops.
Loops loops_of(Arena *arena, const Edges *out, const Edges *in, const Dominators *dominators);

#endif
