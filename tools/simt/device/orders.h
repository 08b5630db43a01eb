// Runs a launch in other orders of its blocks and warps, to find what its usual order hides: the
// first thread that takes a lock acquires nothing from another, and a thread that reads a flag
// after it was set never reads too early.
//
// Each of these runs happens before the usual one, in a forked child that ends with it. Nobody sees
// what the launch does there to memory, output or anything else, so the program runs once, as it
// does without --check.
#ifndef ORDERS_H
#define ORDERS_H

#include "simt/observe/observed.h"

// Runs a launch that is ready to run, if machine->observer can receive what a child finds, in
// `count` orders but for the usual one: in reverse, then with the seeds from 2 on. 0: in two, while
// that is cheap, and if the order of threads matters; `tried` counts such launches of the kernel.
// The observer reports what is found; the rest is in report->orders.
void orders_run(Machine *machine, uint32_t count, uint32_t *tried, LaunchReport *report);

// Ends the process if it is such a child: memory ran out.
void orders_leave(void);

#endif
