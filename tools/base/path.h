// Path: names of files taken apart and put together, as text; nothing here looks at a disk.
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/arena.h"
#include "base/str.h"

Str path_folder(Str path); // up to the last slash and with it; empty when there is none
Str path_name(Str path);   // what follows the last slash
Str path_stem(Str path);   // the name without its last extension: `04-sum` of `chapters/04-sum.md`

// `name` below `folder`, which may end in slashes; a folder "." is left out.
Str path_join(Arena *arena, Str folder, Str name);

// The path that `relative` means, seen from `folder` (empty, or with a slash at its end): without
// "." and empty parts, and without ".." but at its start.
Str path_resolve(Arena *arena, Str folder, Str relative);

// The way from the folder of `path` back to where that starts: "", "../", "../../" and so on; empty
// for an absolute path and for one that leads up itself.
Str path_way_back(Arena *arena, Str path);

#endif
