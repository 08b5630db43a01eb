// Signals: faults of host code, and interrupts.
#ifndef SIGNAL_H
#define SIGNAL_H

#include <stdbool.h>

void signal_watch(void);
bool signal_sees_faults(void); // a page that is guarded may be touched: see guard.h
int signal_interrupted(void);  // the signal that is to end the process, 0: none

#endif
