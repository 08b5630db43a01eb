// Work that depends on the data: top-k, histograms, a merge, breadth-first search,
// sparse matrices in compressed rows. The accesses of a kernel depend only on its input, not on the
// order of threads.
#include <algorithm>

#include "cases.h"

// ---- Top-k of each row

// From the highest bit down, counts the keys that have the prefix so far and the next bit.
__global__ void topk_radix_select(const unsigned *in, unsigned *kth, int C, int k) {
    __shared__ unsigned bins[16], prefix, left;
    const unsigned *x = in + blockIdx.x * C;
    if (threadIdx.x == 0) prefix = 0, left = k;
    for (int shift = 28; shift >= 0; shift -= 4) {
        if (threadIdx.x < 16) bins[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < C; i += blockDim.x) {
            unsigned v = x[i];
            if (shift == 28 || (v >> (shift + 4)) == (prefix >> (shift + 4)))
                atomicAdd(&bins[v >> shift & 15], 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int digit = 15;
            for (; digit > 0 && bins[digit] < left; digit--) left -= bins[digit];
            prefix |= (unsigned)digit << shift;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) kth[blockIdx.x] = prefix;
}

static void top_k(int scale) {
    for (int C : {90, 700}) {
        int rows = 10 * scale;
        Array<unsigned> keys((size_t)rows * C, [](int i) { return (unsigned)i * 2654435761u; }),
            kth(rows);
        std::vector<unsigned> want;
        for (int r = 0; r < rows; r++) {
            std::vector<unsigned> row(&keys.host[(size_t)r * C], &keys.host[(size_t)r * C] + C);
            std::sort(row.rbegin(), row.rend());
            want.push_back(row[19]);
        }
        RUN(topk_radix_select<<<rows, 128>>>(keys, kth, C, 20));
        compare(kth, want);
    }
}

// ---- Histograms

__global__ void histogram_shared_atomics(const int *in, int *bins, int n, int count) {
    extern __shared__ int local[];
    for (int b = threadIdx.x; b < count; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[in[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < count; b += blockDim.x)
        if (local[b] > 0) atomicAdd(&bins[b], local[b]);
}

__global__ void histogram_match(const int *in, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int bin = in[i];
        unsigned same = __match_any_sync(__activemask(), bin);
        if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&bins[bin], __popc(same));
    }
}

static void histogram(int scale) {
    for (int count : {10, 200}) {
        int n = 5000 * scale;
        Array<int> in(n, [=](int i) { return whole(i / 3, count); }), shared(count), match(count);
        std::vector<int> want(count);
        for (int v : in.host) want[v]++;
        RUN(histogram_shared_atomics<<<6 * scale, 128, count * sizeof(int)>>>(in, shared, n,
                                                                              count));
        compare(shared, want);
        RUN(histogram_match<<<blocks_for(n, 128), 128>>>(in, match, n));
        compare(match, want);
    }
}

// ---- A merge

// Each thread finds by bisection where its piece of the merged list begins, and merges it.
__global__ void merge_path(const int *a, int count_a, const int *b, int count_b, int *out,
                           int piece) {
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * piece;
    if (diagonal >= count_a + count_b) return;
    int low = max(0, diagonal - count_b), high = min(diagonal, count_a);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    int i = low, j = diagonal - low;
    for (int k = diagonal; k < diagonal + piece && k < count_a + count_b; k++)
        if (j >= count_b || (i < count_a && a[i] <= b[j]))
            out[k] = a[i++];
        else
            out[k] = b[j++];
}

static void merge(int scale) {
    for (int n : {697, 1789 * scale}) {
        std::vector<int> want(n);
        for (int i = 0; i < n; i++) want[i] = whole(i, 900);
        std::vector<int> left(want.begin(), want.begin() + n / 3),
            right(want.begin() + n / 3, want.end());
        std::sort(left.begin(), left.end()), std::sort(right.begin(), right.end());
        std::sort(want.begin(), want.end());
        Array<int> a(left), b(right), merged(n);
        for (int piece : {5, 16})
            RUN(merge_path<<<blocks_for(n, 64 * piece), 64>>>(a, (int)left.size(), b,
                                                              (int)right.size(), merged, piece));
        compare(merged, want);
    }
}

// A graph of n vertices, in both directions, sorted; a few vertices have very many neighbours.
struct Graph {
    int n;
    std::vector<int> rows, columns;

    Graph(int vertices, bool both) : n(vertices) {
        std::vector<std::vector<int>> to(n);
        for (int v = 0; v < n; v++) {
            int degree = v % 37 == 5 ? 60 : whole(v, 7);
            for (int k = 0; k < degree; k++) {
                int u = whole(v * 131 + k, n);
                if (u == v) continue;
                to[v].push_back(u);
                if (both) to[u].push_back(v);
            }
        }
        for (auto &list : to) {
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
            rows.push_back((int)columns.size());
            columns.insert(columns.end(), list.begin(), list.end());
        }
        rows.push_back((int)columns.size());
    }
};

// ---- Breadth-first search

struct Node {
    int starting, no_of_edges;
};

__global__ void bfs_kernel1(Node *g_graph_nodes, int *g_graph_edges, bool *g_graph_mask,
                            bool *g_updating_graph_mask, bool *g_graph_visited, int *g_cost,
                            int no_of_nodes) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < no_of_nodes && g_graph_mask[tid]) {
        g_graph_mask[tid] = false;
        for (int i = g_graph_nodes[tid].starting;
             i < (g_graph_nodes[tid].no_of_edges + g_graph_nodes[tid].starting); i++) {
            int id = g_graph_edges[i];
            if (!g_graph_visited[id]) {
                g_cost[id] = g_cost[tid] + 1;
                g_updating_graph_mask[id] = true;
            }
        }
    }
}

