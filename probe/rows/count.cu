#include "api.h"
#include <cstdio>
#include <cstdlib>
int main(int argc, char **argv) {
  char *in, *out, *w; void *ws; cudaMalloc(&in, 1 << 20); cudaMalloc(&out, 1 << 20); cudaMalloc(&w, 1 << 20); cudaMalloc(&ws, 2 << 20); cudaMemset(ws, 0, 2 << 20); cudaMemset(in, 0, 1 << 20); cudaMemset(w, 0, 1 << 20);
  const size_t cols[] = {16, 32, 33, 64, 100, 128, 129, 256, 512, 1024, 1025, 2048, 4096, 8192, 16384};
  for (int bf = 0; bf < 2; bf++) for (int op : {SOFT, NORM}) for (size_t c : cols) for (int v = 0; v < 2; v++) {
    Args a = {}; a.in = in; a.out = out; a.rows = 65536 / c; a.cols = a.is = a.os = c; a.w = w; a.b = w; a.ws = ws;
    Call f = v == 0 ? (op == SOFT ? (bf ? old_soft_b : old_soft_f) : (bf ? old_norm_b : old_norm_f)) : (op == SOFT ? (bf ? new_soft_b : new_soft_f) : (bf ? new_norm_b : new_norm_f));
    cudaError_t e = f(op, a, 0); if (e != cudaSuccess) printf("%s\n", cudaGetErrorString(e)); cudaDeviceSynchronize();
  }
}
