// Layers of language models as in libraries: softmax, layer norm, RMS norm, attention. Rows are kept in
// registers or shared memory, or are read again, as float, float4 and half.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <float.h>

#include "cases.h"

namespace cg = cooperative_groups;

// ---- Layer normalisation

__global__ void layernorm_forward_kernel3(float *__restrict__ out, float *__restrict__ mean,
                                          float *__restrict__ rstd, const float *__restrict__ inp,
                                          const float *__restrict__ weight,
                                          const float *__restrict__ bias, int N, int C) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N) return;
    const float *x = inp + idx * C;
    float sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) sum += x[i];
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    float m = sum / C;
    if (warp.thread_rank() == 0 && mean != nullptr) __stcs(mean + idx, m);
    sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        float diff = x[i] - m;
        sum += diff * diff;
    }
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    float s = rsqrtf(sum / C + 1e-5f);
    if (warp.thread_rank() == 0 && rstd != nullptr) __stcs(rstd + idx, s);
    float *o = out + idx * C;
    for (int c = warp.thread_rank(); c < C; c += warp.size()) {
        float n = s * (__ldcs(x + c) - m);
        __stcs(o + c, n * weight[c] + bias[c]);
    }
}

__global__ void layernorm_forward_kernel4(float *__restrict__ out, float *__restrict__ mean,
                                          float *__restrict__ rstd, const float *__restrict__ inp,
                                          const float *__restrict__ weight,
                                          const float *__restrict__ bias, int N, int C) {
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    __shared__ float shared_sum[32];
    __shared__ float shared_sum2[32];
    int num_warps = blockDim.x / 32, warp_id = threadIdx.x / 32, lane_id = threadIdx.x % 32;
    const float *x = inp + blockIdx.x * C;
    float thread_sum = 0.0f, thread_sum2 = 0.0f;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        float xi = x[i];
        thread_sum += xi;
        thread_sum2 += xi * xi;
    }
    float warp_sum = cg::reduce(warp, thread_sum, cg::plus<float>{});
    float warp_sum2 = cg::reduce(warp, thread_sum2, cg::plus<float>{});
    shared_sum[warp_id] = warp_sum;
    shared_sum2[warp_id] = warp_sum2;
    __syncthreads();
    warp_sum = (lane_id < num_warps) ? shared_sum[lane_id] : 0.0f;
    warp_sum2 = (lane_id < num_warps) ? shared_sum2[lane_id] : 0.0f;
    float block_sum = cg::reduce(warp, warp_sum, cg::plus<float>{});
    float block_sum2 = cg::reduce(warp, warp_sum2, cg::plus<float>{});
    block_sum /= C;
    block_sum2 /= C;
    float m = block_sum, var = block_sum2 - m * m, s = rsqrtf(var + 1e-5f);
    if (threadIdx.x == 0) __stcs(mean + blockIdx.x, m);
    if (threadIdx.x == 0) __stcs(rstd + blockIdx.x, s);
    float *o = out + blockIdx.x * C;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        float n = s * (__ldcs(x + i) - m);
        __stcs(o + i, n * weight[i] + bias[i]);
    }
}

