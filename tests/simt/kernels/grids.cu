// Work on grids: stencils in one, two and three dimensions, filters on images, convolution and
// pooling of neural networks, dynamic programming, clustering, random walks.
#include <algorithm>

#include "cases.h"

static int clamp_to(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// ---- Stencils

#define RADIUS 3

__global__ void stencil_1d(const int *in, int *out, int n) {
    extern __shared__ int temp[];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x, lindex = threadIdx.x + RADIUS;
    temp[lindex] = gindex < n ? in[gindex] : 0;
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = gindex >= RADIUS ? in[gindex - RADIUS] : 0;
        temp[lindex + blockDim.x] = gindex + blockDim.x < n ? in[gindex + blockDim.x] : 0;
    }
    __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
    if (gindex < n) out[gindex] = result;
}

__global__ void jacobi_naive(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        out[y * w + x] = 0.25f * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] +
                                  in[(y + 1) * w + x]);
}

template <int TX, int TY> __global__ void jacobi_shared(const float *in, float *out, int w, int h) {
    __shared__ float tile[TY + 2][TX + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    if (x < w && y < h) {
        tile[ty][tx] = in[y * w + x];
        if (threadIdx.x == 0 && x > 0) tile[ty][0] = in[y * w + x - 1];
        if (threadIdx.x == TX - 1 && x < w - 1) tile[ty][TX + 1] = in[y * w + x + 1];
        if (threadIdx.y == 0 && y > 0) tile[0][tx] = in[(y - 1) * w + x];
        if (threadIdx.y == TY - 1 && y < h - 1) tile[TY + 1][tx] = in[(y + 1) * w + x];
    }
    __syncthreads();
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        out[y * w + x] =
            0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

__global__ void residual_max(const float *a, const float *b, unsigned *most, int n) {
    __shared__ float s[256];
    float r = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        r = fmaxf(r, fabsf(a[i] - b[i]));
    s[threadIdx.x] = r;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicMax(most, __float_as_uint(s[0]));
}

// The plane before, this one and the next in registers while the block marches along z.
__global__ void heat_3d_marching(const float *in, float *out, int nx, int ny, int nz) {
    __shared__ float plane[8 + 2][32 + 2];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1,
        ty = threadIdx.y + 1;
    int slice = nx * ny, at = y * nx + x;
    float below = in[at], here = in[at + slice], above;
    for (int z = 1; z < nz - 1; z++) {
        above = in[at + (z + 1) * slice];
        __syncthreads();
        plane[ty][tx] = here;
        if (threadIdx.x == 0) plane[ty][0] = x > 0 ? in[at + z * slice - 1] : 0;
        if (threadIdx.x == 31) plane[ty][33] = x < nx - 1 ? in[at + z * slice + 1] : 0;
        if (threadIdx.y == 0) plane[0][tx] = y > 0 ? in[at + z * slice - nx] : 0;
        if (threadIdx.y == 7) plane[9][tx] = y < ny - 1 ? in[at + z * slice + nx] : 0;
        __syncthreads();
        if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
            out[at + z * slice] = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] +
                                  plane[ty + 1][tx] + below + above - 6 * here;
        below = here, here = above;
    }
}

__global__ void stencil_3d_27(const float *in, float *out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    float sum = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) sum += in[((z + dz) * ny + y + dy) * nx + x + dx];
    out[(z * ny + y) * nx + x] = sum;
}

