// The kernels of a small language model's training, as such programs are written: a kernel for each
// layer, forward and backward, often twice: naive and with a warp or a block for each row.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <float.h>

#include "cases.h"

namespace cg = cooperative_groups;

#define GELU_SCALING_FACTOR 0.7978845608f

// ---- Embedding, activation, residual

__global__ void encoder_forward_kernel(float *out, const int *inp, const float *wte,
                                       const float *wpe, int B, int T, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x, N = B * T * C;
    if (idx < N) {
        int bt = idx / C, b = bt / T, t = bt % T, c = idx % C;
        int ix = inp[b * T + t];
        out[b * T * C + t * C + c] = wte[ix * C + c] + wpe[t * C + c];
    }
}

__global__ void encoder_forward_float4(float4 *out, const int *inp, const float4 *wte,
                                       const float4 *wpe, int B, int T, int C4) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= B * T * C4) return;
    int bt = idx / C4, t = bt % T, c = idx % C4;
    float4 a = wte[inp[bt] * C4 + c], p = wpe[t * C4 + c];
    out[idx] = make_float4(a.x + p.x, a.y + p.y, a.z + p.z, a.w + p.w);
}

__global__ void encoder_backward_kernel(float *dwte, float *dwpe, const float *dout, const int *inp,
                                        int B, int T, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < B * T * C) {
        int bt = idx / C, t = bt % T, c = idx % C;
        atomicAdd(&dwte[inp[bt] * C + c], dout[idx]);
        atomicAdd(&dwpe[t * C + c], dout[idx]);
    }
}

static void encoder(int scale) {
    for (int C : {48, 64}) {
        int B = 2 * scale, T = 32, V = 50, N = B * T * C;
        Array<int> tokens(B * T, [](int i) { return whole(i, 50); });
        Array<float> wte(V * C, element), wpe(T * C, real), out(N), dout(N, element), dwte(V * C),
            dwpe(T * C);
        std::vector<float> want(N), dwte_want(V * C), dwpe_want(T * C);
        for (int i = 0; i < N; i++) {
            int a = tokens.host[i / C] * C + i % C, p = i / C % T * C + i % C;
            want[i] = wte.host[a] + wpe.host[p];
            dwte_want[a] += dout.host[i], dwpe_want[p] += dout.host[i];
        }
        RUN(encoder_forward_kernel<<<blocks_for(N, 256), 256>>>(out, tokens, wte, wpe, B, T, C));
        compare(out, want);
        RUN(encoder_forward_float4<<<blocks_for(N / 4, 128), 128>>>(
            (float4 *)out.device, tokens, (float4 *)wte.device, (float4 *)wpe.device, B, T, C / 4));
        compare(out, want);
        RUN(encoder_backward_kernel<<<blocks_for(N, 256), 256>>>(dwte, dwpe, dout, tokens, B, T,
                                                                 C));
        compare(dwte, dwte_want);
        compare(dwpe, dwpe_want);
    }
}

__global__ void gelu_forward_kernel(float *out, const float *inp, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float x = inp[i], cube = 0.044715f * x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(GELU_SCALING_FACTOR * (x + cube)));
    }
}

__global__ void gelu_backward_kernel(float *dinp, const float *inp, const float *dout, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float x = inp[i], cube = 0.044715f * x * x * x, tanh_arg = GELU_SCALING_FACTOR * (x + cube);
        float tanh_out = tanhf(tanh_arg), coshf_out = coshf(tanh_arg),
              sech_out = 1.0f / (coshf_out * coshf_out);
        float local_grad = 0.5f * (1.0f + tanh_out) + x * 0.5f * sech_out * GELU_SCALING_FACTOR *
                                                          (1.0f + 3.0f * 0.044715f * x * x);
        dinp[i] = local_grad * dout[i];
    }
}

__global__ void residual_forward_kernel(float4 *out, const float4 *inp1, const float4 *inp2,
                                        int N) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < N) {
        float4 a = __ldcs(&inp1[idx]), b = __ldcs(&inp2[idx]);
        out[idx] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
}

