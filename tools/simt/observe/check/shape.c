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
static Shape shape_of_any(uint32_t mask, const uint64_t address[LANES]) {
    const uint64_t first = address[__builtin_ctz(mask)];
    uint64_t low = first, high = first, bits = first;
    LANE_LOOP {
        const uint64_t at = mask >> l & 1 ? address[l] : first;
        low = at < low ? at : low;
        high = at > high ? at : high;
        bits |= at;
    }
    return (Shape){.low = low, .high = high, .bits = bits};
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
    const bool up = (int64_t)stride >= 0;
    return (Shape){.even = true,
                   .whole = stride == address_bytes(access) && first % 4 == 0 &&
                            access->kind != ACCESS_ATOMIC,
                   .stride = (int64_t)stride,
                   .low = up ? first : last,
                   .high = up ? last : first,
                   .bits = first | stride};
}

Shape check_shape(const Access *access, uint32_t mask, const uint64_t address[LANES]) {
    const uint64_t stride = address[1] - address[0];
    Shape shape;
    if (mask == ALL_LANES && is_even(address, stride))
        shape = shape_of_even(access, address, stride);
    else
        shape = warp_is_sparse(mask) ? shape_of_few(mask, address) : shape_of_any(mask, address);
    shape.near = !((shape.low ^ shape.high) >> REGION_SHIFT);
    return shape;
}

uint32_t check_heads(const Shape *shape, uint32_t lanes, const uint64_t address[LANES]) {
    uint32_t same = 0;
    if (shape->low == shape->high) return lanes & (0 - lanes);
    if (shape->even || warp_is_sparse(lanes)) return lanes;
    for (uint32_t l = 1; l < LANES; l++) same |= (uint32_t)(address[l] == address[l - 1]) << l;
    return lanes & ~(same & lanes << 1);
}
