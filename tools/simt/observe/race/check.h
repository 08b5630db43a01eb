// Hazards: what --check looks for while a kernel runs. An Observer: each Block has a Checker of its
// own, which follows it through all the blocks that it stands for one after another.
//
// Design. Happens-before, as in FastTrack (Flanagan and Freund, 2009), with the hierarchy of the
// GPU instead of one clock per thread: barriers order whole blocks, so a number per block (and per
// warp, where only some take part) says what is ordered within one; between blocks there is order
// only where a word carries it. record.h: what is kept of an access; shadow.h: where; race.h: the
// rule, of shared and of global memory. What orders: time.c and sync.c (barriers), order.c and
// release.h (words of memory), cluster.c, copy.c.
//
// All blocks run on one host thread (schedule.c): whether a store changes what is in memory, and
// what the last access to a word was, are questions that have an answer only when others stand
// still. So what is found is the same every time.
#ifndef CHECK_H
#define CHECK_H

#include "base/arena.h"
#include "simt/exec/observer.h"
#include "simt/observe/race/hazard.h"
#include "simt/observe/race/touched.h"

// The checks of one launch. NULL: out of memory; later that leads to `leave`.
typedef struct Check Check;
Check *check_open(const Machine *machine, jmp_buf *leave);
Observer *check_observer(Check *check); // for Machine.observer

// A race in shared memory, between two threads of a block.
typedef struct {
    uint64_t block;
    const Inst *inst, *other; // the earlier access is the other's
    uint32_t thread, other_thread;
    uint64_t address;
} CheckRace;

// Who wants to hear of these while the kernel runs: of each lane's, before the access is made, as
// far as races are looked for at an instruction. `to` is given back.
typedef struct {
    void (*race)(void *to, const CheckRace *race);
    void *to;
} CheckListener;
void check_listen(Check *check, CheckListener listener);

// What was found, in the arena, ordered by line, once the launch is over and its Blocks are freed.
// Their number.
size_t check_report(Check *check, Arena *arena, Hazard **hazards);
// In a child of the process, before anything has run: forgets earlier launches.
void check_start_anew(void);
// What was found so far, as it can be handed to the same check in another process, one of which is
// a child of the other; and takes it over from there.
const void *check_tell(Check *check, size_t *bytes);
void check_hear(Check *check, const void *found, size_t bytes);
// What the launch touched, likewise.
void check_touched(const Check *check, Arena *arena, TouchedWhere where, TouchedList *list);
bool check_close(Check *check); // false: memory was too short for all that was found

#endif
