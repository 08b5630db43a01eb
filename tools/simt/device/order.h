// Runs a prepared launch in another order of its blocks and warps. order_fork.c does so in a forked
// child; the native platform (simt/native) has another implementation.
#ifndef ORDER_H
#define ORDER_H

#include "simt/device/module_inside.h"

typedef struct {
    uint64_t work_left; // basic blocks
    SimtStatus status;
    SimtError error;
    size_t bytes; // of the observer's findings
} OrderResult;

// Runs the launch in machine->order. This has no effect on memory, output and the observers, except
// that machine->observer receives the findings. The image, if it is open, gets what the order has
// left in memory. False: the order could not run, or not to its end.
bool order_run(Observed *observed, OrderResult *result, Image *image);

#endif
