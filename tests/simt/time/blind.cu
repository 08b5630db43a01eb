// Forty-four kernels, unlike those of the labs, whose times were predicted before they were measured:
// see blind.cuh.
//
//   nvcc -O3 -arch=sm_90 -lineinfo -cudart shared --no-compress blind.cu -o blind && ./blind >
//   blind.csv
#include "blind.cuh"

// --- streams ---

__global__ void bytes_1(const Byte *in, Byte *out, unsigned n) {
    unsigned sum = 0;
    for (unsigned i = index(); i < n; i += gridDim.x * blockDim.x) sum += in[i];
    keep(out, (Byte)sum, sum == 0xffffffffu);
}
__global__ void bytes_2(const unsigned short *in, unsigned short *out, unsigned n) {
    unsigned sum = 0;
    for (unsigned i = index(); i < n; i += gridDim.x * blockDim.x) sum += in[i];
    keep(out, (unsigned short)sum, sum == 0xffffffffu);
}
__global__ void bytes_8(const uint2 *in, unsigned *out, unsigned n) {
    unsigned sum = 0;
    for (unsigned i = index(); i < n; i += gridDim.x * blockDim.x) sum += in[i].x ^ in[i].y;
    keep(out, sum, sum == 0x12345678u);
}
// Few warps: unused shared memory limits the number of resident blocks.
template <int LOADS> __global__ void few_warps(const uint4 *in, unsigned *out, unsigned n) {
    extern __shared__ unsigned room[];
    unsigned sum = 0;
    for (unsigned i = index(); i < n; i += LOADS * gridDim.x * blockDim.x) {
        uint4 v[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) v[k] = in[i + k * gridDim.x * blockDim.x];
#pragma unroll
        for (int k = 0; k < LOADS; k++) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    if (sum == 0x12345678u) out[index()] = room[threadIdx.x];
}
template <typename T> __global__ void copy(const T *in, T *out, unsigned n) {
    unsigned i = index();
    if (i < n) out[i] = in[i];
}
__global__ void set(uint4 *out, unsigned n) {
    unsigned i = index();
    if (i < n) out[i] = make_uint4(i, i, i, i);
}
__global__ void axpy(const float *x, float *y, float a, unsigned n) {
    unsigned i = index();
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void apart(const unsigned *in, unsigned *out, unsigned step, unsigned n) {
    unsigned i = index();
    if (i < n && in[(size_t)i * step] == 0x12345678u) out[i] = 1;
}
__global__ void apart_lines(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = index();
    if (i < n && in[(size_t)i * 32] == 0x12345678u) out[i] = 1;
}

// --- gathers ---

template <int ROUNDS, int CASE>
__global__ void gather(const unsigned *in, unsigned *out, unsigned mask) {
    unsigned i = index(), sum = 0;
#pragma unroll 4
    for (int k = 0; k < ROUNDS; k++) sum += in[hash(i + k * 0x9e3779b9u) & mask];
    keep(out, sum, sum == 0x12345678u);
}
__global__ void table_of_all(const float *in, float *out, unsigned words) {
    float sum = 0;
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) sum += in[i];
    if (sum == 1e30f) out[index()] = sum;
}
__global__ void chase(const unsigned *next, unsigned *out, unsigned rounds) {
    unsigned at = index() * 64;
    for (unsigned k = 0; k < rounds; k++) at = (next[at & 0xffffff] & 0xfffff) * 16 + threadIdx.x;
    keep(out, at, at == 0xffffffffu);
}

// --- arithmetic ---

template <int CHAINS> __global__ void fma_chains(float *out, float a, unsigned rounds) {
    float x[CHAINS];
    for (int c = 0; c < CHAINS; c++) x[c] = (float)threadIdx.x + (float)c;
    for (unsigned k = 0; k < rounds; k++)
#pragma unroll
        for (int u = 0; u < 16; u++)
#pragma unroll
            for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + 1.5f;
    float sum = 0;
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    keep(out, sum, sum == 1e30f);
}
__global__ void hashes(unsigned *out, unsigned rounds) {
    unsigned x = index();
    for (unsigned k = 0; k < rounds; k++) x = hash(x + k);
    keep(out, x, x == 0x12345678u);
}
__global__ void two_ways(float *out, float a, unsigned rounds) {
    float x = (float)threadIdx.x;
    for (unsigned k = 0; k < rounds; k++) {
        if (threadIdx.x & 1) {
#pragma unroll
            for (int u = 0; u < 16; u++) x = x * a + 1.5f;
        } else {
#pragma unroll
            for (int u = 0; u < 16; u++) x = (x + a) * 0.5f;
        }
    }
    keep(out, x, x == 1e30f);
}
__global__ void exponentials(float *out, unsigned rounds) {
    float x = 1e-3f * (float)threadIdx.x, y = 0.5f * x;
    for (unsigned k = 0; k < rounds; k++) {
        x = __expf(-x);
        y = __expf(-y);
    }
    keep(out, x + y, x + y == 1e30f);
}
__global__ void doubles(double *out, double a, unsigned rounds) {
    double x = threadIdx.x, y = x + 1;
    for (unsigned k = 0; k < rounds; k++) {
        x = x * a + 1.5;
        y = y * a + 2.5;
    }
    keep(out, x + y, x + y == 1e300);
}
__global__ void divisions(unsigned *out, unsigned d, unsigned rounds) {
    unsigned x = index() + 0x12345;
    for (unsigned k = 0; k < rounds; k++) x = x / (d + k) + 0x54321 * k;
    keep(out, x, x == 0x12345678u);
}
__global__ void bit_counts(unsigned *out, unsigned rounds) {
    unsigned x = index();
    for (unsigned k = 0; k < rounds; k++) x = x * 5 + __popc(x) + (unsigned)__clz((int)x);
    keep(out, x, x == 0x12345678u);
}
__global__ void halves(__half2 *out, __half2 a, unsigned rounds) {
    __half2 x[4];
    for (int c = 0; c < 4; c++) x[c] = __float2half2_rn((float)(threadIdx.x + c));
    for (unsigned k = 0; k < rounds; k++)
#pragma unroll
        for (int c = 0; c < 4; c++) x[c] = __hfma2(x[c], a, a);
    __half2 sum = x[0] + x[1] + x[2] + x[3];
    if (__low2float(sum) == 12345.0f) out[index()] = sum;
}

// --- shared memory and barriers ---

template <int PAD> __global__ void transpose(const float *in, float *out, unsigned side) {
    __shared__ float tile[32][32 + PAD];
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * side + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * side + x] = tile[threadIdx.x][threadIdx.y + k];
}
template <unsigned BINS> __global__ void histogram(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = index(); i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[hash(in[i]) % BINS], 1u);
    __syncthreads();
    out[index()] = bins[threadIdx.x];
}
__global__ void stencil(const float *in, float *out, unsigned n) {
    __shared__ float s[256 + 16];
    unsigned i = index();
    s[threadIdx.x + 8] = in[i + 8];
    if (threadIdx.x < 8) {
        s[threadIdx.x] = in[i];
        s[threadIdx.x + 264] = in[i + 264];
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 16; k++) sum += s[threadIdx.x + k];
    if (i < n) out[i] = sum;
}
template <int THREADS> __global__ void many_barriers(unsigned *out, unsigned rounds) {
    __shared__ unsigned s[THREADS];
    unsigned x = threadIdx.x;
    for (unsigned k = 0; k < rounds; k++) {
        s[threadIdx.x] = x;
        __syncthreads();
        x += s[(threadIdx.x + 33) % THREADS];
        __syncthreads();
    }
    keep(out, x, x == 0x12345678u);
}
__global__ void scan_warps(const int *in, int *out, unsigned n) {
    unsigned i = index(), lane = threadIdx.x % 32;
    int x = i < n ? in[i] : 0;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        int below = __shfl_up_sync(0xffffffffu, x, d);
        if (lane >= d) x += below;
    }
    if (i < n) out[i] = x;
}
__global__ void sort_blocks(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[512];
    unsigned base = blockIdx.x * 512, t = threadIdx.x;
    s[t] = in[base + t];
    s[t + 256] = in[base + t + 256];
    for (unsigned size = 2; size <= 512; size *= 2)
        for (unsigned d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            unsigned at = 2 * t - (t & (d - 1));
            unsigned a = s[at], b = s[at + d];
            if ((a > b) == ((at & size) == 0)) s[at] = b, s[at + d] = a;
        }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + 256] = s[t + 256];
}

