// The thread that runs a function after a while. See later.h.
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/later.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "simt/program/runtime.h"

static bool (*function)(void); // NULL: there is no thread

static void *call(void *unused) {
    const struct timespec pause = {.tv_nsec = 10000000};
    (void)unused;
    for (bool done = false; !done;) {
        nanosleep(&pause, NULL);
        runtime_enter();
        if (!function()) function = NULL;
        done = !function;
        runtime_leave(CUDA_SUCCESS);
    }
    return NULL;
}

// The program's signals stay with its own threads, apart from faults, which are this thread's own.
void later_call(bool (*run)(void)) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    pthread_t thread;
    sigset_t blocked, before;
    if (function) return;
    function = run;
    sigfillset(&blocked);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) sigdelset(&blocked, faults[k]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    if (pthread_create(&thread, NULL, call, NULL) == 0)
        pthread_detach(thread);
    else
        function = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
