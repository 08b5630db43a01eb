// How the lanes of an access to global memory lie: see Shape.
#include "simt/observe/check/inside.h"

// Of few lanes.
static void shape_of_few(Shape *shape, uint32_t mask, const uint64_t address[LANES]) {
    const uint64_t first = address[__builtin_ctz(mask)];
    uint64_t low = first, high = first, bits = first;
    for (uint32_t m = mask & (mask - 1); m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        low = at < low ? at : low;
        high = at > high ? at : high;
        bits |= at;
    }
    shape->low = low;
    shape->high = high;
    shape->bits = bits;
    shape->on = shape->same = 0;
}

// A bit for each lane that lies so far in front of the next one. Sixteen pairs at a time, and one
// of them twice: compilers make vectors of that.
static inline uint32_t steps_of(const uint64_t address[LANES], uint64_t step) {
    enum { HALF = LANES / 2 };
    uint32_t first = 0, last = 0;
    for (int l = 0; l < HALF; l++) first |= (uint32_t)(address[l + 1] - address[l] == step) << l;
    for (int l = 0; l < HALF; l++)
        last |= (uint32_t)(address[l + HALF] - address[l + HALF - 1] == step) << l;
    return first | last << (HALF - 1);
}

// Of lanes anywhere; those that are off count as the first one.
static void shape_of_any(Shape *shape, uint32_t mask, const uint64_t address[LANES],
                         uint64_t size) {
    const uint64_t first = address[__builtin_ctz(mask)];
    const uint32_t pairs = mask & mask >> 1;
    uint64_t low = first, high = first, bits = first;
    LANE_LOOP {
        const uint64_t at = mask >> l & 1 ? address[l] : first;
        low = at < low ? at : low;
        high = at > high ? at : high;
        bits |= at;
    }
    shape->low = low;
    shape->high = high;
    shape->bits = bits;
    shape->on = steps_of(address, size) & pairs;
    shape->same = steps_of(address, 0) & pairs;
}

// Whether each lane lies so far behind the one before.
static inline bool is_even(const uint64_t address[LANES], uint64_t stride) {
    enum { HALF = LANES / 2 };
    uint64_t stray = 0;
    if (address[HALF] - address[HALF - 1] != stride) return false;
    for (int l = 0; l < HALF; l++) stray |= (address[l + 1] - address[l]) ^ stride;
    for (int l = HALF; l < LANES; l++) stray |= (address[l] - address[l - 1]) ^ stride;
    return !stray;
}

// Of all lanes, each as far behind the one before.
static void shape_of_even(Shape *shape, const Access *access, const uint64_t address[LANES],
                          uint64_t stride) {
    const uint64_t first = address[0], last = address[LANES - 1];
    const bool up = (int64_t)stride >= 0, on = stride == address_bytes(access);
    shape->whole = on && first % 4 == 0 && access->kind != ACCESS_ATOMIC;
    shape->even = true;
    shape->stride = (int64_t)stride;
    shape->low = up ? first : last;
    shape->high = up ? last : first;
    shape->bits = first | stride;
    shape->on = on ? ALL_LANES >> 1 : 0;
    shape->same = stride ? 0 : ALL_LANES >> 1;
}

void check_shape(Shape *shape, const Access *access, uint32_t mask, const uint64_t address[LANES]) {
    const uint64_t stride = address[1] - address[0];
    shape->whole = shape->even = false;
    shape->stride = 0;
    if (mask == ALL_LANES && is_even(address, stride))
        shape_of_even(shape, access, address, stride);
    else if (warp_is_sparse(mask))
        shape_of_few(shape, mask, address);
    else
        shape_of_any(shape, mask, address, address_bytes(access));
    shape->near = !((shape->low ^ shape->high) >> REGION_SHIFT);
}