// Every warp takes rows in turn; shared memory accumulates weight and bias gradients.
__global__ void layernorm_backward_kernel(float *dinp, float *dweight, float *dbias,
                                          const float *dout, const float *inp, const float *weight,
                                          const float *mean, const float *rstd, int N, int C) {
    extern __shared__ float shared[];
    float *dbias_shared = shared, *dweight_shared = shared + C;
    int warp_id = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (int i = threadIdx.x; i < C; i += blockDim.x)
        dbias_shared[i] = 0.0f, dweight_shared[i] = 0.0f;
    __syncthreads();
    for (int idx = blockIdx.x * warps + warp_id; idx < N; idx += gridDim.x * warps) {
        const float *dout_bt = dout + idx * C, *inp_bt = inp + idx * C;
        float *dinp_bt = dinp + idx * C, mean_bt = mean[idx], rstd_bt = rstd[idx];
        float dnorm_mean = 0.0f, dnorm_norm_mean = 0.0f;
        for (int i = lane; i < C; i += 32) {
            float norm_bti = (inp_bt[i] - mean_bt) * rstd_bt, dnorm_i = weight[i] * dout_bt[i];
            dnorm_mean += dnorm_i;
            dnorm_norm_mean += dnorm_i * norm_bti;
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            dnorm_mean += __shfl_xor_sync(0xFFFFFFFF, dnorm_mean, offset);
            dnorm_norm_mean += __shfl_xor_sync(0xFFFFFFFF, dnorm_norm_mean, offset);
        }
        dnorm_mean = dnorm_mean / C;
        dnorm_norm_mean = dnorm_norm_mean / C;
        for (int i = lane; i < C; i += 32) {
            float norm_bti = (inp_bt[i] - mean_bt) * rstd_bt, dnorm_i = weight[i] * dout_bt[i];
            atomicAdd(&dbias_shared[i], dout_bt[i]);
            atomicAdd(&dweight_shared[i], norm_bti * dout_bt[i]);
            dinp_bt[i] += (dnorm_i - dnorm_mean - norm_bti * dnorm_norm_mean) * rstd_bt;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        atomicAdd(&dbias[i], dbias_shared[i]);
        atomicAdd(&dweight[i], dweight_shared[i]);
    }
}

static void layernorm(int scale) {
    for (int C : {48, 256, 768}) {
        int N = 40 * scale;
        Array<float> in((size_t)N * C, real), w(C, real), b(C, element), out((size_t)N * C),
            mean(N), rstd(N);
        Array<float> dout((size_t)N * C, [](int i) { return real(i + 7); });
        std::vector<double> want((size_t)N * C), dinp_want((size_t)N * C), dw(C), db(C);
        for (int r = 0; r < N; r++) {
            double m = 0, v = 0, dm = 0, dn = 0;
            float *x = &in.host[(size_t)r * C], *d = &dout.host[(size_t)r * C];
            for (int i = 0; i < C; i++) m += x[i] / C;
            for (int i = 0; i < C; i++) v += (x[i] - m) * (x[i] - m) / C;
            double s = 1 / sqrt(v + 1e-5);
            for (int i = 0; i < C; i++) {
                double norm = (x[i] - m) * s;
                want[(size_t)r * C + i] = norm * w.host[i] + b.host[i];
                dm += w.host[i] * d[i] / C, dn += w.host[i] * d[i] * norm / C;
                db[i] += d[i], dw[i] += norm * d[i];
            }
            for (int i = 0; i < C; i++)
                dinp_want[(size_t)r * C + i] = (w.host[i] * d[i] - dm - (x[i] - m) * s * dn) * s;
        }
        RUN(layernorm_forward_kernel3<<<blocks_for(N * 32, 128), 128>>>(out, mean, rstd, in, w, b,
                                                                        N, C));
        compare(out, want, 1e-4);
        for (int block : {128, 512})
            RUN(layernorm_forward_kernel4<<<N, block>>>(out, mean, rstd, in, w, b, N, C));
        compare(out, want, 1e-4);
        Array<float> dinp((size_t)N * C), dweight(C), dbias(C);
        RUN(layernorm_backward_kernel<<<6, 128, 2 * C * sizeof(float)>>>(dinp, dweight, dbias, dout,
                                                                         in, w, mean, rstd, N, C));
        compare(dinp, dinp_want, 1e-3);
        compare(dweight, dw, 1e-3);
        compare(dbias, db, 1e-3);
    }
}

// ---- Attention

__global__ void attention_softmax_kernel1(float *att, const float *preatt, int B, int T, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x, total_threads = B * T * NH;
    if (idx < total_threads) {
        int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T);
        const float *preatt_bth = preatt + b * NH * T * T + h * T * T + t * T;
        float *att_bth = att + b * NH * T * T + h * T * T + t * T;
        float maxval = -FLT_MAX;
        for (int t2 = 0; t2 <= t; t2++)
            if (preatt_bth[t2] > maxval) maxval = preatt_bth[t2];
        float expsum = 0.0f;
        for (int t2 = 0; t2 <= t; t2++) {
            float expv = expf(preatt_bth[t2] - maxval);
            expsum += expv;
            att_bth[t2] = expv;
        }
        float expsum_inv = expsum == 0.0f ? 0.0f : 1.0f / expsum;
        for (int t2 = 0; t2 < T; t2++)
            if (t2 <= t)
                att_bth[t2] *= expsum_inv;
            else
                att_bth[t2] = 0.0f;
    }
}

