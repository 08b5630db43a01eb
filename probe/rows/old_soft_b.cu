#include "api.h"
#include "old_rows.cuh"
#define R oldr
#define T __nv_bfloat16
#define F(x) old_soft_b
#define DOSOFT
#include "maps.inc"
