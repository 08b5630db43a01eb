// Runs a function on a thread of its own after a while, if the program makes no call meanwhile.
#ifndef LATER_H
#define LATER_H

#include <stdbool.h>

// Calls `run` inside the runtime every 10 ms until it returns false. Does nothing if the thread of
// an earlier call is still there. Called inside the runtime.
void later_call(bool (*run)(void));

#endif
