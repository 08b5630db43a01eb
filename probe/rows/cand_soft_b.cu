#include "api.h"
#include "../inc/reduce_rows.cuh"
#define T __nv_bfloat16
#define MAP RowsSoftmax
#define NAME cand_soft_b
#define DOSOFT
#include "cand.inc"
