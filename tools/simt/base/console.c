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
    if (!added) return false; // then it may be said again
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
    fprintf(stderr, "simt: %s\n", line);
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
