#pragma once
#include <cuda_runtime.h>
#include <stddef.h>
struct Args { const void *in; void *out; size_t rows, cols, is, os; const void *w, *b; const int *off; size_t elements; void *ws; cudaStream_t s; };
enum { SUM, SOFT, NORM, PLAIN, RAGGED };
typedef cudaError_t (*Call)(int op, const Args &a, int variant);
#define EXPORT(n) cudaError_t n(int op, const Args &a, int variant)
EXPORT(old_sums); EXPORT(new_sums); EXPORT(old_ragged); EXPORT(new_ragged);
EXPORT(old_soft_f); EXPORT(new_soft_f); EXPORT(old_soft_b); EXPORT(new_soft_b);
EXPORT(old_norm_f); EXPORT(new_norm_f); EXPORT(old_norm_b); EXPORT(new_norm_b);
EXPORT(cand_soft_f); EXPORT(cand_norm_f); EXPORT(cand_soft_b); EXPORT(cand_norm_b);
