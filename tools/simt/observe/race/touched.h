// Lists what a launch has read and written in global memory.
#ifndef CHECK_TOUCHED_H
#define CHECK_TOUCHED_H

#include "base/arena.h"
#include "simt/exec/code.h"
#include "simt/exec/observer.h"
#include "simt/observe/race/record.h"

typedef struct Check Check;

// Bytes [low, high), which were all accessed alike.
typedef struct {
    uint64_t low, high;
    bool write;
    bool strong;      // all accesses were atomic, volatile or scoped
    const char *file; // of one of the accesses; line 0: not known
    uint32_t line;
} Touched;

// The memory to list: none, what host code may also access, or all.
typedef enum { TOUCHED_NONE, TOUCHED_BY_HOST, TOUCHED_ALL } TouchedWhere;

typedef struct {
    bool releases;   // the launch may release something to other threads of the device
    bool tells_host; // or to the host: a fence or an access has the system's scope
} Promises;

// First the reads, then the writes, each in the order of addresses.
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
// Lists what the launch has accessed, in the arena.
void touched_list(const Check *check, Arena *arena, TouchedWhere where, TouchedList *list);

// See Observer.fill and Observer.store.
void touched_fill(Observer *self, Image *image);
const Inst *touched_store(const Observer *self, Record record);

#endif
