#include "api.h"
#include "../inc/reduce_rows.cuh"
#define R reduction
#define T __nv_bfloat16
#define F(x) new_norm_b
#include "maps.inc"
