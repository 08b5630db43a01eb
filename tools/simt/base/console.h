// Prints the device library's lines and the output of kernels, and ends the process. No other
// component does either, except report/, which prints at the end of the program.
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

// A program may close stdout or stderr and open a file of its own under the same number. simt
// therefore prints to a stream only while it refers to the same file as when the library was
// loaded, and otherwise to the other stream.

// Prints one line, "simt: ...", to stderr; a line that was printed before is dropped. Only one
// thread may call this at a time.
void console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The same, with a kind that reports show: "refused", "launch-failed", ... The kind of
// console_say's lines is "kernel-failed".
void console_say_as(const char *kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The lines printed so far, without "simt: ", counted from 0. NULL after the last.
const char *console_said(size_t number, const char **kind);

// Writes a line unchanged to stderr. Safe in a signal handler.
void console_alert(const char *line, size_t bytes);

// Print a kernel's output to stdout. False if it cannot be written.
bool console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool console_write(const char *text, size_t bytes);
size_t console_printed(void); // how often kernels have printed

// Ends the process without the program's exit handlers.
_Noreturn void console_end(int status);
// Ends the process by the signal's default action. Safe in the signal's own handler.
void console_end_by_signal(int number);

void console_flush(void); // flushes all streams of the process

// Called at the end of the program: makes stdout and stderr refer to their first files again, so
// that a report does not go into a file of the program. False if there is nowhere left to print.
bool console_restore(void);

#endif
