#include "api.h"
#include "old_rows.cuh"
#define R oldr
#define T float
#define F(x) old_norm_f
#include "maps.inc"
