// What a launch leaves in memory that depends on the order of its blocks and warps.
#ifndef RACE_RESULT_H
#define RACE_RESULT_H

#include "base/arena.h"
#include "simt/memory/image.h"
#include "simt/observe/race/record.h"
#include "simt/ptx/type.h"

typedef struct Check Check;
typedef struct Observer Observer;

typedef enum {
    RESULT_DIFFERS,
    RESULT_ROUNDED, // the two values differ by no more than rounding
    RESULT_MOVED    // other elements have the values of these in the other order
} ResultKind;

// An element that differs.
typedef struct {
    uint64_t address;
    Record last; // of its last store
    ResultKind kind;
    PtxType type;
    uint64_t value, other; // in the usual order, and in this one:
    uint64_t order;
    const char *file, *call_file; // of the last store; line 0: not known
    uint32_t line, call_line;
    uint32_t argument; // the kernel's that points to it, from 1; 0: none
    int64_t element;   // its number from there
} Difference;

typedef struct {
    Difference *at;
    size_t count;
} DifferenceList;

// Fills the image in the child: see Observer.fill.
void result_fill(Observer *self, Image *image);
// Compares images with memory, and lists some of the elements that differ in each allocation.
void result_list(const Check *check, Arena *arena, const Image *images, size_t count,
                 DifferenceList *list);
// Whether nothing has written the element since.
bool result_holds(const Difference *difference);
// A copy of the element is now at another address.
void result_move(Difference *difference, uint64_t to);
// Writes a value as a number.
void result_write(char *to, size_t room, PtxType type, uint64_t value);

#endif
