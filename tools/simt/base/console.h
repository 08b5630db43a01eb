// The one voice of the device library, and its one way out: what it tells the user, what kernels
// print, and how it ends the process. Besides, only report/ writes to a stream, when the program is
// over.
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

// The program may close its descriptors and open files of its own under the same numbers. So simt
// prints on standard output or error only while it leads to the same file as when the library was
// loaded, and otherwise on the other of the two.

// One line on stderr, "simt: ..."; the same line only once. Not from several threads at a time.
void console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The same, of a kind that reports know: "refused", "launch-failed", ...; console_say's is
// "kernel-failed".
void console_say_as(const char *kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The lines so far, without "simt: ", from 0 on. NULL: no more.
const char *console_said(size_t number, const char **kind);

// A line as it is, also from a signal handler.
void console_alert(const char *line, size_t bytes);

// What a kernel prints, on stdout. False if it cannot be written.
bool console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool console_write(const char *text, size_t bytes);
size_t console_printed(void); // how often kernels have printed

// Without the program's exit handlers, which have run or must not run.
_Noreturn void console_end(int status);
void console_end_by_signal(int number); // as if nobody had caught it; also from its handler

void console_flush(void); // all that the process has written so far

// For the end of the program: keeps later output on stdout and stderr out of the files that the
// program has opened. False: there is no place left to print to.
bool console_take_back(void);

#endif
