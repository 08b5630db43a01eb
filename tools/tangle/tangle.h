// Tangle: what the program does with a table of chunks besides expanding them.
#ifndef TANGLE_TANGLE_H
#define TANGLE_TANGLE_H

#include "markdown/chunk.h"

// --- print.c: text about a table without errors, in its arena ---

// The make fragment that tangle -h describes.
Str print_dependencies(const ChunkTable *table, Str folder);

// All chunks and targets, each with where it is defined, and an edge to each that it pulls in.
Str print_graph(const ChunkTable *table);

// The attribute of that name of every target that has it, as CSV: file,line,target,NAME.
Str print_attribute(const ChunkTable *table, Str name);

// --- tree.c and prune.c: files below the output folder ---

// Below `folder` a link can lead anywhere: an error, at the chunk's line, for each target that
// would be written through one to a place outside of `folder`, and for each target that is a link
// itself. `folder` may be a link: whoever names it means where it leads. Call before chunk_check.
void tree_check(ChunkTable *table, Str folder);

// The paths of regular files below folder/code, at any depth, that are no target in the table;
// sorted, in the arena. Hidden files and folders, *.mine and symbolic links are left alone.
size_t prune_stale_files(const ChunkTable *table, Str folder, Str **paths);

#endif
