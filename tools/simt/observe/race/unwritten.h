// Reads of unwritten shared memory.
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
// The number of a value that is computed from two others; and a value on which the program depends.
uint32_t unwritten_both(Checker *checker, uint32_t first, uint32_t second);
void unwritten_used(Checker *checker, uint32_t number);

// For an instruction that copies one part of a structure: finds the distances, in bytes, of the
// other parts from it. Returns their number; 0: it is no such instruction.
enum { UNWRITTEN_PARTS = 16 };
uint32_t unwritten_parts(const Machine *machine, const Inst *inst,
                         uint64_t distances[UNWRITTEN_PARTS]);

#endif