static void stencils(int scale) {
    for (int w : {64, 100}) {
        int h = 40 * scale, n = w * h;
        Array<int> line(n, element), sums(n);
        std::vector<int> line_want(n);
        for (int i = 0; i < n; i++)
            for (int k = std::max(0, i - RADIUS); k <= std::min(n - 1, i + RADIUS); k++)
                line_want[i] += line.host[k];
        for (int block : {64, 256})
            RUN(stencil_1d<<<blocks_for(n, block), block, (block + 6) * 4>>>(line, sums, n));
        compare(sums, line_want);
        Array<float> in(n, element), out(n), again(n);
        Array<unsigned> most(1);
        std::vector<float> want(n);
        float greatest = 0;
        for (int i = 0; i < n; i++) {
            bool inside = i % w && i % w < w - 1 && i / w && i / w < h - 1;
            if (inside)
                want[i] =
                    0.25f * (in.host[i - 1] + in.host[i + 1] + in.host[i - w] + in.host[i + w]);
            greatest = std::max(greatest, std::abs(want[i] - in.host[i]));
        }
        for (dim3 block : {dim3(16, 16), dim3(64, 2)})
            RUN(jacobi_naive<<<dim3(blocks_for(w, block.x), blocks_for(h, block.y)), block>>>(
                in, out, w, h));
        compare(out, want);
        RUN(jacobi_shared<32, 8>
            <<<dim3(blocks_for(w, 32), blocks_for(h, 8)), dim3(32, 8)>>>(in, again, w, h));
        compare(again, want);
        RUN(jacobi_shared<16, 16>
            <<<dim3(blocks_for(w, 16), blocks_for(h, 16)), dim3(16, 16)>>>(in, again, w, h));
        compare(again, want);
        RUN(residual_max<<<7, 256>>>(in, out, most, n));
        float found;
        memcpy(&found, most.fetch().data(), sizeof found);
        compare(std::vector<float>{found}, std::vector<float>{greatest});
        int nx = 64, ny = 16, nz = 6 * scale, volume = nx * ny * nz;
        Array<float> cube(volume, element), heat(volume), all(volume);
        std::vector<float> heat_want(volume), all_want(volume);
        for (int i = 0; i < volume; i++) {
            int x = i % nx, y = i / nx % ny, z = i / nx / ny;
            if (!x || !y || !z || x == nx - 1 || y == ny - 1 || z == nz - 1) continue;
            const float *c = &cube.host[i];
            heat_want[i] = c[1] + c[-1] + c[nx] + c[-nx] + c[nx * ny] + c[-nx * ny] - 6 * c[0];
            for (int k = 0; k < 27; k++)
                all_want[i] += c[(k / 9 - 1) * nx * ny + (k / 3 % 3 - 1) * nx + k % 3 - 1];
        }
        RUN(heat_3d_marching<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(cube, heat, nx, ny, nz));
        compare(heat, heat_want);
        dim3 block = w == 64 ? dim3(32, 4) : dim3(8, 8);
        RUN(stencil_3d_27<<<dim3(nx / block.x, ny / block.y, nz), block>>>(cube, all, nx, ny, nz));
        compare(all, all_want);
    }
}

__global__ void game_of_life(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) alive += in[(y + dy + h) % h * w + (x + dx + w) % w];
    out[y * w + x] = alive == 3 || (alive == 2 && in[y * w + x]);
}

// ---- Images

__device__ int clampi(int i, int n) { return min(max(i, 0), n - 1); }

__global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h) {
    __shared__ unsigned char tile[18][34];
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < 18 * 34; i += blockDim.x * blockDim.y)
        tile[i / 34][i % 34] = in[clampi(blockIdx.y * 16 + i / 34 - 1, h) * w +
                                  clampi(blockIdx.x * 32 + i % 34 - 1, w)];
    __syncthreads();
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, tx = threadIdx.x,
        ty = threadIdx.y;
    if (x >= w || y >= h) return;
    int gx = tile[ty][tx + 2] + 2 * tile[ty + 1][tx + 2] + tile[ty + 2][tx + 2] - tile[ty][tx] -
             2 * tile[ty + 1][tx] - tile[ty + 2][tx];
    int gy = tile[ty + 2][tx] + 2 * tile[ty + 2][tx + 1] + tile[ty + 2][tx + 2] - tile[ty][tx] -
             2 * tile[ty][tx + 1] - tile[ty][tx + 2];
    out[y * w + x] = (unsigned char)min(255, abs(gx) + abs(gy));
}

