// The device that --time names: results/<device>-machine.csv, here or beside the launcher, or a
// file.
#ifndef LAUNCHER_MACHINE_H
#define LAUNCHER_MACHINE_H

#include "simt/time/device.h"

// Passes on by environment which file it is, and how many SMs and threads there are, unless those
// were chosen. False: `error` says why not.
bool machine_choose(Arena *arena, const char *name, Str *error);

#endif
