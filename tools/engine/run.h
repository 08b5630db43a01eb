// A run, as the files of engine/ share it: engine.c reads its commands, output.c writes its result.
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "base/json.h"
#include "simt/device/device.h"

typedef enum { TYPE_INT, TYPE_UINT, TYPE_LONG, TYPE_FLOAT, TYPE_DOUBLE, TYPE_UCHAR } TypeName;

typedef struct {
    Str name;
    TypeName type;
    size_t bytes;
} Type;

typedef struct {
    Str name;
    const Type *type;
    uint64_t address;
    size_t count;
} Buffer;

enum { MOST_ARGUMENTS = 64 };

// A launch whose arguments are being read; there is none if kernel is NULL.
typedef struct {
    Kernel *kernel;
    const char *name;
    Dim3 grid, block;
    uint32_t shared;
    bool cooperative;
    uint64_t values[MOST_ARGUMENTS];
    size_t bytes[MOST_ARGUMENTS], count;
} Pending;

typedef struct {
    Arena arena;
    SimtError error;
    Str ptx;
    Module *module; // NULL: not loaded yet
    SimtOptions options;
    bool trace;
    Buffer *buffers;
    size_t buffer_count, buffer_capacity;
    Pending pending;
    Buf launch_text, read_text;
    Json launches, reads; // lists
    bool cut;
} Run;

// Adds the pending launch, which has run, to the result. `error` is NULL if it succeeded; `trace`
// is what `simt --trace` writes.
void output_launch(Run *run, const LaunchReport *report, const char *error, Str trace);
// Adds elements that were read back.
void output_read(Run *run, const Buffer *buffer, size_t first, size_t count);
// The whole result. `error` is NULL if there was none.
Str output_all(Run *run, const char *error);

#endif
