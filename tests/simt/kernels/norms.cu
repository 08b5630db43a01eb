// Softmax, layer norm and their relatives in the shapes in which libraries write them: a thread, a
// warp, a block for each row; the row in registers, in shared memory or read again; float, float4,
// half.
#include <cuda_fp16.h>
#include <float.h>

#include "cases.h"

#define FULL_MASK 0xffffffffu

template <typename T> __inline__ __device__ T warpReduceSum(T val) {
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(FULL_MASK, val, mask, 32);
    return val;
}

template <typename T> __inline__ __device__ T warpReduceMax(T val) {
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        val = max(val, __shfl_xor_sync(FULL_MASK, val, mask, 32));
    return val;
}

template <typename T> __inline__ __device__ T blockReduceSum(T val) {
    static __shared__ T shared[32];
    int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
    val = warpReduceSum<T>(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < (blockDim.x / 32.f)) ? shared[lane] : (T)(0.0f);
    val = warpReduceSum<T>(val);
    return val;
}

template <typename T> __inline__ __device__ T blockReduceMax(T val) {
    static __shared__ T shared[32];
    int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
    val = warpReduceMax(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < (blockDim.x / 32.f)) ? shared[lane] : (T)-1e20f;
    val = warpReduceMax(val);
    return val;
}

static std::vector<double> softmax_rows(const std::vector<float> &in, int rows, int cols) {
    std::vector<double> want(in.size());
    for (int r = 0; r < rows; r++) {
        double most = -1e30, sum = 0;
        const float *x = &in[(size_t)r * cols];
        for (int i = 0; i < cols; i++) most = x[i] > most ? x[i] : most;
        for (int i = 0; i < cols; i++) sum += want[(size_t)r * cols + i] = exp(x[i] - most);
        for (int i = 0; i < cols; i++) want[(size_t)r * cols + i] /= sum;
    }
    return want;
}

// ---- Softmax

__global__ void softmax_thread(float *out, const float *inp, int N, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        const float *inp_row = inp + i * C;
        float *out_row = out + i * C;
        float maxval = -INFINITY;
        for (int j = 0; j < C; j++)
            if (inp_row[j] > maxval) maxval = inp_row[j];
        float sum = 0;
        for (int j = 0; j < C; j++) {
            out_row[j] = expf(inp_row[j] - maxval);
            sum += out_row[j];
        }
        for (int j = 0; j < C; j++) out_row[j] /= sum;
    }
}

__global__ void softmax_online_thread(float *out, const float *inp, int N, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float *row = inp + i * C;
    float m = -FLT_MAX, d = 0.0f;
    for (int j = 0; j < C; j++) {
        float before = m;
        if (row[j] > m) {
            m = row[j];
            d = d * expf(before - m) + 1.0f;
        } else {
            d += expf(row[j] - m);
        }
    }
    for (int j = 0; j < C; j++) out[i * C + j] = expf(row[j] - m) / d;
}

__global__ void softmax_block(float *out, const float *inp, int C) {
    extern __shared__ float shared[];
    int idx = blockIdx.x, tid = threadIdx.x, block_size = blockDim.x;
    const float *x = inp + idx * C;
    float maxval = -INFINITY;
    for (int i = tid; i < C; i += block_size) maxval = fmaxf(maxval, x[i]);
    shared[tid] = maxval;
    __syncthreads();
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
    }
    __syncthreads();
    float offset = shared[0];
    for (int i = tid; i < C; i += block_size) out[idx * C + i] = expf(x[i] - offset);
    __syncthreads();
    x = out + idx * C;
    float sumval = 0.0f;
    for (int i = tid; i < C; i += block_size) sumval += x[i];
    shared[tid] = sumval;
    __syncthreads();
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) shared[tid] += shared[tid + stride];
    }
    __syncthreads();
    float sum = shared[0];
    for (int i = tid; i < C; i += block_size) out[idx * C + i] = x[i] / sum;
}

