// Reports an instruction or a modifier that is not supported.
#include "simt/lower/lower.h"

void lower_unknown(Lower *lower) {
    Str text = str_slice(lower->at->text, 0, 100);
    const char *lacks = ptx_opcodes[lower->at->opcode].lacks;
    if (lacks) lower_fail(lower, "the CPU device has no %s: `%.*s`", lacks, STR_ARG(text));
    lower_fail(lower, "unsupported instruction `%.*s`", STR_ARG(text));
}