__global__ void bfs_kernel2(bool *g_graph_mask, bool *g_updating_graph_mask, bool *g_graph_visited,
                            bool *g_over, int no_of_nodes) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < no_of_nodes && g_updating_graph_mask[tid]) {
        g_graph_mask[tid] = true;
        g_graph_visited[tid] = true;
        *g_over = true;
        g_updating_graph_mask[tid] = false;
    }
}

static std::vector<int> depths(const Graph &graph) {
    std::vector<int> depth(graph.n, -1), queue = {0};
    depth[0] = 0;
    for (size_t i = 0; i < queue.size(); i++)
        for (int e = graph.rows[queue[i]]; e < graph.rows[queue[i] + 1]; e++)
            if (depth[graph.columns[e]] < 0) {
                depth[graph.columns[e]] = depth[queue[i]] + 1;
                queue.push_back(graph.columns[e]);
            }
    return depth;
}

static void bfs(int scale) {
    for (int n : {300, 2000 * scale}) {
        Graph graph(n, true);
        std::vector<int> want = depths(graph);
        int levels = *std::max_element(want.begin(), want.end()) + 1;
        Array<int> columns(graph.columns);
        Array<Node> nodes(
            n,
            [&](int i) {
                return Node{graph.rows[i], graph.rows[i + 1] - graph.rows[i]};
            });
        Array<unsigned char> mask(n, [](int i) { return i == 0; }), updating(n),
            visited(n, [](int i) { return i == 0; });
        Array<unsigned char> over(1);
        Array<int> cost(n, [](int i) { return i == 0 ? 0 : -1; });
        for (int level = 0; level < levels; level++) {
            bool *m = (bool *)mask.device, *u = (bool *)updating.device,
                 *s = (bool *)visited.device;
            RUN(bfs_kernel1<<<blocks_for(n, 256), 256>>>(nodes, columns, m, u, s, cost, n));
            RUN(bfs_kernel2<<<blocks_for(n, 256), 256>>>(m, u, s, (bool *)over.device, n));
        }
        compare(cost, want);
    }
}

// ---- Sparse matrix times vector

__global__ void spmv_csr_scalar(const int *rows, const int *columns, const float *values,
                                const float *x, float *y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float dot = 0;
        int row_start = rows[row], row_end = rows[row + 1];
        for (int jj = row_start; jj < row_end; jj++) dot += values[jj] * x[columns[jj]];
        y[row] = dot;
    }
}

__global__ void spmv_csr_vector(const int *rows, const int *columns, const float *values,
                                const float *x, float *y, int n) {
    __shared__ volatile float vals[256];
    int thread_id = blockDim.x * blockIdx.x + threadIdx.x, warp_id = thread_id / 32,
        lane = thread_id & 31;
    int row = warp_id;
    if (row < n) {
        vals[threadIdx.x] = 0;
        for (int jj = rows[row] + lane; jj < rows[row + 1]; jj += 32)
            vals[threadIdx.x] += values[jj] * x[columns[jj]];
        for (int half = 16; half > 0; half /= 2) {
            __syncwarp();
            float other = lane < half ? vals[threadIdx.x + half] : 0;
            __syncwarp();
            vals[threadIdx.x] += other;
        }
        if (lane == 0) y[row] = vals[threadIdx.x];
    }
}

__global__ void spmv_coo(const int *row, const int *columns, const float *values, const float *x,
                         float *y, int nnz) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += gridDim.x * blockDim.x)
        atomicAdd(&y[row[i]], values[i] * x[columns[i]]);
}

static void sparse(int scale) {
    for (int n : {150, 1200 * scale}) {
        Graph graph(n, false);
        int nnz = (int)graph.columns.size();
        Array<int> rows(graph.rows), columns(graph.columns), row(nnz);
        Array<float> values(nnz, [](int i) { return (float)(1 + whole(i, 5)); }), x(n, element),
            y(n), zero(n);
        std::vector<float> want(n);
        for (int v = 0; v < n; v++)
            for (int e = graph.rows[v]; e < graph.rows[v + 1]; e++) {
                row.host[e] = v;
                want[v] += values.host[e] * x.host[graph.columns[e]];
            }
        row.to_device();
        RUN(spmv_csr_scalar<<<blocks_for(n, 128), 128>>>(rows, columns, values, x, y, n));
        compare(y, want);
        for (int block : {64, 256})
            RUN(spmv_csr_vector<<<blocks_for(n * 32, block), block>>>(rows, columns, values, x, y,
                                                                      n));
        compare(y, want);
        RUN(spmv_coo<<<4 * scale, 128>>>(row, columns, values, x, zero, nnz));
        compare(zero, want);
    }
}

static const Case cases[] = {
    {"top_k", top_k}, {"histogram", histogram}, {"merge", merge}, {"bfs", bfs}, {"sparse", sparse},
};
CASES(cases)
