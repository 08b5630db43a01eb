// Records which memory each operation of a stream accesses, finds conflicts between unordered
// operations and with host code, and reports them.
#ifndef OVERLAP_H
#define OVERLAP_H

#include "simt/cuda/copy.h"
#include "simt/device/device.h"
#include "simt/memory/guard.h"

// The accesses of one kernel or copy. An operation, such as a graph launch, may have several.
typedef struct OverlapPart {
    struct OverlapPart *next;
    char *name;
    bool kernel;
    const char *does; // "allocates", "frees"; NULL: it reads or writes
    void *from[2];    // the callers of a copy in host code, the nearest first; NULL: not known
    TouchedList list;
    size_t reads; // the first `reads` ranges of the list are reads, the others writes
} OverlapPart;

// A call in host code.
typedef struct {
    const char *name;
    void *from[2]; // its callers, the nearest first; NULL: not known
} OverlapCall;

OverlapCall overlap_call(void); // the current one

// Return NULL if out of memory.
OverlapPart *overlap_kernel(const char *name, const TouchedList *touched);
OverlapPart *overlap_copy(const Copy *copy, OverlapCall by);
OverlapPart *overlap_fill(const Fill *fill, OverlapCall by);
OverlapPart *overlap_memory(uint64_t address, size_t bytes, bool frees, OverlapCall by);
bool overlap_is_empty(const OverlapPart *parts); // no accesses were recorded
size_t overlap_free(OverlapPart *parts);         // returns the number of ranges freed

// Reports conflicting accesses of two unordered operations and returns whether there are any.
// `together`: the operations are of one graph launch. early: the host's call of a wait between the
// two for an event that had not been recorded, or NULL.
bool overlap_report(const OverlapPart *later, const OverlapPart *earlier, bool together,
                    const OverlapCall *early);

// Guards the host-accessible memory of the parts, so that host accesses fault.
void overlap_guard(const OverlapPart *parts);
void overlap_guard_all(void); // all such memory
// The part that conflicts with a host access, or NULL; and the report of it.
const OverlapPart *overlap_with_host(const OverlapPart *parts, const GuardFault *fault);
void overlap_report_host(const OverlapPart *part, const GuardFault *fault);

// The first kernel among the parts, or NULL; and the report that the program has ended without
// waiting for it.
const OverlapPart *overlap_kernel_of(const OverlapPart *parts);
void overlap_report_end(const OverlapPart *kernel, bool prints);
void overlap_report_elapsed(void); // cudaEventElapsedTime of an event that may not be done

#endif
