#include "api.h"
#include "old_rows.cuh"
#define R oldr
#define T float
#define F(x) old_soft_f
#define DOSOFT
#include "maps.inc"
