// Prune: which files below the output folder's code/ no chapter defines any longer.
#ifndef TANGLE_PRUNE_H
#define TANGLE_PRUNE_H

#include "markdown/chunk.h"

// The paths of regular files below folder/code, at any depth, that are no target in the table;
// sorted, in the arena. Hidden files and folders, *.mine and symbolic links are left alone.
size_t prune_stale_files(const ChunkTable *table, Str folder, Str **paths);

#endif
