// Guards managed and pinned memory, which host code reads without a call. See read_guard.h.
#include "simt/cuda/read_guard.h"

#include "simt/memory/memory.h"
#include "simt/report/read_back.h"

enum { PAGE = 4096, ONE_OBJECT = 64 }; // bytes

void read_guard_set(void) {
    uint64_t last = 0;
    for (size_t k = 0; k < read_back_count() && memory_of_host_count; k++) {
        const uint64_t address = read_back_address(k);
        if (!address || address / PAGE == last) continue;
        if (!memory_of_host(memory_find(address)->kind)) continue;
        last = address / PAGE;
        guard_pages(address, address + 1, true);
    }
}

// Only the first access to a page faults. Host code that reads an array reads on, but of a small
// allocation, such as a structure, it may read one member alone.
void read_guard_fault(const GuardFault *fault) {
    const Allocation *of = memory_find(fault->address);
    if (fault->write || !of || !read_back_count()) return;
    if (of->bytes <= ONE_OBJECT)
        read_back_read(fault->address, 1);
    else
        read_back_read(fault->address / PAGE * PAGE, PAGE);
}