__global__ void permute_kernel(float *q, float *k, float *v, const float *inp, int B, int N, int NH,
                               int d) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < B * NH * N * d) {
        int b = idx / (NH * N * d), rest = idx % (NH * N * d), nh_ = rest / (N * d);
        rest = rest % (N * d);
        int n = rest / d, d_ = rest % d;
        int inp_idx = (b * N * 3 * NH * d) + (n * 3 * NH * d) + (0 * NH * d) + (nh_ * d) + d_;
        q[idx] = __ldcs(&inp[inp_idx]);
        k[idx] = __ldcs(&inp[inp_idx + NH * d]);
        v[idx] = __ldcs(&inp[inp_idx + 2 * (NH * d)]);
    }
}

// One warp for each query, keys and values in tiles of shared memory, with an online softmax.
__global__ void flash_attention(float *out, const float *Q, const float *K, const float *V, int T) {
    const int D = 16, TILE = 32;
    __shared__ float Ks[TILE][D + 1], Vs[TILE][D + 1];
    int head = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32,
        warps = blockDim.x / 32;
    int t = blockIdx.x * warps + warp;
    Q += head * T * D, K += head * T * D, V += head * T * D, out += head * T * D;
    float q[D], acc = 0.0f, m = -FLT_MAX, l = 0.0f;
    for (int i = 0; i < D; i++) q[i] = Q[t * D + i];
    for (int start = 0; start <= blockIdx.x * warps + warps - 1; start += TILE) {
        for (int i = threadIdx.x; i < TILE * D; i += blockDim.x) {
            Ks[i / D][i % D] = K[start * D + i];
            Vs[i / D][i % D] = V[start * D + i];
        }
        __syncthreads();
        float s = -FLT_MAX;
        if (start + lane <= t) {
            s = 0.0f;
            for (int i = 0; i < D; i++) s += q[i] * Ks[lane][i];
            s *= 0.25f;
        }
        float best = s;
        for (int o = 16; o > 0; o /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, o));
        float m_new = fmaxf(m, best), p = start + lane <= t ? expf(s - m_new) : 0.0f, sum = p;
        for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffff, sum, o);
        float scale = expf(m - m_new);
        l = l * scale + sum, acc *= scale, m = m_new;
        for (int j = 0; j < TILE; j++) {
            float pj = __shfl_sync(0xffffffff, p, j);
            if (lane < D) acc += pj * Vs[j][lane];
        }
        __syncthreads();
    }
    if (lane < D) out[t * D + lane] = acc / l;
}

