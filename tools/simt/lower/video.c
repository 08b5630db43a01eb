// Video instructions: vadd.u32.s32.s32.sat, vabsdiff4.u32.u32.u32.add, ... Parts of operands that
// are selected (.b3210, .h1) are not known, nor, of one part, results that .min or .max combines,
// sums cut to unsigned, and scaled products: an H200 gave other ones than the PTX ISA's text says.
#include "simt/lower/lower.h"

static uint32_t take_mode(Lower *lower, uint32_t *parts) {
    static const Choice modes[] = {
        {STR("vadd"), VIDEO_ADD},
        {STR("vsub"), VIDEO_SUB},
        {STR("vabsdiff"), VIDEO_DIFFERENCE},
        {STR("vavrg"), VIDEO_AVERAGE},
        {STR("vmin"), VIDEO_MIN},
        {STR("vmax"), VIDEO_MAX},
        {STR("vset"), VIDEO_SET},
        {STR("vshl"), VIDEO_SHL},
        {STR("vshr"), VIDEO_SHR},
        {STR("vmad"), VIDEO_MAD},
        {STR(""), 0},
    };
    Str base = lower->part[0];
    char last = base.at[base.len - 1];
    *parts = last == '2' ? 2 : last == '4' ? 4 : 1;
    if (*parts > 1) base.len--;
    for (const Choice *mode = modes; mode->name.len; mode++)
        if (str_equal(mode->name, base)) return mode->value;
    lower_unknown(lower);
}

static bool take_signed(Lower *lower) {
    PtxType type = lower_take_type(lower);
    if (type != PTX_U32 && type != PTX_S32) lower_unknown(lower);
    return type == PTX_S32;
}

static void take_modifiers(Lower *lower, InstVideo *video) {
    static const Choice compares[] = {
        {STR("eq"), VIDEO_EQ}, {STR("ne"), VIDEO_NE}, {STR("lt"), VIDEO_LT}, {STR("le"), VIDEO_LE},
        {STR("gt"), VIDEO_GT}, {STR("ge"), VIDEO_GE}, {STR(""), 0}};
    static const Choice seconds[] = {{STR("add"), VIDEO_THEN_ADD},
                                     {STR("min"), VIDEO_THEN_MIN},
                                     {STR("max"), VIDEO_THEN_MAX},
                                     {STR(""), 0}};
    static const Choice scales[] = {{STR("shr7"), 7}, {STR("shr15"), 15}, {STR(""), 0}};
    static const Choice shifts[] = {{STR("clamp"), 0}, {STR("wrap"), 1}, {STR(""), 0}};
    uint32_t value = 0;
    if (video->mode == VIDEO_SET) video->compare = (VideoCompare)lower_choice(lower, compares);
    if (video->mode == VIDEO_SHL || video->mode == VIDEO_SHR)
        video->wraps = lower_choice(lower, shifts);
    if (video->mode == VIDEO_MAD && lower_take_choice(lower, scales, &value))
        video->scale = (uint8_t)value;
    video->saturates = lower_take(lower, "sat");
    value = VIDEO_ALONE;
    if (video->mode != VIDEO_MAD) lower_take_choice(lower, seconds, &value);
    video->second = (VideoSecond)value;
    bool combines = value == VIDEO_THEN_MIN || value == VIDEO_THEN_MAX;
    bool cuts = video->saturates && (!video->d_signed || video->mode == VIDEO_MAD);
    if (video->parts > 1 ? value != VIDEO_ALONE && (combines || video->saturates)
                         : combines || cuts || video->scale)
        lower_unknown(lower);
}

void lower_video(Lower *lower) {
    const PtxOperand *operands = lower->at->operands;
    InstVideo video = {.parts = 1};
    uint32_t parts;
    video.mode = (VideoMode)take_mode(lower, &parts);
    video.parts = (uint8_t)parts;
    video.d_signed = video.mode != VIDEO_SET && take_signed(lower);
    video.a_signed = take_signed(lower);
    video.b_signed = take_signed(lower);
    take_modifiers(lower, &video);
    lower_all_taken(lower);
    const bool third = parts > 1 || video.second != VIDEO_ALONE || video.mode == VIDEO_MAD;
    lower_operands(lower, third ? 4 : 3, third ? 4 : 3);
    video.a = lower_source(lower, &operands[1], REGISTER_32);
    video.b = lower_source(lower, &operands[2], REGISTER_32);
    video.c = third ? lower_source(lower, &operands[3], REGISTER_32) : video.b;
    video.d = lower_dest(lower, &operands[0], REGISTER_32);
    lower_emit(lower, op_video)->video = video;
}
