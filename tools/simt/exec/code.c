// See code.h.
#include "simt/exec/code.h"

#include <string.h>

static void place_predicate(uint8_t *at, uint32_t value, uint32_t lanes) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    word = (word & ~lanes) | (value & lanes);
    memcpy(at, &word, sizeof word);
}

void code_place_constants(const Code *code, uint8_t *frame, uint32_t lanes) {
    for (uint32_t k = 0; k < code->constant_count; k++) {
        const CodeConstant *constant = &code->constants[k];
        uint8_t *at = frame + constant->offset;
        const uint32_t bytes = register_bytes(constant->class);
        if (constant->class == REGISTER_PRED) place_predicate(at, (uint32_t)constant->value, lanes);
        for (uint32_t m = lanes; m; m &= m - 1)
            memcpy(at + (uint32_t)__builtin_ctz(m) * bytes, &constant->value, bytes);
    }
}
