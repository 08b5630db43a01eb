// The parts of the launcher: running the program, choosing a device and a build, and --opcodes.
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include "base/arena.h"
#include "base/str.h"
#include "simt/time/device.h"

// --- running the program: run.c ---

// The exit status of a run that the CPU device refused, or did not watch to its end, whatever the
// program's own status.
enum { RUN_STATUS_REFUSED = 2, RUN_LINK = 48 };

// Writes a path to the launcher's open file and returns `link`. The path is valid as long as the
// launcher runs, even if the program closes all descriptors, and also in processes that the program
// starts. It contains no space or colon, because LD_PRELOAD and LD_LIBRARY_PATH are split at those.
const char *run_link(int fd, char link[static RUN_LINK]);

// Runs the program and exits with its exit status or signal, or with RUN_STATUS_REFUSED. Forwards
// signals to it. Returns, with errno set, only if the program cannot be started.
void run_program(const char *path, char **argv);

// --- the device that --time names: machine.c ---

// Finds results/<device>-machine.csv, here or beside the launcher, or takes `name` as a path.
// Passes the path, and the SMs and threads that the user has not chosen, to the runtime through the
// environment. On false, `error` says why.
bool machine_choose(Arena *arena, const char *name, Str *error);

// --- the build of the runtime that this processor can run: processor.c ---

// The folder with the fastest build of the runtime that this processor can run. `runtime` is the
// path of simt-runtime; the result is a folder in it, such as simt-runtime/avx2, or `runtime`
// itself.
const char *processor_folder(Arena *arena, const char *runtime);

// --- simt --opcodes: opcodes.c ---

// Prints every opcode that simt can decode, its evidence, and how often it occurs in the machine
// code of `file`. `file` is the contents of a program; empty lists the opcodes alone. Also counts
// the instructions that cannot be decoded. Returns false if the file has no machine code for the
// device.
bool opcodes_write(Str file);

#endif
