// The runtime's state: the lock, the options, errors, and the macro that every call goes through.
//
// The files of this component define the functions that programs call, with the names and the
// binary interface of libcudart 12 and 13. Signatures and structures are those of the toolkit's
// cuda_runtime_api.h and driver_types.h, which are not included so that the tool builds without the
// toolkit. Work runs on the calling thread, under one lock: immediately, in the order of the calls,
// or, with --order, as late as CUDA allows (queue.h).
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/base/console.h"
#include "simt/device/device.h"
#include "simt/program/error.h"

#define API __attribute__((visibility("default")))

// The major version of the libcudart that this library replaces: 12 or 13.
extern const int runtime_abi;

// Evaluates a CudaError under the lock and returns it from an API function. After a kernel has
// broken the context (illegal address, assert, ...) every call returns that error instead.
#define RUNTIME(body)                                                                              \
    runtime_leave_call(__func__, runtime_enter_call(__func__, __builtin_return_address(0))         \
                                     ? CUDA_SUCCESS                                                \
                                     : (body))

bool runtime_enter(void); // true if the context is broken
bool runtime_enter_call(const char *call, const void *back);
// Returns the current call, such as "cudaMemcpyAsync"; *from is an address in the calling code.
const char *runtime_call(uint64_t *from);
uint64_t runtime_calls(void); // how many calls there were so far, without launches
CudaError runtime_leave(CudaError error);
CudaError runtime_leave_call(const char *call, CudaError error);
// The current call is the last one of a launch by <<<...>>> at this address.
void runtime_called_by_arrows(uint64_t from);
// Records that the current call launches no kernel; `why` is what is requested and what is
// possible. Only cudaGetLastError and cudaPeekAtLastError return the error of <<<...>>>; if the
// program calls neither, the end of the run reports it. Other calls return theirs, so the report is
// a note.
void runtime_failed_launch(const char *kernel, const char *why, CudaError error);
const SimtOptions *runtime_options(void);
void runtime_break(CudaError error); // every later call returns this error
// Refuses what the CPU device does not support: all later calls fail, even after a reset, and the
// process exits with status 2. The caller has printed why. Returns the error.
CudaError runtime_refuse(CudaError error);
CudaError runtime_broken(void);
bool runtime_inside(void); // whether this thread holds the lock
// Writes the report and ends the process. The caller must hold the lock, unless it can never be
// released.
void runtime_end_by_signal(int number);
_Noreturn void runtime_end(int status); // with `status`, unless the report calls for another

void runtime_reset_errors(void);
// Sets a function that runs after the program has ended, before the report.
void runtime_at_end(CudaError (*run)(void));
void runtime_before_report(void (*run)(void)); // sets one that also runs after a signal
int runtime_exit_status(void);                 // negative until the program ends

size_t device_stack_limit(void); // cudaLimitStackSize, bytes per thread

// Calls a function of the program without holding the lock.
void runtime_call_host(void (*call)(void *), void *data);

// Reports that the CPU device does not support a call, and refuses it.
CudaError runtime_unsupported(const char *what);

// --- signals: faults of host code, and interrupts ---

void signal_watch(void);
bool signal_sees_faults(void); // whether faults on guarded pages (guard.h) reach our handler
int signal_interrupted(void);  // the signal that will end the process, 0: none

// --- source lines of host code ---

// Writes "file.cu:12" if the program was built with -g, or "main()" if it has a symbol table.
// Writes an empty string if the address is outside of the program or nothing is known of it.
void host_line(uint64_t address, char *text, size_t size);
// The same for the innermost of a thread's frames that is in the program, and not in a template of
// cuda_runtime.h; and for the current call.
void host_line_of(void *const frames[], int count, char *text, size_t size);
void host_line_of_call(char *text, size_t size);

#endif
