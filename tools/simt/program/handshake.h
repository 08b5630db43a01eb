// How the launcher knows that the CPU device was in the program that it started, from before main
// to the end. Both see one page of memory: the library marks there what it has seen, and the
// launcher reads it when the program is over.
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include <stdbool.h>
#include <sys/types.h>

// The environment variable that names the page's file. A library without it has no launcher.
#define HANDSHAKE "SIMT_HANDSHAKE"

typedef enum {
    HANDSHAKE_NONE,    // the library was not loaded
    HANDSHAKE_LOADED,  // it was, and has not seen the program's end
    HANDSHAKE_REPORTED // it has reported what the program did, if it did anything
} HandshakeState;

typedef struct {
    pid_t program; // the process that the launcher started; only this one changes `state`
    HandshakeState state;
    int loads;    // more than one: exec has put another program in the first one's place
    bool refused; // also by the program's children
} Handshake;

void handshake_reported(void); // the report is written, and the program ends
void handshake_refused(void);  // a call, or the program: the launcher ends with status 2

#endif
