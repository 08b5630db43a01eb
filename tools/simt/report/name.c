// Demangles and shortens kernel names.
#define _GNU_SOURCE
#include "simt/report/name.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_name.h"

typedef char *Demangle(const char *mangled, char *buffer, size_t *bytes, int *status);

// The C++ library's demangler, if the program or the machine has it. Programs built by nvcc do.
static Demangle *demangler(void) {
    static bool searched;
    static Demangle *found;
    if (searched) return found;
    searched = true;
    void *symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!symbol) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
        if (library) symbol = dlsym(library, "__cxa_demangle");
    }
    memcpy(&found, &symbol, sizeof found);
    return found;
}

const char *name_kernel(const char *mangled, char *name, size_t bytes) {
    int status = -1;
    Demangle *demangle = demangler();
    char *full = demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
    Str bare = status == 0 && full ? kernel_name_bare(str_of(full)) : str_of(mangled);
    snprintf(name, bytes, "%.*s", STR_ARG(bare));
    free(full);
    return name;
}

void name_short(Buf *buf, Str name) {
    enum { LONG = 48 };
    size_t depth = 0, start = 0, open = name.len;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (c == '<' && depth++ == 0) open = i;
        if (c == '>' && depth) depth--;
        if (c == ':' && depth == 0) start = i + 1;
    }
    if (open < start) open = name.len;
    if (name.len - start <= LONG) {
        buf_add(buf, str_from(name, start));
        return;
    }
    buf_add(buf, str_slice(name, start, open));
    if (open < name.len) buf_add(buf, STR("<...>"));
}
