// Compares conversions and functions of the toolkit's headers on the device with the same headers or
// plain C on the host. Prints `ok NAME` or `not ok NAME`.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#define COUNT 65536

typedef struct {
    uint8_t from_single[2], from_half[2], from_brain[2];
    uint16_t to_half[2], pair[2];
} Eights;

static __host__ __device__ Eights eights(unsigned i, float single) {
    Eights e;
    __half_raw half;
    __nv_bfloat16_raw brain;
    __half2_raw halves;
    half.x = brain.x = halves.x = (unsigned short)i;
    halves.y = (unsigned short)(i * 40503u >> 3);
    for (int k = 0; k < 2; k++) {
        __nv_fp8_interpretation_t kind = k ? __NV_E5M2 : __NV_E4M3;
        e.from_single[k] = __nv_cvt_float_to_fp8(single, __NV_SATFINITE, kind);
        e.from_half[k] = __nv_cvt_halfraw_to_fp8(half, __NV_SATFINITE, kind);
        e.from_brain[k] = __nv_cvt_bfloat16raw_to_fp8(brain, __NV_SATFINITE, kind);
        e.to_half[k] = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)i, kind).x;
        e.pair[k] = __nv_cvt_halfraw2_to_fp8x2(halves, __NV_SATFINITE, kind);
    }
    return e;
}
__global__ void make_eights(const float *singles, Eights *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = eights(i, singles[i]);
}

// Compared with functions of twice the precision: the headers guarantee about two units in the last place.
enum { FUNCTIONS = 10 };
template <typename T> static __device__ void functions(T x, T *out) {
    out[0] = hexp(x), out[1] = hlog(x), out[2] = hsqrt(x), out[3] = hrsqrt(x), out[4] = hsin(x);
    out[5] = hcos(x), out[6] = hexp2(x), out[7] = hexp10(x), out[8] = hlog2(x), out[9] = hrcp(x);
}
static void functions_of(float x, float *out) {
    out[0] = expf(x), out[1] = logf(x), out[2] = sqrtf(x), out[3] = 1 / sqrtf(x), out[4] = sinf(x);
    out[5] = cosf(x), out[6] = exp2f(x), out[7] = powf(10, x), out[8] = log2f(x), out[9] = 1 / x;
}
__global__ void call_functions(__half *halves, __nv_bfloat16 *brains) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0.01f + (float)i / 64;
    functions(__float2half(x), halves + i * FUNCTIONS);
    functions(__float2bfloat16(x), brains + i * FUNCTIONS);
}

__global__ void differences(const unsigned *words, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = words[i], b = words[COUNT - 1 - i];
    out[4 * i] = __vabsdiffu4(a, b);
    out[4 * i + 1] = __vsadu4(a, b);
    out[4 * i + 2] = __vsadu2(a, b);
    out[4 * i + 3] = __vavgu4(a, b);
}

static void told(const char *name, int wrong) {
    printf("%s %s\n", wrong ? "not ok" : "ok", name);
    if (wrong) printf("    %d results, %s\n", wrong, cudaGetErrorName(cudaGetLastError()));
}

static void test_eights(float *singles, Eights *got) {
    int wrong = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        uint32_t bits = i << 16 | (i % 3 ? i * 40503u & 0xffff : 0);
        memcpy(&singles[i], &bits, sizeof bits);
    }
    make_eights<<<COUNT / 256, 256>>>(singles, got);
    cudaDeviceSynchronize();
    for (unsigned i = 0; i < COUNT; i++) {
        Eights want = eights(i, singles[i]);
        wrong += memcmp(&want, &got[i], sizeof want) != 0;
    }
    told("8-bit floats from and to wider ones", wrong);
}

static int far_off(float got, float want, float unit) {
    return !(fabsf(got - want) <= 2 * unit * fabsf(want) + 1e-6f || (got != got && want != want) ||
             got == want);
}

static void test_functions(__half *halves, __nv_bfloat16 *brains) {
    int wrong[2] = {0, 0};
    call_functions<<<2, 256>>>(halves, brains);
    cudaDeviceSynchronize();
    for (unsigned i = 0; i < 512; i++) {
        float x = 0.01f + (float)i / 64, want[FUNCTIONS];
        functions_of(__half2float(__float2half(x)), want);
        for (int k = 0; k < FUNCTIONS; k++) {
            bool large = want[k] > 65504;
            wrong[0] += !large && far_off(__half2float(halves[i * FUNCTIONS + k]), want[k], 0x1p-10f);
        }
        functions_of(__bfloat162float(__float2bfloat16(x)), want);
        for (int k = 0; k < FUNCTIONS; k++)
            wrong[1] += far_off(__bfloat162float(brains[i * FUNCTIONS + k]), want[k], 0x1p-7f);
    }
    told("functions of halves", wrong[0]);
    told("functions of bfloat16", wrong[1]);
}

static void test_differences(unsigned *words, unsigned *got) {
    int wrong = 0;
    for (unsigned i = 0; i < COUNT; i++) words[i] = i * 2654435761u ^ i << 7;
    differences<<<COUNT / 256, 256>>>(words, got);
    cudaDeviceSynchronize();
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned a = words[i], b = words[COUNT - 1 - i], want[4] = {0, 0, 0, 0};
        for (int k = 0; k < 4; k++) {
            int x = a >> 8 * k & 255, y = b >> 8 * k & 255, d = x > y ? x - y : y - x;
            want[0] |= (unsigned)d << 8 * k;
            want[1] += (unsigned)d;
            want[3] |= (unsigned)(x + y + 1) / 2 << 8 * k;
        }
        for (int k = 0; k < 2; k++) {
            int x = a >> 16 * k & 65535, y = b >> 16 * k & 65535;
            want[2] += (unsigned)(x > y ? x - y : y - x);
        }
        wrong += memcmp(want, &got[4 * i], sizeof want) != 0;
    }
    told("differences and averages of bytes and halves of a word", wrong);
}

int main() {
    void *in, *out;
    if (cudaMallocManaged(&in, COUNT * 16) || cudaMallocManaged(&out, COUNT * 16)) return 3;
    test_eights((float *)in, (Eights *)out);
    test_functions((__half *)in, (__nv_bfloat16 *)out);
    test_differences((unsigned *)in, (unsigned *)out);
    return cudaGetLastError() != cudaSuccess;
}
