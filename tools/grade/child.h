// Child: runs other programs in parallel, each with its output in a file and with a time limit.
#ifndef GRADE_CHILD_H
#define GRADE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    pid_t pid;
    double deadline; // on the monotonic clock, in seconds
    const char *log;
} Child;

// How a program ended.
typedef struct {
    int status;  // exit status, or 128 + the signal that ended it
    bool hung;   // it was killed at its time limit, or because its log exceeded 16 MB
    bool absent; // there is no such program
} ChildEnd;

// Starts a program in its own process group, with standard output and standard error in the new
// file `log`. That string must outlive the program.
Child child_start(char *const *arguments, const char *log, double seconds);

// Waits for the program. Kills its process group when it hits a limit.
ChildEnd child_wait(Child child);

#endif