__device__ __forceinline__ void order(int &a, int &b) {
    int t = min(a, b);
    b = max(a, b);
    a = t;
}

__global__ void median_3x3(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int v[9];
    for (int k = 0; k < 9; k++) v[k] = in[clampi(y + k / 3 - 1, h) * w + clampi(x + k % 3 - 1, w)];
#pragma unroll
    for (int i = 0; i < 5; i++)
#pragma unroll
        for (int j = i + 1; j < 9; j++) order(v[i], v[j]);
    out[y * w + x] = (unsigned char)v[4];
}

// A running sum along the row of each thread.
__global__ void box_blur_rows(const int *in, int *out, int w, int h, int r) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    const int *row = in + y * w;
    int sum = row[0] * r;
    for (int x = 0; x <= r; x++) sum += row[min(x, w - 1)];
    for (int x = 0; x < w; x++) {
        out[y * w + x] = sum;
        sum += row[min(x + r + 1, w - 1)] - row[max(x - r, 0)];
    }
}

__global__ void rgb_to_gray(const uchar3 *in, unsigned char *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uchar3 p = in[i];
        out[i] = (unsigned char)((p.x * 77 + p.y * 150 + p.z * 29) >> 8);
    }
}

__global__ void bilinear_resize(const float *in, float *out, int w, int h, int ow, int oh) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= ow || y >= oh) return;
    float fx = fmaxf((x + 0.5f) * w / ow - 0.5f, 0), fy = fmaxf((y + 0.5f) * h / oh - 0.5f, 0);
    int x0 = (int)fx, y0 = (int)fy, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    float ax = fx - x0, ay = fy - y0;
    out[y * ow + x] = (1 - ay) * ((1 - ax) * in[y0 * w + x0] + ax * in[y0 * w + x1]) +
                      ay * ((1 - ax) * in[y1 * w + x0] + ax * in[y1 * w + x1]);
}