__global__ void softmax_warp_loop(float *out, const float *inp, int N, int C) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= N) return;
    const float *x = inp + row * C;
    float maxval = -INFINITY;
    for (int i = lane; i < C; i += 32) maxval = fmaxf(maxval, x[i]);
    maxval = warpReduceMax(maxval);
    float sum = 0.0f;
    for (int i = lane; i < C; i += 32) {
        float e = expf(x[i] - maxval);
        out[row * C + i] = e;
        sum += e;
    }
    sum = warpReduceSum(sum);
    for (int i = lane; i < C; i += 32) out[row * C + i] /= sum;
}

// The whole row in a warp's registers, two rows at a time.
template <int log2_elements>
__global__ void softmax_warp_forward(float *dst, const float *src, int batch_size, int stride,
                                     int element_count) {
    constexpr int next_power_of_two = 1 << log2_elements;
    constexpr int WARP_SIZE = (next_power_of_two < 32) ? next_power_of_two : 32;
    constexpr int WARP_ITERATIONS = next_power_of_two / WARP_SIZE;
    constexpr int WARP_BATCH = (next_power_of_two <= 128) ? 2 : 1;
    int first_batch = (blockDim.y * blockIdx.x + threadIdx.y) * WARP_BATCH;
    int local_batches = batch_size - first_batch;
    if (local_batches > WARP_BATCH) local_batches = WARP_BATCH;
    int local_idx = threadIdx.x, idx_offset = first_batch * stride + local_idx;
    src += idx_offset;
    dst += idx_offset;
    float elements[WARP_BATCH][WARP_ITERATIONS];
    for (int i = 0; i < WARP_BATCH; ++i) {
        int batch_element_count = (i >= local_batches) ? 0 : element_count;
        for (int it = 0; it < WARP_ITERATIONS; ++it) {
            int element_index = local_idx + it * WARP_SIZE;
            if (element_index < batch_element_count)
                elements[i][it] = src[i * element_count + it * WARP_SIZE];
            else
                elements[i][it] = -INFINITY;
        }
    }
    float max_value[WARP_BATCH];
#pragma unroll
    for (int i = 0; i < WARP_BATCH; ++i) {
        max_value[i] = elements[i][0];
#pragma unroll
        for (int it = 1; it < WARP_ITERATIONS; ++it)
            max_value[i] = (max_value[i] > elements[i][it]) ? max_value[i] : elements[i][it];
    }
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
#pragma unroll
        for (int i = 0; i < WARP_BATCH; ++i)
            max_value[i] =
                fmaxf(max_value[i], __shfl_xor_sync(FULL_MASK, max_value[i], offset, WARP_SIZE));
    float sum[WARP_BATCH]{0.0f};
#pragma unroll
    for (int i = 0; i < WARP_BATCH; ++i)
#pragma unroll
        for (int it = 0; it < WARP_ITERATIONS; ++it) {
            elements[i][it] = expf(elements[i][it] - max_value[i]);
            sum[i] += elements[i][it];
        }
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
#pragma unroll
        for (int i = 0; i < WARP_BATCH; ++i)
            sum[i] += __shfl_xor_sync(FULL_MASK, sum[i], offset, WARP_SIZE);
#pragma unroll
    for (int i = 0; i < WARP_BATCH; ++i) {
        if (i >= local_batches) break;
#pragma unroll
        for (int it = 0; it < WARP_ITERATIONS; ++it) {
            int element_index = local_idx + it * WARP_SIZE;
            if (element_index < element_count)
                dst[i * element_count + it * WARP_SIZE] = elements[i][it] / sum[i];
            else
                break;
        }
    }
}

