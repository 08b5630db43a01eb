// The native platform: the CPU device on a host that has a heap, a clock, and nothing else: no
// threads, no memory maps, no processes, no way to jump back, no directed rounding. WebAssembly in
// a browser is such a host. The same code also runs as a program of the machine that builds it, so
// that it can be tested there as 32-bit code and under sanitizers.
//
// The files here replace those of the core that need more: base/console.c, base/host.c,
// memory/range.c, device/order_fork.c. include/ has the system headers that differ.
//
// A run that fails where other hosts would jump back ends with native_end(); everything that it
// used is lost, so the host makes each run in a new instance.
#ifndef NATIVE_H
#define NATIVE_H

#include "base/str.h"

// What native_end() calls first, to report why the run ended. It may not return.
extern void (*native_ending)(void);
_Noreturn void native_end(void);

// Zeroed memory that is worth little until it is used. NULL: there is none. A browser does not take
// memory back, so that native_unmap may have no effect.
void *native_map(size_t bytes);
void native_unmap(void *at);

// What kernels have printed, up to a megabyte.
Str native_printed(void);
// Kernels print nothing while this is true.
extern bool native_silent;

#endif
