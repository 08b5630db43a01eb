// Graphs and sparse matrices in compressed rows: traversal, shortest paths, ranks, components,
// triangles, products with a vector. Rows are of very different lengths. Each kernel's work depends
// on the input alone, not on which thread comes first.
#include <algorithm>

#include "cases.h"

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

__global__ void bfs_bottom_up(const int *rows, const int *columns, const int *depth, int *next,
                              int level, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int mine = depth[v];
    if (mine < 0) {
        for (int e = rows[v]; e < rows[v + 1]; e++)
            if (depth[columns[e]] == level) {
                mine = level + 1;
                break;
            }
    }
    next[v] = mine;
}

// A warp for each vertex of the frontier: lanes take its edges.
__global__ void bfs_warp_top_down(const int *rows, const int *columns, const int *depth, int *next,
                                  int level, int n) {
    int warps = gridDim.x * (blockDim.x / 32), lane = threadIdx.x & 31;
    for (int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32; v < n; v += warps) {
        if (depth[v] != level) continue;
        for (int e = rows[v] + lane; e < rows[v + 1]; e += 32) {
            int u = columns[e];
            if (depth[u] < 0) next[u] = level + 1;
        }
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
        Array<int> rows(graph.rows), columns(graph.columns), depth(n), next(n);
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
        for (int way = 0; way < 2; way++) {
            for (int i = 0; i < n; i++) depth.host[i] = next.host[i] = i == 0 ? 0 : -1;
            depth.to_device(), next.to_device();
            for (int level = 0; level < levels; level++) {
                if (way)
                    RUN(bfs_warp_top_down<<<6 * scale, 128>>>(rows, columns, depth, next, level,
                                                              n));
                else
                    RUN(bfs_bottom_up<<<blocks_for(n, 128), 128>>>(rows, columns, depth, next,
                                                                   level, n));
                CUDA(cudaMemcpy(depth, next, depth.bytes(), cudaMemcpyDeviceToDevice));
            }
            compare(depth, want);
        }
    }
}

// ---- Shortest paths, ranks, components, triangles

__global__ void bellman_ford_pull(const int *rows, const int *columns, const int *weights,
                                  const int *dist, int *next, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int best = dist[v];
    for (int e = rows[v]; e < rows[v + 1]; e++) {
        int d = dist[columns[e]];
        if (d < 1000000 && d + weights[e] < best) best = d + weights[e];
    }
    next[v] = best;
}

__global__ void pagerank_pull(const int *rows, const int *columns, const float *share, float *rank,
                              float damping, int n) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int e = rows[v]; e < rows[v + 1]; e++) sum += share[columns[e]];
        rank[v] = (1 - damping) / n + damping * sum;
    }
}

__global__ void label_propagation(const int *rows, const int *columns, const int *label, int *next,
                                  int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        int least = label[v];
        for (int e = rows[v]; e < rows[v + 1]; e++) least = min(least, label[columns[e]]);
        next[v] = least;
    }
}

__global__ void triangle_count(const int *rows, const int *columns, unsigned *count, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned found = 0;
    if (v < n) {
        for (int e = rows[v]; e < rows[v + 1]; e++) {
            int u = columns[e];
            if (u <= v) continue;
            int a = e + 1, b = rows[u];
            while (a < rows[v + 1] && b < rows[u + 1]) {
                int x = columns[a], y = columns[b];
                if (y <= u)
                    b++;
                else if (x == y)
                    found++, a++, b++;
                else if (x < y)
                    a++;
                else
                    b++;
            }
        }
        count[v] = found;
    }
}

