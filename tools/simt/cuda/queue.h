// Work that waits in streams, as --order has it.
//
// In the usual order every call has run when it returns. With a seed, work waits in its stream as
// long as CUDA lets it: until a call waits for it, or for work that comes after it. Streams promise
// each other nothing but this, and a kernel may start before the end of the one in front of it if
// both say so (programmatic dependent launch): the legacy stream and the blocking ones run in the
// order of the calls, and a stream that waits for an event comes after what the event was recorded
// after. So a program that relies on more is seen to be wrong.
#ifndef QUEUE_H
#define QUEUE_H

#include "simt/cuda/stream.h"

// Whether work waits at all.
bool queue_on(void);

// Whether work of that stream and number must have run when what comes later, in the other stream,
// starts; `after`: the number of the work that an event stands for, 0: none.
bool queue_precedes(const Stream *first, uint64_t number, const Stream *stream, uint64_t after);

// Takes the work, at the end of what waits in its stream, under a number from 1 on. If a thousand
// wait already, the oldest runs; its error is returned, and the work is then not taken.
CudaError queue_add(const Stream *stream, const Work *work);

// The number of the work that was taken last, 0: none.
uint64_t queue_last(void);

// Runs all that would come before new work of the stream.
CudaError queue_run(const Stream *stream);

// Whether the work of that number still waits; and runs it, after what comes before it, if so.
bool queue_waits(uint64_t number);
CudaError queue_run_to(uint64_t number);

// Runs everything, in an order of streams that the seed chooses. The first error.
CudaError queue_run_all(void);

#endif
