// The runtime's state: the lock, the options, errors, and the macro that every call goes through.
//
// The files of this component define the functions that programs call, under the names and with the
// binary interface of libcudart 12 and 13. Signatures and structures: the toolkit's
// cuda_runtime_api.h and driver_types.h, which are not included so that the tool builds without
// them. Work runs on the calling thread, under one lock: at once, in the order of the calls, or as
// late as CUDA allows with --order (queue.h).
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/base/console.h"
#include "simt/device/device.h"
#include "simt/program/error.h"

#define API __attribute__((visibility("default")))

// 12 or 13: the libcudart for which this library stands in.
extern const int runtime_abi;

// Evaluates a CudaError under the lock and returns it from an API function. After a kernel has
// broken the context (illegal address, assert, ...) every call returns that error instead.
#define RUNTIME(body)                                                                              \
    runtime_leave_call(__func__, runtime_enter_call(__func__, __builtin_return_address(0))         \
                                     ? CUDA_SUCCESS                                                \
                                     : (body))

bool runtime_enter(void); // true if the context is broken
bool runtime_enter_call(const char *call, const void *back);
// The call at hand, "cudaMemcpyAsync", and an address of the code that makes it.
const char *runtime_call(uint64_t *from);
CudaError runtime_leave(CudaError error);
CudaError runtime_leave_call(const char *call, CudaError error);
// A launch by <<<...>>> fails, whose error only cudaGetLastError and cudaPeekAtLastError tell. If
// the program never asks, it is told at the end.
void runtime_failed_launch(const char *kernel, const char *why);
const SimtOptions *runtime_options(void);
void runtime_break(CudaError error); // every later call returns this error
// The same for good, and the process ends with status 2, whatever the program does: the CPU device
// cannot do what the program asked for. The caller has said so in one line. Returns the error.
CudaError runtime_refuse(CudaError error);
CudaError runtime_broken(void);
bool runtime_inside(void); // whether this thread holds the lock, which it then cannot wait for
// Reports what was done so far and ends the process. The caller holds the lock, or nobody will ever
// give it back.
void runtime_end_by_signal(int number);
_Noreturn void runtime_end(int status); // with this one, or that of what the report tells

void runtime_reset_errors(void);
// What is to be done when the program has ended, before the report.
void runtime_at_end(CudaError (*run)(void));
void runtime_before_report(void (*run)(void)); // however it ends
int runtime_exit_status(void);                 // of the program, once it ends

size_t device_stack_limit(void); // cudaLimitStackSize, bytes per thread

// Calls into the program, without the lock.
void runtime_call_host(void (*call)(void *), void *data);

// Names a call that the CPU device does not have, and refuses it.
CudaError runtime_unsupported(const char *what);

// --- signals: faults of host code, and interrupts ---

void signal_watch(void);
bool signal_sees_faults(void); // a page that is guarded may be touched: see guard.h
int signal_interrupted(void);  // the signal that is to end the process, 0: none

// --- where in its source the program's own code is ---

// Writes "file.cu:12" if the program was built with -g, else "main()" if it has a table of symbols;
// an address outside of the program, or nothing known of it: an empty text.
void host_line(uint64_t address, char *text, size_t size);

#endif
