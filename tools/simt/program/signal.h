// Signals: faults of host code, and interrupts.
#ifndef SIGNAL_H
#define SIGNAL_H

void signal_watch(void);
int signal_interrupted(void); // the signal that is to end the process, 0: none

#endif
