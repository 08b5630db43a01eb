// Putting things in order, and finding what is in it: top-k, histograms, scans over many blocks,
// counting and merging sorts, compaction, searches.
#include <algorithm>
#include <limits.h>

#include "cases.h"

// ---- Top-k of each row

// Every thread keeps the best K it has seen, sorted; the block then takes the best, K times.
template <int K> __global__ void topk_insertion(const float *in, float *out, int *index, int C) {
    extern __shared__ float shared_value[];
    int *shared_index = (int *)(shared_value + blockDim.x);
    const float *x = in + blockIdx.x * C;
    float best[K];
    int where[K];
    for (int k = 0; k < K; k++) best[k] = -1e30f, where[k] = INT_MAX;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        float v = x[i];
        if (v > best[K - 1]) {
            int k = K - 1;
#pragma unroll
            for (int j = K - 1; j > 0; j--)
                if (k == j && v > best[j - 1])
                    best[j] = best[j - 1], where[j] = where[j - 1], k = j - 1;
#pragma unroll
            for (int j = 0; j < K; j++)
                if (j == k) best[j] = v, where[j] = i;
        }
    }
    for (int k = 0; k < K; k++) {
        shared_value[threadIdx.x] = best[0];
        shared_index[threadIdx.x] = where[0];
        __syncthreads();
        for (int s = blockDim.x / 2; s > 0; s >>= 1) {
            if (threadIdx.x < s) {
                float other = shared_value[threadIdx.x + s];
                int at = shared_index[threadIdx.x + s];
                if (other > shared_value[threadIdx.x] ||
                    (other == shared_value[threadIdx.x] && at < shared_index[threadIdx.x]))
                    shared_value[threadIdx.x] = other, shared_index[threadIdx.x] = at;
            }
            __syncthreads();
        }
        if (threadIdx.x == 0)
            out[blockIdx.x * K + k] = shared_value[0], index[blockIdx.x * K + k] = shared_index[0];
        if (where[0] == shared_index[0]) {
#pragma unroll
            for (int j = 0; j < K - 1; j++) best[j] = best[j + 1], where[j] = where[j + 1];
            best[K - 1] = -1e30f, where[K - 1] = INT_MAX;
        }
        __syncthreads();
    }
}

// A warp a row: the best again and again, each time less than the last.
__global__ void topk_warp_select(const float *in, float *out, int rows, int C, int k) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float bound = 1e30f;
    for (int round = 0; round < k; round++) {
        float best = -1e30f;
        for (int i = lane; i < C; i += 32) {
            float v = in[row * C + i];
            if (v < bound && v > best) best = v;
        }
        for (int o = 16; o > 0; o /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, o));
        if (lane == 0) out[row * k + round] = best;
        bound = best;
    }
}

// Bits from the top: how many keys share the prefix so far and have the next bit.
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
        Array<float> in((size_t)rows * C, [](int i) { return (float)(i * 7919 % 100003); }),
            out(rows * 8);
        Array<int> index(rows * 8);
        Array<unsigned> keys((size_t)rows * C, [](int i) { return (unsigned)i * 2654435761u; }),
            kth(rows);
        std::vector<float> want;
        std::vector<int> where;
        std::vector<unsigned> kth_want;
        for (int r = 0; r < rows; r++) {
            std::vector<int> order(C);
            const float *x = &in.host[(size_t)r * C];
            for (int i = 0; i < C; i++) order[i] = i;
            std::stable_sort(order.begin(), order.end(), [=](int a, int b) { return x[a] > x[b]; });
            for (int k = 0; k < 8; k++) want.push_back(x[order[k]]), where.push_back(order[k]);
            std::vector<unsigned> row(&keys.host[(size_t)r * C], &keys.host[(size_t)r * C] + C);
            std::sort(row.rbegin(), row.rend());
            kth_want.push_back(row[19]);
        }
        for (int block : {32, 128})
            RUN(topk_insertion<8><<<rows, block, block * 8>>>(in, out, index, C));
        compare(out, want);
        compare(index, where);
        RUN(topk_warp_select<<<blocks_for(rows, 2), 64>>>(in, out, rows, C, 8));
        compare(out, want);
        RUN(topk_radix_select<<<rows, 128>>>(keys, kth, C, 20));
        compare(kth, kth_want);
    }
}

// ---- Histograms

__global__ void histogram_global_atomics(const int *in, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1);
}

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