static void activation(int scale) {
    for (int n : {1000, 30000 * scale}) {
        Array<float> in(n, [](int i) { return 3 * real(i); }), dout(n, real), out(n);
        std::vector<double> forward(n), backward(n), sum(n);
        for (int i = 0; i < n; i++) {
            double x = in.host[i], u = GELU_SCALING_FACTOR * (x + 0.044715 * x * x * x),
                   th = tanh(u);
            forward[i] = 0.5 * x * (1 + th);
            backward[i] =
                dout.host[i] * (0.5 * (1 + th) + 0.5 * x * (1 - th * th) * GELU_SCALING_FACTOR *
                                                     (1 + 3 * 0.044715 * x * x));
            sum[i] = in.host[i] + dout.host[i];
        }
        RUN(gelu_forward_kernel<<<blocks_for(n, 128), 128>>>(out, in, n));
        compare(out, forward, 1e-5);
        RUN(gelu_backward_kernel<<<blocks_for(n, 256), 256>>>(out, in, dout, n));
        compare(out, backward, 1e-4);
        RUN(residual_forward_kernel<<<blocks_for(n / 4, 256), 256>>>(
            (float4 *)out.device, (float4 *)in.device, (float4 *)dout.device, n / 4));
        compare(out, sum, 1e-6);
    }
}

// ---- Layer normalisation

__global__ void layernorm_forward_kernel1(float *out, float *mean, float *rstd, const float *inp,
                                          const float *weight, const float *bias, int N, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    float eps = 1e-5f;
    if (idx < N) {
        const float *x = inp + idx * C;
        float m = 0.0f;
        for (int i = 0; i < C; i++) m += x[i];
        m = m / C;
        float v = 0.0f;
        for (int i = 0; i < C; i++) {
            float xshift = x[i] - m;
            v += xshift * xshift;
        }
        v = v / C;
        float s = 1.0f / sqrtf(v + eps);
        float *out_idx = out + idx * C;
        for (int i = 0; i < C; i++) {
            float n = (s * (x[i] - m));
            out_idx[i] = n * weight[i] + bias[i];
        }
        mean[idx] = m;
        rstd[idx] = s;
    }
}

__global__ void mean_kernel(float *mean, const float *inp, int C, int block_size) {
    extern __shared__ float shared[];
    int idx = blockIdx.x, tid = threadIdx.x;
    const float *x = inp + idx * C;
    float sum = 0.0f;
    for (int i = tid; i < C; i += block_size) sum += x[i];
    shared[tid] = sum;
    __syncthreads();
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) shared[tid] += shared[tid + stride];
    }
    if (tid == 0) mean[idx] = shared[0] / C;
}

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

// Every warp takes rows in turn; weight and bias gradients gather in shared memory.
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
        std::vector<double> want((size_t)N * C), means(N), dinp_want((size_t)N * C), dw(C), db(C);
        for (int r = 0; r < N; r++) {
            double m = 0, v = 0, dm = 0, dn = 0;
            float *x = &in.host[(size_t)r * C], *d = &dout.host[(size_t)r * C];
            for (int i = 0; i < C; i++) m += x[i] / C;
            for (int i = 0; i < C; i++) v += (x[i] - m) * (x[i] - m) / C;
            double s = 1 / sqrt(v + 1e-5);
            means[r] = m;
            for (int i = 0; i < C; i++) {
                double norm = (x[i] - m) * s;
                want[(size_t)r * C + i] = norm * w.host[i] + b.host[i];
                dm += w.host[i] * d[i] / C, dn += w.host[i] * d[i] * norm / C;
                db[i] += d[i], dw[i] += norm * d[i];
            }
            for (int i = 0; i < C; i++)
                dinp_want[(size_t)r * C + i] = (w.host[i] * d[i] - dm - (x[i] - m) * s * dn) * s;
        }
        RUN(layernorm_forward_kernel1<<<blocks_for(N, 64), 64>>>(out, mean, rstd, in, w, b, N, C));
        compare(out, want, 1e-4);
        RUN(mean_kernel<<<N, 128, 128 * sizeof(float)>>>(mean, in, C, 128));
        compare(mean, means, 1e-5);
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

