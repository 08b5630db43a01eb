// The table of opcodes (opcodes.h) without the functions that lower them: those are in lower.c,
// which the launcher does not link.
#include "simt/sass/opcodes.h"

#define ROW(name, lower, evidence, pipe, act, flags)                                               \
    [SASS_##name] = {#name, SASS_##evidence, PIPE_##pipe, ACT_##act, flags},
const SassOpcodeRow sass_opcodes[SASS_OPCODE_COUNT] = {SASS_OPCODES(ROW)};
