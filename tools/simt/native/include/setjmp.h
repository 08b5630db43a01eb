// setjmp() for the native platform, which cannot jump back: longjmp() ends the run, whose message
// the caller has stored before.
#ifndef NATIVE_SETJMP_H
#define NATIVE_SETJMP_H

typedef struct {
    int unused;
} jmp_buf[1];

_Noreturn void native_end(void); // see simt/native/native.h

#define setjmp(place)         ((void)(place), 0)
#define longjmp(place, value) ((void)(place), (void)(value), native_end())

#endif