__global__ void softmax_smem_float4(float *out, const float *inp, int C) {
    extern __shared__ float4 row4[];
    __shared__ float s_max, s_sum;
    const float4 *x = reinterpret_cast<const float4 *>(inp + blockIdx.x * C);
    float4 *y = reinterpret_cast<float4 *>(out + blockIdx.x * C);
    float local_max = -1e20f;
    for (int i = threadIdx.x; i < C / 4; i += blockDim.x) {
        float4 v = x[i];
        row4[i] = v;
        local_max = fmaxf(local_max, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    float max_val = blockDim.x <= 32 ? warpReduceMax(local_max) : blockReduceMax<float>(local_max);
    if (threadIdx.x == 0) s_max = max_val;
    __syncthreads();
    float local_sum = 0;
    for (int i = threadIdx.x; i < C / 4; i += blockDim.x) {
        float4 v = row4[i];
        v.x = __expf(v.x - s_max), v.y = __expf(v.y - s_max), v.z = __expf(v.z - s_max),
        v.w = __expf(v.w - s_max);
        row4[i] = v;
        local_sum += v.x + v.y + v.z + v.w;
    }
    float sum_val = blockDim.x <= 32 ? warpReduceSum(local_sum) : blockReduceSum<float>(local_sum);
    if (threadIdx.x == 0) s_sum = sum_val + 1e-6f;
    __syncthreads();
    for (int i = threadIdx.x; i < C / 4; i += blockDim.x) {
        float4 v = row4[i];
        v.x /= s_sum, v.y /= s_sum, v.z /= s_sum, v.w /= s_sum;
        y[i] = v;
    }
}

__global__ void softmax_half2(half2 *out, const half2 *inp, int C2) {
    const half2 *x = inp + blockIdx.x * C2;
    __shared__ float s_mean, s_max;
    float local_max = -1e20f;
    for (int i = threadIdx.x; i < C2; i += blockDim.x) {
        float2 v = __half22float2(x[i]);
        local_max = fmaxf(local_max, fmaxf(v.x, v.y));
    }
    float max_val = blockReduceMax<float>(local_max);
    if (threadIdx.x == 0) s_max = max_val;
    __syncthreads();
    float local_sum = 0;
    for (int i = threadIdx.x; i < C2; i += blockDim.x) {
        float2 v = __half22float2(x[i]);
        local_sum += expf(v.x - s_max) + expf(v.y - s_max);
    }
    float sum_val = blockReduceSum<float>(local_sum);
    if (threadIdx.x == 0) s_mean = 1.0f / sum_val;
    __syncthreads();
    for (int i = threadIdx.x; i < C2; i += blockDim.x) {
        float2 v = __half22float2(x[i]);
        out[blockIdx.x * C2 + i] =
            __floats2half2_rn(expf(v.x - s_max) * s_mean, expf(v.y - s_max) * s_mean);
    }
}

__global__ void log_softmax_block(float *out, const float *inp, int C) {
    const float *x = inp + blockIdx.x * C;
    __shared__ float s[2];
    float m = -1e20f, sum = 0;
    for (int i = threadIdx.x; i < C; i += blockDim.x) m = fmaxf(m, x[i]);
    m = blockReduceMax(m);
    if (threadIdx.x == 0) s[0] = m;
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x) sum += expf(x[i] - s[0]);
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) s[1] = logf(sum);
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x) out[blockIdx.x * C + i] = x[i] - s[0] - s[1];
}

__global__ void softmax_backward_warp(float *dx, const float *dy, const float *y, int N, int C) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= N) return;
    float sum = 0;
    for (int i = threadIdx.x; i < C; i += 32) sum += dy[row * C + i] * y[row * C + i];
    sum = warpReduceSum(sum);
    for (int i = threadIdx.x; i < C; i += 32)
        dx[row * C + i] = y[row * C + i] * (dy[row * C + i] - sum);
}

