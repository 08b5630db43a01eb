#include "api.h"
#include "../inc/reduce_rows.cuh"
#define T __nv_bfloat16
#define MAP RowsLayerNorm
#define NAME cand_norm_b
#include "cand.inc"
