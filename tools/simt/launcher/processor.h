// Processor: which build of the runtime the processor at hand can run.
#ifndef LAUNCHER_PROCESSOR_H
#define LAUNCHER_PROCESSOR_H

#include "base/arena.h"
#include "base/str.h"

// The folder of the fastest libraries that this processor runs, of those in `runtime`, the path of
// simt-runtime: one below it, such as simt-runtime/avx2, or `runtime` itself.
const char *processor_folder(Arena *arena, const char *runtime);

#endif