__global__ void attention_query_key_kernel1(float *preatt, const float *inp, int B, int T, int C,
                                            int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x, total_threads = B * NH * T * T;
    if (idx < total_threads) {
        int t2 = idx % T, t = (idx / T) % T;
        if (t2 > t) {
            preatt[idx] = -INFINITY;
            return;
        }
        int h = (idx / (T * T)) % NH, b = idx / (NH * T * T), C3 = C * 3, hs = C / NH;
        const float *query_t = inp + b * T * C3 + t * C3 + h * hs;
        const float *key_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C;
        float val = 0.0f;
        for (int i = 0; i < hs; i++) val += query_t[i] * key_t2[i];
        val *= 1.0f / sqrtf((float)hs);
        preatt[idx] = val;
    }
}

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

// A warp for each row of the causal attention, four elements at a time, maximum and sum in one
// pass.
__global__ void softmax_forward_kernel5(float *out, float inv_temperature, const float *inp, int N,
                                        int T) {
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    int idx = (gridDim.x - blockIdx.x - 1) * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N * T) return;
    int own_pos = idx % T, pos_by_4 = own_pos / 4;
    const float *x = inp + idx * T;
    float maxval = -FLT_MAX, sumval = 0.0f;
    const float4 *x_vec = reinterpret_cast<const float4 *>(x);
    for (int i = warp.thread_rank(); i < pos_by_4; i += warp.size()) {
        float4 v = x_vec[i];
        float old_maxval = maxval;
        maxval = fmaxf(maxval, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        sumval *= expf(inv_temperature * (old_maxval - maxval));
        sumval += expf(inv_temperature * (v.x - maxval)) + expf(inv_temperature * (v.y - maxval)) +
                  expf(inv_temperature * (v.z - maxval)) + expf(inv_temperature * (v.w - maxval));
    }
    if (4 * pos_by_4 + warp.thread_rank() <= own_pos) {
        float old_maxval = maxval;
        maxval = fmaxf(maxval, x[4 * pos_by_4 + warp.thread_rank()]);
        sumval *= expf(inv_temperature * (old_maxval - maxval));
        sumval += expf(inv_temperature * (x[4 * pos_by_4 + warp.thread_rank()] - maxval));
    }
    float global_maxval = cg::reduce(warp, maxval, cg::greater<float>{});
    sumval *= expf(inv_temperature * (maxval - global_maxval));
    float sum = cg::reduce(warp, sumval, cg::plus<float>{});
    float norm = 1.f / sum;
    for (int i = warp.thread_rank(); i <= own_pos; i += warp.size()) {
        float ev = expf(inv_temperature * (__ldcs(x + i) - global_maxval));
        __stcs(out + idx * T + i, ev * norm);
    }
}

__global__ void attention_value_kernel1(float *out, const float *att, const float *inp, int B,
                                        int T, int C, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x, total_threads = B * T * NH;
    if (idx < total_threads) {
        int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T), C3 = C * 3, hs = C / NH;
        float *out_bth = out + b * T * C + t * C + h * hs;
        const float *att_bth = att + b * NH * T * T + h * T * T + t * T;
        for (int i = 0; i < hs; i++) out_bth[i] = 0.0f;
        for (int t2 = 0; t2 <= t; t2++) {
            const float *value_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C * 2;
            float att_btht2 = att_bth[t2];
            for (int i = 0; i < hs; i++) out_bth[i] += att_btht2 * value_t2[i];
        }
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

// One warp a query, keys and values in tiles of shared memory, the softmax as it goes.
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
        int B = 1 * scale, NH = 2, hs = 16, C = NH * hs;
        size_t heads = (size_t)B * NH;
        Array<float> qkv((size_t)B * T * 3 * C, real), pre(heads * T * T), att(heads * T * T),
            out((size_t)B * T * C);
        std::vector<double> probability(heads * T * T), want((size_t)B * T * C),
            by_head((size_t)B * T * C);
        std::vector<float> q(heads * T * hs);
        for (int row = 0; row < B * NH * T; row++) {
            int t = row % T, h = row / T % NH, b = row / T / NH;
            auto at = [&](int which, int when, int i) {
                return qkv.host[((size_t)(b * T + when) * 3 + which) * C + h * hs + i];
            };
            double sum = 0, *p = &probability[(size_t)row * T];
            for (int k = 0; k <= t; k++) {
                for (int i = 0; i < hs; i++) p[k] += at(0, t, i) * at(1, k, i) / sqrt(hs);
                sum += p[k] = exp(p[k]);
            }
            for (int k = 0; k <= t; k++) p[k] /= sum;
            for (int i = 0; i < hs; i++) {
                q[(size_t)row * hs + i] = at(0, t, i);
                for (int k = 0; k <= t; k++) by_head[(size_t)row * hs + i] += p[k] * at(2, k, i);
                want[(size_t)(b * T + t) * C + h * hs + i] = by_head[(size_t)row * hs + i];
            }
        }
        int rows = B * NH * T;
        RUN(attention_query_key_kernel1<<<blocks_for(rows * T, 256), 256>>>(pre, qkv, B, T, C, NH));
        RUN(attention_softmax_kernel1<<<blocks_for(rows, 64), 64>>>(att, pre, B, T, NH));
        compare(att, probability, 1e-5);
        RUN(attention_value_kernel1<<<blocks_for(rows, 64), 64>>>(out, att, qkv, B, T, C, NH));
        compare(out, want, 1e-4);
        Array<float> att2(heads * T * T);
        RUN(softmax_forward_kernel5<<<blocks_for(rows * 32, 128), 128>>>(att2, 1.0f, pre, B * NH,
                                                                         T));
        compare(att2, probability, 1e-5);
        Array<float> dq(q.size()), dk(q.size()), dv(q.size());
        RUN(permute_kernel<<<blocks_for((int)q.size(), 256), 256>>>(dq, dk, dv, qkv, B, T, NH, hs));
        compare(dq, q);
        RUN(flash_attention<<<dim3(T / 4, B * NH), 128>>>(out, dq, dk, dv, T));
        compare(out, by_head, 1e-4);
    }
}

