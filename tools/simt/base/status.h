// How a call into the CPU device ended: a status and one line of text. Functions return these;
// they neither print nor exit.
#ifndef STATUS_H
#define STATUS_H

typedef struct {
    char text[1024]; // one line, terminated; empty when there was no error
} SimtError;

typedef enum {
    SIMT_OK,
    SIMT_UNSUPPORTED,      // PTX or a feature the device does not know; text names it and its line
    SIMT_INVALID_PTX,      // text names the PTX line
    SIMT_INVALID_CONFIG,   // block too large, zero dimension, ...
    SIMT_OUT_OF_RESOURCES, // too much shared memory, ...
    SIMT_OUT_OF_MEMORY,
    SIMT_ILLEGAL_ADDRESS, // text names source line, thread, block, address
    SIMT_MISALIGNED_ADDRESS,
    SIMT_STACK_OVERFLOW, // calls nested more deeply than the stack allows
    SIMT_ASSERT,
    SIMT_TRAP,
    SIMT_DEADLOCK, // every live warp waits for something that cannot happen
    SIMT_TIMEOUT,  // the watchdog
    SIMT_INTERRUPTED
} SimtStatus;

#endif