static void softmax(int scale) {
    for (int C : {32, 100, 512}) {
        int N = 50 * scale;
        size_t all = (size_t)N * C;
        Array<float> in(all, [](int i) { return 4 * real(i); }), out(all);
        std::vector<double> want = softmax_rows(in.host, N, C), logs(all);
        for (size_t i = 0; i < all; i++) logs[i] = log(want[i]);
        RUN(softmax_thread<<<blocks_for(N, 32), 32>>>(out, in, N, C));
        compare(out, want, 1e-5);
        RUN(softmax_online_thread<<<blocks_for(N, 64), 64>>>(out, in, N, C));
        compare(out, want, 1e-5);
        RUN(softmax_block<<<N, 128, 128 * sizeof(float)>>>(out, in, C));
        compare(out, want, 1e-5);
        RUN(softmax_warp_loop<<<blocks_for(N, 4), 128>>>(out, in, N, C));
        compare(out, want, 1e-5);
        dim3 block(32, 4);
        if (C == 32)
            RUN(softmax_warp_forward<5><<<blocks_for(N, 8), block>>>(out, in, N, C, C));
        else if (C == 100)
            RUN(softmax_warp_forward<7><<<blocks_for(N, 8), block>>>(out, in, N, C, C));
        else
            RUN(softmax_warp_forward<9><<<blocks_for(N, 4), block>>>(out, in, N, C, C));
        compare(out, want, 1e-5);
        for (int threads : {32, 128})
            RUN(softmax_smem_float4<<<N, threads, C * sizeof(float)>>>(out, in, C));
        compare(out, want, 1e-4);
        RUN(log_softmax_block<<<N, 64>>>(out, in, C));
        compare(out, logs, 1e-5);
        std::vector<double> grad(all);
        for (int r = 0; r < N; r++) {
            double sum = 0;
            for (int i = 0; i < C; i++) sum += want[(size_t)r * C + i] * in.host[(size_t)r * C + i];
            for (int i = 0; i < C; i++)
                grad[(size_t)r * C + i] =
                    want[(size_t)r * C + i] * (in.host[(size_t)r * C + i] - sum);
        }
        Array<float> y(std::vector<float>(want.begin(), want.end()));
        RUN(softmax_backward_warp<<<blocks_for(N, 8), dim3(32, 8)>>>(out, in, y, N, C));
        compare(out, grad, 1e-4);
        Array<half> h(all, [](int i) { return __float2half(4 * real(i)); }), o(all);
        RUN(softmax_half2<<<N, 64>>>((half2 *)o.device, (half2 *)h.device, C / 2));
        o.fetch();
        std::vector<float> got(all);
        for (size_t i = 0; i < all; i++) got[i] = __half2float(o.host[i]);
        compare(got, want, 1e-2);
    }
}

// ---- Layer norm and RMS norm

// Mean and variance in one pass, joined as Welford and Chan do.
__inline__ __device__ void welfordCombine(float val, float *mean, float *m2, float *count) {
    *count += 1;
    float delta1 = val - *mean;
    *mean += delta1 / *count;
    float delta2 = val - *mean;
    *m2 += delta1 * delta2;
}

__inline__ __device__ void welfordJoin(float b_mean, float b_m2, float b_count, float *mean,
                                       float *m2, float *count) {
    if (b_count == 0) return;
    float new_count = *count + b_count, nb_over_n = b_count / new_count, delta = b_mean - *mean;
    *mean += delta * nb_over_n;
    *m2 += b_m2 + delta * delta * (*count) * nb_over_n;
    *count = new_count;
}

__global__ void layernorm_welford_warp(float *out, const float *inp, const float *gamma,
                                       const float *beta, int N, int C) {
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < N; row += gridDim.x * blockDim.y) {
        float mean = 0, m2 = 0, count = 0;
        for (int i = threadIdx.x; i < C; i += 32)
            welfordCombine(inp[row * C + i], &mean, &m2, &count);
        for (int mask = 16; mask > 0; mask /= 2) {
            float b_mean = __shfl_down_sync(FULL_MASK, mean, mask, 32);
            float b_m2 = __shfl_down_sync(FULL_MASK, m2, mask, 32);
            float b_count = __shfl_down_sync(FULL_MASK, count, mask, 32);
            welfordJoin(b_mean, b_m2, b_count, &mean, &m2, &count);
        }
        mean = __shfl_sync(FULL_MASK, mean, 0, 32);
        float inv = rsqrtf(fmaxf(__shfl_sync(FULL_MASK, m2, 0, 32) / C, 0.0f) + 1e-5f);
        for (int i = threadIdx.x; i < C; i += 32)
            out[row * C + i] = (inp[row * C + i] - mean) * inv * gamma[i] + beta[i];
    }
}

