// The workbook's version, and the option --version of every tool.
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define VERSION "0.6.0"

// If the only argument is --version, prints the version and returns true.
static inline bool version_asked(int argc, char **argv, const char *program) {
    if (argc != 2 || strcmp(argv[1], "--version") != 0) return false;
    printf("%s %s\n", program, VERSION);
    return true;
}

#endif
