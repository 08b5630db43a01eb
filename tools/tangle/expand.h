// Expand: turns chunks of a table without errors into program text, in the table's arena.
#ifndef TANGLE_EXPAND_H
#define TANGLE_EXPAND_H

#include "markdown/chunk.h"

typedef enum { EXPAND_CLEAN, EXPAND_WITH_LINES } ExpandStyle;

// The chunk's text with every reference replaced by the chunk it names, whose lines, except blank
// ones, get the reference's indent. EXPAND_WITH_LINES adds `#line N "path"` wherever the compiler
// would otherwise lose the Markdown line.
Str expand_text(const ChunkTable *table, size_t chunk, ExpandStyle style);

// The expanded program of an exercise (EXPAND_CLEAN) with this variant of the hole.
Str expand_variant(const ChunkTable *table, const Exercise *exercise, size_t variant);

// The state of expand_sources, which any number of calls on one table share.
typedef struct {
    const ChunkTable *table;
    size_t *chunks; // per chunk, the number of the last walk that visited it
    size_t *files;  // the same per file
    size_t walks;
} ExpandWalk;

ExpandWalk expand_walk(const ChunkTable *table);

// The files that define the chunks in the expansion of `chunk`, as ascending indices.
size_t expand_sources(ExpandWalk *walk, size_t chunk, size_t **files);

#endif
