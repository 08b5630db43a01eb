#include "api.h"
#include "../inc/reduce_rows.cuh"
#define R reduction
#define F(x) new_sums
#define NEWER
 #include "sums.inc"
