// Work that no call has waited for yet, and what orders it: with --check, in the usual order.
//
// Every call has run when it returns; on a GPU its work may go on, beside that of other streams and
// beside host code. So each piece of work keeps what it touched, and which pieces come before it,
// until somebody waits for it. Two that nothing orders and that touch the same bytes are reported;
// so is host code that touches what it has not waited for, and what a program leaves behind.
#ifndef UNFINISHED_H
#define UNFINISHED_H

#include "simt/cuda/stream.h"

// Runs the work and takes it as unfinished, where that is looked at.
CudaError unfinished_run(Stream *stream, const Work *work);

// The number of the piece that came last, from 1 on, 0: none. The next one comes behind these
// pieces alone, whatever its stream has.
uint64_t unfinished_last(void);
void unfinished_after(const uint64_t *numbers, size_t count);

// A kernel of the work at hand: which memory its launch has to tell of, and that it has run.
TouchedWhere unfinished_wants(void);
void unfinished_kernel(const char *mangled, const TouchedList *touched);

// The work at hand records an event, or waits for one.
void unfinished_records(Event *event);
void unfinished_waits(const Event *event);

// The host has waited for what would come before new work of the stream; for a piece and what is
// before it; for all.
void unfinished_wait(const Stream *stream);
void unfinished_wait_to(uint64_t number);
void unfinished_wait_all(void);
// The host asks for the time of a piece that is an event: on a GPU that fails until the event is
// done, which is noted unless it was waited for. Then it was a wait.
void unfinished_elapsed(uint64_t number);

void unfinished_gone(const Stream *stream); // it is destroyed, which waits for nothing

#endif
