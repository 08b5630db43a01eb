// Tells the launcher whether the CPU device was loaded and watched the program to its end. Both map
// one page of memory: the library writes its state there, and the launcher reads it after the
// program has ended.
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include <stdbool.h>
#include <sys/types.h>

// The environment variable that names the page's file. If it is unset, there is no launcher.
#define HANDSHAKE "SIMT_HANDSHAKE"

typedef enum {
    HANDSHAKE_NONE,    // the library was not loaded
    HANDSHAKE_LOADED,  // the library was loaded, and the program has not ended
    HANDSHAKE_REPORTED // the library has written the report, if there was anything to report
} HandshakeState;

typedef struct {
    pid_t program; // the process that the launcher started; only it changes `state`
    HandshakeState state;
    int loads;    // more than one: the program has called exec
    bool refused; // set also by child processes
} Handshake;

void handshake_reported(void); // called when the report is written, just before the program ends
void handshake_refused(void);  // a call or the program was refused: the launcher exits with 2

#endif
