// Writes a function's constants to its register frame. See code.h.
#include "simt/exec/code.h"

#include <string.h>

#include "simt/base/limits.h"
#include "simt/memory/memory.h"

static uint64_t constant_value(const CodeConstant *constant, const uint8_t *params) {
    uint64_t value = constant->value;
    const size_t bytes = register_bytes(constant->class);
    if (constant->from == CONSTANT_PARAMETER) memcpy(&value, params + constant->value, bytes);
    if (constant->from == CONSTANT_MEMORY) memcpy(&value, memory_at(constant->value), bytes);
    return value;
}

void code_place_constants(const Code *code, const uint8_t *params, uint8_t *frame) {
    for (uint32_t k = 0; k < code->constant_count; k++) {
        const CodeConstant *constant = &code->constants[k];
        uint8_t *at = frame + constant->offset;
        const uint32_t bytes = register_bytes(constant->class);
        const uint64_t value = constant_value(constant, params);
        if (constant->class == REGISTER_PRED) memcpy(at, &value, sizeof(uint32_t));
        for (uint32_t l = 0; l < DEVICE_WARP; l++) memcpy(at + l * bytes, &value, bytes);
    }
}