static void images(int scale) {
    for (int w : {50, 96}) {
        int h = 45 * scale, n = w * h;
        Array<unsigned char> in(
            n, [](int i) { return (unsigned char)whole(i, 256); }),
            out(n);
        Array<unsigned char> cells(n, [](int i) { return (unsigned char)(whole(i, 3) == 0); });
        auto pixel = [&](int x, int y) {
            return (int)in.host[clamp_to(y, h) * w + clamp_to(x, w)];
        };
        std::vector<int> edges(n), medians(n), life(n), blurred(n), gray(n);
        Array<int> wide(n, element), sums(n);
        Array<uchar3> colour(n, [](int i) {
            return make_uchar3(whole(3 * i, 256), whole(3 * i + 1, 256), whole(3 * i + 2, 256));
        });
        for (int i = 0; i < n; i++) {
            int x = i % w, y = i / w, gx = 0, gy = 0, alive = 0, around[9];
            for (int k = -1; k <= 1; k++) {
                gx += (2 - abs(k)) * (pixel(x + 1, y + k) - pixel(x - 1, y + k));
                gy += (2 - abs(k)) * (pixel(x + k, y + 1) - pixel(x + k, y - 1));
            }
            edges[i] = std::min(255, abs(gx) + abs(gy));
            for (int k = 0; k < 9; k++) {
                around[k] = pixel(x + k % 3 - 1, y + k / 3 - 1);
                if (k != 4)
                    alive += cells.host[(y + k / 3 - 1 + h) % h * w + (x + k % 3 - 1 + w) % w];
            }
            std::sort(around, around + 9);
            medians[i] = around[4];
            life[i] = alive == 3 || (alive == 2 && cells.host[i]);
            for (int k = -4; k <= 4; k++) blurred[i] += wide.host[y * w + clamp_to(x + k, w)];
            gray[i] = (colour.host[i].x * 77 + colour.host[i].y * 150 + colour.host[i].z * 29) >> 8;
        }
        RUN(sobel<<<dim3(blocks_for(w, 32), blocks_for(h, 16)), dim3(32, 16)>>>(in, out, w, h));
        compare(out, edges);
        for (dim3 block : {dim3(16, 8), dim3(32, 2)})
            RUN(median_3x3<<<dim3(blocks_for(w, block.x), blocks_for(h, block.y)), block>>>(in, out,
                                                                                            w, h));
        compare(out, medians);
        RUN(game_of_life<<<dim3(blocks_for(w, 16), blocks_for(h, 16)), dim3(16, 16)>>>(cells, out,
                                                                                       w, h));
        compare(out, life);
        RUN(box_blur_rows<<<blocks_for(h, 32), 32>>>(wide, sums, w, h, 4));
        compare(sums, blurred);
        RUN(rgb_to_gray<<<5 * scale, 128>>>(colour, out, n));
        compare(out, gray);
        int ow = w * 3 / 2, oh = h * 2 / 3;
        Array<float> f(n, real), resized((size_t)ow * oh);
        std::vector<float> resized_want((size_t)ow * oh);
        for (int i = 0; i < ow * oh; i++) {
            float fx = std::max((i % ow + 0.5f) * w / ow - 0.5f, 0.0f),
                  fy = std::max((i / ow + 0.5f) * h / oh - 0.5f, 0.0f);
            int x = (int)fx, y = (int)fy, right = std::min(x + 1, w - 1),
                down = std::min(y + 1, h - 1);
            float ax = fx - x, ay = fy - y, *p = f.host.data();
            resized_want[i] = (1 - ay) * ((1 - ax) * p[y * w + x] + ax * p[y * w + right]) +
                              ay * ((1 - ax) * p[down * w + x] + ax * p[down * w + right]);
        }
        RUN(bilinear_resize<<<dim3(blocks_for(ow, 32), blocks_for(oh, 4)), dim3(32, 4)>>>(
            f, resized, w, h, ow, oh));
        compare(resized, resized_want, 1e-4);
    }
}

// ---- Layers of a convolutional network: N x C x H x W

__global__ void conv2d_direct(const float *in, const float *filter, float *out, int C, int H, int W,
                              int K) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        k = blockIdx.z;
    if (x >= W - 2 || y >= H - 2) return;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int r = 0; r < 3; r++)
#pragma unroll
            for (int s = 0; s < 3; s++)
                sum += in[(c * H + y + r) * W + x + s] * filter[((k * C + c) * 3 + r) * 3 + s];
    out[(k * (H - 2) + y) * (W - 2) + x] = sum;
}

__global__ void im2col(const float *in, float *columns, int C, int H, int W) {
    int oh = H - 2, ow = W - 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < C * oh * ow;
         i += blockDim.x * gridDim.x) {
        int x = i % ow, y = i / ow % oh, c = i / ow / oh;
        float *to = columns + (c * 9 * oh + y) * ow + x;
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                *to = in[(c * H + y + r) * W + x + s];
                to += oh * ow;
            }
    }
}

__global__ void depthwise_conv(const float *in, const float *filter, float *out, int C, int H,
                               int W) {
    __shared__ float tile[18][18], taps[9];
    int c = blockIdx.z, t = threadIdx.y * 16 + threadIdx.x;
    if (t < 9) taps[t] = filter[c * 9 + t];
    for (int i = t; i < 18 * 18; i += 256) {
        int y = blockIdx.y * 16 + i / 18 - 1, x = blockIdx.x * 16 + i % 18 - 1;
        tile[i / 18][i % 18] = y >= 0 && y < H && x >= 0 && x < W ? in[(c * H + y) * W + x] : 0;
    }
    __syncthreads();
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < W && y < H) {
        float sum = 0;
        for (int k = 0; k < 9; k++) sum += tile[threadIdx.y + k / 3][threadIdx.x + k % 3] * taps[k];
        out[(c * H + y) * W + x] = sum;
    }
}