// Neighbours in a run are counted together before an atomic is made.
__global__ void histogram_aggregated(const int *in, int *bins, int n, int chunk) {
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk, accumulator = 0, before = -1;
    for (int i = begin; i < begin + chunk && i < n; i++) {
        int bin = in[i];
        if (bin == before) {
            accumulator++;
        } else {
            if (accumulator > 0) atomicAdd(&bins[before], accumulator);
            accumulator = 1;
            before = bin;
        }
    }
    if (accumulator > 0) atomicAdd(&bins[before], accumulator);
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
        Array<int> in(n, [=](int i) { return whole(i / 3, count); });
        std::vector<int> want(count);
        for (int v : in.host) want[v]++;
        for (int way = 0; way < 4; way++) {
            Array<int> bins(count);
            if (way == 0) RUN(histogram_global_atomics<<<blocks_for(n, 256), 256>>>(in, bins, n));
            if (way == 1)
                RUN(histogram_shared_atomics<<<6 * scale, 128, count * sizeof(int)>>>(in, bins, n,
                                                                                      count));
            if (way == 2) RUN(histogram_aggregated<<<blocks_for(n, 64 * 8), 64>>>(in, bins, n, 8));
            if (way == 3) RUN(histogram_match<<<blocks_for(n, 128), 128>>>(in, bins, n));
            compare(bins, want);
        }
    }
}

// ---- Scans over many blocks

template <int THREADS, int ITEMS>
__global__ void block_scan_coarsened(const int *in, int *out, int *block_sums, int n) {
    __shared__ int items[THREADS * ITEMS], warp_sums[THREADS / 32];
    int base = blockIdx.x * THREADS * ITEMS;
    for (int i = threadIdx.x; i < THREADS * ITEMS; i += THREADS)
        items[i] = base + i < n ? in[base + i] : 0;
    __syncthreads();
    int running[ITEMS], sum = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) running[k] = sum += items[threadIdx.x * ITEMS + k];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, scan = sum;
    for (int o = 1; o < 32; o *= 2) {
        int other = __shfl_up_sync(0xffffffff, scan, o);
        if (lane >= o) scan += other;
    }
    if (lane == 31) warp_sums[warp] = scan;
    __syncthreads();
    if (warp == 0) {
        int mine = lane < THREADS / 32 ? warp_sums[lane] : 0;
        for (int o = 1; o < THREADS / 32; o *= 2) {
            int other = __shfl_up_sync(0xffffffff, mine, o);
            if (lane >= o) mine += other;
        }
        if (lane < THREADS / 32) warp_sums[lane] = mine;
    }
    __syncthreads();
    int before = scan - sum + (warp > 0 ? warp_sums[warp - 1] : 0);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) items[threadIdx.x * ITEMS + k] = running[k] + before;
    __syncthreads();
    for (int i = threadIdx.x; i < THREADS * ITEMS; i += THREADS)
        if (base + i < n) out[base + i] = items[i];
    if (threadIdx.x == THREADS - 1 && block_sums)
        block_sums[blockIdx.x] = warp_sums[THREADS / 32 - 1];
}

__global__ void add_block_sums(int *out, const int *block_sums, int per_block, int n) {
    int i = blockIdx.x * per_block + threadIdx.x;
    if (blockIdx.x == 0) return;
    int before = block_sums[blockIdx.x - 1];
    for (int k = 0; k < per_block && i + k < n; k += blockDim.x) out[i + k] += before;
}

// Sums that start anew at flags, within a warp.
__global__ void segmented_scan_warp(const int *in, const int *flags, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int value = i < n ? in[i] : 0, flag = i < n ? flags[i] : 1;
    unsigned heads = __ballot_sync(0xffffffff, flag) | 1;
    int start = 31 - __clz(heads & (0xffffffffu >> (31 - lane)));
    for (int o = 1; o < 32; o *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, o);
        if (lane - o >= start) value += other;
    }
    if (i < n) out[i] = value;
}

static void scans(int scale) {
    for (int n : {1500, 9000 * scale}) {
        Array<int> in(n, element), flags(n, [](int i) { return (int)(whole(i, 5) == 0); }), out(n);
        std::vector<int> want(n), segments(n);
        for (int i = 0; i < n; i++) {
            want[i] = in.host[i] + (i ? want[i - 1] : 0);
            segments[i] = in.host[i] + (i % 32 && !flags.host[i] ? segments[i - 1] : 0);
        }
        int blocks = blocks_for(n, 512);
        Array<int> sums(blocks);
        RUN(block_scan_coarsened<128, 4><<<blocks, 128>>>(in, out, sums, n));
        sums.fetch();
        for (int i = 1; i < blocks; i++) sums.host[i] += sums.host[i - 1];
        sums.to_device();
        RUN(add_block_sums<<<blocks, 128>>>(out, sums, 512, n));
        compare(out, want);
        blocks = blocks_for(n, 64 * 7);
        Array<int> more(blocks);
        RUN(block_scan_coarsened<64, 7><<<blocks, 64>>>(in, out, more, n));
        more.fetch();
        for (int i = 1; i < blocks; i++) more.host[i] += more.host[i - 1];
        more.to_device();
        RUN(add_block_sums<<<blocks, 64>>>(out, more, 64 * 7, n));
        compare(out, want);
        RUN(segmented_scan_warp<<<blocks_for(n, 128), 128>>>(in, flags, out, n));
        compare(out, segments);
    }
}

