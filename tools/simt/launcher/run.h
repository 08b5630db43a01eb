// Runs the program as a child, so that what it ends with has the last word only if the CPU device
// could do all that was asked of it.
#ifndef RUN_H
#define RUN_H

// The status of a run that the CPU device refused or did not see to its end, whatever the program
// ends with.
enum { RUN_STATUS_REFUSED = 2, RUN_LINK = 48 };

// Writes a path to the launcher's open file that holds as long as the launcher runs, also for
// programs that close all descriptors and for those that they start. It has no space and no colon,
// at which LD_PRELOAD and LD_LIBRARY_PATH are split. Returns `link`.
const char *run_link(int fd, char link[static RUN_LINK]);

// Runs the program to its end and ends with its exit status or signal, or with
// RUN_STATUS_REFUSED. Signals are passed on to it. Returns only if it cannot be started, with errno
// set.
void run_program(const char *path, char **argv);

#endif
