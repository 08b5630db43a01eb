// Collects what kernels print. See native.h.
#include "simt/base/console.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simt/native/native.h"

enum { MOST = 1 << 20 };

bool native_silent;

static char printed[MOST];
static size_t length;

Str native_printed(void) { return (Str){printed, length}; }

bool console_print(const char *format, ...) {
    va_list arguments;
    const size_t left = MOST - length;
    if (native_silent) return true;
    va_start(arguments, format);
    const int bytes = vsnprintf(printed + length, left, format, arguments);
    va_end(arguments);
    if (bytes > 0) length += (size_t)bytes < left ? (size_t)bytes : left - 1;
    return bytes >= 0;
}

bool console_write(const char *text, size_t bytes) {
    const size_t left = MOST - length;
    if (native_silent) return true;
    if (bytes > left) bytes = left;
    memcpy(printed + length, text, bytes);
    length += bytes;
    return true;
}
