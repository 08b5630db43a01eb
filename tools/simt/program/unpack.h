// PTX as a fat binary holds it: plain, or packed by zstd or LZ4.
#ifndef UNPACK_H
#define UNPACK_H

#include <stdbool.h>

#include "simt/program/fatbin.h"

// The text of a fat binary's PTX. What was packed is unpacked into memory that stays. If not
// SIMT_OK, the error says why.
SimtStatus unpack_ptx(const FatbinPtx *ptx, Str *text, SimtError *error);

// The same of its machine code.
SimtStatus unpack_machine(const FatbinPtx *cubin, Str *file, SimtError *error);

// One LZ4 block, into exactly `bytes` bytes. False if it is damaged.
bool unpack_lz4(Str block, char *to, size_t bytes);

#endif
