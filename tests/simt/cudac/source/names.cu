// Kernels whose mangled names need every rule that the compiler knows. nvcc 13.0 gives them these names:
// NAME: _Z11two_structsPf4PairPKS0_P7Unnamed
// NAME: _Z7boundedPi
// NAME: _Z7nothingv
// NAME: _Z7of_boolILb0EEvPi
// NAME: _Z7of_boolILb1EEvPi
// NAME: _Z7of_typeIP4PairLi3EEvPKT_PS2_S2_S4_Pf
// NAME: _Z7of_typeIfLi32EEvPKT_PS0_S0_S2_Pf
// NAME: _Z9all_typesPKfPKiS0_PfS3_mxPhPcPasP6__halfPKS7_PVfPVKi4KindP6float4PKSG_bPA32_fPKS0_
// NAME: _Z9of_numberILj256EEvPKfPfj
// NAME: _Z9of_numberILj64EEvPKfPfj
// NAME: _Z9of_structI6__halfEvPT_
// NAME: _Z9of_structI6float4EvPT_
// NAME: _Z9of_valuesILc97ELln3EL4Kind1ELin5ELy7EEvPi
// NAME: of_c
#include <cuda_fp16.h>
struct Pair { float a, b; };
typedef struct { float a, b; } Unnamed;
enum Kind { FIRST, SECOND };
static __global__ void two_structs(float *o, Pair p, const Pair *q, Unnamed *u) { *o = p.a + q->b + u->a; }
__global__ void all_types(const float *__restrict__ a, const int *b, const float *c, float *d, float *e,
                          size_t n, long long m, unsigned char *u, char *v, signed char *w, short s,
                          half *h, const half *h2, volatile float *vf, const volatile int *cvi, Kind k,
                          float4 *f4, const float4 *g4, bool x, float (*rows)[32],
                          const float *const *pp) {
    *d = *a;
}
extern "C" __global__ void of_c(float *a) { *a = 1; }
__global__ void nothing() {}
__global__ void __launch_bounds__(256, 2) bounded(int *o) { *o = 1; }
template <unsigned B> __global__ void of_number(const float *in, float *out, unsigned n) { *out = in[n] + B; }
template <class T, int N> __global__ void of_type(const T *in, T *out, T v, const T *again, float *f) {
    *out = in[N];
}
template <bool F> __global__ void of_bool(int *o) { *o = F; }
template <typename T> __global__ void of_struct(T *o) { *o = o[1]; }
template <char C, long L, Kind K, int Low, unsigned long long U> __global__ void of_values(int *o) { *o = C; }
template __global__ void of_number<64>(const float *, float *, unsigned);
template __global__ void of_type<float, 32>(const float *, float *, float, const float *, float *);
template __global__ void of_type<Pair *, 3>(Pair *const *, Pair **, Pair *, Pair *const *, float *);
template <int N> void launch() { of_number<2 * N><<<1, 1>>>(0, 0, 0); }
int main() {
    of_bool<true><<<1, 1>>>(0);
    of_bool<(3 < 2)><<<1, 1>>>(0);
    of_struct<float4><<<1, 1>>>(0);
    of_struct<half><<<1, 1>>>(0);
    of_values<'a', -3, SECOND, -5, 7><<<1, 1>>>(0);
    launch<128>();
}
