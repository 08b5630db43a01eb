// Tracks work that no call has waited for yet, and its order: with --check, in the usual order.
//
// Here every call has run when it returns, but on a GPU its work may still run, beside other
// streams and host code. Each operation therefore records its accesses and the operations ordered
// before it until a call waits for it. We report unordered operations that access the same bytes,
// host code that accesses memory before it waits, and work that is left when the program ends.
#ifndef UNFINISHED_H
#define UNFINISHED_H

#include "simt/cuda/stream.h"

// Runs the work and, with --check, records it as in flight.
CudaError unfinished_run(Stream *stream, const Work *work);

// unfinished_last: the number of the last operation, from 1; 0: none. unfinished_after: the next
// operation depends on exactly these, whatever its stream.
uint64_t unfinished_last(void);
void unfinished_after(const uint64_t *numbers, size_t count);

// For a kernel of the current operation: which accesses its launch must record, and its accesses.
TouchedWhere unfinished_wants(void);
void unfinished_kernel(const char *mangled, const TouchedList *touched);

// The current operation records an event, or waits for one.
void unfinished_records(Event *event);
void unfinished_waits(const Event *event);

// The host has waited for the work before new work of the stream; for one operation and those
// before it; or for everything.
void unfinished_wait(const Stream *stream);
void unfinished_wait_to(uint64_t number);
void unfinished_wait_all(void);
// The host reads the time of an event. On a GPU that fails until the event is done, so it is noted
// unless the host has waited for it. From then on it counts as a wait.
void unfinished_elapsed(uint64_t number);

void unfinished_gone(const Stream *stream); // the stream is destroyed, which does not wait

#endif
