// Redirects a statically linked CUDA runtime to this library: writes a jump to the library's
// function over the start of each function in the launcher's list.
//
// The library is preloaded, so this runs before the program's constructors, which register its
// kernels, and before any of the overwritten code.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simt/program/handshake.h"
#include "simt/program/runtime.h"

// endbr64, which must stay first in case calls require it at their target: Intel Software
// Developer's Manual, "Control-flow Enforcement Technology".
static const unsigned char landing[] = {0xF3, 0x0F, 0x1E, 0xFA};

// Writes `mov $ADDRESS, %rax; jmp *%rax`. Functions are at least 16 bytes apart.
static void write_jump(unsigned char *at, const void *target) {
    static const unsigned char move[] = {0x48, 0xB8}, jump[] = {0xFF, 0xE0};
    if (memcmp(at, landing, sizeof landing) == 0) at += sizeof landing;
    memcpy(at, move, sizeof move);
    memcpy(at + sizeof move, &target, sizeof target);
    memcpy(at + sizeof move + sizeof target, jump, sizeof jump);
}

// Called by dl_iterate_phdr: copies the entry of the program, which comes first.
static int find_program(struct dl_phdr_info *info, size_t bytes, void *found) {
    (void)bytes;
    *(struct dl_phdr_info *)found = *info;
    return 1;
}

static bool protect_code(const struct dl_phdr_info *program, int rights) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool good = true;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &program->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        uintptr_t start = program->dlpi_addr + segment->p_vaddr;
        uintptr_t end = (start + segment->p_memsz + page - 1) / page * page;
        start = start / page * page;
        good &= mprotect((void *)start, end - start, PROT_READ | rights) == 0;
    }
    return good;
}

static void *own_library(void) {
    Dl_info info;
    return dladdr(landing, &info) && info.dli_fname ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                                                    : NULL;
}

static void take_over(const char *list_name) {
    struct dl_phdr_info program;
    FILE *list = fopen(list_name, "re");
    void *self = own_library();
    if (!list || !self || !dl_iterate_phdr(find_program, &program) ||
        !protect_code(&program, PROT_WRITE | PROT_EXEC)) {
        console_say(
            "cannot replace the CUDA runtime that is linked into the program: %s; build with nvcc "
            "-cudart shared",
            strerror(errno));
        handshake_refused();
        console_end(2);
    }
    unsigned long long address;
    char name[256];
    while (fscanf(list, "%llx %255s", &address, name) == 2) {
        const void *target = dlsym(self, name);
        if (target) write_jump((unsigned char *)(uintptr_t)(program.dlpi_addr + address), target);
    }
    protect_code(&program, PROT_EXEC);
    fclose(list);
}

__attribute__((constructor)) static void start(void) {
    const char *list_name = getenv("SIMT_TAKE_OVER");
    if (!list_name) return;
    take_over(list_name);
    unsetenv("SIMT_TAKE_OVER"); // must not reach child processes
}
