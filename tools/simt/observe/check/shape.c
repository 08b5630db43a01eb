// How the lanes of an access to global memory lie: see Shape.
#include "simt/observe/check/inside.h"

// Of few lanes.
static Shape shape_of_few(uint32_t mask, const uint64_t address[LANES]) {
    const uint64_t first = address[__builtin_ctz(mask)];
    Shape shape = {.low = first, .high = first, .bits = first};
    for (uint32_t m = mask & (mask - 1); m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        shape.low = at < shape.low ? at : shape.low;
        shape.high = at > shape.high ? at : shape.high;
        shape.bits |= at;
    }
    return shape;
}

// Of lanes anywhere; those that are off count as the first one.
static Shape shape_of_any(uint32_t mask, const uint64_t address[LANES], uint64_t size) {
    const uint64_t first = address[__builtin_ctz(mask)];
    const uint32_t pairs = mask & mask >> 1;
    uint64_t low = first, high = first, bits = first;
    uint32_t on = 0, same = 0;
    LANE_LOOP {
        const uint64_t at = mask >> l & 1 ? address[l] : first;
        low = at < low ? at : low;
        high = at > high ? at : high;
        bits |= at;
    }
    for (uint32_t l = 0; l < LANES - 1; l++)
        on |= (uint32_t)(address[l + 1] == address[l] + size) << l;
    for (uint32_t l = 0; l < LANES - 1; l++) same |= (uint32_t)(address[l + 1] == address[l]) << l;
    return (Shape){.low = low, .high = high, .bits = bits, .on = on & pairs, .same = same & pairs};
}

// Whether all lanes lie so far apart.
static bool is_even(const uint64_t address[LANES], uint64_t stride) {
    const uint64_t first = address[0];
    uint64_t stray = 0;
    LANE_LOOP stray |= (first + stride * (uint64_t)l) ^ address[l];
    return !stray;
}

// Of all lanes, each as far behind the one before.
static Shape shape_of_even(const Access *access, const uint64_t address[LANES], uint64_t stride) {
    const uint64_t first = address[0], last = address[LANES - 1];
    const bool up = (int64_t)stride >= 0, on = stride == address_bytes(access);
    return (Shape){.even = true,
                   .whole = on && first % 4 == 0 && access->kind != ACCESS_ATOMIC,
                   .stride = (int64_t)stride,
                   .low = up ? first : last,
                   .high = up ? last : first,
                   .bits = first | stride,
                   .on = on ? ALL_LANES >> 1 : 0,
                   .same = stride ? 0 : ALL_LANES >> 1};
}

Shape check_shape(const Access *access, uint32_t mask, const uint64_t address[LANES]) {
    const uint64_t stride = address[1] - address[0];
    Shape shape;
    if (mask == ALL_LANES && is_even(address, stride))
        shape = shape_of_even(access, address, stride);
    else
        shape = warp_is_sparse(mask) ? shape_of_few(mask, address)
                                     : shape_of_any(mask, address, address_bytes(access));
    shape.near = !((shape.low ^ shape.high) >> REGION_SHIFT);
    return shape;
}