// ---- Sorts

__global__ void odd_even_transposition(int *data, int n) {
    extern __shared__ int keys[];
    int *mine = data + blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) keys[i] = mine[i];
    __syncthreads();
    for (int phase = 0; phase < n; phase++) {
        int i = 2 * threadIdx.x + (phase & 1);
        if (i + 1 < n && keys[i] > keys[i + 1]) {
            int t = keys[i];
            keys[i] = keys[i + 1];
            keys[i + 1] = t;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = keys[i];
}

__global__ void bitonic_step(unsigned *keys, int j, int k) {
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x, partner = i ^ j;
    if (partner > i) {
        unsigned a = keys[i], b = keys[partner];
        if ((i & k) == 0) {
            if (a > b) keys[i] = b, keys[partner] = a;
        } else {
            if (a < b) keys[i] = b, keys[partner] = a;
        }
    }
}

// One digit of a radix sort in a block: counts, a scan of them, and everything to its place.
__global__ void radix_sort_block(unsigned *keys, int n) {
    __shared__ unsigned in[512], out[512];
    __shared__ int ones[512];
    unsigned *mine = keys + blockIdx.x * n;
    int t = threadIdx.x;
    in[t] = mine[t];
    for (int bit = 0; bit < 12; bit++) {
        __syncthreads();
        unsigned key = in[t], set = key >> bit & 1;
        ones[t] = set;
        for (int o = 1; o < n; o *= 2) {
            __syncthreads();
            int before = t >= o ? ones[t - o] : 0;
            __syncthreads();
            ones[t] += before;
        }
        __syncthreads();
        int zeros = n - ones[n - 1], at = set ? zeros + ones[t] - 1 : t - ones[t];
        out[at] = key;
        __syncthreads();
        in[t] = out[t];
    }
    mine[t] = in[t];
}

__global__ void rank_sort(const int *in, int *out, int n) {
    __shared__ int tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, mine = i < n ? in[i] : 0, rank = 0;
    for (int start = 0; start < n; start += 128) {
        tile[threadIdx.x] = start + threadIdx.x < n ? in[start + threadIdx.x] : INT_MAX;
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            int other = tile[k];
            rank += other < mine || (other == mine && start + k < i);
        }
        __syncthreads();
    }
    if (i < n) out[rank] = mine;
}

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

static void sorts(int scale) {
    for (int n : {100, 256}) {
        int blocks = 4 * scale;
        Array<int> rows((size_t)n * blocks, [](int i) { return whole(i, 500); });
        std::vector<int> want = rows.host;
        for (int b = 0; b < blocks; b++) std::sort(&want[b * n], &want[b * n] + n);
        RUN(odd_even_transposition<<<blocks, n / 2, n * sizeof(int)>>>(rows, n));
        compare(rows, want);
        Array<unsigned> keys(256, [](int i) { return (unsigned)whole(i, 4000); });
        std::vector<unsigned> sorted = keys.host;
        std::sort(sorted.begin(), sorted.end());
        for (int k = 2; k <= 256 && n == 256; k *= 2)
            for (int j = k / 2; j > 0; j /= 2) RUN(bitonic_step<<<4, 64>>>(keys, j, k));
        if (n == 256) compare(keys, sorted);
        int tile = n == 100 ? 128 : 512;
        Array<unsigned> tiles((size_t)tile * blocks,
                              [](int i) { return (unsigned)whole(i, 4000); });
        sorted = tiles.host;
        for (int b = 0; b < blocks; b++) std::sort(&sorted[b * tile], &sorted[b * tile] + tile);
        RUN(radix_sort_block<<<blocks, tile>>>(tiles, tile));
        compare(tiles, sorted);
        int odd = 7 * n - 3;
        Array<int> in(odd, [](int i) { return whole(i, 900); }), out(odd);
        std::vector<int> in_order = in.host;
        std::sort(in_order.begin(), in_order.end());
        RUN(rank_sort<<<blocks_for(odd, 128), 128>>>(in, out, odd));
        compare(out, in_order);
        std::vector<int> left(in.host.begin(), in.host.begin() + odd / 3),
            right(in.host.begin() + odd / 3, in.host.end());
        std::sort(left.begin(), left.end()), std::sort(right.begin(), right.end());
        Array<int> a(left), b(right), merged(odd);
        for (int piece : {5, 16})
            RUN(merge_path<<<blocks_for(odd, 64 * piece), 64>>>(a, (int)left.size(), b,
                                                                (int)right.size(), merged, piece));
        compare(merged, in_order);
    }
}

