// Finds the natural loops of a function.
#ifndef LOOPS_H
#define LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "simt/lower/dominator.h"

typedef struct {
    uint32_t header;
    uint32_t parent;   // index of the enclosing loop, UINT32_MAX if there is none
    uint32_t *members; // the header first
    uint32_t count;
    uint64_t *inside; // a bit for each node, set for members
    bool merges;      // lanes merge inside it and may leave it before they do
} Loop;

typedef struct {
    Loop *loops; // outer loops before inner ones
    uint32_t count;
    uint32_t *innermost; // by node: the index of its loop, UINT32_MAX if it is in none
} Loops;

static inline bool loops_inside(const uint64_t *inside, uint32_t node) {
    return inside[node / 64] >> node % 64 & 1;
}

// Every node that dominates the source of an edge to itself is the header of a loop (Aho, Lam,
// Sethi and Ullman, "Compilers", section 9.6.6). Cycles with several entries are not loops.
Loops loops_of(Arena *arena, const Edges *out, const Edges *in, const Dominators *dominators);

#endif
