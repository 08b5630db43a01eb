// Tangle: the parts of the program besides expanding chunks: printing, link checks and pruning.
#ifndef TANGLE_TANGLE_H
#define TANGLE_TANGLE_H

#include "markdown/chunk.h"

// --- print.c: text about a table without errors, in its arena ---

// The make fragment described by tangle -h.
Str print_dependencies(const ChunkTable *table, Str folder);

// A graph for dot: every chunk and target with the place of its definition, and an edge to each
// chunk that it includes.
Str print_graph(const ChunkTable *table);

// The attribute with that name of every target that has it, as CSV: file,line,target,NAME.
Str print_attribute(const ChunkTable *table, Str name);

// --- tree.c and prune.c: files below the output folder ---

// Adds an error at the chunk's line for each target that is a link or that a link would put outside
// `folder`. `folder` itself may be a link. Call this before chunk_check.
void tree_check(ChunkTable *table, Str folder);

// The sorted paths of regular files below folder/code, at any depth, that are not targets in the
// table. Ignores hidden files and folders, *.mine and symbolic links.
size_t prune_stale_files(const ChunkTable *table, Str folder, Str **paths);

#endif
