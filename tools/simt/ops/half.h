// Converts 16-bit floats to and from single precision without branches or calls, so that compilers
// vectorize loops over lanes.
#ifndef HALF_H
#define HALF_H

#include <stdint.h>
#include <string.h>

#include "simt/exec/inst.h"

#define HALF_INLINE static inline __attribute__((always_inline))

enum { HALF_NAN = 0x7fff }; // the canonical NaN of f16 and of bf16, measured on an H200

HALF_INLINE uint32_t half_single_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

HALF_INLINE float half_single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A NaN keeps its sign but not its payload.
HALF_INLINE float half_to_float(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
    const uint32_t small = half_single_bits((float)(int32_t)magnitude * 0x1p-24f);
    const uint32_t normal = (magnitude << 13) + ((127u - 15) << 23);
    const uint32_t special = magnitude == 0x7c00 ? 0x7f800000u : 0x7fc00000u;
    const uint32_t finite = magnitude < 0x400 ? small : normal;
    return half_single((magnitude < 0x7c00 ? finite : special) | sign);
}

HALF_INLINE float bfloat_to_float(uint32_t bits) {
    const uint32_t wide = bits << 16;
    return half_single((bits & 0x7fffu) > 0x7f80 ? (wide & 0x80000000u) | 0x7fc00000u : wide);
}

// Rounds to nearest even. Subnormal f16 numbers have the same last place as 0.5f, so adding 0.5f
// rounds them.
HALF_INLINE uint32_t half_nearest(float value) {
    const uint32_t bits = half_single_bits(value);
    const uint32_t magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    const uint32_t small = half_single_bits(half_single(magnitude) + 0.5f) - half_single_bits(0.5f);
    const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - ((127u - 15) << 23);
    const uint32_t normal = rounded >> 13 < 0x7c00 ? rounded >> 13 : 0x7c00;
    const uint32_t half = magnitude < (127u - 14) << 23 ? small : normal;
    return magnitude > 0x7f800000u ? HALF_NAN : half | sign;
}

HALF_INLINE uint32_t bfloat_nearest(float value) {
    const uint32_t bits = half_single_bits(value);
    const uint32_t magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    const uint32_t rounded = (magnitude + 0x7fff + (magnitude >> 16 & 1)) >> 16;
    return magnitude > 0x7f800000u ? HALF_NAN : rounded | sign;
}

// Round once, in any mode.
uint16_t float_to_half(double value, ConvertMode mode);
uint16_t float_to_bfloat(double value, ConvertMode mode);

#endif
