// Generates PTX for sm_90 from the typed tree: the same accesses, branches, barriers and lines as
// nvcc -O3 makes, under the names by which a host program compiled by nvcc finds them.
#ifndef CUDAC_GENERATE_H
#define CUDAC_GENERATE_H

#include "base/arena.h"
#include "simt/cudac/tree.h"

// Returns the text of a PTX module with all kernels of the tree, in the arena. If something cannot
// be generated, the text is empty and *refusal says what, where, and what to write instead.
Str generate(Arena *arena, const Tree *tree, Refusal *refusal);

#endif