// ---- Compaction and search

__global__ void compact_ballot(const int *in, int *out, int *counts, int n) {
    __shared__ int warp_counts[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int value = i < n ? in[i] : 0;
    bool keep = i < n && value > 0;
    unsigned kept = __ballot_sync(0xffffffff, keep);
    if (lane == 0) warp_counts[warp] = __popc(kept);
    __syncthreads();
    int before = 0;
    for (int w = 0; w < warp; w++) before += warp_counts[w];
    if (keep) out[blockIdx.x * blockDim.x + before + __popc(kept & ((1u << lane) - 1))] = value;
    if (threadIdx.x == blockDim.x - 1) counts[blockIdx.x] = before + __popc(kept);
}

__global__ void lower_bound_kernel(const int *sorted, int n, const int *keys, int *found,
                                   int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int key = keys[i], low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    found[i] = low;
}

// Open addressing: each thread looks its key up, slot after slot.
__global__ void hash_lookup(const int *slots, int size, const int *keys, int *found, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int key = keys[i], at = (unsigned)key * 2654435761u % size, steps = 0;
        while (slots[at] != key && slots[at] != -1) {
            at = at + 1 == size ? 0 : at + 1;
            steps++;
        }
        found[i] = slots[at] == key ? steps : -1;
    }
}

__global__ void count_substring(const char *text, int n, const char *word, int length, int *hits) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
    if (i + length <= n) {
        found = 1;
        for (int k = 0; k < length; k++)
            if (text[i + k] != word[k]) {
                found = 0;
                break;
            }
    }
    if (found) atomicAdd(&total, 1);
    __syncthreads();
    if (threadIdx.x == 0) hits[blockIdx.x] = total;
}

static void searches(int scale) {
    for (int block : {64, 256}) {
        int n = 3000 * scale;
        Array<int> in(n, element), out(n), counts(blocks_for(n, block)), found(n);
        std::vector<int> want(n), tally(blocks_for(n, block)), bounds, steps;
        for (int i = 0; i < n; i++)
            if (in.host[i] > 0) want[i / block * block + tally[i / block]++] = in.host[i];
        RUN(compact_ballot<<<blocks_for(n, block), block>>>(in, out, counts, n));
        compare(out, want);
        compare(counts, tally);
        Array<int> sorted(1000, [](int i) { return 3 * i; }),
            keys(n, [](int i) { return whole(i, 3100); });
        for (int key : keys.host)
            bounds.push_back((int)(std::lower_bound(sorted.host.begin(), sorted.host.end(), key) -
                                   sorted.host.begin()));
        RUN(lower_bound_kernel<<<blocks_for(n, block), block>>>(sorted, 1000, keys, found, n));
        compare(found, bounds);
        Array<int> slots(1777, [](int) { return -1; });
        auto place = [&](int key, bool insert) {
            int at = (int)((unsigned)key * 2654435761u % 1777), taken = 0;
            for (; slots.host[at] != key && slots.host[at] != -1; taken++) at = (at + 1) % 1777;
            bool there = slots.host[at] == key;
            if (insert) slots.host[at] = key;
            return there ? taken : -1;
        };
        for (int i = 0; i < 1400; i++) place(2 * i, true);
        slots.to_device();
        for (int key : keys.host) steps.push_back(place(key, false));
        RUN(hash_lookup<<<7 * scale, block>>>(slots, 1777, keys, found, n));
        compare(found, steps);
        Array<char> text(n, [](int i) { return (char)("ab"[whole(i, 2)]); }),
            word(4, [](int i) { return "abba"[i]; });
        std::vector<int> hits(blocks_for(n, block));
        for (int i = 0; i + 4 <= n; i++) hits[i / block] += !memcmp(&text.host[i], "abba", 4);
        RUN(count_substring<<<blocks_for(n, block), block>>>(text, n, word, 4, counts));
        compare(counts, hits);
    }
}

static const Case cases[] = {
    {"top_k", top_k}, {"histogram", histogram}, {"scans", scans},
    {"sorts", sorts}, {"searches", searches},
};
CASES(cases)
