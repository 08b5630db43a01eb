// Tests registers that an instruction both reads and writes, and an unwritten one; and blocks that store
// the same value.
//
//     tied           prints each kernel's result; a GPU's are the same, except for `unwritten`
//     tied races     two blocks store the same value, then two blocks each store different values
#include <cstdio>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { LANES = 32, BLOCKS = 20000, PAIRS = 2048, WORDS = PAIRS * 64 * 32 };

// The third operand of a comparison of two pairs is its first result, then its second.
__global__ void compared(unsigned *out, unsigned a, unsigned b) {
    unsigned first, second;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %2, 0; setp.lt.xor.f16x2 p|q, %2, %3, p;"
                 " selp.u32 %0, 1, 0, p; selp.u32 %1, 2, 0, q; }"
                 : "=r"(first), "=r"(second)
                 : "r"(a), "r"(b));
    out[0] = first + second;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 q, %2, 0; setp.lt.xor.f16x2 p|q, %2, %3, q;"
                 " selp.u32 %0, 1, 0, p; selp.u32 %1, 2, 0, q; }"
                 : "=r"(first), "=r"(second)
                 : "r"(a), "r"(b));
    out[1] = first + second;
}

// The register of the stride or of the address is also loaded.
__global__ void loaded(unsigned *out, const signed char *data) {
    __shared__ __align__(256) signed char shared[256];
    for (unsigned i = threadIdx.x; i < 256; i += LANES) shared[i] = data[i];
    __syncwarp();
    unsigned stride = 16, again = 16, own[2], other[2],
             at = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.global.s8 {%0, %1}, [%2], %0;"
                 : "+r"(stride), "=r"(own[1])
                 : "l"(data)
                 : "memory");
    asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.global.s8 {%0, %1}, [%2], %3;"
                 : "=r"(other[0]), "=r"(other[1])
                 : "l"(data), "r"(again)
                 : "memory");
    unsigned wrong = stride != other[0] || own[1] != other[1];
    asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.shared.s8 {%0, %1}, [%0], %2;"
                 : "+r"(at), "=r"(own[1])
                 : "r"(again)
                 : "memory");
    wrong |= (at != other[0] || own[1] != other[1]) << 1;
    if (wrong) atomicOr(out, wrong);
}

__global__ void unwritten(unsigned *out) {
    unsigned found, a = threadIdx.x, b;
    asm volatile("{ .reg .u32 u, v, w; mul.lo.u32 v, %2, 3; add.u32 %0, u, 1; add.u32 w, v, 5; "
                 "mov.u32 %1, w; }"
                 : "=r"(found), "=r"(b)
                 : "r"(a));
    if (found != 1 || b != 3 * a + 5) atomicAdd(out, 1);
}

// Stores to a few words by two blocks, which run at the same time if blocks do.
__global__ void same(unsigned *out) { out[(blockIdx.x / 2 * 64 + threadIdx.x) * 32] = 1; }
__global__ void different(unsigned *out) { out[blockIdx.x / 2 * 64] = blockIdx.x; }

int main(int argc, char **argv) {
    unsigned *out, got[2] = {0, 0};
    signed char *data, host[256];
    for (int i = 0; i < 256; i++) host[i] = (signed char)(i * 7);
    if (cudaMalloc(&out, WORDS * sizeof *out) || cudaMalloc(&data, sizeof host)) return 2;
    if (argc > 1 && !strcmp(argv[1], "races")) {
        for (int k = 0; k < 20; k++)
            cudaMemset(out, 0, WORDS * sizeof *out), same<<<2 * PAIRS, 64>>>(out);
        different<<<BLOCKS, 1>>>(out);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    compared<<<1, 1>>>(out, 0x40003c00, 0x3c004000);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("compared %u %u\n", got[0], got[1]);
    cudaMemset(out, 0, sizeof got);
    unwritten<<<BLOCKS, LANES>>>(out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("unwritten %u\n", got[0]);
    cudaMemset(out, 0, sizeof got);
    loaded<<<1, LANES>>>(out, data);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("loaded %u\n", got[0]);
    return cudaDeviceSynchronize() != cudaSuccess;
}
