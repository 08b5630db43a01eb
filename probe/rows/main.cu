#include "api.h"
#include <cuda_bf16.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <chrono>
#include <vector>
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); fflush(stdout); exit(1); } } while (0)
static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static size_t POOL = (size_t)1 << 30;
static char *in_, *out_[2], *w_, *b_; static void *ws; static int *off_; static unsigned long long *bad_; static cudaStream_t st; static FILE *csv; static double t0; static double LIMIT = 150;
static unsigned long long seed = 88172645463325252ull;
static unsigned rnd() { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return (unsigned)(seed >> 32); }
static double uni() { return rnd() / 4294967296.0; }
__device__ unsigned hash(unsigned long long i) { i ^= i >> 31; i *= 0x7fb5d329728ea185ull; i ^= i >> 27; i *= 0x81dadef4bc2dd44dull; return (unsigned)(i >> 33); }
__global__ void fill_ints(float *x, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = (float)(hash(i) % 9) - 4; }
__global__ void fill_f(float *x, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = (float)(hash(i) % 8192) / 1024 - 4; }
__global__ void fill_b(__nv_bfloat16 *x, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = __float2bfloat16((float)(hash(i) % 8192) / 1024 - 4); }
template <class T> __device__ float fl(T x) { return (float)x; }
template <class T> __global__ void differ(const T *a, const T *b, size_t rows, size_t cols, size_t os, float tol, unsigned long long *bad) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < rows * cols; i += (size_t)gridDim.x * blockDim.x) {
    const size_t at = i / cols * os + i % cols; const float x = fl(a[at]), y = fl(b[at]);
    if (!(fabsf(x - y) <= tol * fmaxf(fabsf(x), fabsf(y)) || (x == y))) atomicAdd(bad, 1ull);
  }
}
__global__ void copy16(const uint4 *a, uint4 *b, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) __stcs(b + i, __ldcs(a + i)); }
struct Time { double median, least; };
// Each launch of a graph has its own input (and output): what it reads is not in the cache.
static Time measure(Call call, int op, Args a, int variant, size_t in_bytes, size_t out_bytes, size_t io, size_t oo, bool once) {
  const size_t step = (std::max(in_bytes, out_bytes) + 8191) / 4096 * 4096 + 512;
  int launches = (int)std::min<size_t>(16, POOL / step); if (launches < 1) launches = 1;
  const size_t apart = std::max(step, (POOL / 16 / 4096) * 4096);
  const int place = (int)std::min<size_t>(16, POOL / apart); if (launches > place) launches = place;
  cudaGraph_t g; cudaGraphExec_t x; cudaError_t e = cudaSuccess;
  CK(cudaStreamBeginCapture(st, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < launches && e == cudaSuccess; k++) { Args b = a; b.in = in_ + k * apart + io; b.out = (op == SUM || op == RAGGED ? out_[1] + k * apart : out_[1] + k * apart + oo); b.ws = ws; b.s = st; e = call(op, b, variant); }
  cudaError_t f = cudaStreamEndCapture(st, &g);
  if (e != cudaSuccess || f != cudaSuccess) { cudaGetLastError(); if (f == cudaSuccess && g) cudaGraphDestroy(g); return {-1, -1}; }
  CK(cudaGraphInstantiate(&x, g, 0));
  cudaEvent_t e0, e1; CK(cudaEventCreate(&e0)); CK(cudaEventCreate(&e1));
  std::vector<double> t; float ms;
  const int reps = once ? 1 : 7;
  for (int r = 0; r < reps; r++) { if (!once) CK(cudaMemsetAsync(out_[0], r, (size_t)192 << 20, st)); CK(cudaEventRecord(e0, st)); CK(cudaGraphLaunch(x, st)); CK(cudaEventRecord(e1, st)); CK(cudaEventSynchronize(e1)); CK(cudaEventElapsedTime(&ms, e0, e1)); if (r > 0 || once) t.push_back(ms * 1e3 / launches); if (r > 2 && ms > 20) break; }
  CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); CK(cudaEventDestroy(e0)); CK(cudaEventDestroy(e1));
  std::sort(t.begin(), t.end()); return {t[t.size() / 2], t[0]};
}
static void row(const char *kind, const char *elem, const char *op, size_t rows, size_t cols, size_t is, size_t io, size_t oo, const char *variant, Time t, long long bad) {
  fprintf(csv, "%s,%s,%s,%zu,%zu,%zu,%zu,%zu,%s,%.3f,%.3f,%lld\n", kind, elem, op, rows, cols, is, io, oo, variant, t.median, t.least, bad); fflush(csv);
}
static bool late() { return now() - t0 > LIMIT; }
static bool SMALL = false; static size_t CAP = (size_t)1 << 26;
template <class T> static long long differs(Call a, int va, Call b, int vb, int op, Args g, size_t io, size_t oo, size_t n_out_rows, size_t out_cols, size_t os, float tol) {
  unsigned long long bad = 0; CK(cudaMemsetAsync(bad_, 0, 8, st));
  g.in = in_ + io; g.ws = ws; g.s = st; g.out = out_[0] + oo; cudaError_t e = a(op, g, va); if (e != cudaSuccess) { cudaGetLastError(); return -1; }
  g.out = out_[1] + oo; e = b(op, g, vb); if (e != cudaSuccess) { cudaGetLastError(); return -1; }
  differ<T><<<1024, 256, 0, st>>>((const T *)(out_[0] + oo), (const T *)(out_[1] + oo), n_out_rows, out_cols, os, tol, bad_);
  CK(cudaMemcpyAsync(&bad, bad_, 8, cudaMemcpyDeviceToHost, st)); CK(cudaStreamSynchronize(st)); return (long long)bad;
}
static void sum_shape(const char *kind, size_t rows, size_t cols, size_t is, size_t io, bool cands) {
  if (late() || rows * is > CAP) return;
  Args a = {}; a.rows = rows, a.cols = cols, a.is = is;
  const size_t in_b = rows * is * 4 + io, out_b = rows * 4;
  const long long bad = differs<float>(old_sums, 0, new_sums, 0, SUM, a, io, 0, rows, 1, 1, 0);
  Time o[2], n[2];
  for (int k = 0; k < (SMALL ? 1 : 2); k++) { o[k] = measure(old_sums, SUM, a, 0, in_b, out_b, io, 0, SMALL); n[k] = measure(new_sums, SUM, a, 0, in_b, out_b, io, 0, SMALL); }
  if (SMALL) o[1] = o[0], n[1] = n[0];
  row(kind, "float", "sum", rows, cols, is, io, 0, "old", {std::min(o[0].median, o[1].median), std::min(o[0].least, o[1].least)}, 0);
  row(kind, "float", "sum", rows, cols, is, io, 0, "new", {std::min(n[0].median, n[1].median), std::min(n[0].least, n[1].least)}, bad);
  if (!cands) return;
  if (cols <= 132) row(kind, "float", "sum", rows, cols, is, io, 0, "windows", measure(new_sums, SUM, a, 1, in_b, out_b, io, 0, SMALL), differs<float>(old_sums, 0, new_sums, 1, SUM, a, io, 0, rows, 1, 1, 0));
  if (cols <= 512) row(kind, "float", "sum", rows, cols, is, io, 0, "lanes", measure(new_sums, SUM, a, 3, in_b, out_b, io, 0, SMALL), differs<float>(old_sums, 0, new_sums, 3, SUM, a, io, 0, rows, 1, 1, 0));
  row(kind, "float", "sum", rows, cols, is, io, 0, "blocks", measure(new_sums, SUM, a, 2, in_b, out_b, io, 0, SMALL), differs<float>(old_sums, 0, new_sums, 2, SUM, a, io, 0, rows, 1, 1, 0));
}
static void map_shape(const char *kind, int op, bool bf, size_t rows, size_t cols, size_t is, size_t os, size_t io, size_t oo, bool cands) {
  if (late() || rows * std::max(is, os) > CAP) return;
  const size_t E = bf ? 2 : 4;
  Args a = {}; a.rows = rows, a.cols = cols, a.is = is, a.os = os, a.w = w_, a.b = b_;
  const size_t in_b = rows * is * E + io, out_b = rows * os * E + oo;
  Call o = op == SOFT ? (bf ? old_soft_b : old_soft_f) : (bf ? old_norm_b : old_norm_f), n = op == SOFT ? (bf ? new_soft_b : new_soft_f) : (bf ? new_norm_b : new_norm_f), c = op == SOFT ? (bf ? cand_soft_b : cand_soft_f) : (bf ? cand_norm_b : cand_norm_f);
  const char *ops = op == SOFT ? "softmax" : op == NORM ? "norm_w" : "norm"; const char *el = bf ? "bf16" : "float";
  const long long bad = bf ? differs<__nv_bfloat16>(o, 0, n, 0, op, a, io, oo, rows, cols, os, 0.02f) : differs<float>(o, 0, n, 0, op, a, io, oo, rows, cols, os, op == SOFT ? 3e-5f : 3e-3f);
  Time x[2], y[2];
  for (int k = 0; k < (SMALL ? 1 : 2); k++) { x[k] = measure(o, op, a, 0, in_b, out_b, io, oo, SMALL); y[k] = measure(n, op, a, 0, in_b, out_b, io, oo, SMALL); }
  if (SMALL) x[1] = x[0], y[1] = y[0];
  row(kind, el, ops, rows, cols, is, io, oo, "old", {std::min(x[0].median, x[1].median), std::min(x[0].least, x[1].least)}, 0);
  row(kind, el, ops, rows, cols, is, io, oo, "new", {std::min(y[0].median, y[1].median), std::min(y[0].least, y[1].least)}, bad);
  if (!cands) return;
  for (int v = 1; v <= 30; v++) {
    if (late()) return;
    const size_t cap[] = {0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 8, 16, 128, 2048}; // packs
    const size_t packs = cols * E / 16; char name[16]; snprintf(name, sizeof name, "c%d", v);
    if (v >= 20 && v < 30 && (SMALL || packs < 1024 || (v == 24 && packs < 30000) || (v == 21 && packs < 8000) || (v == 22 && packs < 8000 && rows > 64) || (v == 23 && packs < 16000 && rows > 64))) continue;
    if (v < 18 && (packs > cap[v] || packs * 4 < cap[v])) continue;
    Time t = measure(c, op, a, v, in_b, out_b, io, oo, SMALL); if (t.median < 0) continue;
    row(kind, el, ops, rows, cols, is, io, oo, name, t, bf ? differs<__nv_bfloat16>(o, 0, c, v, op, a, io, oo, rows, cols, os, 0.02f) : differs<float>(o, 0, c, v, op, a, io, oo, rows, cols, os, op == SOFT ? 3e-5f : 3e-3f));
  }
}
static void ragged_shape(int how, size_t rows, size_t total) {
  if (late() || total > CAP) return;
  std::vector<double> w(rows); double s = 0; const double p = how == 2 ? 1.2 : 0;
  for (size_t r = 0; r < rows; r++) { w[r] = how == 0 ? 1 : how == 1 ? uni() : how == 2 ? pow(1.0 / (1 + (rnd() % rows)), p) : how == 3 ? (r == rows / 3 ? (double)rows : 1) : (rnd() % 10 == 0 ? 1 : 0); s += w[r]; }
  std::vector<int> off(rows + 1); double c = 0; for (size_t r = 0; r < rows; r++) { off[r] = (int)(c / (s > 0 ? s : 1) * total); c += w[r]; } off[rows] = (int)total;
  CK(cudaMemcpy(off_, off.data(), (rows + 1) * 4, cudaMemcpyHostToDevice));
  Args a = {}; a.rows = rows, a.off = off_, a.elements = total; const size_t in_b = total * 4, out_b = rows * 4;
  const long long bad = differs<float>(old_ragged, 0, new_ragged, 0, RAGGED, a, 0, 0, rows, 1, 1, 0);
  Time o[2], n[2];
  for (int k = 0; k < (SMALL ? 1 : 2); k++) { o[k] = measure(old_ragged, RAGGED, a, 0, in_b, out_b, 0, 0, SMALL); n[k] = measure(new_ragged, RAGGED, a, 0, in_b, out_b, 0, 0, SMALL); }
  if (SMALL) o[1] = o[0], n[1] = n[0];
  const char *names[] = {"equal", "uniform", "power", "giant", "empty"};
  row("ragged", "float", names[how], rows, total, 0, 0, 0, "old", {std::min(o[0].median, o[1].median), std::min(o[0].least, o[1].least)}, 0);
  row("ragged", "float", names[how], rows, total, 0, 0, 0, "new", {std::min(n[0].median, n[1].median), std::min(n[0].least, n[1].least)}, bad);
}
int main(int argc, char **argv) {
  if (argc > 2) LIMIT = atof(argv[2]);
  if (argc > 3) { CAP = (size_t)atol(argv[3]); SMALL = true; POOL = (size_t)1 << 24; }
  csv = fopen(argv[1], "w"); t0 = now(); if (!csv) return 1;
  cudaDeviceProp pr; CK(cudaGetDeviceProperties(&pr, 0)); fprintf(csv, "# %s\nkind,elem,op,rows,cols,stride,in_offset,out_offset,variant,median_us,least_us,bad\n", pr.name);
  CK(cudaStreamCreate(&st)); CK(cudaMalloc(&in_, POOL + (1 << 20))); for (char *&o : out_) CK(cudaMalloc(&o, POOL + (1 << 20)));
  CK(cudaMalloc(&ws, 2 << 20)); CK(cudaMemset(ws, 0, 2 << 20)); CK(cudaMalloc(&off_, 16 << 20)); CK(cudaMalloc(&bad_, 8)); CK(cudaMalloc(&w_, 64 << 20)); CK(cudaMalloc(&b_, 64 << 20));
  const int B = SMALL ? 64 : 4096;
  fill_ints<<<B, 256>>>((float *)in_, POOL / 4 + 1000); CK(cudaDeviceSynchronize());
  const size_t big = SMALL ? CAP : (size_t)1 << 25;
  // sums: drawn
  for (int k = 0; k < 60; k++) { const double L = SMALL ? 8 + uni() * 6 : 10 + uni() * 16; const size_t total = (size_t)exp2(L); double lc = uni() * std::min(20.0, L); size_t cols = (size_t)exp2(lc); if (k % 3 == 0 && cols > 4) cols = (cols + 3) / 4 * 4; size_t rows = total / cols; if (rows < 1) rows = 1; sum_shape("sum", rows, cols, cols, k % 5 == 4 ? 4 : 0, false); }
  for (size_t t : {big, (size_t)1 << 20, (size_t)1 << 14}) for (size_t cols : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 48, 64, 65, 66, 96, 100, 128, 129, 132, 133, 200, 256, 257, 300, 400, 401, 512, 513, 600, 643, 644, 1024, 1025, 1030, 2048, 4099, 8192, 65536, 65537}) if (t <= CAP && cols <= t) sum_shape("sumfix", t / cols, cols, cols, 0, false);
  // windows or a warp for each row: where is the border?
  for (size_t rows : {2000, 33000, 300000, 1000000, 2000000}) for (size_t cols : {10, 17, 21, 33, 50, 65, 99, 131, 140, 200, 255, 300, 400, 511}) if (rows * cols <= CAP) sum_shape("sumcand", rows, cols, cols, 0, true);
  for (size_t rows : {2000, 33000, 264000}) for (size_t cols : {6, 10, 21, 33, 65, 99, 131, 257, 301}) if (rows * cols <= CAP / 2) sum_shape("sumstride", rows, cols, cols + 9, 0, true);
  printf("sums %.1f s\n", now() - t0); fflush(stdout);
  for (int k = 0; k < 60; k++) { const double L = SMALL ? 8 + uni() * 6 : 12 + uni() * 14; const size_t total = (size_t)exp2(L); double lc = uni() * std::min(20.0, L); size_t rows = total / (size_t)exp2(lc); if (rows < 1) rows = 1; if (rows > 4000000) rows = 4000000; ragged_shape(k % 5, rows, total); }
  { const size_t f[][2] = {{90, 1 << 18}, {7, 1 << 14}, {78, 1 << 18}, {1400, 1 << 22}, {10000, 1 << 17}, {16000, 1 << 18}, {5000, 1 << 16}}; for (auto &x : f) for (int h : {0, 2, 4}) ragged_shape(h, x[0], x[1]); }
  printf("ragged %.1f s\n", now() - t0); fflush(stdout);
  for (int bf = 0; bf < 2; bf++) {
    if (bf) { fill_b<<<B, 256>>>((__nv_bfloat16 *)in_, POOL / 2 + 1000); fill_b<<<B, 256>>>((__nv_bfloat16 *)w_, (16 << 20)); fill_b<<<B, 256>>>((__nv_bfloat16 *)b_, (16 << 20)); }
    else { fill_f<<<B, 256>>>((float *)in_, POOL / 4 + 1000); fill_f<<<B, 256>>>((float *)w_, (16 << 20)); fill_f<<<B, 256>>>((float *)b_, (16 << 20)); }
    CK(cudaDeviceSynchronize());
    for (int op : {SOFT, NORM}) {
      for (int k = 0; k < 40; k++) { const double L = SMALL ? 8 + uni() * 6 : 10 + uni() * 16; const size_t total = (size_t)exp2(L); double lc = 1 + uni() * std::min(19.0, L - 1); size_t cols = (size_t)exp2(lc); if (k % 2) cols = (cols + 7) / 8 * 8; size_t rows = total / cols; if (rows < 1) rows = 1; map_shape("map", op, bf, rows, cols, cols, cols, 0, 0, false); }
      for (size_t t : {big, (size_t)1 << 18}) for (size_t cols : {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144}) if (cols <= t && t <= CAP) map_shape("mapcand", op, bf, t / cols, cols, cols, cols, 0, 0, true);
      for (size_t cols : {9, 17, 33, 66, 123, 129, 140, 263, 300, 1025, 2049, 4100, 8193, 11790, 16385, 32770, 50257, 65537, 131073, 262145}) if (cols <= big) map_shape("mapodd", op, bf, big / cols, cols, cols, cols, 0, 0, cols > 32);
      map_shape("mapfew", op, bf, 957, 123, 123, 123, 0, 0, false); map_shape("mapfew", op, bf, 100, 33, 33, 33, 0, 0, false); map_shape("mapfew", op, bf, 64, 4097, 4097, 4097, 0, 0, false); map_shape("mapfew", op, bf, 8, 262144, 262144, 262144, 0, 0, true); map_shape("mapfew", op, bf, 8, 100001, 100001, 100001, 0, 0, true); for (size_t rows : {8, 64, 200}) for (size_t cols : {8192, 16384, 32768, 65536}) map_shape("mapfew", op, bf, rows, cols, cols, cols, 0, 0, true); for (size_t rows : {31, 300}) for (size_t cols : {416, 591, 512, 1000}) map_shape("mapfew", op, bf, rows, cols, cols, cols, 0, 0, true);
      for (size_t cols : {1 << 20, 1 << 22, 1 << 24}) map_shape("maplong", op, bf, big / cols, cols, cols, cols, 0, 0, false); map_shape("maplong", op, bf, 1, big, big, big, 0, 0, false); map_shape("maplong", op, bf, 3, big / 4 + 1, big / 4 + 1, big / 4 + 1, 0, 0, false);
      for (size_t cols : {33, 200, 300, 1025, 4100, 8193, 50257, 131073, 1 << 20}) if (cols < big) { map_shape("mapapart", op, bf, big / cols / 2 + 1, cols, cols + 1, cols, bf ? 2 : 4, 0, false); map_shape("mapapart", op, bf, big / cols / 2 + 1, cols, cols + 3, cols + 3, 0, 8, false); }
      if (op == NORM) for (size_t cols : {32, 33, 1024, 1025, 50257}) if (cols < big) map_shape("mapplain", PLAIN, bf, big / cols, cols, cols, cols, 0, 0, false);
      printf("maps %d %d %.1f s\n", bf, op, now() - t0); fflush(stdout);
    }
  }
  CK(cudaDeviceSynchronize());
  std::vector<unsigned char> z(2 << 20); CK(cudaMemcpy(z.data(), ws, 2 << 20, cudaMemcpyDeviceToHost)); size_t dirty = 0; for (unsigned char v : z) dirty += v != 0; printf("workspace not zero: %zu bytes\ndone %.1f s%s\n", dirty, now() - t0, late() ? " LATE" : "");
  fclose(csv); return 0;
}
