// Tree: whether files can be written where their targets say, and nowhere else.
#ifndef TANGLE_TREE_H
#define TANGLE_TREE_H

#include "markdown/chunk.h"

// Below `folder` a link can lead anywhere: an error, at the chunk's line, for each target that
// would be written through one to a place outside of `folder`, and for each target that is a link
// itself. `folder` may be a link: whoever names it means where it leads. Call before chunk_check.
void tree_check(ChunkTable *table, Str folder);

#endif
