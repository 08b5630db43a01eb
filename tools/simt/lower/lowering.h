// Lowers the functions of a parsed module to their executable form.
#ifndef LOWERING_H
#define LOWERING_H

#include "simt/emit/lowering.h"

// Lowers code->source. False on error.
bool lower_function(Lowering *lowering, Code *code);

#endif
