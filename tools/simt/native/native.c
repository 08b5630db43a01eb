// Ends a run, and gets memory from the host. See native.h.
#include "simt/native/native.h"

#include <stdlib.h>

void (*native_ending)(void);

void native_end(void) {
    if (native_ending) native_ending();
    __builtin_trap();
}

#ifdef __wasm__
enum { PAGE = 1 << 16 };

void *native_map(size_t bytes) {
    const size_t first = __builtin_wasm_memory_grow(0, (bytes + PAGE - 1) / PAGE);
    return first == SIZE_MAX ? NULL : (void *)(first * PAGE);
}

void native_unmap(void *at) { (void)at; }
#else
void *native_map(size_t bytes) { return calloc(1, bytes); }
void native_unmap(void *at) { free(at); }
#endif
