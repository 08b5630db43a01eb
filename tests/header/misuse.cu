// Invalid uses of reduce.cuh, one at a time: -DCASE=1 to 4. The compiler must refuse each with a message.
#include "reduce.cuh"

using namespace reduction;

struct Three {
    float at[3];
};
struct Twenty {
    int at[5];
};
struct Copied {
    float x;
    __host__ __device__ Copied() : x(0) {}
    __host__ __device__ Copied(const Copied &other) : x(other.x) {}
};
template <class In, class Acc> struct First : ReduceOf<In, Acc> {
    static __device__ Acc identity() { return Acc(); }
    static __device__ Acc lift(const In &, unsigned long long) { return Acc(); }
    static __device__ Acc combine(const Acc &a, const Acc &) { return a; }
};

#if CASE == 1
typedef ReduceSum<short> Op;
#elif CASE == 2
typedef First<Three, float> Op;
#elif CASE == 3
typedef First<float, Twenty> Op;
#else
typedef First<float, Copied> Op;
#endif

int main() { return reduce_launch<Op>(NULL, NULL, 0, NULL, 0) != cudaSuccess; }
