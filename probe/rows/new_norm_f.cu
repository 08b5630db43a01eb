#include "api.h"
#include "../inc/reduce_rows.cuh"
#define R reduction
#define T float
#define F(x) new_norm_f
#include "maps.inc"
