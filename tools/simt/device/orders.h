// A launch in other orders of its blocks and warps, for what --check does not see in the usual one:
// who takes a lock first acquires nothing from the others, and who finds a flag set never read too
// early.
//
// Each runs before the usual one, in a child of the process that ends with it: memory, kernels'
// output and whatever else the launch changes there, nobody sees. So the program runs once, and all
// it does, it does as without --check.
#ifndef ORDERS_H
#define ORDERS_H

#include "simt/device/device.h"
#include "simt/exec/machine.h"
#include "simt/observe/race/check.h"

// Runs the launch, which is ready to run and watched by `check`, in `count` orders, but for the
// usual one: in reverse, then with the seeds from 2 on. 0: in two, as long as that is cheap, and if
// `tried` counts for which launches of the kernel that was done; it is NULL where nothing depends
// on which of several threads comes first, and the usual order shows all. What is found
// check_report tells, with its order; the rest is in LaunchReport.orders.
void orders_run(Machine *machine, Check *check, uint32_t count, uint32_t *tried,
                LaunchReport *report);

// Ends the process if it is such a child: memory ran out.
void orders_leave(void);

#endif