__global__ void max_pool_2x2(const float *in, float *out, int *where, int C, int H, int W) {
    int oh = H / 2, ow = W / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < C * oh * ow;
         i += blockDim.x * gridDim.x) {
        int x = i % ow, y = i / ow % oh, c = i / ow / oh, at = -1;
        float most = -1e30f;
        for (int r = 0; r < 2; r++)
            for (int s = 0; s < 2; s++) {
                int index = (2 * y + r) * W + 2 * x + s;
                float v = in[c * H * W + index];
                if (v > most) most = v, at = index;
            }
        out[i] = most;
        where[i] = at;
    }
}

static void network_layers(int scale) {
    for (int W : {18, 34}) {
        int H = 20 * scale, C = 4, K = 3, oh = H - 2, ow = W - 2;
        Array<float> in((size_t)C * H * W, element), filter(K * C * 9, element),
            out((size_t)C * H * W);
        Array<float> columns((size_t)C * 9 * oh * ow), pooled((size_t)C * (H / 2) * (W / 2));
        Array<int> where(pooled.host.size());
        std::vector<float> conv((size_t)K * oh * ow), cols(columns.host.size()),
            deep(in.host.size()), pool(where.host.size());
        std::vector<int> argmax(pool.size());
        for (size_t i = 0; i < conv.size(); i++)
            for (int k = 0; k < C * 9; k++) {
                int x = (int)i % ow, y = (int)i / ow % oh, f = (int)i / ow / oh;
                conv[i] += in.host[(k / 9 * H + y + k % 9 / 3) * W + x + k % 3] *
                           filter.host[f * C * 9 + k];
            }
        for (size_t i = 0; i < cols.size(); i++) {
            int x = (int)i % ow, y = (int)i / ow % oh, k = (int)i / ow / oh;
            cols[i] = in.host[(k / 9 * H + y + k % 9 / 3) * W + x + k % 3];
        }
        for (int i = 0; i < C * H * W; i++)
            for (int k = 0; k < 9; k++) {
                int x = i % W + k % 3 - 1, y = i / W % H + k / 3 - 1, c = i / W / H;
                if (x >= 0 && x < W && y >= 0 && y < H)
                    deep[i] += in.host[(c * H + y) * W + x] * filter.host[c * 9 + k];
            }
        for (size_t i = 0; i < pool.size(); i++) {
            int x = (int)i % (W / 2), y = (int)i / (W / 2) % (H / 2),
                c = (int)i / (W / 2) / (H / 2);
            pool[i] = -1e30f;
            for (int k = 0; k < 4; k++) {
                int at = (2 * y + k / 2) * W + 2 * x + k % 2;
                if (in.host[c * H * W + at] > pool[i])
                    pool[i] = in.host[c * H * W + at], argmax[i] = at;
            }
        }
        for (dim3 block : {dim3(16, 4), dim3(32, 8)})
            RUN(conv2d_direct<<<dim3(blocks_for(ow, block.x), blocks_for(oh, block.y), K), block>>>(
                in, filter, out, C, H, W, K));
        compare(out, conv);
        RUN(im2col<<<3 * scale, 128>>>(in, columns, C, H, W));
        compare(columns, cols);
        RUN(depthwise_conv<<<dim3(blocks_for(W, 16), blocks_for(H, 16), C), dim3(16, 16)>>>(
            in, filter, out, C, H, W));
        compare(out, deep);
        RUN(max_pool_2x2<<<2 * scale, 96>>>(in, pooled, where, C, H, W));
        compare(pooled, pool);
        compare(where, argmax);
    }
}

// ---- Dynamic programming, clustering, random numbers