__global__ void layernorm_block_float4(float4 *out, const float4 *inp, const float4 *gamma,
                                       const float4 *beta, int C4) {
    __shared__ float s_mean, s_variance;
    const float4 *x = inp + blockIdx.x * C4;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < C4; i += blockDim.x) {
        float4 v = x[i];
        sum += v.x + v.y + v.z + v.w;
    }
    sum = blockReduceSum<float>(sum);
    if (threadIdx.x == 0) s_mean = sum / (C4 * 4);
    __syncthreads();
    float variance = 0.0f;
    for (int i = threadIdx.x; i < C4; i += blockDim.x) {
        float4 v = x[i];
        float a = v.x - s_mean, b = v.y - s_mean, c = v.z - s_mean, d = v.w - s_mean;
        variance += a * a + b * b + c * c + d * d;
    }
    variance = blockReduceSum<float>(variance);
    if (threadIdx.x == 0) s_variance = rsqrtf(variance / (C4 * 4) + 1e-5f);
    __syncthreads();
    for (int i = threadIdx.x; i < C4; i += blockDim.x) {
        float4 v = x[i], g = __ldg(&gamma[i]), b = __ldg(&beta[i]);
        out[blockIdx.x * C4 + i] = make_float4(
            (v.x - s_mean) * s_variance * g.x + b.x, (v.y - s_mean) * s_variance * g.y + b.y,
            (v.z - s_mean) * s_variance * g.z + b.z, (v.w - s_mean) * s_variance * g.w + b.w);
    }
}

// Residual added and normalised, the row kept in shared memory between the passes.
__global__ void add_layernorm_smem(float *out, float *residual, const float *inp,
                                   const float *gamma, const float *beta, int C) {
    extern __shared__ float row[];
    __shared__ float s_mean, s_variance;
    float sum = 0.0f, variance = 0.0f;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        float v = inp[blockIdx.x * C + i] + residual[blockIdx.x * C + i];
        row[i] = v;
        residual[blockIdx.x * C + i] = v;
        sum += v;
    }
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) s_mean = sum / C;
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x)
        variance += (row[i] - s_mean) * (row[i] - s_mean);
    variance = blockReduceSum(variance);
    if (threadIdx.x == 0) s_variance = rsqrtf(variance / C + 1e-5f);
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x)
        out[blockIdx.x * C + i] = (row[i] - s_mean) * s_variance * gamma[i] + beta[i];
}

template <typename scalar_t>
__global__ void rms_norm_kernel(scalar_t *__restrict__ out, const scalar_t *__restrict__ input,
                                const scalar_t *__restrict__ weight, const float epsilon,
                                const int hidden_size) {
    __shared__ float s_variance;
    float variance = 0.0f;
    for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
        const float x = (float)input[blockIdx.x * hidden_size + idx];
        variance += x * x;
    }
    variance = blockReduceSum<float>(variance);
    if (threadIdx.x == 0) s_variance = rsqrtf(variance / hidden_size + epsilon);
    __syncthreads();
    for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
        float x = (float)input[blockIdx.x * hidden_size + idx];
        out[blockIdx.x * hidden_size + idx] = (scalar_t)(x * s_variance * (float)weight[idx]);
    }
}

