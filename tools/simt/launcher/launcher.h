// The parts of the launcher that main.c calls.
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include "base/arena.h"
#include "base/str.h"
#include "simt/time/device.h"

// --- running the program: run.c ---

// The status of a run that the CPU device refused or did not see to its end, whatever the program
// ends with.
enum { RUN_STATUS_REFUSED = 2, RUN_LINK = 48 };

// Writes a path to the launcher's open file that holds as long as the launcher runs, also for
// programs that close all descriptors and for those that they start. It has no space and no colon,
// at which LD_PRELOAD and LD_LIBRARY_PATH are split. Returns `link`.
const char *run_link(int fd, char link[static RUN_LINK]);

// Runs the program to its end and ends with its exit status or signal, or with
// RUN_STATUS_REFUSED. Signals are passed on to it. Returns only if it cannot be started, with errno
// set.
void run_program(const char *path, char **argv);

// --- the device that --time names: machine.c ---

// Finds results/<device>-machine.csv, here or beside the launcher, or a file of this name.
// Passes on by environment which file it is, and how many SMs and threads there are, unless those
// were chosen. False: `error` says why not.
bool machine_choose(Arena *arena, const char *name, Str *error);

// --- the build of the runtime that this processor can run: processor.c ---

// The folder of the fastest libraries that this processor runs, of those in `runtime`, the path of
// simt-runtime: one below it, such as simt-runtime/avx2, or `runtime` itself.
const char *processor_folder(Arena *arena, const char *runtime);

// --- simt --opcodes: opcodes.c ---

// Writes the table to standard output: every opcode that can be decoded, whether it can be executed
// and how its meaning is known; of a program (a file, as a whole, empty: none) how often each
// occurs in its machine code, with what could not be decoded. False: the file holds no machine code
// for the device.
bool opcodes_write(Str file);

#endif
