// See opcodes.h.
#include "simt/sass/opcodes.h"

#define ROW(name, lower, evidence) {#name, SASS_##evidence},
const SassKnown sass_known[] = {SASS_OPCODES(ROW)};
const unsigned sass_known_count = sizeof sass_known / sizeof *sass_known;
