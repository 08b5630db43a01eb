// Which machine instructions can be executed, and by what they are lowered.
#include <string.h>

#include "simt/sass/lower.h"
#include "simt/sass/opcodes.h"

#define ROW(name, lower, evidence) {#name, lower},
static const SassOpcode opcodes[] = {SASS_OPCODES(ROW)};

const SassOpcode *sass_opcode(const char *name) {
    for (size_t k = 0; k < sizeof opcodes / sizeof *opcodes; k++)
        if (strcmp(opcodes[k].name, name) == 0) return &opcodes[k];
    return NULL;
}
