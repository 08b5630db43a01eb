// Runs child processes with a log file, a time limit and a limit of the log's size.
#define _XOPEN_SOURCE 700
#include "grade/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_FOUND = 127, LARGEST_LOG = 16 << 20, POLL_NS = 2000000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

Child child_start(char *const *arguments, const char *log, double seconds) {
    Child child = {fork(), now() + seconds, log};
    if (child.pid != 0) return child;
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), in = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(126);
    execvp(arguments[0], arguments);
    _exit(NOT_FOUND);
}

static bool is_log_too_large(const char *log) {
    struct stat status;
    return stat(log, &status) == 0 && status.st_size > LARGEST_LOG;
}

ChildEnd child_wait(Child child) {
    ChildEnd end = {.status = NOT_FOUND, .absent = true};
    if (child.pid < 0) return end;
    int status = 0;
    for (pid_t ended; (ended = waitpid(child.pid, &status, WNOHANG)) != child.pid;) {
        if (ended < 0 && errno != EINTR) return end;
        if (!end.hung && (now() > child.deadline || is_log_too_large(child.log))) {
            kill(-child.pid, SIGKILL);
            end.hung = true;
        }
        nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    end.absent = end.status == NOT_FOUND;
    return end;
}
