// What pieces of work have touched, held against each other and against host code, and how it is
// told.
#ifndef OVERLAP_H
#define OVERLAP_H

#include "simt/cuda/copy.h"
#include "simt/device/device.h"
#include "simt/memory/guard.h"

// Of a kernel or a copy; a piece of work may have several.
typedef struct OverlapPart {
    struct OverlapPart *next;
    char *name;
    bool kernel;
    uint64_t from; // of a copy: where host code called for it
    TouchedList list;
    size_t reads; // so many of the list, in front of what was written
} OverlapPart;

// NULL: out of memory.
OverlapPart *overlap_kernel(const char *name, const TouchedList *touched);
OverlapPart *overlap_copy(const Copy *copy);
OverlapPart *overlap_fill(const Fill *fill);
bool overlap_is_empty(const OverlapPart *parts); // kernels that told of nothing they touched
size_t overlap_free(OverlapPart *parts);         // how many ranges that were

// Tells where the later of two pieces, which nothing orders, touches what the earlier one does and
// one of them writes, and whether it does. `together`: they are of one launch of a graph.
bool overlap_tell(const OverlapPart *later, const OverlapPart *earlier, bool together);

// Keeps host code off what the parts have touched, as far as it may be in its way.
void overlap_guard(const OverlapPart *parts);
// The part, if any, that host code was not to touch yet; and tells it.
const OverlapPart *overlap_with_host(const OverlapPart *parts, const GuardFault *fault);
void overlap_tell_host(const OverlapPart *part, const GuardFault *fault);

// The part that is a kernel; NULL: none. The program has ended, and nobody has waited for it.
const OverlapPart *overlap_kernel_of(const OverlapPart *parts);
void overlap_tell_end(const OverlapPart *kernel, bool prints);
void overlap_tell_elapsed(
    void); // the call at hand asks for the time of an event that may not be done

#endif
