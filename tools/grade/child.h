// Child: other programs, run side by side, each with its output in a file and a limit of time.
#ifndef GRADE_CHILD_H
#define GRADE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    pid_t pid;
    double deadline; // on the monotonic clock, in seconds
    const char *log;
} Child;

// How it ended.
typedef struct {
    int status;  // exit status; 128 + the signal that ended it
    bool hung;   // it was ended when its time was over, or its log held more than 16 MB
    bool absent; // there is no such program
} ChildEnd;

// Starts a program in a process group of its own, standard output and standard error into the file
// `log`, which is created; its name must last until the child has ended.
Child child_start(char *const *arguments, const char *log, double seconds);

// Waits until it has ended, or ends it and what it has started when it hangs.
ChildEnd child_wait(Child child);

#endif