// ---- Loss, bias, optimiser

__global__ void crossentropy_forward_kernel1(float *losses, const float *probs, const int *targets,
                                             int B, int T, int V) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B * T) {
        int b = i / T, t = i % T;
        const float *probs_bt = probs + b * T * V + t * V;
        losses[b * T + t] = -logf(probs_bt[targets[b * T + t]]);
    }
}

__global__ void crossentropy_softmax_backward_kernel1(float *dlogits, const float *dlosses,
                                                      const float *probs, const int *targets, int B,
                                                      int T, int V) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B * T * V) {
        int b = i / (T * V), t = (i / V) % T, v = i % V;
        float *dlogits_bt = dlogits + b * T * V + t * V;
        const float *probs_bt = probs + b * T * V + t * V;
        float dloss = dlosses[b * T + t], p = probs_bt[v],
              indicator = v == targets[b * T + t] ? 1.0f : 0.0f;
        dlogits_bt[v] += (p - indicator) * dloss;
    }
}

// The row's maximum and sum in one pass, then loss and gradient: a block for each row.
__global__ void fused_classifier_kernel(float *dlogits, float *losses, const float *logits,
                                        const int *targets, int V, float dloss) {
    __shared__ float shared_max[32], shared_sum[32];
    int row = blockIdx.x, ix = targets[row];
    const float *x = logits + row * V;
    float thread_max = -FLT_MAX, thread_sum = 0.0f;
    for (int i = V - 1 - threadIdx.x; i >= 0; i -= blockDim.x) {
        float v = x[i], old = thread_max;
        thread_max = fmaxf(thread_max, v);
        thread_sum *= expf(old - thread_max);
        thread_sum += expf(v - thread_max);
    }
    float warp_max = thread_max;
    for (int o = 16; o > 0; o /= 2)
        warp_max = fmaxf(warp_max, __shfl_xor_sync(0xffffffff, warp_max, o));
    thread_sum *= expf(thread_max - warp_max);
    for (int o = 16; o > 0; o /= 2) thread_sum += __shfl_xor_sync(0xffffffff, thread_sum, o);
    if (threadIdx.x % 32 == 0)
        shared_max[threadIdx.x / 32] = warp_max, shared_sum[threadIdx.x / 32] = thread_sum;
    __syncthreads();
    float block_max = -FLT_MAX, block_sum = 0.0f;
    for (int w = 0; w < blockDim.x / 32; w++) block_max = fmaxf(block_max, shared_max[w]);
    for (int w = 0; w < blockDim.x / 32; w++)
        block_sum += shared_sum[w] * expf(shared_max[w] - block_max);
    if (threadIdx.x == 0) losses[row] = -logf(expf(x[ix] - block_max) / block_sum);
    for (int i = threadIdx.x; i < V; i += blockDim.x) {
        float prob = expf(x[i] - block_max) / block_sum;
        dlogits[row * V + i] = (prob - (i == ix ? 1.0f : 0.0f)) * dloss;
    }
}

