// Print: what tangle prints about a chunk table without writing files: dependencies for make, a
// graph for dot, attributes as CSV. All for tables without errors; all results in the table's
// arena.
#ifndef TANGLE_PRINT_H
#define TANGLE_PRINT_H

#include "markdown/chunk.h"

// The make fragment that tangle -h describes.
Str print_dependencies(const ChunkTable *table, Str folder);

// All chunks and targets, each with where it is defined, and an edge to each that it pulls in.
Str print_graph(const ChunkTable *table);

// The attribute of that name of every target that has it, as CSV: file,line,target,NAME.
Str print_attribute(const ChunkTable *table, Str name);

#endif
