#include "api.h"
#include "old_rows.cuh"
#define R oldr
#define F(x) old_sums
#include "sums.inc"
