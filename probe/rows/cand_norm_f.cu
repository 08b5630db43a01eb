#include "api.h"
#include "../inc/reduce_rows.cuh"
#define T float
#define MAP RowsLayerNorm
#define NAME cand_norm_f
#define WIDEC
#include "cand.inc"
