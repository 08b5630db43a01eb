// Runs the program as a child, so that what it ends with has the last word only if the CPU device
// could do all that was asked of it.
#ifndef RUN_H
#define RUN_H

// The environment variable that names a file descriptor. The library writes a byte to it when it
// refuses something.
#define RUN_REFUSED "SIMT_REFUSED"

// The status that a refusal gives, whatever the program ends with.
enum { RUN_STATUS_REFUSED = 2 };

// Runs the program to its end and ends with its exit status or signal, or with
// RUN_STATUS_REFUSED. Signals are passed on to it. Returns only if it cannot be started, with errno
// set.
void run_program(const char *path, char **argv);

#endif