// --- atomic operations, fences ---

__global__ void one_sum(float *sum, float x) {
    if (threadIdx.x == 0) atomicAdd(sum, x);
}
__global__ void global_bins(const unsigned *in, unsigned *bins, unsigned n) {
    unsigned i = index();
    if (i < n) atomicAdd(&bins[hash(in[i]) % 4096], 1u);
}
__global__ void largest(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = index(), x = i < n ? in[i] : 0;
    x = __reduce_max_sync(0xffffffffu, x);
    if (threadIdx.x % 32 == 0) atomicMax(out, x);
}
__global__ void last_block(const float *in, float *partial, unsigned *ticket) {
    __shared__ float s[256];
    __shared__ bool last;
    s[threadIdx.x] = in[index()] + in[index() + gridDim.x * 256];
    for (unsigned d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    float sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += 256) sum += __ldcg(&partial[i]);
    if (sum == 1e30f) partial[0] = sum;
}

// --- matrices, registers, local memory, shapes ---

__global__ void multiply(const float *a, const float *b, float *c, unsigned n) {
    unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
__global__ void multiply_tiles(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float p[32][32], q[32][32];
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (unsigned t = 0; t < n; t += 32) {
        p[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        q[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k++) sum += p[threadIdx.y][k] * q[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
__global__ void __launch_bounds__(128) many_registers(const float *in, float *out, float a) {
    float x[160];
    unsigned i = index(), step = gridDim.x * blockDim.x;
#pragma unroll
    for (int k = 0; k < 160; k++) x[k] = in[i + k * step];
#pragma unroll
    for (int k = 1; k < 160; k++) x[k] = x[k] * a + x[k - 1];
#pragma unroll
    for (int k = 0; k < 160; k += 8) out[i + k * step] = x[k];
}
__global__ void local_array(const unsigned *in, unsigned *out, unsigned rounds) {
    unsigned a[32], at = threadIdx.x, sum = 0;
    for (int k = 0; k < 32; k++) a[k] = in[index() + k];
    for (unsigned k = 0; k < rounds; k++) {
        at = hash(at + k) % 32;
        sum += a[at];
        a[(at + 7) % 32] = sum;
    }
    keep(out, sum, sum == 0x12345678u);
}
__global__ void one_load(const unsigned *in, unsigned *out) {
    unsigned x = in[index()];
    keep(out, x, x == 0x12345678u);
}

static const Case cases[] = {
    CASE(16 * MI, "bytes_1", bytes_1 GO(528, 256)(IN(Byte), OUT(Byte), 16 * MI)),
    CASE(32 * MI, "bytes_2",
         bytes_2 GO(1056, 256)(IN(unsigned short), OUT(unsigned short), 16 * MI)),
    CASE(64 * MI, "bytes_8", bytes_8 GO(264, 512)(IN(uint2), OUT(unsigned), 8 * MI)),
    CASE(64 * MI, "few_warps_1",
         few_warps<1><<<132, 128, 120 << 10, run.stream>>>(IN(uint4), OUT(unsigned), 4 * MI)),
    CASE(64 * MI, "few_warps_8",
         few_warps<8><<<128, 128, 120 << 10, run.stream>>>(IN(uint4), OUT(unsigned), 4 * MI)),
    CASE(64 * MI, "copy_16", copy<uint4> GO(16384, 256)(IN(uint4), OUT(uint4), 4 * MI)),
    CASE(32 * MI, "copy_4", copy<unsigned> GO(65536, 128)(IN(unsigned), OUT(unsigned), 8 * MI)),
    CASE(4096, "set_16", set GO(16384, 256)(OUT(uint4), 4 * MI)),
    CASE(32 * MI, "axpy", axpy GO(32768, 256)(IN(float), OUT(float), 1.5f, 8 * MI)),
    CASE(64 * MI, "apart_2", apart GO(8192, 1024)(IN(unsigned), OUT(unsigned), 2, 8 * MI)),
    CASE(64 * MI, "apart_lines", apart_lines GO(2048, 256)(IN(unsigned), OUT(unsigned), MI / 2)),
    CASE(8 * MI, "gather_l2", gather<16, 0> GO(1056, 256)(IN(unsigned), OUT(unsigned), 2 * MI - 1)),
    CASE(256 * MI, "gather_dram",
         gather<8, 1> GO(1056, 256)(IN(unsigned), OUT(unsigned), 64 * MI - 1)),
    CASE(16384, "gather_l1", gather<64, 2> GO(264, 512)(IN(unsigned), OUT(unsigned), 4095)),
    CASE(256 << 10, "table_of_all", table_of_all GO(528, 256)(IN(float), OUT(float), 65536)),
    CASE(64 * MI, "chase", chase GO(66, 64)(IN(unsigned), OUT(unsigned), 64)),
    CASE(4096, "fma_chain_1", fma_chains<1> GO(132, 128)(OUT(float), 0.5f, 64)),
    CASE(4096, "fma_chains_4", fma_chains<4> GO(528, 512)(OUT(float), 0.5f, 16)),
    CASE(4096, "hashes", hashes GO(1056, 256)(OUT(unsigned), 64)),
    CASE(4096, "two_ways", two_ways GO(1056, 256)(OUT(float), 0.5f, 16)),
    CASE(4096, "exponentials", exponentials GO(528, 256)(OUT(float), 64)),
    CASE(4096, "doubles", doubles GO(528, 256)(OUT(double), 0.5, 128)),
    CASE(4096, "divisions", divisions GO(528, 256)(OUT(unsigned), 7, 32)),
    CASE(4096, "bit_counts", bit_counts GO(528, 128)(OUT(unsigned), 64)),
    CASE(4096, "halves", halves GO(528, 256)(OUT(__half2), __float2half2_rn(0.5f), 128)),
    CASE(16 * MI, "transpose_0",
         transpose<0> GO(dim3(64, 64), dim3(32, 8))(IN(float), OUT(float), 2048)),
    CASE(16 * MI, "transpose_1",
         transpose<1> GO(dim3(64, 64), dim3(32, 8))(IN(float), OUT(float), 2048)),
    CASE(16 * MI, "histogram_256",
         histogram<256> GO(528, 256)(IN(unsigned), OUT(unsigned), 4 * MI)),
    CASE(4 * MI, "histogram_2", histogram<2> GO(528, 256)(IN(unsigned), OUT(unsigned), MI)),
    CASE(32 * MI, "stencil", stencil GO(32000, 256)(IN(float), OUT(float), 32000 * 256)),
    CASE(4096, "barriers_1024", many_barriers<1024> GO(264, 1024)(OUT(unsigned), 32)),
    CASE(4096, "barriers_64", many_barriers<64> GO(2112, 64)(OUT(unsigned), 32)),
    CASE(32 * MI, "scan_warps", scan_warps GO(32768, 256)(IN(int), OUT(int), 8 * MI)),
    CASE(8 * MI, "sort_blocks", sort_blocks GO(4096, 256)(IN(unsigned), OUT(unsigned))),
    CASE(4096, "one_sum", one_sum GO(4096, 64)(OUT(float), 1.0f)),
    CASE(4 * MI, "global_bins", global_bins GO(4096, 256)(IN(unsigned), OUT(unsigned), MI)),
    CASE(4 * MI, "largest", largest GO(4096, 256)(IN(unsigned), OUT(unsigned), MI)),
    CASE(4 * MI, "last_block",
         last_block GO(2048, 256)(IN(float), OUT(float), OUT(unsigned) + 64 * MI)),
    CASE(8 * MI, "multiply",
         multiply GO(dim3(32, 32), dim3(16, 16))(IN(float), IN(float) + MI, OUT(float), 512)),
    CASE(8 * MI, "multiply_tiles",
         multiply_tiles GO(dim3(16, 16), dim3(32, 32))(IN(float), IN(float) + MI, OUT(float), 512)),
    CASE(64 * MI, "many_registers", many_registers GO(512, 128)(IN(float), OUT(float), 0.5f)),
    CASE(MI, "local_array", local_array GO(264, 256)(IN(unsigned), OUT(unsigned), 32)),
    CASE(32 * MI, "tiny_blocks", one_load GO(200000, 32)(IN(unsigned), OUT(unsigned))),
    CASE(4096, "tiny", copy<uint2> GO(1, 64)(IN(uint2), OUT(uint2), 64)),
};

int main() {
    CUDA(
        cudaFuncSetAttribute(few_warps<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 << 10));
    CUDA(
        cudaFuncSetAttribute(few_warps<8>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 << 10));
    run_cases(cases, sizeof cases / sizeof *cases);
    return 0;
}
