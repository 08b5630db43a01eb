// Signals. Host code that follows a device pointer gets the signal it would get beside a GPU, and a
// line that says why. An interrupt while a kernel runs first lets it say where it is.
#define _POSIX_C_SOURCE 200809L
#include "simt/program/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "simt/base/clock.h"
#include "simt/exec/machine.h"
#include "simt/memory/memory.h"
#include "simt/program/runtime.h"

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

// SIGINT and SIGTERM end the kernel that runs, then the process, with the report of what it did so
// far. Nothing of that can be done in a handler: a thread of its own waits for the word.
static int words[2]; // a pipe
static pid_t owner;  // a child of the program has the handlers but not the thread
static volatile sig_atomic_t first_number;
static int64_t first_ns;

static int64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

// The same signal may come twice: from the launcher, and from whoever sent it to the whole group.
// One that comes later ends the process at once.
static void interrupt(int number) {
    enum { SOON_NS = 500000000 };
    const int saved = errno;
    if (getpid() != owner || (first_number && now_ns() - first_ns > SOON_NS))
        console_end_by_signal(number);
    if (!first_number) {
        first_ns = now_ns();
        first_number = number;
        machine_interrupted = 1;
        if (write(words[1], "", 1) != 1) console_end_by_signal(number);
    }
    errno = saved;
}

int signal_interrupted(void) { return first_number; }

static void *wait_for_word(void *unused) {
    char word;
    while (read(words[0], &word, 1) < 0 && errno == EINTR) continue;
    runtime_enter();
    runtime_end_by_signal(first_number);
    return unused;
}

static bool start_waiting(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    owner = getpid();
    if (pipe(words) != 0) return false;
    fcntl(words[0], F_SETFD, FD_CLOEXEC);
    fcntl(words[1], F_SETFD, FD_CLOEXEC);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool good = pthread_create(&thread, &attributes, wait_for_word, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static void watch(int number, const struct sigaction *action) {
    struct sigaction old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, action, NULL);
}

// A program's own handlers stay; it may also put its own in the place of these.
void signal_watch(void) {
    struct sigaction fault = {.sa_sigaction = explain, .sa_flags = SA_SIGINFO};
    struct sigaction stop = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&fault.sa_mask);
    sigemptyset(&stop.sa_mask);
    watch(SIGSEGV, &fault);
    if (!start_waiting()) return;
    watch(SIGINT, &stop);
    watch(SIGTERM, &stop);
}
