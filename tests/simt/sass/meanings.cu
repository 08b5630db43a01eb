// Machine instructions that no recorded vector has: the compiler generates them for these kernels.
// Inputs are random. Prints a hash of each kernel's results, which must be the same for PTX and
// machine code.
#include <cuda_pipeline_primitives.h>

#include "meanings.h"

#define I (blockIdx.x * BLOCK + threadIdx.x)

// Bits on both sides of the word's middle: LOP3 with a predicate.
__global__ void across_words(Input in, uint32_t) {
    const uint64_t x = in.bits[I];
    const bool some = x & 0x3fffe0000u, more = x & 0x7ffff00000000u;
    if (some)
        in.out[I] = more ? 1 : __float_as_uint(sqrtf(in.value[I]));
    else
        in.out[I] = more ? 3 : 4;
}

// FMUL.D2
__global__ void half_squares(Input in, uint32_t) {
    const float x = in.value[I], y = in.value[(I + 1) % COUNT], apart = y - x;
    in.out[I] = __float_as_uint(apart * apart * 0.5f);
    in.out[COUNT + I] = __float_as_uint(apart * 0.5f + x);
}

// IDP with a word that is uniform.
__global__ void dot_products(Input in, uint32_t word) {
    const uint32_t x = (uint32_t)in.bits[I], y = (uint32_t)(in.bits[I] >> 32);
    in.out[I] = (uint64_t)(uint32_t)__dp4a((int)x, (int)word, 0) << 32 | __dp4a(x, word, y);
    in.out[COUNT + I] = (uint64_t)(uint32_t)__dp2a_lo((int)x, (int)y, 7) << 32 | __dp2a_hi(x, y, x);
}

// LDGSTS, LDGDEPBAR, DEPBAR
__global__ void copies(Input in, uint32_t) {
    __shared__ uint64_t words[2][BLOCK];
    __shared__ alignas(16) uint64_t pairs[2 * BLOCK];
    __shared__ float singles[BLOCK];
    __pipeline_memcpy_async(&words[0][threadIdx.x], &in.bits[I], 8);
    __pipeline_memcpy_async(&singles[threadIdx.x], &in.value[I], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&words[1][threadIdx.x], &in.bits[(I + 64) % COUNT], 8);
    __pipeline_memcpy_async(&pairs[2 * threadIdx.x], &in.bits[2 * I % COUNT], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const uint64_t first = words[0][threadIdx.x ^ 5] + __float_as_uint(singles[threadIdx.x ^ 9]);
    __pipeline_wait_prior(0);
    __syncthreads();
    in.out[I] = first * 3 + words[1][threadIdx.x ^ 40] + 5 * pairs[(2 * threadIdx.x) ^ 7];
}

// BAR.RED and B2R
__global__ void votes_of_blocks(Input in, uint32_t) {
    const uint64_t x = in.bits[I];
    const int count = __syncthreads_count((int)(x & 3));
    const int some = __syncthreads_or((x & 0xfff) == 7), all = __syncthreads_and((x & 0xfff) != 9);
    in.out[I] = (uint64_t)(count * 4 + some * 2 + all);
}

// ATOMS.POPC.INC, ATOMS.CAST.SPIN
__global__ void shared_atomics(Input in, uint32_t) {
    __shared__ uint32_t counts[16];
    __shared__ unsigned long long least[16];
    __shared__ float sum;
    if (threadIdx.x < 16) counts[threadIdx.x] = 0, least[threadIdx.x] = ~0ull;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&counts[in.bits[I] & 15], 1u);
    atomicMin(&least[in.bits[I] >> 4 & 15], (unsigned long long)in.bits[I]);
    atomicAdd(&sum, (float)(in.bits[I] & 255));
    __syncthreads();
    if (threadIdx.x >= 16) return;
    in.out[blockIdx.x * 32 + threadIdx.x] = counts[threadIdx.x] + ((uint64_t)sum << 32);
    in.out[blockIdx.x * 32 + threadIdx.x + 16] = least[threadIdx.x];
}

// REDG of 64 bits
__global__ void wide_atomics(Input in, uint32_t) {
    unsigned long long *out = (unsigned long long *)in.out + (in.bits[I] >> 40 & 63);
    atomicAdd(out, (unsigned long long)in.bits[I]);
    atomicMin((long long *)out + 64, (long long)in.bits[I]);
    atomicMax((long long *)out + 128, (long long)in.bits[I]);
    atomicXor(out + 192, (unsigned long long)in.bits[I]);
}

// QSPC: an atomic addition at a generic address
__global__ void any_memory(Input in, uint32_t word) {
    __shared__ float near[2];
    if (threadIdx.x < 2) near[threadIdx.x] = 1;
    __syncthreads();
    float *sum = word & blockIdx.x & 1 ? &near[threadIdx.x & 1] : (float *)&in.out[blockIdx.x];
    atomicAdd(sum, (float)(in.bits[I] & 15));
    __syncthreads();
    if (threadIdx.x < 2) in.out[COUNT + 2 * blockIdx.x + threadIdx.x] = (uint64_t)near[threadIdx.x];
}

