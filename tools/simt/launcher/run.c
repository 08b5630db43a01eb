// Runs the program: forwards signals, reads the handshake, and exits as the program did.
#define _GNU_SOURCE
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

#include "simt/launcher/launcher.h"
#include "simt/program/handshake.h"

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static volatile pid_t program;

// Forwards only signals sent by a process: the terminal sends its own to the whole group.
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

// Ends by the signal that ended the program, without a second core file.
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

static _Noreturn void end_unseen(const char *path, const char *what) {
    fprintf(stderr, "simt: %s %s\n", path, what);
    exit(RUN_STATUS_REFUSED);
}

static _Noreturn void end_like(const char *path, int status, const Handshake *seen) {
    if (seen->refused) exit(RUN_STATUS_REFUSED);
    if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
    if (seen->state == HANDSHAKE_NONE)
        end_unseen(path, "ran without the CPU device: nothing was counted or checked. The loader "
                         "preloads nothing into a program that is setuid, setgid or has "
                         "capabilities: run a copy without them");
    if (seen->loads > 1 || seen->state == HANDSHAKE_LOADED)
        end_unseen(path,
                   "was not watched to its end: it became another program (exec), or ended by "
                   "a bare system call. Give simt the program that does the work, and let it "
                   "end by exit or _exit");
    exit(WEXITSTATUS(status));
}

const char *run_link(int fd, char link[static RUN_LINK]) {
    snprintf(link, RUN_LINK, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return link;
}

static Handshake *share_handshake(void) {
    char link[RUN_LINK];
    const int file = memfd_create("handshake", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, sizeof(Handshake)) != 0) return NULL;
    void *shared = mmap(NULL, sizeof(Handshake), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    setenv(HANDSHAKE, run_link(file, link), 1);
    return shared == MAP_FAILED ? NULL : shared;
}

// Runs in the child. If exec fails, writes errno to the pipe `report`.
static _Noreturn void become(const char *path, char **argv, int report, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    execv(path, argv);
    int error = errno;
    ssize_t written = write(report, &error, sizeof error);
    _exit(written == sizeof error ? 127 : 126);
}

void run_program(const char *path, char **argv) {
    int report[2], error = 0;
    Handshake *shared = share_handshake();
    if (!shared || pipe2(report, O_CLOEXEC) != 0) return;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t parent = getpid();
    program = fork();
    if (program < 0) return;
    if (program > 0) pass_signals_on();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (program == 0) {
        shared->program = getpid();
        become(path, argv, report[1], parent);
    }
    close(report[1]);
    ssize_t got = read(report[0], &error, sizeof error);
    int status = 0;
    while (waitpid(program, &status, 0) < 0 && errno == EINTR) continue;
    errno = error;
    if (got != sizeof error) end_like(path, status, shared);
}
