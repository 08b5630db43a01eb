// The rows of the tables in ops/, found by name.
#ifndef LOWER_ROW_H
#define LOWER_ROW_H

#include "simt/exec/register.h"
#include "simt/ops/row.h"

#define ROW_OPERANDS 5

typedef struct {
    Str name;
    Op *run;
    uint32_t count;
    RegisterClass operands[ROW_OPERANDS]; // the result first
} Row;

// NULL if there is none.
const Row *row_find(Str name);

#endif