static void graph_algorithms(int scale) {
    for (int n : {200, 1000 * scale}) {
        Graph graph(n, true);
        Array<int> rows(graph.rows), columns(graph.columns), next(n);
        Array<int> weights(graph.columns.size(), [](int i) { return 1 + whole(i, 9); });
        Array<int> dist(n, [](int i) { return i == 0 ? 0 : 1000000; });
        Array<int> label(n, [](int i) { return i; });
        Array<float> share(n), rank(n);
        Array<unsigned> triangles(n);
        std::vector<int> dist_want = dist.host, label_want = label.host;
        std::vector<double> rank_want(n);
        std::vector<unsigned> triangle_want(n);
        for (int v = 0; v < n; v++) share.host[v] = real(v) + 1;
        share.to_device();
        for (int round = 0; round < 3; round++) {
            std::vector<int> d = dist_want, l = label_want;
            for (int v = 0; v < n; v++)
                for (int e = graph.rows[v]; e < graph.rows[v + 1]; e++) {
                    int u = graph.columns[e];
                    d[v] = std::min(d[v], dist_want[u] + weights.host[e]);
                    l[v] = std::min(l[v], label_want[u]);
                }
            dist_want = d, label_want = l;
            RUN(bellman_ford_pull<<<blocks_for(n, 128), 128>>>(rows, columns, weights, dist, next,
                                                               n));
            CUDA(cudaMemcpy(dist, next, dist.bytes(), cudaMemcpyDeviceToDevice));
            RUN(label_propagation<<<blocks_for(n, 64), 64>>>(rows, columns, label, next, n));
            CUDA(cudaMemcpy(label, next, label.bytes(), cudaMemcpyDeviceToDevice));
        }
        for (int v = 0; v < n; v++) {
            double sum = 0;
            auto begin = graph.columns.begin();
            for (int e = graph.rows[v]; e < graph.rows[v + 1]; e++) {
                int u = graph.columns[e];
                sum += share.host[u];
                for (int f = e + 1; u > v && f < graph.rows[v + 1]; f++)
                    triangle_want[v] += std::binary_search(
                        begin + graph.rows[u], begin + graph.rows[u + 1], graph.columns[f]);
            }
            rank_want[v] = 0.15 / n + 0.85 * sum;
        }
        compare(dist, dist_want);
        compare(label, label_want);
        RUN(pagerank_pull<<<3 * scale, 96>>>(rows, columns, share, rank, 0.85f, n));
        compare(rank, rank_want, 1e-5);
        RUN(triangle_count<<<blocks_for(n, 64), 64>>>(rows, columns, triangles, n));
        compare(triangles, triangle_want);
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

// Four, eight or sixteen lanes to a row.
template <int LANES>
__global__ void spmv_csr_subwarp(const int *rows, const int *columns, const float *values,
                                 const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float dot = 0;
    if (row < n)
        for (int jj = rows[row] + lane; jj < rows[row + 1]; jj += LANES)
            dot += values[jj] * x[columns[jj]];
    for (int o = LANES / 2; o > 0; o /= 2) dot += __shfl_down_sync(0xffffffff, dot, o, LANES);
    if (row < n && lane == 0) y[row] = dot;
}

__global__ void spmv_ell(const int *columns, const float *values, const float *x, float *y, int n,
                         int width) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < n) {
        float dot = 0;
        for (int i = 0; i < width; i++) {
            int col = columns[n * i + row];
            float val = values[n * i + row];
            if (val != 0) dot += val * x[col];
        }
        y[row] = dot;
    }
}

__global__ void spmv_coo(const int *row, const int *columns, const float *values, const float *x,
                         float *y, int nnz) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += gridDim.x * blockDim.x)
        atomicAdd(&y[row[i]], values[i] * x[columns[i]]);
}

// Edges shared out evenly: every thread finds its row by bisection.
__global__ void edge_balanced(const int *rows, const int *columns, const int *value, int *per_edge,
                              int n) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= rows[n]) return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (rows[middle + 1] <= e)
            low = middle + 1;
        else
            high = middle;
    }
    per_edge[e] = value[low] * 1000 + value[columns[e]];
}

static void sparse(int scale) {
    for (int n : {150, 1200 * scale}) {
        Graph graph(n, false);
        int nnz = (int)graph.columns.size(), width = 0;
        for (int v = 0; v < n; v++) width = std::max(width, graph.rows[v + 1] - graph.rows[v]);
        Array<int> rows(graph.rows), columns(graph.columns), row(nnz), value(n, element),
            per_edge(nnz);
        Array<float> values(nnz, [](int i) { return (float)(1 + whole(i, 5)); }), x(n, element),
            y(n);
        Array<int> ell_columns((size_t)width * n);
        Array<float> ell_values((size_t)width * n);
        std::vector<float> want(n);
        std::vector<int> edges(nnz);
        for (int v = 0; v < n; v++)
            for (int e = graph.rows[v], k = 0; e < graph.rows[v + 1]; e++, k++) {
                int u = graph.columns[e];
                row.host[e] = v;
                want[v] += values.host[e] * x.host[u];
                edges[e] = value.host[v] * 1000 + value.host[u];
                ell_columns.host[(size_t)n * k + v] = u, ell_values.host[(size_t)n * k + v] =
                                                             values.host[e];
            }
        row.to_device(), ell_columns.to_device(), ell_values.to_device();
        RUN(spmv_csr_scalar<<<blocks_for(n, 128), 128>>>(rows, columns, values, x, y, n));
        compare(y, want);
        for (int block : {64, 256})
            RUN(spmv_csr_vector<<<blocks_for(n * 32, block), block>>>(rows, columns, values, x, y,
                                                                      n));
        compare(y, want);
        RUN(spmv_csr_subwarp<4><<<blocks_for(n * 4, 128), 128>>>(rows, columns, values, x, y, n));
        compare(y, want);
        RUN(spmv_csr_subwarp<16><<<blocks_for(n * 16, 128), 128>>>(rows, columns, values, x, y, n));
        compare(y, want);
        RUN(spmv_ell<<<blocks_for(n, 64), 64>>>(ell_columns, ell_values, x, y, n, width));
        compare(y, want);
        Array<float> zero(n);
        RUN(spmv_coo<<<4 * scale, 128>>>(row, columns, values, x, zero, nnz));
        compare(zero, want);
        RUN(edge_balanced<<<blocks_for(nnz, 128), 128>>>(rows, columns, value, per_edge, n));
        compare(per_edge, edges);
    }
}

static const Case cases[] = {
    {"bfs", bfs}, {"graph_algorithms", graph_algorithms}, {"sparse", sparse},
};
CASES(cases)
