#include "api.h"
#include "../inc/reduce_rows.cuh"
EXPORT(new_ragged) { (void)op; (void)variant; return reduction::rows_sum_ragged((const float*)a.in, a.off, (float*)a.out, a.rows, a.elements, a.ws, a.s); }
