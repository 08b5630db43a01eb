// Fat binaries: the container in which nvcc embeds a program's PTX and machine code.
#ifndef FATBIN_H
#define FATBIN_H

#include <stdint.h>

#include "base/str.h"
#include "simt/base/status.h"

typedef enum {
    FATBIN_OK,
    FATBIN_CORRUPT,     // not a fat binary, or cut short
    FATBIN_COMPRESSED,  // the only PTX in it is compressed
    FATBIN_NO_PTX,      // machine code only
    FATBIN_RELOCATABLE, // built with -rdc=true
} FatbinStatus;

// Finds the best PTX in a fat binary of which all bytes are given: the newest up to DEVICE_ARCH,
// else the oldest of those for newer devices. The text stays in place. On
// failure the error says what to do.
FatbinStatus fatbin_ptx(Str bytes, Str *ptx, SimtError *error);

// The same for the wrapper that programs hand to __cudaRegisterFatBinary.
FatbinStatus fatbin_wrapper_ptx(const void *wrapper, Str *ptx, SimtError *error);

#endif
