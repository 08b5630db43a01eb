// Reports results that depend on the order of blocks and warps, once the host reads them.
#ifndef READ_BACK_H
#define READ_BACK_H

#include "simt/device/result.h"

// Remembers what a launch of the kernel, by its mangled name, has left that depends on the order.
void read_back_keep(const char *mangled, const Difference *found, size_t found_count);
// The host reads these bytes.
void read_back_read(uint64_t address, size_t bytes);
// Bytes are overwritten, by the host or with a copy of others.
void read_back_written(uint64_t address, size_t bytes);
void read_back_moved(uint64_t to, uint64_t from, size_t bytes);

// The elements that are remembered: their number, and the address of each; 0: it has changed since.
size_t read_back_count(void);
uint64_t read_back_address(size_t number);

#endif
