// Video instructions: one operation on a word, two on its halves or four on its bytes, with a
// second one. PTX ISA, "Video Instructions".
#include "simt/ops/ops.h"

// Part k of `parts`, with its sign if it has one.
static int64_t part_of(uint32_t word, uint32_t k, uint32_t parts, bool is_signed) {
    const uint32_t bits = 32 / parts;
    if (parts == 1) return is_signed ? (int64_t)(int32_t)word : (int64_t)word;
    uint32_t part = word >> k * bits & ((1u << bits) - 1);
    return is_signed && part >> (bits - 1) ? (int64_t)part - ((int64_t)1 << bits) : (int64_t)part;
}

static int64_t saturated(int64_t value, uint32_t bits, bool is_signed) {
    int64_t low = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
    int64_t high = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
    return value < low ? low : value > high ? high : value;
}

static bool compared(int64_t a, int64_t b, VideoCompare compare) {
    switch (compare) {
    case VIDEO_EQ:
        return a == b;
    case VIDEO_NE:
        return a != b;
    case VIDEO_LT:
        return a < b;
    case VIDEO_LE:
        return a <= b;
    case VIDEO_GT:
        return a > b;
    case VIDEO_GE:
        break;
    }
    return a >= b;
}

static int64_t shift_of(const InstVideo *video, int64_t b) {
    uint32_t count = (uint32_t)b;
    return video->wraps ? count & 31 : count > 32 ? 32 : count;
}

static int64_t operation(const InstVideo *video, int64_t a, int64_t b, int64_t c) {
    switch (video->mode) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_AVERAGE:
        return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_DIFFERENCE:
        return a > b ? a - b : b - a;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_SET:
        return compared(a, b, video->compare);
    case VIDEO_SHL:
        return (int64_t)((uint64_t)a << shift_of(video, b));
    case VIDEO_SHR:
        return a >> shift_of(video, b);
    case VIDEO_MAD:
        break;
    }
    return (int64_t)((uint64_t)a * (uint64_t)b + (uint64_t)c) >> video->scale;
}

static uint32_t second(const InstVideo *video, uint32_t value, uint32_t c) {
    const bool less = video->d_signed ? (int32_t)value < (int32_t)c : value < c;
    switch (video->second) {
    case VIDEO_ALONE:
        return value;
    case VIDEO_THEN_ADD:
        return value + c;
    case VIDEO_THEN_MIN:
        return less ? value : c;
    case VIDEO_THEN_MAX:
        break;
    }
    return less ? c : value;
}

static uint32_t whole(const InstVideo *video, uint32_t a, uint32_t b, uint32_t c) {
    int64_t addend = video->d_signed ? (int64_t)(int32_t)c : (int64_t)c;
    int64_t value = operation(video, part_of(a, 0, 1, video->a_signed),
                              part_of(b, 0, 1, video->b_signed), addend);
    if (video->saturates) value = saturated(value, 32, video->d_signed);
    return second(video, (uint32_t)value, c);
}

// The second operation adds the parts' results to c.
static uint32_t in_parts(const InstVideo *video, uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t bits = 32 / video->parts;
    uint32_t result = 0;
    for (uint32_t k = 0; k < video->parts; k++) {
        int64_t value = operation(video, part_of(a, k, video->parts, video->a_signed),
                                  part_of(b, k, video->parts, video->b_signed), 0);
        if (video->saturates) value = saturated(value, bits, video->d_signed);
        if (video->second == VIDEO_THEN_ADD)
            c += (uint32_t)value;
        else
            result |= ((uint32_t)value & ((1u << bits) - 1)) << k * bits;
    }
    return video->second == VIDEO_THEN_ADD ? c : result;
}

const Inst *op_video(Warp *warp, const Inst *inst) {
    const InstVideo *video = &inst->video;
    const LaneU32 *a = REG(warp, LaneU32, video->a), *b = REG(warp, LaneU32, video->b);
    const LaneU32 *c = REG(warp, LaneU32, video->c);
    LANE_RESULT_SCALAR_IN(
        video->d, LaneU32,
        (video->parts == 1 ? whole(video, a[l], b[l], c[l]) : in_parts(video, a[l], b[l], c[l])));
}
