// Converts to tf32, a single whose lower 13 bits are zero. PTX ISA, "cvt". The PTX ISA does not
// specify the result for a NaN; this is what an H100 does. .rna treats a NaN as a number and drops
// its lower bits, so it may become infinity. With .satfinite, .rna then decreases the last place of
// a NaN or infinity by one.
#include "simt/ops/half.h"
#include "simt/ops/ops.h"

enum {
    CUT_OFF = 0x1fff,
    HALF = 0x1000,
    LAST = 0x2000,
    INFINITE = 0x7f800000,
    TF32_NAN = 0x7fffe000
};

HALF_INLINE uint32_t nearest_away(uint32_t bits, bool finite) {
    const uint32_t magnitude = bits & 0x7fffffffu, sign = bits & 0x80000000u;
    const uint32_t rounded = (magnitude + (magnitude < INFINITE ? HALF : 0)) & ~(uint32_t)CUT_OFF;
    return sign | (rounded - (finite && rounded >= INFINITE ? LAST : 0));
}

// Rounds to nearest even, or toward zero.
HALF_INLINE uint32_t rounded(uint32_t bits, bool nearest, bool relu, bool finite) {
    const uint32_t magnitude = bits & 0x7fffffffu, sign = bits & 0x80000000u;
    const uint32_t half = nearest ? HALF - 1 + (magnitude / LAST & 1) : 0;
    const uint32_t kept = (magnitude + half) & ~(uint32_t)CUT_OFF;
    const uint32_t number = finite && kept >= INFINITE ? INFINITE - LAST : kept;
    return magnitude > INFINITE ? TF32_NAN : relu && sign ? 0 : sign | number;
}

const Inst *op_convert_tf32(Warp *warp, const Inst *inst) {
    const InstConvert *c = &inst->convert;
    const LaneU32 *a = REG(warp, LaneU32, c->a);
    const bool finite = c->mode & CONVERT_FINITE, relu = c->mode & CONVERT_RELU;
    const bool nearest = (c->mode & ROUND_MASK) == ROUND_NEAREST;
    if ((c->mode & ROUND_MASK) == ROUND_NEAREST_AWAY)
        LANE_RESULT_IN(c->d, LaneU32, nearest_away(a[l], finite));
    LANE_RESULT_IN(c->d, LaneU32, rounded(a[l], nearest, relu, finite));
}
