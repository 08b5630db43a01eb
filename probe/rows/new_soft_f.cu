#include "api.h"
#include "../inc/reduce_rows.cuh"
#define R reduction
#define T float
#define F(x) new_soft_f
#define DOSOFT
#include "maps.inc"
