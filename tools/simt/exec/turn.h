// Whose turn it is among the paths of a warp.
//
// Path.order says it, of machine code: of paths that are ready the one with the greatest goes on.
// Who parts later has a greater one, who waits is behind those that it waits for.
#ifndef TURN_H
#define TURN_H

#include "simt/exec/warp.h"

// Whether two paths that wait at instructions wait there for each other. Those of a function that
// calls itself may wait at the same place, each in its own call.
bool turn_same_place(const Path *path, const Path *other);
// The lanes that this path waits for and that do not wait there.
uint32_t turn_missing(const Warp *warp, const Path *path);
// The order of a path that begins to wait for these lanes: behind those of them that are ready, and
// before all that parted earlier.
uint32_t turn_behind(const Warp *warp, uint32_t lanes);
bool turn_parted_last(const Warp *warp, const Path *path);
// The path of those that are ready that goes on, the next one round after the current one if
// nothing else is known; -1: none is.
int turn_ready(const Warp *warp);
// Of the paths that wait, but for nobody any more, since those have left or ended, the one that
// goes first; -1: none.
int turn_released(const Warp *warp);
// A path of lanes that do something together, all of which are there; -1: none.
int turn_meeting(const Warp *warp);

#endif
