// Host code that follows a device pointer gets the signal it would get beside a GPU, and a line
// that says why.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "memory.h"
#include "runtime.h"

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
        ssize_t written = write(STDERR_FILENO, line, (size_t)length);
        (void)written; // the process ends in any case
    }
    signal(signal_number, SIG_DFL); // and the access is tried again
}

void runtime_watch_signals(void) {
    struct sigaction old, new = {.sa_sigaction = explain, .sa_flags = SA_SIGINFO};
    sigemptyset(&new.sa_mask);
    if (sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &new, NULL);
}