static void attention(int scale) {
    for (int T : {32, 64}) {
        int B = 1 * scale, NH = 2, hs = 16, C = NH * hs, rows = B * NH * T;
        size_t heads = (size_t)B * NH;
        Array<float> qkv((size_t)B * T * 3 * C, real), pre(heads * T * T), att(heads * T * T),
            out((size_t)rows * hs), dq((size_t)rows * hs), dk((size_t)rows * hs),
            dv((size_t)rows * hs);
        std::vector<double> probability(heads * T * T), want((size_t)rows * hs);
        std::vector<float> q((size_t)rows * hs);
        for (int row = 0; row < rows; row++) {
            int t = row % T, h = row / T % NH, b = row / T / NH;
            auto at = [&](int which, int when, int i) {
                return qkv.host[((size_t)(b * T + when) * 3 + which) * C + h * hs + i];
            };
            double sum = 0, *p = &probability[(size_t)row * T];
            for (int k = 0; k < T; k++) {
                for (int i = 0; i < hs; i++) p[k] += at(0, t, i) * at(1, k, i) / sqrt(hs);
                pre.host[(size_t)row * T + k] = k <= t ? (float)p[k] : -INFINITY;
                sum += p[k] = k <= t ? exp(p[k]) : 0;
            }
            for (int k = 0; k <= t; k++) p[k] /= sum;
            for (int i = 0; i < hs; i++) {
                q[(size_t)row * hs + i] = at(0, t, i);
                for (int k = 0; k <= t; k++) want[(size_t)row * hs + i] += p[k] * at(2, k, i);
            }
        }
        pre.to_device();
        RUN(attention_softmax_kernel1<<<blocks_for(rows, 64), 64>>>(att, pre, B, T, NH));
        compare(att, probability, 1e-5);
        RUN(permute_kernel<<<blocks_for((int)q.size(), 256), 256>>>(dq, dk, dv, qkv, B, T, NH, hs));
        compare(dq, q);
        RUN(flash_attention<<<dim3(T / 4, B * NH), 128>>>(out, dq, dk, dv, T));
        compare(out, want, 1e-4);
    }
}

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

static void softmax(int scale) {
    for (int C : {32, 100, 512}) {
        int N = 50 * scale;
        size_t all = (size_t)N * C;
        Array<float> in(all, [](int i) { return 4 * real(i); }), out(all);
        std::vector<double> want = softmax_rows(in.host, N, C);
        for (int threads : {32, 128})
            RUN(softmax_smem_float4<<<N, threads, C * sizeof(float)>>>(out, in, C));
        compare(out, want, 1e-4);
        Array<half> h(all, [](int i) { return __float2half(4 * real(i)); }), o(all);
        RUN(softmax_half2<<<N, 64>>>((half2 *)o.device, (half2 *)h.device, C / 2));
        o.fetch();
        std::vector<float> got(all);
        for (size_t i = 0; i < all; i++) got[i] = __half2float(o.host[i]);
        compare(got, want, 1e-2);
    }
}

// ---- Layer norm and RMS norm

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

static void row_norms(int scale) {
    for (int C : {64, 200, 1024}) {
        int N = 24 * scale;
        size_t all = (size_t)N * C;
        Array<float> in(all, real), g(C, element), b(C, real), out(all);
        std::vector<double> want(all), rms(all);
        for (int r = 0; r < N; r++) {
            float *x = &in.host[(size_t)r * C];
            double m = 0, v = 0, square = 0;
            for (int i = 0; i < C; i++) m += x[i] / (double)C;
            for (int i = 0; i < C; i++)
                v += (x[i] - m) * (x[i] - m) / C, square += (double)x[i] * x[i];
            for (int i = 0; i < C; i++) {
                size_t at = (size_t)r * C + i;
                want[at] = (x[i] - m) / sqrt(v + 1e-5) * g.host[i] + b.host[i];
                rms[at] = x[i] / sqrt(square / C + 1e-5) * g.host[i];
            }
        }
        for (int block : {64, 256})
            RUN(layernorm_block_float4<<<N, block>>>((float4 *)out.device, (float4 *)in.device,
                                                     (float4 *)g.device, (float4 *)b.device,
                                                     C / 4));
        compare(out, want, 1e-4);
        RUN(rms_norm_kernel<float><<<N, 128>>>(out, in, g, 1e-5f, C));
        compare(out, rms, 1e-4);
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

static const Case cases[] = {
    {"layernorm", layernorm},
    {"attention", attention},
    {"softmax", softmax},
    {"row_norms", row_norms},
};
CASES(cases)
