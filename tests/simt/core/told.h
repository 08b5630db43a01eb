// Prints the results of unit tests in the form that tests/suite.py reads.
#ifndef TOLD_H
#define TOLD_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char trouble[4096];

static void wrong(const char *format, ...) {
    size_t len = strlen(trouble);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(trouble + len, sizeof trouble - len, format, arguments);
    va_end(arguments);
    len = strlen(trouble);
    (void)snprintf(trouble + len, sizeof trouble - len, "\n");
}

static void told(const char *name) {
    (void)printf("%s %s\n", trouble[0] ? "not ok" : "ok", name);
    for (char *line = strtok(trouble, "\n"); line; line = strtok(NULL, "\n"))
        (void)printf("    %s\n", line);
    trouble[0] = '\0';
}

#endif
