// Register classes: how much space a PTX type takes in a warp's register frame.
#ifndef REGISTER_H
#define REGISTER_H

#include "simt/ptx/ptx.h"

typedef enum {
    REGISTER_NONE,
    REGISTER_PRED, // one bit per lane, 32 lanes in one word
    REGISTER_16,
    REGISTER_32,
    REGISTER_64,
    REGISTER_128 // may be declared; no instruction uses one yet
} RegisterClass;

// Bytes per lane; 0 for predicates and REGISTER_NONE.
static inline uint32_t register_bytes(RegisterClass class) {
    return class >= REGISTER_16 ? 1u << (class - REGISTER_16 + 1) : 0;
}

// The narrowest class that holds a value of this type; REGISTER_NONE if there is none.
static inline RegisterClass register_class(PtxType type) {
    if (type == PTX_PRED) return REGISTER_PRED;
    switch (ptx_type_bytes(type)) {
    case 1:
    case 2:
        return REGISTER_16;
    case 4:
        return REGISTER_32;
    case 8:
        return REGISTER_64;
    case 16:
        return REGISTER_128;
    default:
        return REGISTER_NONE;
    }
}

#endif