// UPRMT, USGXT, UBMSK, UPLOP3: uniform values
__global__ void uniform(Input in, uint32_t word) {
    const uint32_t x = __byte_perm(word, blockIdx.x, 0x4130);
    const int32_t narrow = (int8_t)(word + blockIdx.x);
    uint32_t mask, from = blockIdx.x & 31;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask) : "r"(from), "r"(4));
    const bool odd = (word >> blockIdx.x & 1) && (blockIdx.x > 3 || narrow < 0);
    uint64_t sum = in.bits[I];
    for (uint32_t k = 0; k < (odd ? 3u : 2u); k++) sum = sum * 5 + x;
    in.out[I] = sum + (uint32_t)narrow + mask;
}

// BRX
__global__ void jump_table(Input in, uint32_t word) {
    const int x = (int)in.bits[I];
    const uint64_t *const from = in.bits;
    int v = 0;
#define AT(i) (int)from[(i)&255]
    switch (x % 12) {
    case 0:
        v = x * 3;
        for (int k = 0; k < (int)(word & 7); k++) v += AT(v + k);
        break;
    case 1:
        v = x + 7, v ^= AT(v);
        break;
    case 2:
        v = x ^ 5, v += AT(v * 3);
        break;
    case 3:
        v = x * x, v -= AT(v * 5);
        break;
    case 4:
        v = x << 2, v |= AT(v * 7);
        break;
    case 5:
        v = x >> 1, v &= AT(v * 9);
        break;
    case 6:
        v = ~x, v += AT(v + 1);
        break;
    case 7:
        v = -x, v ^= AT(v + 2);
        break;
    case 8:
        v = x * 7, v += 3 * AT(v + 3);
        break;
    case 9:
        v = x + 99, v += 5 * AT(v + 9);
        break;
    case 10:
        v = x * 11, v -= 2 * AT(v + 8);
        break;
    default:
        v = x - 1, v *= AT(v + 7);
    }
    in.out[I] = (uint64_t)v;
}

// CALL of a register
__device__ __noinline__ uint32_t triple(uint32_t x) { return 3 * x; }
__device__ __noinline__ uint32_t half(uint32_t x) { return x / 2; }
__device__ __noinline__ uint32_t flipped(uint32_t x) { return ~x; }
__global__ void function_pointers(Input in, uint32_t) {
    typedef uint32_t Function(uint32_t);
    const uint64_t x = in.bits[I];
    Function *call = x & 1 ? triple : x & 2 ? half : flipped;
    in.out[I] = call((uint32_t)x);
}

// I2F and F2I of 64 bits, in divisions too
__global__ void long_division(Input in, uint32_t word) {
    const uint64_t x = in.bits[I], y = in.bits[(I + 7) % COUNT] >> (I & 63) | 1;
    in.out[I] = x / y;
    in.out[COUNT + I] = (uint64_t)((int64_t)x % (int64_t)y);
    in.out[2 * COUNT + I] = x / (word | 3);
    in.out[3 * COUNT + I] = (uint64_t)(1000 * (double)(int64_t)x / 3) + (uint64_t)(float)y;
}

// Divisions of 128 bits: nvcc's code for them uses the carry of subc.cc in addc
__global__ void wide_divisions(Input in, uint32_t word) {
    typedef unsigned __int128 Wide;
    const uint64_t x = in.bits[I], y = in.bits[(I + 7) % COUNT];
    const Wide wide = (Wide)x * y + word, by = ((Wide)y << 20) + 77;
    in.out[I] = (uint64_t)(wide / 1000003);
    in.out[COUNT + I] = (uint64_t)(wide % 1000003);
    in.out[2 * COUNT + I] = (uint64_t)(wide / by);
    in.out[3 * COUNT + I] = (uint64_t)(wide % by);
}

// LEA with a negated operand, with and without a borrow
__global__ void doubles_less(Input in, uint32_t word) {
    const uint64_t x = in.bits[I], y = in.bits[(I + 11) % COUNT];
    in.out[I] = y - (x << 1);
    in.out[COUNT + I] = (uint32_t)y - ((uint32_t)x << 5);
    in.out[2 * COUNT + I] = (uint64_t)(uint32_t)x - ((uint64_t)word << 33 | (y & 0xffffffff) << 1);
}

// MUFU.RCP of any divisor: above 2^126 its result is subnormal, so 0.
__global__ void fast_division(Input in, uint32_t) {
    const uint64_t x = in.bits[I], y = in.bits[(I + 9) % COUNT];
    in.out[I] = __float_as_uint(
        __fdividef(__uint_as_float((uint32_t)x), __uint_as_float((uint32_t)(x >> 32))));
    in.out[COUNT + I] = __float_as_uint(
        __fdividef(__uint_as_float((uint32_t)y), __uint_as_float(0x7e000000u | (uint32_t)x)));
    in.out[2 * COUNT + I] = __float_as_uint(
        __fdividef(__uint_as_float((uint32_t)y), __uint_as_float((uint32_t)x & 0x80ffffffu)));
}

static const Entry kernels[] = {{"across_words", across_words},
                                {"half_squares", half_squares},
                                {"dot_products", dot_products},
                                {"copies", copies},
                                {"votes_of_blocks", votes_of_blocks},
                                {"shared_atomics", shared_atomics},
                                {"wide_atomics", wide_atomics},
                                {"any_memory", any_memory},
                                {"uniform", uniform},
                                {"jump_table", jump_table},
                                {"function_pointers", function_pointers},
                                {"long_division", long_division},
                                {"wide_divisions", wide_divisions},
                                {"doubles_less", doubles_less},
                                {"fast_division", fast_division}};

int main() { return run_all(kernels, 0) ? 0 : 1; }
