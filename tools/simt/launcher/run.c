// Running the program: see run.h.
#define _GNU_SOURCE
#include "simt/launcher/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static volatile pid_t program;

// A terminal's signals come to the program by themselves.
static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code <= 0) kill(program, number);
}

static void pass_signals_on(void) {
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    for (int k = 0; k < PASSED_ON; k++) {
        sigaction(passed_on[k], NULL, &old);
        if (old.sa_handler != SIG_IGN) sigaction(passed_on[k], &action, NULL);
    }
}

// What the program died of, for those who wait for the launcher; one core file is enough.
static _Noreturn void die_of(int number) {
    struct rlimit none = {0, 0};
    sigset_t only;
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    exit(128 + number);
}

static _Noreturn void end_like(int status, int refused) {
    char byte;
    if (pread(refused, &byte, 1, 0) == 1) exit(RUN_STATUS_REFUSED);
    if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
    exit(WEXITSTATUS(status));
}

// In the child. An error is the number that the parent's pipe gets.
static _Noreturn void become(const char *path, char **argv, int report, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    execv(path, argv);
    int error = errno;
    ssize_t written = write(report, &error, sizeof error);
    _exit(written == sizeof error ? 127 : 126);
}

void run_program(const char *path, char **argv) {
    char number[16];
    int report[2], refused = memfd_create("refused", 0), error = 0;
    if (refused < 0 || pipe2(report, O_CLOEXEC) != 0) return;
    snprintf(number, sizeof number, "%d", refused);
    setenv(RUN_REFUSED, number, 1);
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t parent = getpid();
    program = fork();
    if (program < 0) return;
    if (program > 0) pass_signals_on();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (program == 0) become(path, argv, report[1], parent);
    close(report[1]);
    ssize_t got = read(report[0], &error, sizeof error);
    int status = 0;
    while (waitpid(program, &status, 0) < 0 && errno == EINTR) continue;
    errno = error;
    if (got != sizeof error) end_like(status, refused);
}
