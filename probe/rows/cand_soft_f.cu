#include "api.h"
#include "../inc/reduce_rows.cuh"
#define T float
#define MAP RowsSoftmax
#define NAME cand_soft_f
#define DOSOFT
#define WIDEC
#include "cand.inc"