__global__ void l2_normalize_thread_group(float *out, const float *inp, int N, int C) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (row >= N) return;
    float sum = 0;
    for (int i = lane; i < C; i += 8) sum += inp[row * C + i] * inp[row * C + i];
    for (int o = 4; o > 0; o /= 2) sum += __shfl_xor_sync(__activemask(), sum, o, 8);
    for (int i = lane; i < C; i += 8) out[row * C + i] = inp[row * C + i] * rsqrtf(sum + 1e-12f);
}

static void layer_norm(int scale) {
    for (int C : {64, 200, 1024}) {
        int N = 24 * scale;
        size_t all = (size_t)N * C;
        Array<float> in(all, real), g(C, element), b(C, real), out(all),
            residual(all, [](int i) { return real(i + 5); });
        std::vector<double> want(all), added(all), rms(all), unit(all);
        for (int r = 0; r < N; r++) {
            float *x = &in.host[(size_t)r * C], *e = &residual.host[(size_t)r * C];
            double m = 0, v = 0, am = 0, av = 0, square = 0;
            for (int i = 0; i < C; i++) m += x[i] / (double)C, am += (x[i] + e[i]) / (double)C;
            for (int i = 0; i < C; i++)
                v += (x[i] - m) * (x[i] - m) / C, av += (x[i] + e[i] - am) * (x[i] + e[i] - am) / C,
                    square += (double)x[i] * x[i];
            for (int i = 0; i < C; i++) {
                size_t at = (size_t)r * C + i;
                want[at] = (x[i] - m) / sqrt(v + 1e-5) * g.host[i] + b.host[i];
                added[at] = (x[i] + e[i] - am) / sqrt(av + 1e-5) * g.host[i] + b.host[i];
                rms[at] = x[i] / sqrt(square / C + 1e-5) * g.host[i];
                unit[at] = x[i] / sqrt(square);
            }
        }
        RUN(layernorm_welford_warp<<<5, dim3(32, 4)>>>(out, in, g, b, N, C));
        compare(out, want, 1e-4);
        for (int block : {64, 256})
            RUN(layernorm_block_float4<<<N, block>>>((float4 *)out.device, (float4 *)in.device,
                                                     (float4 *)g.device, (float4 *)b.device,
                                                     C / 4));
        compare(out, want, 1e-4);
        RUN(add_layernorm_smem<<<N, 128, C * sizeof(float)>>>(out, residual, in, g, b, C));
        compare(out, added, 1e-4);
        RUN(rms_norm_kernel<float><<<N, 128>>>(out, in, g, 1e-5f, C));
        compare(out, rms, 1e-4);
        RUN(l2_normalize_thread_group<<<blocks_for(N * 8, 64), 64>>>(out, in, N, C));
        compare(out, unit, 1e-4);
        Array<half> hin(
            all, [](int i) { return __float2half(real(i)); }),
            hout(all);
        Array<half> hg(C, [](int i) { return __float2half((float)element(i)); });
        RUN(rms_norm_kernel<half><<<N, 256>>>(hout, hin, hg, 1e-5f, C));
        hout.fetch();
        std::vector<float> got(all);
        for (size_t i = 0; i < all; i++) got[i] = __half2float(hout.host[i]);
        compare(got, rms, 5e-3);
    }
}

// ---- Sums by channel, batch norm, group norm: N x C x HW or N x HW x C

__global__ void channel_sum_nchw(float *sum, float *sum_sq, const float *x, int N, int C, int HW) {
    int c = blockIdx.x;
    float a = 0, b = 0;
    for (int i = threadIdx.x; i < N * HW; i += blockDim.x) {
        float v = x[(i / HW * C + c) * HW + i % HW];
        a += v;
        b += v * v;
    }
    __shared__ float sa[256], sb[256];
    sa[threadIdx.x] = a, sb[threadIdx.x] = b;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            sa[threadIdx.x] += sa[threadIdx.x + s], sb[threadIdx.x] += sb[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) sum[c] = sa[0], sum_sq[c] = sb[0];
}