static void classifier(int scale) {
    for (int V : {65, 300}) {
        int B = 3 * scale, T = 16, N = B * T;
        Array<float> logits((size_t)N * V, real), probs((size_t)N * V), losses(N),
            grad((size_t)N * V);
        Array<float> dlosses(N, [](int) { return 0.5f; });
        Array<int> targets(N, [=](int i) { return whole(i, V); });
        std::vector<double> loss(N), dlogits((size_t)N * V);
        for (int r = 0; r < N; r++) {
            double sum = 0;
            for (int i = 0; i < V; i++) sum += exp(logits.host[(size_t)r * V + i]);
            for (int i = 0; i < V; i++) {
                double p = exp(logits.host[(size_t)r * V + i]) / sum;
                probs.host[(size_t)r * V + i] = (float)p;
                dlogits[(size_t)r * V + i] = (p - (i == targets.host[r])) * 0.5;
                if (i == targets.host[r]) loss[r] = -log(p);
            }
        }
        probs.to_device();
        RUN(crossentropy_forward_kernel1<<<blocks_for(N, 32), 32>>>(losses, probs, targets, B, T,
                                                                    V));
        compare(losses, loss, 1e-5);
        RUN(crossentropy_softmax_backward_kernel1<<<blocks_for(N * V, 256), 256>>>(
            grad, dlosses, probs, targets, B, T, V));
        compare(grad, dlogits, 1e-5);
        for (int block : {64, 256}) {
            RUN(fused_classifier_kernel<<<N, block>>>(grad, losses, logits, targets, V, 0.5f));
            compare(losses, loss, 1e-4);
            compare(grad, dlogits, 1e-5);
        }
    }
}

__global__ void matmul_forward_kernel1(float *out, const float *inp, const float *weight,
                                       const float *bias, int BT, int C, int OC) {
    int bt = blockIdx.x * blockDim.x + threadIdx.x, oc = blockIdx.y * blockDim.y + threadIdx.y;
    if (bt < BT && oc < OC) {
        float val = (bias != NULL) ? bias[oc] : 0.0f;
        const float *wrow = weight + oc * C, *inp_bt = inp + bt * C;
        for (int i = 0; i < C; i++) val += inp_bt[i] * wrow[i];
        out[bt * OC + oc] = val;
    }
}

// Column sums of a matrix: lanes take columns, warps take rows, shared memory joins them.
__global__ void matmul_backward_bias_kernel4(float *dbias, const float *dout, int BT, int OC) {
    extern __shared__ float smem[];
    const int warp_id = threadIdx.x / warpSize, lane_id = threadIdx.x % warpSize;
    const int tl = blockIdx.x * warpSize, vstep = blockDim.x / warpSize;
    const float *dout_col = dout + tl + lane_id;
    float dout_sum = 0.0f;
    for (int row = warp_id; row < BT; row += vstep) dout_sum += dout_col[row * OC];
    smem[lane_id + warp_id * warpSize] = dout_sum;
    __syncthreads();
    dout_sum = 0.0f;
    if (warp_id == 0) {
        for (int j = 0; j < vstep; j++) dout_sum += smem[lane_id + j * warpSize];
        dbias[tl + lane_id] += dout_sum;
    }
}

static void linear(int scale) {
    for (int OC : {64, 96}) {
        int BT = 50 * scale, C = 40;
        Array<float> in((size_t)BT * C, element), w((size_t)OC * C, element), b(OC, element),
            out((size_t)BT * OC);
        std::vector<float> want((size_t)BT * OC), columns(OC);
        for (int i = 0; i < BT * OC; i++) {
            want[i] = b.host[i % OC];
            for (int k = 0; k < C; k++) want[i] += in.host[i / OC * C + k] * w.host[i % OC * C + k];
            columns[i % OC] += want[i];
        }
        for (dim3 block : {dim3(16, 16), dim3(8, 8)})
            RUN(matmul_forward_kernel1<<<dim3(blocks_for(BT, block.x), blocks_for(OC, block.y)),
                                         block>>>(out, in, w, b, BT, C, OC));
        compare(out, want);
        for (int block : {128, 256}) {
            Array<float> dbias(OC);
            RUN(matmul_backward_bias_kernel4<<<OC / 32, block, block * sizeof(float)>>>(dbias, out,
                                                                                        BT, OC));
            compare(dbias, columns);
        }
    }
}

