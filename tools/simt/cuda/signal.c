// Signals. Host code that follows a device pointer gets the signal it would get beside a GPU, and a
// line that says why. An interrupt while a kernel runs first lets it say where it is.
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/signal.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "simt/base/console.h"
#include "simt/exec/machine.h"
#include "simt/memory/memory.h"

static void explain(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    if (memory_reserved(address)) {
        char line[160];
        int length =
            snprintf(line, sizeof line,
                     "simt: host code touched device memory at 0x%llx: copy it to the host "
                     "with cudaMemcpy\n",
                     (unsigned long long)address);
        console_alert(line, (size_t)length);
    }
    signal(signal_number, SIG_DFL); // and the access is tried again
}

static volatile sig_atomic_t launching;

// The second interrupt, or one while no kernel runs, ends the process at once.
static void interrupt(int signal_number) {
    if (launching && !machine_interrupted) {
        machine_interrupted = 1;
        return;
    }
    console_end_by_signal(signal_number);
}

void signal_launching(bool running) { launching = running; }

// A program's own handlers stay; it may also put its own in the place of these.
void signal_watch(void) {
    struct sigaction old, fault = {.sa_sigaction = explain, .sa_flags = SA_SIGINFO};
    struct sigaction stop = {.sa_handler = interrupt};
    sigemptyset(&fault.sa_mask);
    sigemptyset(&stop.sa_mask);
    if (sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &fault, NULL);
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGINT, &stop, NULL);
}