// Shortest way down a grid of costs: some rows a launch, with a halo that shrinks row by row.
__global__ void dynproc_kernel(int iteration, const int *gpuWall, const int *gpuSrc,
                               int *gpuResults, int cols, int startStep) {
    const int BLOCK_SIZE = 128;
    __shared__ int prev[BLOCK_SIZE], result[BLOCK_SIZE];
    int bx = blockIdx.x, tx = threadIdx.x;
    int small_block_cols = BLOCK_SIZE - iteration * 2;
    int blkX = small_block_cols * bx - iteration, blkXmax = blkX + BLOCK_SIZE - 1, xidx = blkX + tx;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - cols + 1) : BLOCK_SIZE - 1;
    int W = tx - 1, E = tx + 1;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;
    bool isValid = tx >= validXmin && tx <= validXmax;
    if (xidx >= 0 && xidx < cols) prev[tx] = gpuSrc[xidx];
    __syncthreads();
    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= BLOCK_SIZE - i - 2 && isValid) {
            computed = true;
            int shortest = min(min(prev[W], prev[tx]), prev[E]);
            int index = cols * (startStep + i) + xidx;
            result[tx] = shortest + gpuWall[index];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed) gpuResults[xidx] = result[tx];
}

// Edit distance: the block goes along the anti-diagonals of one pair of words.
__global__ void edit_distance(const char *a, const char *b, int *out, int n) {
    extern __shared__ int line[];
    int *before = line, *last = line + n + 1, *now = line + 2 * (n + 1), t = threadIdx.x;
    a += blockIdx.x * n, b += blockIdx.x * n;
    for (int d = 0; d <= 2 * n; d++) {
        for (int i = max(0, d - n) + t; i <= min(d, n); i += blockDim.x) {
            int j = d - i;
            if (i == 0)
                now[i] = j;
            else if (j == 0)
                now[i] = i;
            else
                now[i] = min(min(last[i - 1], last[i]) + 1, before[i - 1] + (a[i - 1] != b[j - 1]));
        }
        __syncthreads();
        int *old = before;
        before = last, last = now, now = old;
    }
    if (t == 0) out[blockIdx.x] = last[n];
}

__global__ void kmeans_assign(const float *points, const float *centres, int *which, int *counts,
                              int n, int k, int dims) {
    extern __shared__ float shared_centres[];
    __shared__ int local[16];
    for (int i = threadIdx.x; i < k * dims; i += blockDim.x) shared_centres[i] = centres[i];
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float least = 1e30f;
        int best = 0;
        for (int c = 0; c < k; c++) {
            float distance = 0;
            for (int d = 0; d < dims; d++) {
                float delta = points[d * n + i] - shared_centres[c * dims + d];
                distance += delta * delta;
            }
            if (distance < least) least = distance, best = c;
        }
        which[i] = best;
        atomicAdd(&local[best], 1);
    }
    __syncthreads();
    if (threadIdx.x < k) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

// Random walkers, each until it leaves the interval; a linear congruential generator.
__global__ void random_walks(unsigned seed, int *steps, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = seed + i * 747796405u;
    int at = 0, count = 0;
    while (at > -width && at < width && count < 500) {
        state = state * 1664525u + 1013904223u;
        at += (state >> 28) < 8 ? -1 : 1;
        count++;
    }
    steps[i] = count;
}

