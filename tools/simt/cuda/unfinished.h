// Numbers work and, with --check, tracks work that no call has waited for yet, and its order.
//
// Work runs when it is submitted or, with --order, later; on a GPU it may run at any time until a
// call waits for it, beside other streams and host code. Each operation therefore records at the
// call which operations are ordered before it, and its accesses when it runs. We report unordered
// operations that access the same bytes, host code that accesses memory before it waits, and work
// that is left when the program ends.
#ifndef UNFINISHED_H
#define UNFINISHED_H

#include "simt/cuda/stream.h"

// The number of new work, which from now on is in flight; and runs it.
uint64_t unfinished_begin(const Work *work);
CudaError unfinished_run(const Work *work);

// unfinished_last: the number of the last work, from 1; 0: none. unfinished_after: the next
// operation depends on exactly these, whatever its stream.
uint64_t unfinished_last(void);
void unfinished_after(const uint64_t *numbers, size_t count);

// For a kernel of the current operation: which accesses its launch must record, and its accesses.
TouchedWhere unfinished_wants(void);
void unfinished_kernel(const char *mangled, const TouchedList *touched);

// A part of the current operation waits for an event.
void unfinished_waits(const Event *event);

// The host waits for the work before new work of the stream; for one operation and those before it;
// or for everything. Queued work runs. They return its first error.
CudaError unfinished_wait(const Stream *stream);
CudaError unfinished_wait_to(uint64_t number);
CudaError unfinished_wait_all(void);
CudaError unfinished_end(void); // the program ends
// The host reads the time of an event. On a GPU that fails until the event is done, so it is noted
// unless the host has waited for it. From then on it counts as a wait.
void unfinished_elapsed(uint64_t number);

void unfinished_gone(const Stream *stream); // the stream is destroyed, which does not wait

#endif
