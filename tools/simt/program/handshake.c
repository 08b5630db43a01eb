// The library's side of the handshake: maps the page that the launcher shares, and writes to it.
#define _GNU_SOURCE
#include "simt/program/handshake.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static Handshake own, *page = &own; // `own` if there is no launcher

// Runs before all other constructors, because one in takeover.c may refuse the program. The mapping
// remains valid if the program closes all descriptors.
__attribute__((constructor(101))) static void load(void) {
    const char *name = getenv(HANDSHAKE);
    const int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED) return;
    page = shared;
    if (page->program != getpid()) return;
    page->state = HANDSHAKE_LOADED;
    page->loads++;
}

void handshake_reported(void) {
    if (page->program == getpid()) page->state = HANDSHAKE_REPORTED;
}

void handshake_refused(void) { page->refused = true; }
