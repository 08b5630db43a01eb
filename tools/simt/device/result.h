// What a launch leaves in memory that depends on the order of its blocks and warps.
#ifndef RESULT_H
#define RESULT_H

#include "simt/device/device.h"
#include "simt/observe/race/record.h"

typedef enum {
    RESULT_DIFFERS,
    RESULT_ROUNDED, // the two values differ by no more than rounding
    RESULT_MOVED    // other elements have the values of these in the other order
} ResultKind;

// An element that differs.
struct Difference {
    uint64_t address;
    Record last; // of its last store
    ResultKind kind;
    PtxType type;
    uint64_t value, other; // in the usual order, and in this one:
    uint64_t order;
    const char *file; // of the last store; line 0: not known
    uint32_t line;
    uint32_t argument; // the kernel's that points to it, from 1; 0: none
    int64_t element;   // its number from there
};

// Compares the images of other orders with memory, after the report of hazards, and adds some of
// the elements that differ in each allocation to the report.
void result_compare(const Machine *machine, LaunchReport *report);
// Whether nothing has written the element since.
bool result_holds(const Difference *difference);
// A copy of the element is now at another address.
void result_move(Difference *difference, uint64_t to);
// The value of an element of a floating-point type.
double result_number(PtxType type, uint64_t value);

#endif
