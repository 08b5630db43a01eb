// Thrust, as programs call it: transforms, reductions, scans, sorts, searches and sets over
// iterators. Algorithms with decoupled look-back get one tile, as in cub_blocks.cu.
#include <algorithm>
#include <iterator>
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include "cases.h"

struct saxpy_functor {
    const float a;
    saxpy_functor(float a_) : a(a_) {}
    __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; }
};
struct square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};
struct is_even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct by_last_digits {
    __host__ __device__ bool operator()(int a, int b) const {
        return a % 1000 != b % 1000 ? a % 1000 < b % 1000 : a < b;
    }
};
struct ascending {
    __host__ __device__ bool operator()(int a, int b) const { return a < b; }
};
struct collatz_steps {
    __host__ __device__ int operator()(int i) const {
        int steps = 0;
        for (unsigned x = (unsigned)i + 1; x != 1; steps++) x = x % 2 ? 3 * x + 1 : x / 2;
        return steps;
    }
};
struct arbitrary_functor {
    template <typename Tuple> __host__ __device__ void operator()(Tuple t) {
        thrust::get<2>(t) = thrust::get<0>(t) + 3 * thrust::get<1>(t);
    }
};

using thrust::device;

static void element_wise(int scale) {
    for (int n : {700, 20000 * scale}) {
        Array<float> x(n, element), y(n, real);
        Array<int> a(n, element), b(n, [](int i) { return whole(i, 50); }), c(n);
        std::vector<float> want(n);
        std::vector<int> ints(n), differences(n), steps(n);
        for (int i = 0; i < n; i++) {
            want[i] = 2 * x.host[i] + y.host[i];
            ints[i] = a.host[i] + 3 * b.host[i];
            differences[i] = i ? b.host[i] - b.host[i - 1] : b.host[0];
            steps[i] = collatz_steps()(i);
        }
        RUN(thrust::transform(device, x.device, x + n, y.device, y.device, saxpy_functor(2)));
        compare(y, want, 1e-6);
        auto first = thrust::make_zip_iterator(a.device, b.device, c.device);
        RUN(thrust::for_each(device, first, first + n, arbitrary_functor()));
        compare(c, ints);
        RUN(thrust::adjacent_difference(device, b.device, b + n, c.device));
        compare(c, differences);
        RUN(thrust::tabulate(device, c.device, c + n, collatz_steps()));
        compare(c, steps);
        RUN(thrust::sequence(device, c.device, c + n, 5, 3));
        for (int i = 0; i < n; i++) ints[i] = 5 + 3 * i;
        compare(c, ints);
        RUN(thrust::fill(device, c.device, c + n, 9));
        compare(c, std::vector<int>(n, 9));
        Array<int> map(n, [=](int i) { return (int)((long long)i * 77 % n); });
        for (int i = 0; i < n; i++) ints[i] = b.host[map.host[i]];
        RUN(thrust::gather(device, map.device, map + n, b.device, c.device));
        compare(c, ints);
        for (int i = 0; i < n; i++) map.host[i] = n - 1 - i;
        map.to_device();
        for (int i = 0; i < n; i++) ints[n - 1 - i] = b.host[i];
        RUN(thrust::scatter(device, b.device, b + n, map.device, c.device));
        compare(c, ints);
    }
}

static void reductions(int scale) {
    for (int n : {1000, 40000 * scale}) {
        Array<float> x(n, element), y(n, [](int i) { return (float)element(i + 5); });
        Array<int> a(n, [](int i) { return whole(i, 1000000); });
        double squares = 0, dot = 0, sum = 0;
        for (int i = 0; i < n; i++)
            squares += x.host[i] * x.host[i], dot += x.host[i] * y.host[i], sum += x.host[i];
        std::vector<double> got, want = {sum, squares, dot};
        RUN(got.push_back(thrust::reduce(device, x.device, x + n)));
        RUN(got.push_back(thrust::transform_reduce(device, x.device, x + n, square(), 0.0f,
                                                   thrust::plus<float>())));
        RUN(got.push_back(thrust::inner_product(device, x.device, x + n, y.device, 0.0f)));
        want.push_back((double)std::count_if(a.host.begin(), a.host.end(), is_even()));
        RUN(got.push_back((double)thrust::count_if(device, a.device, a + n, is_even())));
        want.push_back(*std::max_element(a.host.begin(), a.host.end()));
        want.push_back(*std::min_element(a.host.begin(), a.host.end()));
        RUN({
            auto ends = thrust::minmax_element(device, a.device, a + n);
            int least, most;
            CUDA(cudaMemcpy(&least, ends.first, 4, cudaMemcpyDeviceToHost));
            CUDA(cudaMemcpy(&most, ends.second, 4, cudaMemcpyDeviceToHost));
            got.push_back(most), got.push_back(least);
        });
        compare(got, want, 1e-6);  // exact except at large scales
    }
}

static void orders(int scale) {
    for (int n : {600, 5000 * scale}) {
        Array<int> a(n, [](int i) { return whole(i, 100000); }), b(n, [](int i) { return i; }),
            out(n), found(n);
        std::vector<int> want = a.host, order = b.host, bounds;
        std::sort(want.begin(), want.end(), by_last_digits());
        std::stable_sort(order.begin(), order.end(),
                         [&](int i, int j) { return by_last_digits()(a.host[i], a.host[j]); });
        RUN(thrust::stable_sort_by_key(device, a.device, a + n, b.device, by_last_digits()));
        compare(a, want);
        compare(b, order);
        std::sort(want.begin(), want.end());
        RUN(thrust::sort(device, a.device, a + n, ascending()));
        compare(a, want);
        Array<int> keys(n, [](int i) { return whole(i + 3, 100000); });
        for (int key : keys.host)
            bounds.push_back((int)(std::lower_bound(want.begin(), want.end(), key) - want.begin()));
        RUN(thrust::lower_bound(device, a.device, a + n, keys.device, keys + n, found.device));
        compare(found, bounds);
    }
}

static void compactions(int scale) {
    (void)scale;
    for (int n : {300, 690}) {
        Array<int> a(
            n, [](int i) { return whole(i / 3, 40); }),
            keys(n), sums(n),
            b(n, [](int i) { return 2 * i; });
        Array<int> ones(n, [](int) { return 1; }), c(n, [](int i) { return 3 * i; });
        std::vector<int> scan(n), even, run_keys, run_sums, both;
        for (int i = 0; i < n; i++) {
            scan[i] = a.host[i] + (i ? scan[i - 1] : 0);
            if (a.host[i] % 2 == 0) even.push_back(a.host[i]);
            if (i && a.host[i] == a.host[i - 1])
                run_sums.back()++;
            else
                run_keys.push_back(a.host[i]), run_sums.push_back(1);
        }
        std::set_intersection(b.host.begin(), b.host.end(), c.host.begin(), c.host.end(),
                              std::back_inserter(both));
        RUN(thrust::inclusive_scan(device, a.device, a + n, sums.device));
        compare(sums, scan);
        RUN(thrust::copy_if(device, a.device, a + n, keys.device, is_even()));
        compare(keys, even);
        RUN(thrust::reduce_by_key(device, a.device, a + n, ones.device, keys.device, sums.device));
        compare(keys, run_keys);
        compare(sums, run_sums);
        RUN(thrust::set_intersection(device, b.device, b + n, c.device, c + n, keys.device));
        compare(keys, both);
        RUN(thrust::unique(device, a.device, a + n));
        compare(a, run_keys);
    }
}

static const Case cases[] = {
    {"element_wise", element_wise}, {"reductions", reductions}, {"orders", orders},
    {"compactions", compactions},
};
CASES(cases)
