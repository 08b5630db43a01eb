// What the device library says: see console.h.
#define _GNU_SOURCE
#include "simt/base/console.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct Said {
    struct Said *next;
    char line[];
} Said;

static bool said_before(const char *line) {
    static Said *said;
    for (const Said *at = said; at; at = at->next)
        if (strcmp(at->line, line) == 0) return true;
    size_t bytes = strlen(line) + 1;
    Said *added = malloc(sizeof *added + bytes);
    if (!added) return false; // then it may be said again
    memcpy(added->line, line, bytes);
    added->next = said;
    said = added;
    return false;
}

void console_say(const char *format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (said_before(line)) return;
    fflush(stdout);
    fprintf(stderr, "simt: %s\n", line);
}

void console_alert(const char *line, size_t bytes) {
    ssize_t written = write(STDERR_FILENO, line, bytes);
    (void)written; // there is nobody else to tell
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

// Not by _exit, in whose place is one that reports.
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
