// Signals: faults of host code, and interrupts.
#ifndef SIGNAL_H
#define SIGNAL_H

#include <stdbool.h>

void signal_watch(void);
void signal_launching(bool running); // from when to when a kernel runs

#endif
