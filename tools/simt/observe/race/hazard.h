// A hazard, as --check reports it.
#ifndef HAZARD_H
#define HAZARD_H

#include "simt/base/dim3.h"
#include "simt/base/status.h"

// The lines between which a barrier is missing or, with `step`, lines that must be one operation.
typedef struct {
    uint32_t low, high;  // high 0: neither
    bool loop;           // the barrier is missing between a loop's round and the next
    bool calls;          // the lines are those of calls
    const char *barrier; // "__syncthreads()"; NULL: it is a step
    const char *step;    // how to make them one operation
    bool between_steps;  // a statement of each line reads and then writes: between lanes of a warp
} Span;

// A hazard. `other_*` is the earlier access of a race; other_line is 0 if there is none.
typedef struct {
    const char *kind; // "race", "divergent barrier", "out of bounds", "uninitialized read", ...
    const char *file, *other_file;
    uint32_t line, other_line; // of the PTX if no file is known
    // The call in the user's code if the access is in an inlined function; else line 0.
    const char *call_file, *other_call_file;
    uint32_t call_line, other_call_line;
    Dim3 block, thread, other_block, other_thread;
    uint64_t address;  // in its space
    char variable[96]; // the variable in or near which it lies: "s", "argument 2"; empty: no name
    const char *space; // "shared", "global", "local"
    bool more;         // the search ended at a limit: there may be more occurrences
    bool host;         // the host did it: there is no line, block or thread
    bool note;         // no result depends on it: not counted as a hazard
    const char *told;  // the whole report, in lines; NULL: it is made from the other members
    const char *cause; // reports that have `told` are merged if it is equal; NULL: `told` is it
    uint64_t seed; // of the only order of blocks and warps in which it was found; 0: the usual one
    uint64_t occurrences;   // equal findings (same kind and lines) merged into this one
    char advice[384];       // what to do
    const char *fact;       // what happened, after the thread and the access; NULL: nothing more
    Span span;              // what would also mend other races
    const char *also;       // further pairs of lines with this span, in the report of one, or NULL
    const char *does;       // "reads", "writes", "updates"; NULL if it is no access
    const char *other_does; // the same, of the other access of a race; else NULL
    bool ordered;           // a barrier or a fence orders the two, which does not help
    int64_t offset;         // bytes from the variable's start
    uint32_t element_bytes; // of the type that is accessed, 0: not known
    const char *opcode;     // of the PTX instruction if no file is known; else NULL
} Hazard;

#endif
