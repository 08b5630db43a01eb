// Generated from chapters/12-the-library.md by tangle: edit that file, not this one.
// Exercise: the step of the chars. Nothing to change: it asks CUB for which n it wants storage.
#include <cub/device/device_reduce.cuh>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A launch to check, and the results that it must leave for n elements.
template <class Elem, class Result> struct Exercise {
    unsigned (*launch)(const Elem *d_in, Result *d_out, unsigned n);  // returns how many results
    unsigned n, block;  // elements of the run that is counted; threads per block
    // Result k, and NAN past the last one; NULL: all of them add up to the sum.
    double (*expected)(const Elem *in, unsigned n, unsigned k);
    double (*input)(unsigned i);  // element i; NULL: small whole numbers, none of them 0
    const unsigned *sizes;        // nine to check; NULL: nothing, one, around a warp, a block
};

// The fewest blocks that cover n elements, and one block when there is nothing to cover.
static unsigned blocks_for(unsigned n, unsigned per_block) {
    return n ? (n - 1) / per_block + 1 : 1;
}

// More than one byte is only asked for when there are two passes.
static bool two_passes(unsigned n) {
    size_t bytes = 0;
    cub::DeviceReduce::Max(NULL, bytes, (const char *)NULL, (char *)NULL, n);
    return bytes > 1;
}

int main(void) {
    unsigned n = 1;
    while (n < 1000000 && !two_passes(n)) n++;
    printf("step = %u\n", n);
    return 0;
}
