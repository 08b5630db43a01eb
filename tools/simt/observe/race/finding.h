// Findings: the hazards of a launch, as they are recorded, merged and reported.
//
// While a kernel runs, a finding is identified by its instructions. Lines and texts are added when
// the kernel has ended.
#ifndef RACE_FINDING_H
#define RACE_FINDING_H

#include "simt/exec/address.h"
#include "simt/exec/observer.h"
#include "simt/observe/race/hazard.h"
#include "simt/observe/race/record.h"

typedef struct Check Check;
typedef struct Checker Checker;

typedef enum {
    KIND_RACE,
    KIND_CONSTANT, // a read by ld.global.nc of memory that the kernel writes
    KIND_VOLATILE, // unordered volatile accesses, which the memory model does not call a race
    KIND_BARRIER,
    KIND_MASK,
    KIND_WIDTH, // a shuffle whose width is not a power of two
    KIND_LANE,  // a value from a lane that takes no part
    KIND_BOUNDS,
    KIND_MISALIGNED,
    KIND_FREED,
    KIND_FREE,
    KIND_UNWRITTEN,
    KIND_CLUSTER, // shared memory of a block that may not have started or may have ended
    KIND_COPY,    // an asynchronous copy that lacks a fence or a wait
    KIND_EARLY,   // memory that the previous launch accesses, which may still run
    FIRST_NOTE,
    KIND_ENDED = FIRST_NOTE, // a barrier that some threads miss because they have ended
    KIND_UNTOUCHED,          // a read of managed memory that is zero because nothing has written it
    KIND_GUESS,              // a race of a read that is only the first guess of an atomicCAS()
    KIND_LEADER              // a mask whose lowest lane, which should act, has ended
} HazardKind;

// --- sites ---

// An instruction that accesses memory. Records name it by its number in Check.sites, from 1 on.
typedef struct {
    const Inst *inst;
    AccessKind kind;
    bool uses_old; // an atomic operation whose old value the program uses
    bool constant; // ld.global.nc
} Site;

// Numbers the site of an access that has no number. When the numbers run out, the remaining
// instructions share the last one.
uint32_t finding_new_site(Check *check, const Access *access);
// The instruction's place in the source.
PtxPlace finding_place(const Machine *machine, const Inst *inst);

// --- findings ---

// One of the two accesses of a finding.
typedef struct {
    const Inst *inst; // NULL: there is none
    AccessKind kind : 8;
    uint32_t thread; // its number in the block
    uint64_t block;
} Side;

typedef struct {
    HazardKind kind;
    PtxSpace space;
    Side at, other;
    PtxPlace place, other_place;
    uint32_t between; // BETWEEN_*, of a race
    uint64_t order;   // number of the finding, in the order in which they were found
    uint64_t seed;    // of the order of blocks and warps in which it was found; 0: the usual one
    uint64_t address;
    uint64_t occurrences;
    bool more;      // further occurrences were not counted
    bool scattered; // of a race: not each thread accesses its element of one or two arrays
    char text[384]; // what happened, and in a second line what to do; empty for a race
} Finding;

typedef struct {
    Finding *at;
    size_t count, capacity;
} Findings;

// The races of a block.
typedef struct {
    uint16_t *races; // by site: races that were found in this block
} FoundRaces;

// Records a hazard, or counts it if one of this kind and with these instructions is known. `thread`
// is its number in the block. `other`: a second instruction that is involved, or NULL.
void finding_add(Checker *checker, HazardKind kind, PtxSpace space, const Inst *inst,
                 uint32_t thread, const Inst *other, uint32_t other_thread, uint64_t address,
                 const char *format, ...) __attribute__((format(printf, 9, 10)));
// Records a hazard between two accesses: a KIND_RACE, KIND_CONSTANT or KIND_VOLATILE.
void finding_race(Checker *checker, HazardKind kind, PtxSpace space, Record record, Record earlier,
                  uint64_t address);

// --- when the launch has ended ---

// The hazards that were found, in the arena, ordered by line. Returns their number.
size_t finding_report(Check *check, Arena *arena, Hazard **hazards);
// See Observer.send and Observer.receive.
const void *finding_send(Observer *self, size_t *bytes);
void finding_receive(Observer *self, const void *found, size_t bytes);

#endif
