// Undefined values: reads of unwritten shared memory, and registers that hold the value of such a
// read or of a shuffle from an absent lane.
#ifndef RACE_UNWRITTEN_H
#define RACE_UNWRITTEN_H

#include "simt/observe/race/finding.h"

enum { MAX_UNWRITTEN = 1 << 16 };

// A read of shared memory that nothing has written. If another thread writes there before the next
// barrier, the two race, and the race is reported instead. Without `inst`: a value that was
// computed from two such reads.
typedef struct {
    const Inst *inst;
    uint64_t time;
    uint32_t byte, thread;
    uint32_t first, second; // numbers of the two reads
    bool used;              // the program depends on the value, or it is not followed further
} UnwrittenRead;

// The reads of a block. A read's number is its index + 1.
typedef struct {
    UnwrittenRead *reads;    // MAX_UNWRITTEN; NULL: there was none yet
    uint16_t *of_site;       // by site: their weighted number
    uint32_t count, checked; // checked: reads before the last barrier of all threads
} UnwrittenState;

void unwritten_begin(Checker *checker);
// At a barrier of all threads and at the end of a block: reports reads that no race explains.
void unwritten_report(Checker *checker);
// Returns the number of the value that an instruction computes from two numbered values.
uint32_t unwritten_both(Checker *checker, uint32_t first, uint32_t second);
// The program branches on this value, stores it or uses it as an address.
void unwritten_used(Checker *checker, uint32_t number);

// For an instruction that copies one part of a structure: finds the distances, in bytes, of the
// other parts from it. Returns their number; 0: it is no such instruction.
enum { UNWRITTEN_PARTS = 16 };
uint32_t unwritten_parts(const Machine *machine, const Inst *inst,
                         uint64_t distances[UNWRITTEN_PARTS]);

// --- undefined.c ---

// Registers of a warp that are undefined in some lanes.
typedef struct Undefined Undefined;
typedef struct {
    Undefined *at;
    size_t count, capacity;
} UndefinedList;

void undefined_begin(Checker *checker);
// Follows a shuffle of these lanes that involves an undefined value.
void undefined_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES]);
// Follows an instruction of a warp that has undefined registers, see Observer.step.
void undefined_step(Warp *warp, const Inst *inst);
// Follows a lane's read of unwritten memory, which is one element of the instruction's load. If the
// program depends on the value, it calls unwritten_used with the number. False: it cannot follow
// it.
bool undefined_read(Warp *warp, const Inst *inst, uint32_t lane, uint32_t element, uint32_t number);

#endif
