// Prelude: what the headers of CUDA and of the C library declare, as source text that is compiled
// before a program.
#ifndef CUDAC_PRELUDE_H
#define CUDAC_PRELUDE_H

#include "base/str.h"

extern const Str PRELUDE;

#endif
