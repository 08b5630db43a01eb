// What --check reports.
#ifndef HAZARD_H
#define HAZARD_H

#include "simt/base/dim3.h"
#include "simt/base/status.h"

// What a check found. `other_*` is the earlier access it collides with; other_line is 0 if none.
typedef struct {
    const char *kind; // "race", "divergent barrier", "out of bounds", "uninitialized read", ...
    const char *file, *other_file;
    uint32_t line, other_line; // where no file is known, of the PTX
    // Where the user's code calls functions that were inlined there; line 0: no such function.
    const char *call_file, *other_call_file;
    uint32_t call_line, other_call_line;
    Dim3 block, thread, other_block, other_thread;
    uint64_t address;  // in its space
    char variable[96]; // that it lies in, or near: "s", "argument 2"; empty: it has no name
    const char *space; // "shared", "global", "local"
    bool more;         // there may be more occurrences: that many were looked for
    bool host;         // what the host did: no line, block or thread
    bool note;         // worth a look, and no result depends on it: not counted as a hazard
    const char *told;  // all of the report, in lines; NULL: it is made of the other members
    uint64_t seed; // of the order of blocks and warps in which alone it was seen; 0: the usual one
    uint64_t occurrences; // equal findings (same kind and lines) merged into this one
    char advice[256];     // one sentence: how to fix it, behind what happened where no verb says it
    const char *does, *other_does; // of a race: "reads", "writes", "updates"; else NULL
    int64_t offset;                // bytes from the variable's start
    uint32_t element_bytes;        // of the type that is accessed, 0: not known
    const char *opcode;            // of the PTX instruction, where no file is known; else NULL
} Hazard;

#endif
