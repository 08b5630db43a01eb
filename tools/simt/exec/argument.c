// Finds the kernel argument that points to given global memory. See address.h.
#include <stdio.h>
#include <string.h>

#include "simt/exec/address.h"

uint64_t argument_gap(const Allocation *allocation, uint64_t address) {
    const uint64_t end = allocation->address + allocation->bytes;
    if (address < allocation->address) return allocation->address - address;
    return address < end ? 0 : address - end + 1;
}

// Whether `a` is the better match: the argument with the nearer allocation; in one allocation an
// argument at or before the address, and the last of these.
static bool better(const Argument *a, const Argument *b, uint64_t address) {
    if (!b->of) return true;
    if (a->gap != b->gap) return a->gap < b->gap;
    if ((a->pointer <= address) != (b->pointer <= address)) return a->pointer <= address;
    return a->pointer <= address ? a->pointer > b->pointer : a->pointer < b->pointer;
}

Argument argument_near(const Machine *machine, uint64_t address) {
    const PtxFunction *kernel = machine->code->source;
    Argument best = {.of = NULL};
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        const PtxVariable *param = &kernel->params[k];
        for (uint64_t at = 0; at + 8 <= param->bytes; at += 8) { // a struct may hold several
            Argument one = {.number = k + 1};
            if (param->offset + at + 8 > machine->param_bytes) break;
            memcpy(&one.pointer, machine->params + param->offset + at, 8);
            one.of = memory_find(one.pointer);
            if (!one.of) continue;
            one.gap = argument_gap(one.of, address);
            if (better(&one, &best, address)) best = one;
        }
    }
    if (best.gap > ARGUMENT_REACH) best.of = NULL;
    return best;
}

int64_t argument_name(const Machine *machine, uint64_t address, char *to, size_t room) {
    const Argument argument = argument_near(machine, address);
    if (room) to[0] = '\0';
    if (!argument.of) return 0;
    snprintf(to, room, "argument %u", argument.number);
    return (int64_t)(address - argument.pointer);
}
