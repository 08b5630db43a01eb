// Thrust as shipped with the toolkit: reductions over device vectors.
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include "told.h"

template <typename T> struct Square {
    __host__ __device__ T operator()(T x) const { return x * x; }
};

template <typename T> static void reductions(const char *type, unsigned n) {
    thrust::device_vector<T> v(n);
    T *host = (T *)malloc(n * sizeof(T));
    double sum = 0, squares = 0, most = -100;
    for (unsigned i = 0; i < n; i++) {
        host[i] = (T)element(i);
        sum += element(i);
        squares += element(i) * element(i);
        most = element(i) > most ? element(i) : most;
    }
    thrust::copy(host, host + n, v.begin());
    char name[80];
    snprintf(name, sizeof name, "thrust::reduce<%s>(%u)", type, n);
    tell_value(name, thrust::reduce(v.begin(), v.end()), sum);
    snprintf(name, sizeof name, "thrust::transform_reduce<%s>(%u)", type, n);
    tell_value(name, thrust::transform_reduce(v.begin(), v.end(), Square<T>(), (T)0, thrust::plus<T>()),
               squares);
    snprintf(name, sizeof name, "thrust::max_element<%s>(%u)", type, n);
    tell_value(name, (T)*thrust::max_element(v.begin(), v.end()), most);
    snprintf(name, sizeof name, "thrust::inner_product<%s>(%u)", type, n);
    tell_value(name, thrust::inner_product(v.begin(), v.end(), v.begin(), (T)1), squares + 1);
    free(host);
}

int main() {
    reductions<int>("int", 1);
    reductions<int>("int", 50000);
    reductions<float>("float", 50000);
    reductions<double>("double", 4097);
    return wrong_count != 0;
}
