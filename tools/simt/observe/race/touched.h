// What a launch has read and written in global memory.
#ifndef CHECK_TOUCHED_H
#define CHECK_TOUCHED_H

#include "base/arena.h"
#include "simt/exec/code.h"

typedef struct Check Check;

// Bytes [low, high), all of them touched in the same way.
typedef struct {
    uint64_t low, high;
    bool write;
    bool strong;      // by atomic, volatile or scoped accesses alone
    const char *file; // where in the source some of them were; line 0: not known
    uint32_t line;
} Touched;

// Of which memory a launch tells what it touched: none, what host code may touch too, all.
typedef enum { TOUCHED_NONE, TOUCHED_BY_HOST, TOUCHED_ALL } TouchedWhere;

typedef struct {
    bool releases;   // something to other threads of the device
    bool tells_host; // and perhaps to the host: a fence or an access has the system's scope
} Promises;

// In the order of the addresses, what was read, and behind it what was written.
typedef struct {
    Touched *at;
    size_t count;
    Promises promises;
} TouchedList;

// Of a launch while it runs: the fences that it has executed.
typedef struct {
    const Inst *last_fence;
    Promises promises;
} TouchedState;

void touched_fence(Check *check, const Inst *inst);
// What the launch has touched, in the arena.
void touched_list(const Check *check, Arena *arena, TouchedWhere where, TouchedList *list);

#endif
