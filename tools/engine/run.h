// A run, as the files of engine/ share it: engine.c reads its commands, output.c writes its result.
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "base/json.h"
#include "simt/device/device.h"

typedef enum {
    ELEMENT_INT,
    ELEMENT_UINT,
    ELEMENT_LONG,
    ELEMENT_FLOAT,
    ELEMENT_DOUBLE,
    ELEMENT_UCHAR
} ElementKind;

typedef struct {
    Str name;
    ElementKind type;
    size_t bytes;
} ElementType;

typedef struct {
    Str name;
    const ElementType *type;
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

typedef struct Run Run;
struct Run {
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
    // Of the kind of run: a launch has run, in Run.pending; and what is written at the end.
    void (*launched)(Run *run, const LaunchReport *report, const char *error, Str trace);
    Str (*written)(Run *run, const char *error);
};

// engine.c: executes a command (see engine.h), or the pending launch. False: see run->error.
bool run_command(Run *run, Str line);
bool run_launch(Run *run);
bool run_fail(Run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
int run_element(uint32_t i); // element i of the labs' input

// Parts of a result, for both kinds of run.
void output_number(Json *json, const char *key, uint64_t value);
void output_text(Json *json, const char *key, const char *text); // NULL: null
void output_shape(Json *json, const char *key, Dim3 shape);
void output_counters(Json *json, const Counters *counters);
// The steps that took place in a file, until an access failed; null if there are none.
void output_steps(Json *json, Arena *arena, const char *file, Str trace, bool failed);

// Adds the pending launch, which has run, to the result. `error` is NULL if it succeeded; `trace`
// is what `simt --trace` writes.
void output_launch(Run *run, const LaunchReport *report, const char *error, Str trace);
// Adds elements that were read back.
void output_read(Run *run, const Buffer *buffer, size_t first, size_t count);
// The whole result. `error` is NULL if there was none.
Str output_all(Run *run, const char *error);

#endif
