// Lists what a launch has read and written in global memory.
#ifndef CHECK_TOUCHED_H
#define CHECK_TOUCHED_H

#include "base/arena.h"
#include "simt/exec/code.h"

typedef struct Check Check;

// Bytes [low, high), all of them touched in the same way.
typedef struct {
    uint64_t low, high;
    bool write;
    bool strong;      // all accesses were atomic, volatile or scoped
    const char *file; // of one of the accesses; line 0: not known
    uint32_t line;
} Touched;

// The memory that is listed: none, what host code may access too, or all.
typedef enum { TOUCHED_NONE, TOUCHED_BY_HOST, TOUCHED_ALL } TouchedWhere;

typedef struct {
    bool releases;   // the launch may release something to other threads of the device
    bool tells_host; // or to the host: a fence or an access has the system's scope
} Promises;

// First what was read, then what was written, each in the order of addresses.
typedef struct {
    Touched *at;
    size_t count;
    Promises promises;
} TouchedList;

// The fences that a launch has executed.
typedef struct {
    const Inst *last_fence;
    Promises promises;
} TouchedState;

void touched_fence(Check *check, const Inst *inst);
// What the launch has touched, in the arena.
void touched_list(const Check *check, Arena *arena, TouchedWhere where, TouchedList *list);

#endif
