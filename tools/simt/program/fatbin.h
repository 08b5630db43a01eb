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
    FATBIN_NO_PTX,      // machine code only, which a GPU could run
    FATBIN_NO_IMAGE,    // nothing that a GPU of this compute capability could run
    FATBIN_RELOCATABLE, // built with -rdc=true from several files
} FatbinStatus;

typedef struct {
    Str payload; // points into the fat binary
    enum { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD } packing;
    uint64_t bytes; // unpacked
} FatbinPtx;

// Finds the best PTX in a complete fat binary: the newest up to the device's architecture,
// limits_arch(); or the oldest for newer devices, if there is machine code for this one. On failure
// the error says what to do.
FatbinStatus fatbin_ptx(Str bytes, FatbinPtx *ptx, SimtError *error);

// The same for the wrapper that programs pass to __cudaRegisterFatBinary. -rdc=true links only
// machine code, so the PTX comes from the linked file; it is an error if several files have PTX.
FatbinStatus fatbin_wrapper_ptx(const void *wrapper, FatbinPtx *ptx, SimtError *error);

// Finds the machine code for the device. `bytes` may continue past the end of the fat binary.
FatbinStatus fatbin_machine(Str bytes, FatbinPtx *cubin, SimtError *error);

// The same for a wrapper, also with -rdc=true.
FatbinStatus fatbin_wrapper_machine(const void *wrapper, FatbinPtx *cubin, SimtError *error);

// --- decompression of zstd and LZ4 ---

// Returns the PTX text, decompressed if necessary into memory that is never freed. On failure the
// error says why.
SimtStatus unpack_ptx(const FatbinPtx *ptx, Str *text, SimtError *error);

// The same for machine code.
SimtStatus unpack_machine(const FatbinPtx *cubin, Str *file, SimtError *error);

// Decompresses one LZ4 block to exactly `bytes` bytes. Returns false if the block is corrupt.
bool unpack_lz4(Str block, char *to, size_t bytes);

#endif