__global__ void monte_carlo_pi(unsigned seed, unsigned long long *hits, int rounds) {
    __shared__ unsigned s[256];
    unsigned state = seed ^ ((blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u), inside = 0;
    for (int i = 0; i < rounds; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        int x = state & 0xffff, y = state >> 16;
        if ((long long)x * x + (long long)y * y < 1ll << 32) inside++;
    }
    s[threadIdx.x] = inside;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(hits, s[0]);
}

static void programming(int scale) {
    for (int cols : {100, 700 * scale}) {
        int rows = 9;
        Array<int> wall((size_t)rows * cols, [](int i) { return whole(i, 10); }),
            a(cols, [](int i) { return whole(i + 9, 10); }), b(cols);
        std::vector<int> want = a.host;
        for (int r = 0; r < rows; r++) {
            std::vector<int> from = want;
            for (int x = 0; x < cols; x++)
                want[x] =
                    wall.host[(size_t)r * cols + x] +
                    std::min({from[x], from[std::max(x - 1, 0)], from[std::min(x + 1, cols - 1)]});
        }
        int *from = a, *to = b;
        for (int step = 0; step < rows; step += 3, std::swap(from, to))
            RUN(dynproc_kernel<<<blocks_for(cols, 128 - 6), 128>>>(3, wall, from, to, cols, step));
        compare(b, want);
        int n = cols == 100 ? 20 : 75, pairs = 5 * scale;
        Array<char> p((size_t)pairs * n, [](int i) { return (char)whole(i, 4); });
        Array<char> q((size_t)pairs * n, [](int i) { return (char)whole(i + i / 7, 4); });
        Array<int> edits(pairs);
        std::vector<int> edits_want(pairs);
        for (int k = 0; k < pairs; k++) {
            std::vector<int> line(n + 1), old;
            for (int j = 0; j <= n; j++) line[j] = j;
            for (int i = 1; i <= n; i++) {
                old = line, line[0] = i;
                for (int j = 1; j <= n; j++)
                    line[j] =
                        std::min({old[j] + 1, line[j - 1] + 1,
                                  old[j - 1] + (p.host[k * n + i - 1] != q.host[k * n + j - 1])});
            }
            edits_want[k] = line[n];
        }
        for (int block : {32, 96})
            RUN(edit_distance<<<pairs, block, 3 * (n + 1) * 4>>>(p, q, edits, n));
        compare(edits, edits_want);
    }
}

static void clustering(int scale) {
    for (int block : {64, 256}) {
        int n = 1000 * scale, k = 7, dims = 3;
        Array<float> points((size_t)n * dims, element), centres(k * dims, element);
        Array<int> which(n), counts(k), steps(n);
        std::vector<int> which_want(n), counts_want(k), steps_want(n);
        for (int i = 0; i < n; i++) {
            float least = 1e30f;
            for (int c = 0; c < k; c++) {
                float distance = 0;
                for (int d = 0; d < dims; d++)
                    distance += (points.host[d * n + i] - centres.host[c * dims + d]) *
                                (points.host[d * n + i] - centres.host[c * dims + d]);
                if (distance < least) least = distance, which_want[i] = c;
            }
            counts_want[which_want[i]]++;
            unsigned state = 12345 + i * 747796405u;
            for (int at = 0; at > -6 && at < 6 && steps_want[i] < 500; steps_want[i]++) {
                state = state * 1664525u + 1013904223u;
                at += (state >> 28) < 8 ? -1 : 1;
            }
        }
        RUN(kmeans_assign<<<blocks_for(n, block), block, k * dims * sizeof(float)>>>(
            points, centres, which, counts, n, k, dims));
        compare(which, which_want);
        compare(counts, counts_want);
        RUN(random_walks<<<blocks_for(n, block), block>>>(12345, steps, n, 6));
        compare(steps, steps_want);
        Array<unsigned long long> hits(1);
        unsigned long long inside = 0;
        for (int t = 0; t < 8 * scale * block; t++) {
            unsigned state = 99u ^ (unsigned)t * 2654435761u;
            for (int i = 0; i < 40; i++) {
                state ^= state << 13, state ^= state >> 17, state ^= state << 5;
                long long x = state & 0xffff, y = state >> 16;
                inside += x * x + y * y < 1ll << 32;
            }
        }
        RUN(monte_carlo_pi<<<8 * scale, block>>>(99, hits, 40));
        compare(hits, std::vector<unsigned long long>{inside});
    }
}

static const Case cases[] = {
    {"stencils", stencils}, {"images", images}, {"network_layers", network_layers},
    {"programming", programming}, {"clustering", clustering},
};
CASES(cases)
