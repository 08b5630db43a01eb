// Compares every form of cvt to tf32 with its definition on the host. Below sm_100 only .rna can have
// .satfinite. Prints `ok NAME` or `not ok NAME`.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cuda_runtime.h>

#define COUNT 65536

enum { FORMS = 10 };
typedef struct {
    bool away, zero, relu, finite;
} Form;
static const Form forms[FORMS] = {
    {true, false, false, false}, {true, false, false, true}, {false, false, false, false},
    {false, true, false, false}, {false, false, true, false}, {false, true, true, false},
    {false, false, false, true}, {false, true, false, true}, {false, false, true, true},
    {false, true, true, true}};
#define TF32(form) asm("cvt." form ".tf32.f32 %0, %1;" : "=r"(*out++) : "f"(x))
__global__ void make_tf32(const float *singles, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = singles[i];
    out += i * FORMS;
    TF32("rna");
    TF32("rna.satfinite");
    TF32("rn");
    TF32("rz");
    TF32("rn.relu");
    TF32("rz.relu");
    TF32("rn.satfinite");
    TF32("rz.satfinite");
    TF32("rn.satfinite.relu");
    TF32("rz.satfinite.relu");
}

// Rounds the value in units of the last of 10 fraction bits. NaNs and infinities are as measured on an
// H100, where .rna keeps the upper bits of a NaN and .satfinite subtracts one unit from them.
static unsigned tf32_of(float x, const Form *form) {
    const unsigned sign = signbit(x) ? 0x80000000u : 0, infinity = 0x7f800000, unit = 0x2000;
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    const unsigned upper = bits / unit * unit;
    if (form->away && !isfinite(x)) return upper - form->finite * unit;
    if (x != x) return 0x7fffe000;
    if (form->relu && sign) return 0;
    if (isinf(x)) return sign | (infinity - form->finite * unit);
    const int exponent = x == 0 || ilogb(x) < -126 ? -126 : ilogb(x);
    const double units = ldexp(fabs((double)x), 10 - exponent);
    const double whole = form->zero ? floor(units) : form->away ? round(units) : nearbyint(units);
    const float value = (float)ldexp(whole, exponent - 10);
    memcpy(&bits, &value, sizeof bits);
    return sign | (isinf(value) ? infinity - form->finite * unit : bits);
}

int main() {
    float *singles;
    unsigned *got;
    static const unsigned ends[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x3000, 0xffff};
    int wrong = 0;
    if (cudaMallocManaged(&singles, COUNT * sizeof *singles)) return 3;
    if (cudaMallocManaged(&got, COUNT * FORMS * sizeof *got)) return 3;
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned bits = i << 16 | (i % 3 ? ends[i / 3 % 8] : i * 40503u & 0xffff);
        memcpy(&singles[i], &bits, sizeof bits);
    }
    make_tf32<<<COUNT / 256, 256>>>(singles, got);
    cudaDeviceSynchronize();
    for (unsigned i = 0; i < COUNT; i++)
        for (int k = 0; k < FORMS; k++) wrong += got[i * FORMS + k] != tf32_of(singles[i], &forms[k]);
    printf("%s every conversion of a single to tf32\n", wrong ? "not ok" : "ok");
    if (wrong) printf("    %d results\n", wrong);
    return cudaGetLastError() != cudaSuccess;
}
