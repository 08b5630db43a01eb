// Fat binaries: the container in which nvcc embeds a program's PTX and machine code.
#ifndef FATBIN_H
#define FATBIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "simt/base/status.h"

typedef enum {
    FATBIN_OK,
    FATBIN_CORRUPT,     // not a fat binary, or cut short
    FATBIN_NO_PTX,      // machine code only
    FATBIN_RELOCATABLE, // built with -rdc=true from several files
} FatbinStatus;

typedef struct {
    Str payload; // stays in place
    enum { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD } packing;
    uint64_t bytes; // unpacked
} FatbinPtx;

// Finds the best PTX in a fat binary of which all bytes are given: the newest up to DEVICE_ARCH,
// else the oldest of those for newer devices. On failure the error says what to do.
FatbinStatus fatbin_ptx(Str bytes, FatbinPtx *ptx, SimtError *error);

// The same for the wrapper that programs hand to __cudaRegisterFatBinary. What -rdc=true linked is
// machine code; the PTX is that of the file it came from, if there is one only.
FatbinStatus fatbin_wrapper_ptx(const void *wrapper, FatbinPtx *ptx, SimtError *error);

// The machine code for the device, of a fat binary with what follows it.
FatbinStatus fatbin_machine(Str bytes, FatbinPtx *cubin, SimtError *error);

// The same in such a wrapper, also of what was linked.
FatbinStatus fatbin_wrapper_machine(const void *wrapper, FatbinPtx *cubin, SimtError *error);

// --- unpacking what a fat binary holds packed by zstd or LZ4 ---

// The text of a fat binary's PTX. What was packed is unpacked into memory that stays. If not
// SIMT_OK, the error says why.
SimtStatus unpack_ptx(const FatbinPtx *ptx, Str *text, SimtError *error);

// The same of its machine code.
SimtStatus unpack_machine(const FatbinPtx *cubin, Str *file, SimtError *error);

// One LZ4 block, into exactly `bytes` bytes. False if it is damaged.
bool unpack_lz4(Str block, char *to, size_t bytes);

#endif