__global__ void channel_sum_nhwc(float *sum, const float *x, int rows, int C) {
    __shared__ float part[8][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    float a = 0;
    if (c < C)
        for (int r = threadIdx.y; r < rows; r += blockDim.y) a += x[r * C + c];
    part[threadIdx.y][threadIdx.x] = a;
    __syncthreads();
    if (threadIdx.y == 0 && c < C) {
        for (int k = 1; k < 8; k++) a += part[k][threadIdx.x];
        sum[c] = a;
    }
}

__global__ void channel_sum_atomic(float *sum, const float *x, int rows, int C) {
    extern __shared__ float s[];
    for (int c = threadIdx.x; c < C; c += blockDim.x) s[c] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * C; i += gridDim.x * blockDim.x)
        atomicAdd(&s[i % C], x[i]);
    __syncthreads();
    for (int c = threadIdx.x; c < C; c += blockDim.x) atomicAdd(&sum[c], s[c]);
}

__global__ void batch_norm_transform(float *y, const float *x, const float *sum,
                                     const float *sum_sq, int C, int HW, float inv_count) {
    int c = blockIdx.y, n = blockIdx.z;
    float mean = sum[c] * inv_count, inv = rsqrtf(sum_sq[c] * inv_count - mean * mean + 1e-5f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < HW; i += gridDim.x * blockDim.x)
        y[(n * C + c) * HW + i] = (x[(n * C + c) * HW + i] - mean) * inv;
}

__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta,
                                  int C, int HW, int groups) {
    __shared__ float s_sum[32], s_sq[32], s_stats[2];
    int D = C / groups, size = D * HW, g = blockIdx.x % groups;
    const float *in = x + blockIdx.x * size;
    float a = 0, b = 0;
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        float v = in[i];
        a += v, b += v * v;
    }
    a = warpReduceSum(a), b = warpReduceSum(b);
    int lane = threadIdx.x % 32, wid = threadIdx.x / 32;
    if (lane == 0) s_sum[wid] = a, s_sq[wid] = b;
    __syncthreads();
    if (wid == 0) {
        a = lane < blockDim.x / 32 ? s_sum[lane] : 0, b = lane < blockDim.x / 32 ? s_sq[lane] : 0;
        a = warpReduceSum(a), b = warpReduceSum(b);
        if (lane == 0) {
            float mean = a / size;
            s_stats[0] = mean;
            s_stats[1] = rsqrtf(b / size - mean * mean + 1e-5f);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        int c = g * D + i / HW;
        y[blockIdx.x * size + i] = (in[i] - s_stats[0]) * s_stats[1] * gamma[c] + beta[c];
    }
}

__global__ void group_norm_nhwc_sum(float *sums, const float *x, int C, int HW, int groups) {
    int D = C / groups, n = blockIdx.y, c = threadIdx.x;
    extern __shared__ float channel[];
    float a = 0, b = 0;
    for (int p = blockIdx.x; p < HW; p += gridDim.x) {
        float v = x[(n * HW + p) * C + c];
        a += v, b += v * v;
    }
    channel[c] = a, channel[C + c] = b;
    __syncthreads();
    if (c < groups) {
        a = 0, b = 0;
        for (int i = 0; i < D; i++) a += channel[c * D + i], b += channel[C + c * D + i];
        atomicAdd(&sums[(n * groups + c) * 2], a);
        atomicAdd(&sums[(n * groups + c) * 2 + 1], b);
    }
}

__global__ void instance_norm_kernel(float *y, const float *x, int HW) {
    __shared__ float mean, inv;
    const float *in = x + blockIdx.x * HW;
    float sum = 0, sq = 0;
    for (int i = threadIdx.x; i < HW; i += blockDim.x) sum += in[i];
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) mean = sum / HW;
    __syncthreads();
    for (int i = threadIdx.x; i < HW; i += blockDim.x) sq += (in[i] - mean) * (in[i] - mean);
    sq = blockReduceSum(sq);
    if (threadIdx.x == 0) inv = rsqrtf(sq / HW + 1e-5f);
    __syncthreads();
    for (int i = threadIdx.x; i < HW; i += blockDim.x)
        y[blockIdx.x * HW + i] = (in[i] - mean) * inv;
}

