// Handles signals, abort, and _exit: reports what the program did before the process ends. If host
// code dereferences a device pointer, the program gets the same signal as with a GPU, after a line
// that explains it. An interrupt stops a running kernel first, which then prints where it was.
#define _GNU_SOURCE

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "simt/base/clock.h"
#include "simt/exec/machine.h"
#include "simt/memory/guard.h"
#include "simt/memory/memory.h"
#include "simt/program/handshake.h"
#include "simt/program/runtime.h"

// SIGINT and SIGTERM stop the running kernel and then end the process. A signal handler cannot do
// that, so it wakes a thread that does.
static sem_t wake;  // not a pipe, because programs may close all descriptors
static pid_t owner; // a child of the program has the handlers but not the thread
static volatile sig_atomic_t first_number; // a signal, or ENDS for an exit with first_status
static int64_t first_ns;
static int first_status;
static bool lock_is_lost; // the thread that holds the lock will never release it
enum { ENDS = -1 };

static int64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

// The same signal may arrive twice, from the launcher and from the sender to the process group. One
// that arrives half a second after the first or later ends the process immediately.
static void interrupt(int number) {
    enum { SOON_NS = 500000000 };
    const int saved = errno;
    if (getpid() != owner || (first_number && now_ns() - first_ns > SOON_NS))
        console_end_by_signal(number);
    if (!first_number) {
        first_ns = now_ns();
        first_number = number;
        machine_interrupted = 1;
        if (sem_post(&wake) != 0) console_end_by_signal(number);
    }
    errno = saved;
}

// Wakes the thread that ends the process and waits for it, up to ten seconds. It may be unable to
// finish if this thread holds a lock of the C library; then nothing is reported.
static void give_up(int number) {
    const struct timespec tenth = {.tv_nsec = 100000000};
    if (getpid() != owner || first_number > 0) return;
    if (!first_number) {
        first_number = number;
        lock_is_lost = runtime_inside();
        if (sem_post(&wake) != 0) return;
    }
    for (int k = 0; k < 100; k++) nanosleep(&tenth, NULL);
}

static uint64_t code_low, code_high; // of the program itself

static int find_code(struct dl_phdr_info *info, size_t bytes, void *unused) {
    (void)bytes, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        code_low = info->dlpi_addr + segment->p_vaddr;
        code_high = code_low + segment->p_memsz;
    }
    return 1; // the program comes first
}

// The address in the program at which it was executing, or from which it called a library.
static uint64_t place_of(uint64_t pc) {
    enum { MOST_CALLS = 24 };
    void *calls[MOST_CALLS];
    if (pc >= code_low && pc < code_high) return pc;
    const int count = backtrace(calls, MOST_CALLS);
    for (int k = 0; k < count; k++) {
        const uint64_t back = (uint64_t)(uintptr_t)calls[k];
        if (back > code_low && back <= code_high) return back - 1;
    }
    return pc;
}

// Describes the access that faulted.
static GuardFault access_of(uint64_t address, const ucontext_t *context) {
    enum { WRITES = 2 }; // bit of the page-fault error code
    const greg_t *registers = context->uc_mcontext.gregs;
    return (GuardFault){address, (uint64_t)registers[REG_RIP], registers[REG_ERR] & WRITES};
}

static void fault(int number, siginfo_t *info, void *context);

// Whether our handler is still installed. The program may have replaced it.
bool signal_sees_faults(void) {
    static bool loaded; // backtrace loads a library on its first call, which a handler must not do
    struct sigaction now;
    void *first;
    if (!loaded) backtrace(&first, 1);
    loaded = true;
    return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == fault;
}

// Handles a fault or abort.
static void fault(int number, siginfo_t *info, void *context) {
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    const int saved = errno;
    if (number == SIGSEGV && memory_reserved(address)) {
        GuardFault touched = access_of(address, context);
        if (guard_any()) touched.pc = place_of(touched.pc);
        if (guard_fault(&touched)) {
            errno = saved;
            return;
        }
    }
    if (number == SIGSEGV && memory_reserved(address)) {
        char line[160];
        int length =
            snprintf(line, sizeof line,
                     "simt: host code touched device memory at 0x%llx: copy it to the host "
                     "with cudaMemcpy\n",
                     (unsigned long long)address);
        console_alert(line, (size_t)length);
    }
    machine_interrupted = 1;
    give_up(number);
    console_end_by_signal(number);
}

// Replace the C library's functions, which end the process without running exit handlers. Waiting
// work is discarded.
API _Noreturn void _exit(int status) {
    if (!owner) handshake_reported(); // the program made no CUDA call
    if (!first_number) first_status = status;
    give_up(ENDS);
    console_end(status);
}
API _Noreturn void _Exit(int status) { _exit(status); }
API _Noreturn void quick_exit(int status) { _exit(status); }

int signal_interrupted(void) { return first_number == ENDS ? 0 : first_number; }

static void *wait_for_wake(void *unused) {
    while (sem_wait(&wake) != 0) continue;
    if (!lock_is_lost) runtime_enter();
    if (first_number == ENDS) runtime_end(first_status);
    runtime_end_by_signal(first_number);
    return unused;
}

static bool start_waiting(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    owner = getpid();
    if (sem_init(&wake, 0, 0) != 0) return false;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool good = pthread_create(&thread, &attributes, wait_for_wake, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static void watch(int number, const struct sigaction *action) {
    struct sigaction old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, action, NULL);
}

// Installs the handlers where the program has none of its own. It may replace them later.
void signal_watch(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction end = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    struct sigaction stop = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&end.sa_mask);
    sigemptyset(&stop.sa_mask);
    if (!start_waiting()) return;
    dl_iterate_phdr(find_code, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) watch(faults[i], &end);
    watch(SIGINT, &stop);
    watch(SIGTERM, &stop);
}
