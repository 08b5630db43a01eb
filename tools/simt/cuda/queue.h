// Queues work in streams, with --order.
//
// In the usual order every call has run when it returns. With a seed, work is queued as long as
// CUDA allows: until a call waits for it or for later work that depends on it. The order is only
// what CUDA guarantees. The legacy stream and blocking streams run in the order of the calls, and a
// stream that waits for an event runs after the work that the event recorded. With programmatic
// dependent launch a kernel may start before the one before it ends. A program that relies on more
// fails.
#ifndef QUEUE_H
#define QUEUE_H

#include "simt/cuda/stream.h"

// Whether work is queued.
bool queue_on(void);

// Whether work `number` of the stream `first` must run before later work of `stream`, which waits
// for work `after` (0: none).
bool queue_precedes(const Stream *first, uint64_t number, const Stream *stream, uint64_t after);

// The number of the work for which this work waits, in whatever stream; 0: none.
uint64_t queue_after(const Work *work);

// If the queue is full, runs the oldest work and returns its error.
CudaError queue_make_room(void);

// Appends work to its stream's queue.
CudaError queue_add(const Work *work);

// Runs all work that must run before new work of the stream.
CudaError queue_run(const Stream *stream);

// Whether work `number` is still queued; and runs it, after the work before it.
bool queue_waits(uint64_t number);
CudaError queue_run_to(uint64_t number);

// Runs all queued work, from streams that the seed chooses. Returns the first error.
CudaError queue_run_all(void);

#endif
