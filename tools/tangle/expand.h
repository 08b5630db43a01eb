// Expand: chunks as program text, every reference replaced by what it names. Only for tables
// without errors; all results in the table's arena.
#ifndef TANGLE_EXPAND_H
#define TANGLE_EXPAND_H

#include "markdown/chunk.h"

typedef enum { EXPAND_CLEAN, EXPAND_WITH_LINES } ExpandStyle;

// The chunk's text with every reference replaced by the chunk it names, each line but blank ones
// indented as the reference was. EXPAND_WITH_LINES adds `#line N "path"` wherever the compiler
// would otherwise miss the Markdown line.
Str expand_text(const ChunkTable *table, size_t chunk, ExpandStyle style);

// The program of an exercise as expand_text makes it, clean, but with this variant of the hole.
Str expand_variant(const ChunkTable *table, const Exercise *exercise, size_t variant);

// What expand_sources notes while it walks, for as many calls as are wanted on one table.
typedef struct {
    const ChunkTable *table;
    size_t *chunks; // the number of the last walk that came by
    size_t *files;
    size_t walks;
} ExpandWalk;

ExpandWalk expand_walk(const ChunkTable *table);

// The files that define the chunks which the expansion of `chunk` contains: their indices into the
// table's files, ascending.
size_t expand_sources(ExpandWalk *walk, size_t chunk, size_t **files);

#endif