__device__ float lerp(float start, float end, float weight) {
    return fmaf(weight, end, fmaf(-weight, start, start));
}

__global__ void adamw_kernel2(float *params, const float *grads, float *m_memory, float *v_memory,
                              long num, float rate, float beta1, float beta2, float correction1,
                              float correction2, float eps, float decay) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num) return;
    float grad = grads[i], m = m_memory[i], v = v_memory[i];
    m = lerp(grad, m, beta1);
    m_memory[i] = m;
    v = lerp(grad * grad, v, beta2);
    v_memory[i] = v;
    m /= correction1, v /= correction2;
    params[i] -= rate * (m / (sqrtf(v) + eps) + decay * params[i]);
}

static void adamw(int scale) {
    for (int n : {1001, 20000 * scale}) {
        Array<float> p(n, real), g(n, [](int i) { return real(i + 1); }), m(n), v(n);
        std::vector<double> want(n);
        for (int i = 0; i < n; i++) {
            double grad = g.host[i];
            want[i] = p.host[i] - 0.1 * (grad / (fabs(grad) + 1e-3) + 0.01 * p.host[i]);
        }
        for (int block : {512})
            RUN(adamw_kernel2<<<blocks_for(n, block), block>>>(p, g, m, v, n, 0.1f, 0.9f, 0.99f,
                                                               0.1f, 0.01f, 1e-3f, 0.01f));
        compare(p, want, 1e-4);
    }
}

__global__ void rope_kernel(float *out, const float *inp, int T, int heads, int hs) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x, half = hs / 2;
    if (idx >= T * heads * half) return;
    int i = idx % half, h = idx / half % heads, t = idx / half / heads;
    float angle = t * powf(10000.0f, -2.0f * i / hs), c, s;
    sincosf(angle, &s, &c);
    int at = (t * heads + h) * hs + 2 * i;
    float x = inp[at], y = inp[at + 1];
    out[at] = x * c - y * s;
    out[at + 1] = x * s + y * c;
}

__global__ void swiglu_kernel(float *out, const float *inp, int rows, int hidden) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * hidden;
         i += blockDim.x * gridDim.x) {
        int r = i / hidden, c = i % hidden;
        float gate = inp[r * 2 * hidden + c], up = inp[r * 2 * hidden + hidden + c];
        out[i] = gate / (1.0f + __expf(-gate)) * up;
    }
}

static void llama(int scale) {
    for (int hs : {16, 64}) {
        int T = 24 * scale, heads = 3, n = T * heads * hs;
        Array<float> in(n, real), out(n), glu(n / 2);
        std::vector<double> want(n), gated(n / 2);
        for (int k = 0; k < n / 2; k++) {
            int i = k % (hs / 2), t = k / (hs / 2) / heads;
            double a = t * pow(10000.0, -2.0 * i / hs), x = in.host[2 * k], y = in.host[2 * k + 1];
            want[2 * k] = x * cos(a) - y * sin(a), want[2 * k + 1] = x * sin(a) + y * cos(a);
            int hidden = hs / 2;
            double gate = in.host[k / hidden * hs + k % hidden],
                   up = in.host[k / hidden * hs + hidden + k % hidden];
            gated[k] = gate / (1 + exp(-gate)) * up;
        }
        RUN(rope_kernel<<<blocks_for(n / 2, 128), 128>>>(out, in, T, heads, hs));
        compare(out, want, 2e-3);
        RUN(swiglu_kernel<<<4 * scale, 96>>>(glu, in, T * heads, hs / 2));
        compare(glu, gated, 1e-4);
    }
}

static const Case cases[] = {
    {"encoder", encoder}, {"activation", activation}, {"layernorm", layernorm},
    {"attention", attention}, {"classifier", classifier}, {"linear", linear}, {"adamw", adamw},
    {"llama", llama},
};
CASES(cases)
