// How the lanes of an access to global memory lie: see Shape.
#include <string.h>

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

// Four lanes, or a bit for each of four in each of them.
typedef uint64_t Four __attribute__((vector_size(4 * sizeof(uint64_t))));
#if defined(__clang__)
#define ONE_ON(here, behind) __builtin_shufflevector(here, behind, 1, 2, 3, 4)
#else
#define ONE_ON(here, behind) __builtin_shuffle(here, behind, (Four){1, 2, 3, 4})
#endif

static inline Four four_at(const uint64_t *address) {
    Four lanes;
    memcpy(&lanes, address, sizeof lanes);
    return lanes;
}

static inline uint32_t any_of(Four bits) {
    return (uint32_t)(bits[0] | bits[1] | bits[2] | bits[3]);
}

// Finds the lanes that lie one element, or nothing, in front of the next one. By shifted registers:
// the addresses were just written, and to read them shifted from memory would wait for that.
static inline void find_steps(Shape *shape, const uint64_t address[LANES], uint64_t size) {
    Four bits = {1, 2, 4, 8}, on = {0}, same = {0}, here = four_at(address);
    for (int l = 4; l <= LANES; l += 4) {
        const Four behind = l < LANES ? four_at(address + l) : here;
        const Four step = ONE_ON(here, behind) - here;
        on |= (Four)(step == size) & bits;
        same |= (Four)(step == 0) & bits;
        bits <<= 4;
        here = behind;
    }
    shape->on = any_of(on);
    shape->same = any_of(same);
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
    find_steps(shape, address, size);
    shape->on &= pairs;
    shape->same &= pairs;
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