// The normalised rows of `size` elements.
static std::vector<double> normalised(const std::vector<float> &in, size_t size) {
    std::vector<double> out(in.size());
    for (size_t first = 0; first < in.size(); first += size) {
        double m = 0, v = 0;
        for (size_t i = first; i < first + size; i++) m += in[i] / (double)size;
        for (size_t i = first; i < first + size; i++) v += (in[i] - m) * (in[i] - m) / size;
        for (size_t i = first; i < first + size; i++) out[i] = (in[i] - m) / sqrt(v + 1e-5);
    }
    return out;
}

static void channels(int scale) {
    for (int HW : {49, 256}) {
        int N = 3 * scale, C = 48;
        size_t all = (size_t)N * C * HW;
        Array<float> in(all, element), sum(C), sum_sq(C), out(all);
        std::vector<double> want(C), squares(C), last(C);
        for (size_t i = 0; i < all; i++) {
            want[i / HW % C] += in.host[i], squares[i / HW % C] += in.host[i] * in.host[i];
            last[i % C] += in.host[i];
        }
        for (int block : {64, 256}) RUN(channel_sum_nchw<<<C, block>>>(sum, sum_sq, in, N, C, HW));
        compare(sum, want);
        compare(sum_sq, squares);
        RUN(batch_norm_transform<<<dim3(2, C, N), 64>>>(out, in, sum, sum_sq, C, HW,
                                                        1.0f / (N * HW)));
        std::vector<double> batch(all);
        for (size_t i = 0; i < all; i++) {
            double m = want[i / HW % C] / (N * HW), v = squares[i / HW % C] / (N * HW) - m * m;
            batch[i] = (in.host[i] - m) / sqrt(v + 1e-5);
        }
        compare(out, batch, 1e-4);
        RUN(channel_sum_nhwc<<<blocks_for(C, 32), dim3(32, 8)>>>(sum, in, N * HW, C));
        compare(sum, last);
        Array<float> total(C);
        RUN(channel_sum_atomic<<<4, 128, C * sizeof(float)>>>(total, in, N * HW, C));
        compare(total, last);
    }
}

static void group_norm(int scale) {
    for (int groups : {4, 16}) {
        int N = 4 * scale, C = 64, HW = 60;
        size_t all = (size_t)N * C * HW;
        Array<float> in(all, element), g(C, real), b(C, element), out(all),
            sums((size_t)N * groups * 2);
        std::vector<double> want = normalised(in.host, (size_t)C / groups * HW),
                            by_group((size_t)N * groups * 2);
        for (size_t i = 0; i < all; i++) {
            want[i] = want[i] * g.host[i / HW % C] + b.host[i / HW % C];
            size_t at = (i / C / HW * groups + i % C / (C / groups)) * 2;
            by_group[at] += in.host[i], by_group[at + 1] += in.host[i] * in.host[i];
        }
        for (int block : {64, 256})
            RUN(group_norm_kernel<<<N * groups, block>>>(out, in, g, b, C, HW, groups));
        compare(out, want, 1e-4);
        RUN(group_norm_nhwc_sum<<<dim3(5, N), C, 2 * C * sizeof(float)>>>(sums, in, C, HW, groups));
        compare(sums, by_group);
        RUN(instance_norm_kernel<<<N * C, 32>>>(out, in, HW));
        compare(out, normalised(in.host, HW), 1e-4);
    }
}

static const Case cases[] = {
    {"softmax", softmax}, {"layer_norm", layer_norm}, {"channels", channels},
    {"group_norm", group_norm},
};
CASES(cases)
