// Prints the lines of the device library and of kernels, remembers the library's, and ends the
// process.
#define _GNU_SOURCE
#include "simt/base/console.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct stat first[STDERR_FILENO + 1]; // the files at load time; st_mode is 0 if not open

__attribute__((constructor)) static void record_streams(void) {
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &first[fd]) != 0) first[fd] = (struct stat){0};
}

static bool unchanged(int fd) {
    struct stat now;
    return first[fd].st_mode && fstat(fd, &now) == 0 && now.st_dev == first[fd].st_dev &&
           now.st_ino == first[fd].st_ino;
}

// `fd` if it is unchanged, or the other stream if that is, or -1.
static int usable(int fd) {
    const int other = STDOUT_FILENO + STDERR_FILENO - fd;
    return unchanged(fd) ? fd : unchanged(other) ? other : -1;
}

bool console_restore(void) {
    bool good = true;
    fflush(stdout);
    fflush(stderr);
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        const int to = usable(fd);
        good &= to >= 0;
        if (to != fd) dup2(to >= 0 ? to : open("/dev/null", O_WRONLY), fd);
    }
    return good;
}

typedef struct Said {
    struct Said *next;
    const char *kind;
    char line[];
} Said;

static Said *said;

static bool said_before(const char *kind, const char *line) {
    Said **end = &said;
    for (; *end; end = &(*end)->next)
        if (strcmp((*end)->line, line) == 0) return true;
    size_t bytes = strlen(line) + 1;
    Said *added = malloc(sizeof *added + bytes);
    if (!added) return false; // the line may then be printed twice
    memcpy(added->line, line, bytes);
    added->kind = kind;
    added->next = NULL;
    *end = added;
    return false;
}

static void say(const char *kind, const char *format, va_list arguments) {
    char line[2048];
    vsnprintf(line, sizeof line, format, arguments);
    if (said_before(kind, line)) return;
    fflush(stdout);
    const int to = usable(STDERR_FILENO);
    if (to >= 0) fprintf(to == STDERR_FILENO ? stderr : stdout, "simt: %s\n", line);
}

void console_say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("kernel-failed", format, arguments);
    va_end(arguments);
}

void console_say_as(const char *kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(kind, format, arguments);
    va_end(arguments);
}

const char *console_said(size_t number, const char **kind) {
    const Said *at = said;
    for (; at && number; number--) at = at->next;
    if (at) *kind = at->kind;
    return at ? at->line : NULL;
}

void console_alert(const char *line, size_t bytes) {
    const int to = usable(STDERR_FILENO);
    const ssize_t written = to >= 0 ? write(to, line, bytes) : 0;
    (void)written; // an error cannot be reported anywhere else
}

static size_t printed;

size_t console_printed(void) { return printed; }

bool console_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written = vprintf(format, arguments);
    va_end(arguments);
    return written >= 0;
}

bool console_write(const char *text, size_t bytes) {
    printed++;
    return fwrite(text, 1, bytes, stdout) == bytes;
}

// Makes the system call itself because the library replaces _exit by a function that prints the
// report.
void console_end(int status) {
    for (;;) syscall(SYS_exit_group, status);
}

void console_end_by_signal(int number) {
    sigset_t only;
    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
}

void console_flush(void) { fflush(NULL); }
