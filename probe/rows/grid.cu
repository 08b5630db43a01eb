#include "api.h"
#include <cstdio>
int main() {
  char *in, *out; void *ws; size_t rows = 5, cols = 131072;
  cudaMalloc(&in, rows * cols * 4); cudaMalloc(&out, rows * cols * 4); cudaMalloc(&ws, 2 << 20); cudaMemset(ws, 0, 2 << 20); cudaMemset(in, 0, rows * cols * 4);
  Args a = {}; a.in = in; a.out = out; a.rows = rows; a.cols = a.is = a.os = cols; a.ws = ws;
  printf("%s\n", cudaGetErrorString(cand_soft_f(SOFT, a, 24))); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  a.rows = 40; a.cols = a.is = a.os = 16384;
  printf("%s\n", cudaGetErrorString(cand_soft_f(SOFT, a, 24))); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
