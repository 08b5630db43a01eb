// The memory of host code, and the addresses of its functions. See host.h.
#include <string.h>

#include "engine/host.h"

// Host code has three ranges of addresses: its own memory, what the caller maps, and functions.
#define OWN       UINT64_C(0x10000000000)
#define MAPPED    UINT64_C(0x18000000000)
#define FUNCTIONS UINT64_C(0x1C000000000)

uint8_t *host_at(const Host *host, uint64_t address, uint64_t size) {
    uint64_t offset = address - MAPPED;
    if (offset < host->mapped_bytes)
        return size <= host->mapped_bytes - offset ? host->mapped + offset : NULL;
    offset = address - OWN;
    if (offset >= HOST_BYTES || (offset >= host->used && offset < host->top)) return NULL;
    const uint64_t end = offset < host->used ? host->used : HOST_BYTES;
    return size <= end - offset ? host->memory + offset : NULL;
}

uint64_t host_address(const Host *host, const uint8_t *bytes) {
    const uint64_t offset = (uintptr_t)bytes - (uintptr_t)host->memory;
    return offset < HOST_BYTES ? OWN + offset : MAPPED + (uint64_t)(bytes - host->mapped);
}

uint64_t host_map(Host *host, uint8_t *bytes, uint64_t size) {
    host->mapped = bytes, host->mapped_bytes = size;
    return MAPPED;
}

// --- what outlives functions ---

static uint8_t *outliving(Host *host, const void *bytes, uint64_t size, Place place) {
    enum { ALIGN = 16 };
    const uint64_t room = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (room > host->top - host->used) {
        host_fault(host, place, HOST_FULL);
        return NULL;
    }
    host->top -= (size_t)room;
    uint8_t *to = host->memory + host->top;
    if (bytes)
        memcpy(to, bytes, (size_t)size);
    else
        memset(to, 0, (size_t)size);
    return to;
}

uint64_t host_put(Host *host, const void *bytes, size_t size) {
    const uint8_t *to = outliving(host, bytes, size, (Place){0});
    return to ? host_address(host, to) : 0;
}

static uint8_t *known(const Host *host, const void *of) {
    for (size_t k = 0; k < host->static_count; k++)
        if (host->statics[k].of == of) return host->statics[k].bytes;
    return NULL;
}

static uint8_t *add(Host *host, const void *of, uint8_t *bytes) {
    ARENA_GROW(host->arena, host->statics, host->static_count, host->static_capacity);
    host->statics[host->static_count].of = of;
    host->statics[host->static_count++].bytes = bytes;
    return bytes;
}

uint8_t *host_static(Host *host, const Variable *variable) {
    uint8_t *bytes = known(host, variable);
    return bytes ? bytes
                 : add(host, variable,
                       outliving(host, variable->initial, variable->type->size, variable->place));
}

uint8_t *host_text(Host *host, const Expression *text) {
    uint8_t *bytes = known(host, text);
    if (bytes) return bytes;
    const char *terminated = str_terminated(host->arena, text->text);
    return add(host, text, outliving(host, terminated, text->text.len + 1, text->place));
}

// --- functions ---

uint64_t host_function_address(Host *host, const Function *function) {
    size_t number = 0;
    while (number < host->function_count && host->functions[number] != function) number++;
    if (number == host->function_count) {
        ARENA_GROW(host->arena, host->functions, host->function_count, host->function_capacity);
        host->functions[host->function_count++] = function;
    }
    return FUNCTIONS + number;
}

const Function *host_function(const Host *host, HostValue pointer) {
    const uint64_t number = (uint64_t)pointer.integer - FUNCTIONS;
    return number < host->function_count ? host->functions[number] : NULL;
}
