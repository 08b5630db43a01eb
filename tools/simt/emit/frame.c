// Allocates registers, temporaries and constants in the frame of the function being lowered.
#include "simt/base/align.h"
#include "simt/emit/emit.h"

#define FRAME_LIMIT (1u << 22)

uint32_t lower_reserve(Lower *lower, uint32_t bytes) {
    uint32_t at = lower->frame;
    if (bytes > FRAME_LIMIT || at + bytes > FRAME_LIMIT) lower_fail(lower, "too many registers");
    lower->frame = at + (uint32_t)align_up(bytes, FRAME_ALIGN);
    return at;
}

// The 32 lanes of a predicate share a word.
uint32_t lower_place(Lower *lower, RegisterClass class) {
    if (class != REGISTER_PRED) return lower_reserve(lower, LANES * register_bytes(class));
    if (!lower->predicates_left) {
        lower->frame_predicates = lower_reserve(lower, FRAME_ALIGN);
        lower->predicates_left = FRAME_ALIGN / 4;
    }
    return lower->frame_predicates + 4 * --lower->predicates_left;
}

uint32_t lower_temp(Lower *lower, RegisterClass class) {
    Temporaries *temporaries = &lower->temporaries[class];
    if (temporaries->used == temporaries->count) {
        ARENA_GROW(lower->arena, temporaries->places, temporaries->count, temporaries->capacity);
        temporaries->places[temporaries->count++] = lower_place(lower, class);
    }
    return temporaries->places[temporaries->used++];
}

uint32_t lower_constant(Lower *lower, RegisterClass class, uint64_t value) {
    Code *code = lower->code;
    if (class == REGISTER_16) value &= UINT16_MAX;
    if (class == REGISTER_32) value &= UINT32_MAX;
    for (uint32_t k = 0; k < code->constant_count; k++)
        if (code->constants[k].class == class && code->constants[k].value == value &&
            code->constants[k].from == CONSTANT_VALUE)
            return code->constants[k].offset;
    uint32_t offset = lower_place(lower, class);
    ARENA_GROW(lower->arena, code->constants, code->constant_count, lower->constant_capacity);
    code->constants[code->constant_count++] = (CodeConstant){offset, class, value, CONSTANT_VALUE};
    return offset;
}
