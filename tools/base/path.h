// Path: splits, joins and normalizes paths as text, without access to the file system.
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/arena.h"
#include "base/str.h"

Str path_folder(Str path); // up to and including the last slash; empty if there is none
Str path_name(Str path);   // the part after the last slash
Str path_stem(Str path);   // the name without its last extension: `04-sum` of `chapters/04-sum.md`

// Joins folder and name; the folder may end in slashes, and "." is dropped.
Str path_join(Arena *arena, Str folder, Str name);

// Resolves `relative` from `folder`, which is empty or ends in a slash. The result has no "." and
// no empty parts, and ".." only at its start.
Str path_resolve(Arena *arena, Str folder, Str relative);

// The relative path from the folder of `path` back to its start: "", "../", "../../" and so on;
// empty for an absolute path and for one that contains "../".
Str path_up(Arena *arena, Str path);

#endif
