// What tangle prints about a chunk table without writing files: dependencies for make and a graph
// for dot. All for tables without errors; all results in the table's arena.
#ifndef TANGLE_PRINT_H
#define TANGLE_PRINT_H

#include "markdown/chunk.h"

// The path that a target has below the output folder, "." being left out.
const char *tangle_target_path(Arena *arena, const char *folder, Str target);

// The make fragment that tangle -h describes.
Str tangle_dependencies(const ChunkTable *table, const char *folder);

// All chunks and targets, each with where it is defined, and an edge to each that it pulls in.
Str tangle_graph(const ChunkTable *table);

// The attribute of that name of every target that has it, as CSV: file,line,target,NAME.
Str tangle_attribute(const ChunkTable *table, Str name);

#endif
